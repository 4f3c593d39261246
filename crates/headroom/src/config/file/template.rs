//! What a new machine is like.

use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Labels, Template};

use crate::config::kind::{Kind, bytes, cpu, map, pieces};
use crate::config::record::Record;

pub(super) fn kind() -> Kind<Template> {
    Record::new(
        "groups[].template",
        "What pods may use on a new machine (`status.allocatable`). It wins over what Headroom has \
         learnt from the group's nodes and over what the cloud says, so it is needed only to grow a \
         group that has never had a node.",
        // What the kubelet allows unless it is told otherwise.
        || Resources { pods: 110, ..Resources::default() },
    )
    .required("cpu", cpu(), |resources: &mut Resources| &mut resources.cpu, "Cpus.")
    .required("memory", bytes(), |resources| &mut resources.memory, "Memory.")
    .field(
        "ephemeralStorage",
        bytes(),
        |resources| &mut resources.ephemeral_storage,
        "Disk for container layers, logs and emptyDir volumes. Pods that request more do not fit.",
    )
    .field("pods", pieces(), |resources| &mut resources.pods, "How many pods fit.")
    .field(
        "extended",
        map(pieces()).map(|mut amounts| {
            amounts.sort();
            amounts
        }),
        |resources| &mut resources.extended,
        "Extended resources by name, such as `nvidia.com/gpu: 8`. A machine is expected until its \
         node has them all.",
    )
    .kind()
    .map(|allocatable| Template {
        capacity: allocatable.clone(),
        allocatable,
        labels: Labels::default(),
        taints: Vec::new(),
    })
}
