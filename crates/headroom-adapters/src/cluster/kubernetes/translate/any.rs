//! Objects of any kind: the one list of the kinds that Headroom reads.

use headroom_core::snapshot::Change;
use serde::Deserialize;

use super::{
    Malformed, Specs, Translated, attach_limits, capacity_buffer, claim, daemon_set, disruption_budget, namespace,
    node, pod, pod_template, storage_class, volume, workload,
};
use crate::cluster::kubernetes::object::{
    CapacityBuffer, CsiNode, DaemonSet, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod,
    PodDisruptionBudget, PodTemplate, StorageClass, Workload,
};

/// What an object can be read from.
pub trait Source {
    /// Why it cannot be read or translated.
    type Fault: From<Malformed>;

    /// Reads the object.
    fn read<'s, T: Deserialize<'s>>(&'s self) -> Result<T, Self::Fault>;
}

/// Reads and translates an object of this kind (`Pod`). None when it means nothing to Headroom: it is of another kind,
/// or of another group with a kind of the same name.
pub fn object<S: Source>(kind: &str, source: &S, specs: &mut Specs) -> Result<Option<Translated<Change>>, S::Fault> {
    let translated = match kind {
        "Node" => node(&source.read::<Node<'_>>()?).map(|it| it.map(|node| Change::Node(Box::new(node)))),
        "Pod" => pod(&source.read::<Pod<'_>>()?, specs).map(|it| it.map(Change::Pod)),
        "Deployment" | "ReplicaSet" | "StatefulSet" | "Job" | "ReplicationController" => {
            workload(kind, &source.read::<Workload<'_>>()?, specs)
        }
        "PodTemplate" => pod_template(&source.read::<PodTemplate<'_>>()?, specs),
        "CapacityBuffer" => capacity_buffer(&source.read::<CapacityBuffer<'_>>()?),
        "DaemonSet" => daemon_set(&source.read::<DaemonSet<'_>>()?, specs),
        "Namespace" => namespace(&source.read::<Namespace<'_>>()?),
        "PersistentVolume" => volume(&source.read::<PersistentVolume<'_>>()?),
        "PersistentVolumeClaim" => claim(&source.read::<PersistentVolumeClaim<'_>>()?),
        "PodDisruptionBudget" => disruption_budget(&source.read::<PodDisruptionBudget<'_>>()?, specs),
        "StorageClass" => storage_class(&source.read::<StorageClass<'_>>()?),
        "CSINode" => attach_limits(&source.read::<CsiNode<'_>>()?),
        _ => return Ok(None),
    };
    match translated {
        Ok(translated) => Ok(Some(translated)),
        Err(Malformed::OtherGroup { .. }) => Ok(None),
        Err(malformed) => Err(malformed.into()),
    }
}
