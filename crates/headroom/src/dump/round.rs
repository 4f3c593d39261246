//! One round on a dump: what would be done, if the cluster were still as it was then.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::decide;
use headroom_core::memory::Memory;
use headroom_core::plan::Plan;
use headroom_core::policy::Policy;
use headroom_core::snapshot::Snapshot;
use jiff::Timestamp;

use super::Dump;
use super::pools::{Apart, Pools, discover};

/// A dump, what is wanted, and the plan that follows.
#[derive(Clone, Debug)]
pub struct Round {
    /// What was read.
    pub dump: Dump,
    /// What is wanted.
    pub policy: Policy,
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
}

/// Where the instant of a plan is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// The user said it.
    Given,
    /// It is the latest that the dump mentions.
    Newest,
    /// The dump mentions none, so it is the start of 1970.
    Unknown,
}

impl Round {
    /// Decides about `dump` as of `now`, or else as of the latest instant in it; without a policy about one group for
    /// each pool of nodes. Every timer that holds back a removal is taken to have run out.
    pub fn of(mut dump: Dump, policy: Option<Policy>, now: Option<Timestamp>) -> Self {
        let (policy, made_up) = match policy {
            Some(policy) => (policy, None),
            None => {
                let Pools { groups, apart } = discover(&mut dump.builder);
                (Policy { groups, ..Policy::default() }, Some(apart))
            }
        };
        let (now, source) = match (now, dump.newest) {
            (Some(now), _) => (now, Now::Given),
            (None, Some(newest)) => (newest, Now::Newest),
            (None, None) => (Timestamp::UNIX_EPOCH, Now::Unknown),
        };
        let (plan, memory) = decide(dump.builder.snapshot(), &policy, &Memory::settled(), now);
        Round { dump, policy, plan, memory, assumed: Assumed { now: source, made_up } }
    }

    /// The cluster as it was.
    pub fn snapshot(&self) -> &Snapshot {
        self.dump.builder.snapshot()
    }
}
