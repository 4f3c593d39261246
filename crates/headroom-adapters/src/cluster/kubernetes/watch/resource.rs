//! Which resources of the API are watched.

use std::sync::Arc;

use headroom_core::snapshot::{Kind, ObjectKey};

use crate::cluster::kubernetes::object::Header;

/// A resource of the API.
#[derive(Debug)]
pub(super) struct Resource {
    /// What the API calls one of its objects (`Pod`).
    pub(super) object: &'static str,
    /// What it is a part of: the kind is known once all of its resources are.
    pub(super) kind: Kind,
    /// The kind of its objects in a snapshot.
    pub(super) stored: Kind,
    /// Group and version as in a path, for example `apis/apps/v1`.
    pub(super) group: &'static str,
    /// Its name in paths and in roles.
    pub(super) plural: &'static str,
    /// Which of its objects matter, for the API server to leave out the others.
    pub(super) fields: Option<&'static str>,
}

/// What every cluster has.
pub(super) static BUILT_IN: [Resource; 15] = [
    of("Node", Kind::Nodes, "api/v1", "nodes"),
    Resource {
        // Pods that have ended hold nothing.
        fields: Some("status.phase!=Succeeded,status.phase!=Failed"),
        ..of("Pod", Kind::Pods, "api/v1", "pods")
    },
    of("PodDisruptionBudget", Kind::PodDisruptionBudgets, "apis/policy/v1", "poddisruptionbudgets"),
    of("Namespace", Kind::Namespaces, "api/v1", "namespaces"),
    of("DaemonSet", Kind::DaemonSets, "apis/apps/v1", "daemonsets"),
    of("Deployment", Kind::Workloads, "apis/apps/v1", "deployments"),
    of("ReplicaSet", Kind::Workloads, "apis/apps/v1", "replicasets"),
    of("StatefulSet", Kind::Workloads, "apis/apps/v1", "statefulsets"),
    of("Job", Kind::Workloads, "apis/batch/v1", "jobs"),
    of("ReplicationController", Kind::Workloads, "api/v1", "replicationcontrollers"),
    of("PersistentVolume", Kind::PersistentVolumes, "api/v1", "persistentvolumes"),
    of("PersistentVolumeClaim", Kind::PersistentVolumeClaims, "api/v1", "persistentvolumeclaims"),
    of("StorageClass", Kind::StorageClasses, "apis/storage.k8s.io/v1", "storageclasses"),
    of("CSINode", Kind::CsiNodes, "apis/storage.k8s.io/v1", "csinodes"),
    of("PriorityClass", Kind::PriorityClasses, "apis/scheduling.k8s.io/v1", "priorityclasses"),
];

/// Where capacity buffers are found, the newest version first.
pub(super) static BUFFERS: [Resource; 2] = [
    of("CapacityBuffer", Kind::CapacityBuffers, "apis/autoscaling.x-k8s.io/v1beta1", "capacitybuffers"),
    of("CapacityBuffer", Kind::CapacityBuffers, "apis/autoscaling.x-k8s.io/v1alpha1", "capacitybuffers"),
];

/// What capacity buffers refer to, and nothing else that matters does.
pub(super) static POD_TEMPLATES: Resource =
    Resource { stored: Kind::Workloads, ..of("PodTemplate", Kind::CapacityBuffers, "api/v1", "podtemplates") };

const fn of(object: &'static str, kind: Kind, group: &'static str, plural: &'static str) -> Resource {
    Resource { object, kind, stored: kind, group, plural, fields: None }
}

impl Resource {
    /// Its API group, as roles name it: empty for the core group.
    pub(super) fn api_group(&self) -> &'static str {
        self.group.strip_prefix("apis/").and_then(|group| group.split('/').next()).unwrap_or_default()
    }

    /// Which object of a snapshot it is.
    pub(super) fn key(&self, header: &Header<'_>) -> ObjectKey {
        let (name, namespace) = (header.name(), header.namespace());
        let name = if self.stored == Kind::Workloads { format!("{}/{name}", self.object).into() } else { name.into() };
        ObjectKey { kind: self.stored, namespace: Arc::from(namespace), name }
    }

    /// Whether this is one of its objects.
    pub(super) fn owns(&self, key: &ObjectKey) -> bool {
        let is_of = |name: &str| name.split_once('/').is_some_and(|(object, _)| object == self.object);
        key.kind == self.stored && (self.stored != Kind::Workloads || is_of(&key.name))
    }
}
