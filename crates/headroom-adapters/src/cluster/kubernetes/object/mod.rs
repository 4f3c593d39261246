//! Kubernetes objects as the API writes them, as far as Headroom reads them.
//!
//! Every other field is skipped while reading, and texts point into what was read: a pod of 6 KB costs a few small
//! lists. As in the API, a field that is missing or null has its empty value.

mod cluster;
mod constraints;
mod disruption;
mod header;
mod node;
mod pod;
mod storage;
mod text;
mod workload;

use serde::{Deserialize, Deserializer};

pub use cluster::{DaemonSet, DaemonSetSpec, Namespace};
pub use constraints::{
    Affinity, LabelSelector, NodeAffinity, NodeSelector, NodeSelectorTerm, PodAffinity, PodAffinityTerm,
    PreferredNodeTerm, PreferredPodTerm, Requirement, TopologySpreadConstraint,
};
pub use disruption::{PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus};
pub use header::Header;
pub use node::{Address, CsiDriver, CsiNode, CsiNodeSpec, DriverAllocatable, Node, NodeSpec, NodeStatus, Taint};
pub use pod::{
    ClaimSource, Container, ContainerPort, ContainerStatus, EmptyDir, Pod, PodResourceClaim, PodSpec, PodStatus,
    PodVolume, Resources, Toleration,
};
pub use storage::{
    ClaimReference, CsiSource, PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimSpec,
    PersistentVolumeSpec, PhaseStatus, StorageClass, TopologyRequirement, TopologySelectorTerm, VolumeNodeAffinity,
};
pub use text::{Map, Quantity, Text};
pub use workload::{
    CapacityBuffer, CapacityBufferSpec, NameReference, PodTemplate, ScalableReference, Workload, WorkloadSpec,
    WorkloadStatus,
};

/// `metadata` of every object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata<'a> {
    /// Unique for a kind in its namespace.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Empty for what has none.
    #[serde(borrow)]
    pub namespace: Text<'a>,
    /// All labels.
    #[serde(borrow)]
    pub labels: Map<'a, Text<'a>>,
    /// The few annotations that mean something to Headroom.
    #[serde(borrow, deserialize_with = "or_default")]
    pub annotations: Annotations<'a>,
    /// Who made it.
    #[serde(borrow, deserialize_with = "or_default")]
    pub owner_references: Vec<OwnerReference<'a>>,
    /// Counts the changes of the spec.
    pub generation: Option<i64>,
    /// RFC 3339.
    #[serde(borrow)]
    pub creation_timestamp: Option<Text<'a>>,
    /// RFC 3339, possibly in the future; there once deletion was asked for.
    #[serde(borrow)]
    pub deletion_timestamp: Option<Text<'a>>,
}

/// Annotations that change what Headroom does.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Annotations<'a> {
    /// On the API server's picture of a static pod.
    #[serde(borrow, rename = "kubernetes.io/config.mirror")]
    pub config_mirror: Option<Text<'a>>,
    /// Where the kubelet has a pod from: `file` for a static pod.
    #[serde(borrow, rename = "kubernetes.io/config.source")]
    pub config_source: Option<Text<'a>>,
    /// On a node that somebody wants to keep.
    #[serde(borrow, rename = "atlassian.com/no-delete")]
    pub no_delete: Option<Text<'a>>,
    /// On a node that scale-down leaves alone: `true`.
    #[serde(borrow, rename = "cluster-autoscaler.kubernetes.io/scale-down-disabled")]
    pub scale_down_disabled: Option<Text<'a>>,
    /// On a node that Headroom cordoned: the key of the taint that came with it (`headroom_core::keys::CORDONED`).
    #[serde(borrow, rename = "headroom.dev/cordoned")]
    pub cordoned: Option<Text<'a>>,
    /// On a pod: what it says about its eviction.
    #[serde(borrow, rename = "cluster-autoscaler.kubernetes.io/safe-to-evict")]
    pub safe_to_evict: Option<Text<'a>>,
    /// On a pod: names of volumes, with commas between them, whose contents may be lost.
    #[serde(borrow, rename = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes")]
    pub safe_to_evict_local_volumes: Option<Text<'a>>,
    /// On a pod or on what makes pods: for how many spare copies room is kept (`headroom_core::keys::SPARE_COPIES`).
    #[serde(borrow, rename = "headroom.dev/spare-copies")]
    pub spare_copies: Option<Text<'a>>,
    /// On a pod that goes with its node although no DaemonSet made it: `true`.
    #[serde(borrow, rename = "cluster-autoscaler.kubernetes.io/daemonset-pod")]
    pub daemon_set_pod: Option<Text<'a>>,
    /// On a claim that is completely bound to its volume.
    #[serde(borrow, rename = "pv.kubernetes.io/bind-completed")]
    pub bind_completed: Option<Text<'a>>,
    /// On a claim: the node that its volume is being made for.
    #[serde(borrow, rename = "volume.kubernetes.io/selected-node")]
    pub selected_node: Option<Text<'a>>,
    /// On a volume or claim: its class, from before there was a field for it. It wins over the field.
    #[serde(borrow, rename = "volume.beta.kubernetes.io/storage-class")]
    pub storage_class: Option<Text<'a>>,
}

/// One of `metadata.ownerReferences`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference<'a> {
    /// For example `ReplicaSet`.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// In the namespace of what it owns.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The one owner that manages the object.
    pub controller: Option<bool>,
}

/// One of `status.conditions`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition<'a> {
    /// For example `Ready`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// `True`, `False` or `Unknown`.
    #[serde(borrow)]
    pub status: Text<'a>,
    /// One word.
    #[serde(borrow)]
    pub reason: Text<'a>,
    /// RFC 3339.
    #[serde(borrow)]
    pub last_transition_time: Option<Text<'a>>,
    /// RFC 3339.
    #[serde(borrow)]
    pub last_heartbeat_time: Option<Text<'a>>,
}

/// The API treats null like a field that is not there.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
