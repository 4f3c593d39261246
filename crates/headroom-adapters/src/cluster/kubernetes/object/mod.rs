//! Kubernetes objects as the API writes them, as far as Headroom reads them.
//!
//! Every other field is skipped while reading, and texts point into what was read: a pod of 6 KB costs a few small
//! lists. As in the API, a field that is missing or null has its empty value.

mod text;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

pub use text::{Map, Quantity, Text};

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

/// A node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node<'a> {
    /// Name, labels and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What is wanted of it.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: NodeSpec<'a>,
    /// How it is.
    #[serde(borrow, deserialize_with = "or_default")]
    pub status: NodeStatus<'a>,
}

/// `spec` of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec<'a> {
    /// How the cloud names the machine.
    #[serde(borrow, rename = "providerID")]
    pub provider_id: Option<Text<'a>>,
    /// All taints.
    #[serde(borrow, deserialize_with = "or_default")]
    pub taints: Vec<Taint<'a>>,
    /// Cordoned.
    pub unschedulable: Option<bool>,
}

/// One of a node's `spec.taints`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Taint<'a> {
    /// What tolerations name.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// Often empty.
    #[serde(borrow)]
    pub value: Text<'a>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    #[serde(borrow)]
    pub effect: Text<'a>,
}

/// `status` of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeStatus<'a> {
    /// What pods may use.
    #[serde(borrow)]
    pub allocatable: Map<'a, Quantity<'a>>,
    /// What the machine has.
    #[serde(borrow)]
    pub capacity: Map<'a, Quantity<'a>>,
    /// Ready and others.
    #[serde(borrow, deserialize_with = "or_default")]
    pub conditions: Vec<Condition<'a>>,
    /// Host names and addresses.
    #[serde(borrow, deserialize_with = "or_default")]
    pub addresses: Vec<Address<'a>>,
}

/// One of a node's `status.addresses`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Address<'a> {
    /// For example `InternalIP`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// A name or an address.
    #[serde(borrow)]
    pub address: Text<'a>,
}

/// A pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Pod<'a> {
    /// Name, labels and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What is wanted of it.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: PodSpec<'a>,
    /// How it is.
    #[serde(borrow, deserialize_with = "or_default")]
    pub status: PodStatus<'a>,
}

/// `spec` of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec<'a> {
    /// Where it is bound.
    #[serde(borrow)]
    pub node_name: Option<Text<'a>>,
    /// Labels that its node must have.
    #[serde(borrow)]
    pub node_selector: Map<'a, Text<'a>>,
    /// Where it must or would rather run.
    #[serde(borrow, deserialize_with = "or_default")]
    pub affinity: Affinity<'a>,
    /// Taints that it bears.
    #[serde(borrow, deserialize_with = "or_default")]
    pub tolerations: Vec<Toleration<'a>>,
    /// Higher goes first.
    pub priority: Option<i32>,
    /// They run together.
    #[serde(borrow, deserialize_with = "or_default")]
    pub containers: Vec<Container<'a>>,
    /// They run one after the other before the containers start; restartable ones keep running.
    #[serde(borrow, deserialize_with = "or_default")]
    pub init_containers: Vec<Container<'a>>,
    /// What its runtime class costs on top.
    #[serde(borrow)]
    pub overhead: Map<'a, Quantity<'a>>,
    /// Requests and limits of the pod as a whole.
    #[serde(borrow, deserialize_with = "or_default")]
    pub resources: Resources<'a>,
    /// As long as there is one, the scheduler does not look at the pod.
    #[serde(deserialize_with = "or_default")]
    pub scheduling_gates: Vec<IgnoredAny>,
}

/// A container as it is wanted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container<'a> {
    /// Unique in its pod.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// What it asks for.
    #[serde(borrow, deserialize_with = "or_default")]
    pub resources: Resources<'a>,
    /// `Always` makes an init container restartable.
    #[serde(borrow)]
    pub restart_policy: Text<'a>,
}

/// Requests and limits.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resources<'a> {
    /// What is set aside.
    #[serde(borrow)]
    pub requests: Map<'a, Quantity<'a>>,
    /// What is not exceeded.
    #[serde(borrow)]
    pub limits: Map<'a, Quantity<'a>>,
}

/// `spec.affinity`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity<'a> {
    /// To nodes.
    #[serde(borrow)]
    pub node_affinity: Option<NodeAffinity<'a>>,
    /// To other pods.
    pub pod_affinity: Option<IgnoredAny>,
    /// Away from other pods.
    pub pod_anti_affinity: Option<IgnoredAny>,
}

/// `spec.affinity.nodeAffinity`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeAffinity<'a> {
    /// Where the pod must run.
    #[serde(borrow, rename = "requiredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    pub required: NodeSelector<'a>,
}

/// A required node affinity.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector<'a> {
    /// One of them must hold.
    #[serde(borrow, deserialize_with = "or_default")]
    pub node_selector_terms: Vec<NodeSelectorTerm<'a>>,
}

/// One of `nodeSelectorTerms`: all of its expressions must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm<'a> {
    /// On labels.
    #[serde(borrow, deserialize_with = "or_default")]
    pub match_expressions: Vec<Requirement<'a>>,
    /// On fields.
    #[serde(borrow, deserialize_with = "or_default")]
    pub match_fields: Vec<Requirement<'a>>,
}

/// One expression of a node selector term.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Requirement<'a> {
    /// The label or field.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`.
    #[serde(borrow)]
    pub operator: Text<'a>,
    /// What the value is compared with.
    #[serde(borrow, deserialize_with = "or_default")]
    pub values: Vec<Text<'a>>,
}

/// One of `spec.tolerations`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Toleration<'a> {
    /// Empty with `Exists` tolerates every taint.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// `Equal` (also when empty) or `Exists`.
    #[serde(borrow)]
    pub operator: Text<'a>,
    /// Compared by `Equal`.
    #[serde(borrow)]
    pub value: Text<'a>,
    /// Empty for every effect.
    #[serde(borrow)]
    pub effect: Text<'a>,
}

/// `status` of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus<'a> {
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    #[serde(borrow)]
    pub phase: Text<'a>,
    /// PodScheduled, PodResizePending and others.
    #[serde(borrow, deserialize_with = "or_default")]
    pub conditions: Vec<Condition<'a>>,
    /// How the containers are.
    #[serde(borrow, deserialize_with = "or_default")]
    pub container_statuses: Vec<ContainerStatus<'a>>,
    /// How the init containers are.
    #[serde(borrow, deserialize_with = "or_default")]
    pub init_container_statuses: Vec<ContainerStatus<'a>>,
    /// What the node has set aside for the pod as a whole.
    #[serde(borrow)]
    pub allocated_resources: Map<'a, Quantity<'a>>,
    /// What the pod as a whole runs with.
    #[serde(borrow, deserialize_with = "or_default")]
    pub resources: Resources<'a>,
    /// How far a resize has come, up to Kubernetes 1.32; later versions have conditions for it.
    #[serde(borrow)]
    pub resize: Text<'a>,
}

/// A container as it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus<'a> {
    /// The container.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// What the node has set aside for it.
    #[serde(borrow)]
    pub allocated_resources: Map<'a, Quantity<'a>>,
    /// What it runs with.
    #[serde(borrow, deserialize_with = "or_default")]
    pub resources: Resources<'a>,
}

/// The API treats null like a field that is not there.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
