//! Nodes on their way out: pods are evicted until the node is empty, then it is removed. Whatever is no longer true of it
//! takes the mark off again.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::drain_rules::stuck;
use super::load::Judge;
use super::look::{Marked, Shrinking};
use crate::memory::{Drain, GroupMemory};
use crate::plan::{Action, Evict, Kept, Reason, Unmovable, Waits};
use crate::round::Round;
use crate::snapshot::PodView;

/// What becomes of a node on its way out.
pub(super) enum Step {
    /// Do this.
    Act(Action, Reason),
    /// Wait.
    Wait(Kept),
}

/// How far a drain has come.
#[derive(Default)]
struct Rest<'a> {
    /// Pods that can be evicted now.
    evict: Vec<Evict>,
    /// The first pod whose eviction has to wait, with its budget.
    waits: Option<(String, Option<Box<str>>)>,
    /// The first pod that was evicted and has not ended.
    ends: Option<PodView<'a>>,
    evictions: u32,
    pods: u32,
}

/// The next step for a node whose removal still makes sense.
pub(super) fn step(
    round: &mut Round<'_>,
    judge: &mut Judge<'_>,
    marked: &Marked<'_>,
    memory: &mut GroupMemory,
    grows: bool,
) -> Step {
    let (now, name) = (round.now, &marked.view.node.name);
    let marked_at = marked.at.unwrap_or(now);
    let marked_for = now.duration_since(marked_at);
    let rest = rest(judge, marked);
    let policy = judge.policy;
    if rest.pods == 0 {
        memory.drains.remove(name);
        let until = marked_at.saturating_add(policy.settle).unwrap_or(Timestamp::MAX);
        if now < until || grows {
            return Step::Wait(Kept::Settling { until });
        }
        let (node, provider_id) = (Arc::clone(name), marked.view.node.provider_id.clone());
        return Step::Act(Action::Remove { node, provider_id, pods: Vec::new() }, Reason::Drained { marked_for });
    }
    let before = memory.drains.get(name).copied();
    let drain = Drain::next(before, rest.evictions, rest.pods, now);
    let since = drain.since;
    memory.drains.insert(Arc::clone(name), drain);
    let until = since.saturating_add(policy.drain_patience(rest.evictions)).unwrap_or(Timestamp::MAX);
    if now >= until {
        memory.drains.remove(name);
        memory.given_up.insert(Arc::clone(name), now);
        return Step::Act(untaint(marked), given_up(rest, now.duration_since(since)));
    }
    round.wake.at(until);
    let pods = rest.pods;
    if rest.evict.is_empty() {
        return Step::Wait(Kept::Draining { pods, until, waits: Box::new(rest.waits()) });
    }
    let action = Action::Drain { node: Arc::clone(name), pods: rest.evict, until };
    Step::Act(action, Reason::Draining { pods, marked_for })
}

/// Takes the mark off.
pub(super) fn untaint(marked: &Marked<'_>) -> Action {
    Action::Untaint { node: Arc::clone(&marked.view.node.name), key: super::taints::DELETION_TAINT.into() }
}

/// Why a node that is marked stays after all, before it is known where its pods would go.
pub(super) fn stays(
    round: &Round<'_>,
    shrinking: &Shrinking<'_>,
    marked: &Marked<'_>,
    idle_since: Timestamp,
) -> Option<Kept> {
    if round.may_remove(shrinking.group).is_err() {
        return Some(Kept::NotNow);
    }
    if marked.stays.is_some() {
        return marked.stays.clone();
    }
    // Whoever marked the node had waited long enough: it was idle before. A memory that was lost does not know that.
    match marked.at {
        Some(at) if idle_since <= at => None,
        _ => Some(Kept::Young {
            idle_for: round.now.duration_since(idle_since),
            until: idle_since.saturating_add(shrinking.settings.unneeded_for).unwrap_or(Timestamp::MAX),
        }),
    }
}

impl Rest<'_> {
    /// What keeps the drain from going on.
    fn waits(self) -> Waits {
        match self.waits {
            Some((pod, budget)) => Waits::Eviction { pod, budget },
            None => Waits::End { pod: self.ends.map(|pod| pod.full_name()).unwrap_or_default() },
        }
    }
}

fn rest<'a>(judge: &mut Judge<'_>, marked: &Marked<'a>) -> Rest<'a> {
    let mut rest = Rest::default();
    if marked.view.sums.blocking == 0 {
        return rest;
    }
    for pod in marked.view.pods().into_iter().filter(PodView::blocks_removal) {
        if stuck(&pod, judge.now) {
            continue;
        }
        rest.pods += 1;
        if pod.deleting {
            rest.ends.get_or_insert(pod);
            continue;
        }
        rest.evictions += 1;
        let budget = match judge.movable(&pod) {
            Ok(None) => Ok(None),
            Ok(Some(number)) => {
                let name = judge.disruptions.budget(number).map(|budget| budget.name.clone());
                if judge.disruptions.take(number) { Ok(name) } else { Err(name) }
            }
            Err(Unmovable::Budget { budget, .. }) => Err(Some(budget)),
            Err(_) => Err(None),
        };
        match budget {
            Ok(budget) => {
                let (namespace, name) = (Arc::clone(&pod.spec.namespace), pod.name.into());
                rest.evict.push(Evict { namespace, name, budget });
            }
            Err(budget) => drop(rest.waits.get_or_insert_with(|| (pod.full_name(), budget))),
        }
    }
    rest
}

fn given_up(rest: Rest<'_>, waited: SignedDuration) -> Reason {
    let refused = rest.evict.into_iter().next();
    let refused = refused.map(|evict| (format!("{}/{}", evict.namespace, evict.name), evict.budget));
    if let Some((pod, budget)) = rest.waits.or(refused) {
        return Reason::DrainGivenUp { pod, budget, ending: false, waited };
    }
    let pod = rest.ends.map(|pod| pod.full_name()).unwrap_or_default();
    Reason::DrainGivenUp { pod, budget: None, ending: true, waited }
}
