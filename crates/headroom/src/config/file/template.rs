//! What a new machine is like.

use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Labels, Taint, Template};

use super::taint;
use crate::config::kind::{Kind, bytes, cpu, labels, list, map, pieces};
use crate::config::problem::Problem;
use crate::config::record::Record;

/// A template as it is written: the whole machine where that is said, and what pods may use.
struct Draft {
    capacity: Option<(i64, i64)>,
    allocatable: Resources,
    labels: Labels,
    taints: Vec<Taint>,
}

pub(super) fn kind() -> Kind<Template> {
    let start = || Draft {
        capacity: None,
        // What the kubelet allows unless it is told otherwise.
        allocatable: Resources { pods: 110, ..Resources::default() },
        labels: Labels::default(),
        taints: Vec::new(),
    };
    Record::new(
        "groups[].template",
        "What a new machine is like: what pods may use of it (`status.allocatable`), its labels and taints. \
         It wins over what the cloud says, which adds the labels that are not stated here, such as the zone. With the strategy `utilization` it wins over the group's nodes too; \
         with `pending` a node that the group has counts more, so that the template is needed only by a \
         group that has never had one.",
        start,
    )
    .required("cpu", cpu(), |draft: &mut Draft| &mut draft.allocatable.cpu, "Cpus.")
    .required("memory", bytes(), |draft| &mut draft.allocatable.memory, "Memory.")
    .field(
        "ephemeralStorage",
        bytes(),
        |draft| &mut draft.allocatable.ephemeral_storage,
        "Disk for container layers, logs and emptyDir volumes. Pods that request more do not fit.",
    )
    .field("pods", pieces(), |draft| &mut draft.allocatable.pods, "How many pods fit.")
    .field(
        "extended",
        map(pieces()).map(|mut amounts| {
            amounts.sort();
            amounts
        }),
        |draft| &mut draft.allocatable.extended,
        "Extended resources by name, such as `nvidia.com/gpu: 8`. A machine is expected until its \
         node has them all.",
    )
    .field(
        "capacity",
        capacity().sound().optional(),
        |draft| &mut draft.capacity,
        "The whole machine (`status.capacity`), by which prices and limits go. Left out: what pods may use.",
    )
    .field(
        "labels",
        labels(),
        |draft| &mut draft.labels,
        "Labels of its node, besides those under `select`: for pods that ask for them, and for its price \
         (`node.kubernetes.io/instance-type`, `topology.kubernetes.io/zone`).",
    )
    .field(
        "taints",
        list(taint::kind()),
        |draft| &mut draft.taints,
        "Taints of its node. Those of `startupTaints` do not count: they go.",
    )
    .check(&["cpu", "memory", "capacity"], |draft, at, problems| {
        let (cpu, memory) = draft.capacity.unwrap_or((i64::MAX, i64::MAX));
        if draft.allocatable.cpu > cpu || draft.allocatable.memory > memory {
            let problem = Problem::at(
                at.of("capacity"),
                "pods may use more of this machine than it has",
                "write `status.allocatable` as `cpu` and `memory`, `status.capacity` as `capacity`",
            );
            problems.add(problem);
        }
    })
    .kind()
    .map(|Draft { capacity, allocatable, labels, taints }| {
        let mut whole = allocatable.clone();
        if let Some((cpu, memory)) = capacity {
            (whole.cpu, whole.memory) = (cpu, memory);
        }
        Template { capacity: whole, allocatable, labels, taints }
    })
}

fn capacity() -> Kind<(i64, i64)> {
    Record::new("groups[].template.capacity", "The whole machine.", || (0, 0))
        .required("cpu", cpu(), |capacity: &mut (i64, i64)| &mut capacity.0, "Cpus.")
        .required("memory", bytes(), |capacity| &mut capacity.1, "Memory.")
        .kind()
}
