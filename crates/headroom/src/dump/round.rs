//! One round on a dump: what would be done, if the cluster were still as it was then.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::memory::Memory;
use headroom_core::plan::{Plan, Refusal, Why};
use headroom_core::policy::{Policy, ScaleDownPolicy};
use headroom_core::snapshot::Snapshot;
use headroom_core::strategy::pending::Inquiry;
use headroom_core::{decide, inquire};
use jiff::Timestamp;

use super::Dump;
use super::pools::{Apart, Pools, discover};

/// A dump, what is wanted, and the plan that follows.
#[derive(Clone, Debug)]
pub struct Round {
    /// What was read.
    pub dump: Dump,
    /// What is wanted, with what clouds say of their groups.
    pub policy: Policy,
    /// What was remembered before it.
    pub before: Memory,
    /// What follows.
    pub plan: Plan,
    /// What is remembered after it.
    pub memory: Memory,
    /// What the plan rests on beside the dump.
    pub assumed: Assumed,
}

/// What neither the dump nor the user said.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumed {
    /// Where the instant of the plan is from.
    pub now: Now,
    /// Nodes in no group and why, if the groups had to be made up.
    pub made_up: Option<BTreeMap<Arc<str>, Apart>>,
    /// Where more groups would be looked for, in the words of messages.
    pub undiscovered: Vec<String>,
}

/// Where the instant of a plan is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// The user said it.
    Given,
    /// It is what the clock of this machine says.
    Clock,
    /// It is that of a round over a running cluster, which also remembers the rounds before and has asked the clouds.
    Live,
    /// It is the latest that the dump mentions.
    Newest,
    /// The dump mentions none, so it is the start of 1970.
    Unknown,
}

impl Round {
    /// Decides about `dump` as of `now`, or else as of the latest instant in it; without a policy about one group for
    /// each pool of nodes. Every timer that holds back a removal is taken to have run out.
    pub fn of(dump: Dump, policy: Option<Policy>, now: Option<Timestamp>) -> Self {
        let now = match (now, dump.newest) {
            (Some(now), _) => (now, Now::Given),
            (None, Some(newest)) => (newest, Now::Newest),
            (None, None) => (Timestamp::UNIX_EPOCH, Now::Unknown),
        };
        Round::at(dump, policy, now)
    }

    /// The same, as of an instant that is from somewhere.
    pub fn at(mut dump: Dump, policy: Option<Policy>, (now, source): (Timestamp, Now)) -> Self {
        let (policy, made_up) = match policy {
            Some(policy) => (policy, None),
            None => {
                let Pools { groups, apart } = discover(&mut dump.builder);
                (Policy { groups, scale_down: Some(ScaleDownPolicy::default()), ..Policy::default() }, Some(apart))
            }
        };
        let policy = policy.heeding(dump.builder.snapshot()).into_owned();
        let before = Memory::settled();
        let (plan, memory) = decide(dump.builder.snapshot(), &policy, &before, now);
        Round {
            dump,
            policy,
            before,
            plan,
            memory,
            assumed: Assumed { now: source, made_up, undiscovered: Vec::new() },
        }
    }

    /// The round once more, to be asked about single pods and groups. None when no group has the strategy `pending`, or
    /// when too little is known to judge these.
    pub fn inquire(&self) -> Option<Inquiry<'_>> {
        inquire(self.snapshot(), &self.policy, &self.before, self.plan.at)
    }

    /// What was not done although something asked for it. Nodes that are simply kept are not among it.
    pub fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        self.plan.report.refusals.iter().filter(|refusal| !matches!(refusal.why, Why::Kept { .. }))
    }

    /// The cluster as it was.
    pub fn snapshot(&self) -> &Snapshot {
        self.dump.builder.snapshot()
    }
}
