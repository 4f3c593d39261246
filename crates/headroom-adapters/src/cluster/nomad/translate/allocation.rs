//! Allocations.

use headroom_core::quantity::Resources;
use headroom_core::snapshot::{NodeTerm, Phase, PodKind, PodSpec};

use super::namespace_of;
use super::tasks::Own;
use crate::cluster::nomad::object;

/// What becomes of an allocation. It holds what it has until its client says that it has ended, whatever is wanted of it;
/// None when it has.
pub(super) fn own(object: &object::Allocation) -> Option<Own> {
    (!is_terminal(&object.client_status)).then(|| Own {
        phase: if object.client_status == "pending" { Phase::Pending } else { Phase::Running },
        deleting: matches!(&*object.desired_status, "stop" | "evict"),
        created: object.create_time,
    })
}

/// What people are shown of an allocation.
pub fn full_name(object: &object::Allocation) -> String {
    format!("{}/{}", namespace_of(&object.namespace), name(object))
}

/// Whether a client status means that an allocation has ended.
pub fn is_terminal(client_status: &str) -> bool {
    matches!(client_status, "complete" | "failed" | "lost")
}

/// What a task of this job is like. System jobs run on every node, so that their tasks go with it.
pub(super) fn spec(namespace: &str, job: &str, job_type: &str, requests: Resources, asks: Vec<NodeTerm>) -> PodSpec {
    let everywhere = matches!(job_type, "system" | "sysbatch");
    PodSpec {
        namespace: namespace_of(namespace).into(),
        requests: Resources { pods: 1, ..requests },
        has_affinity: !asks.is_empty(),
        node_affinity: asks,
        kind: if everywhere { PodKind::DaemonSet } else { PodKind::Workload },
        controller: Some(format!("Job/{job}").into()),
        ..PodSpec::default()
    }
}

/// Its name, and the start of its ID, as the command line of Nomad shows it: an allocation that takes another one's place
/// has the same name.
pub(super) fn name(object: &object::Allocation) -> String {
    let id = object.id.get(..8).unwrap_or(&object.id);
    format!("{}@{id}", object.name)
}
