//! The marks on nodes that go.

use jiff::Timestamp;

use crate::snapshot::{Effect, Node, Taint};

/// Marks a node that is on its way out; the value is the unix time in seconds at which it was set. Cluster Autoscaler's
/// key, since load balancers and kube-proxy act on exactly that one.
pub const DELETION_TAINT: &str = "ToBeDeletedByClusterAutoscaler";

/// Marks a node that is not needed, so that pods go elsewhere where they can. Cluster Autoscaler's key too.
pub const CANDIDATE_TAINT: &str = "DeletionCandidateOfClusterAutoscaler";

/// When the node was marked as on its way out; None without the mark, and without a value that is a time.
pub fn marked_at(node: &Node) -> Option<Timestamp> {
    node.taint(DELETION_TAINT)?.instant()
}

pub(super) fn deletion_taint(now: Timestamp) -> Taint {
    taint(DELETION_TAINT, Effect::NoSchedule, now)
}

pub(super) fn candidate_taint(now: Timestamp) -> Taint {
    taint(CANDIDATE_TAINT, Effect::PreferNoSchedule, now)
}

fn taint(key: &str, effect: Effect, now: Timestamp) -> Taint {
    Taint { key: key.into(), value: now.as_second().to_string().into(), effect }
}
