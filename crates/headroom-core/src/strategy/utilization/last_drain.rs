//! What is done for the pods of a marked node whose hard grace period is over: they are evicted as far as their disruption
//! budgets allow, and given time to end. Only what is left after that goes with the node.

use std::sync::Arc;

use jiff::Timestamp;

use crate::keys::DRAINING;
use crate::memory::{Drain, GroupMemory};
use crate::plan::Evict;
use crate::policy::ScaleDownPolicy;
use crate::round::Round;
use crate::scale_down::Disruptions;
use crate::snapshot::NodeView;

/// What is next for such a node.
pub(super) enum Step {
    /// Evict these pods; the node goes at `until` unless one more pod goes before.
    Evict { pods: Vec<Evict>, until: Timestamp },
    /// Nothing can be evicted now, and the time is not over.
    Wait { until: Timestamp },
    /// It is time for the node to go with what is left.
    Over {
        /// When its time was over.
        until: Timestamp,
    },
}

/// The next step for a node with pods. The time that evictions and ends may take is that of the drains of scale-down, whether
/// nodes of other groups may go or not.
pub(super) fn step(
    round: &mut Round<'_>,
    disruptions: &mut Disruptions<'_>,
    view: &NodeView<'_>,
    memory: &mut GroupMemory,
) -> Step {
    let blocking: Vec<_> = view.pods().into_iter().filter(|pod| pod.blocks_removal()).collect();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let evictions = number(blocking.iter().filter(|pod| !pod.deleting).count());
    let before = memory.drains.get(&view.node.name).copied();
    let drain = Drain::next(before, evictions, number(blocking.len()), round.now);
    memory.drains.insert(Arc::clone(&view.node.name), drain);
    let defaults = ScaleDownPolicy::default();
    let patience = round.policy.scale_down.as_ref().unwrap_or(&defaults).drain_patience(evictions);
    let until = drain.since.saturating_add(patience).unwrap_or(Timestamp::MAX);
    if round.now >= until {
        return Step::Over { until };
    }
    round.wake.at(until);
    let pods: Vec<Evict> =
        blocking.iter().filter(|pod| !pod.deleting).filter_map(|pod| disruptions.evict(pod)).collect();
    // A drain of Nomad was asked for and goes on by itself.
    if pods.is_empty() || view.node.taint(DRAINING).is_some() {
        Step::Wait { until }
    } else {
        Step::Evict { pods, until }
    }
}
