//! Pods.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Affinity, Condition, Map, Metadata, Quantity, Text, TopologySpreadConstraint, or_default};

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
    /// How it is spread over zones, hosts and the like.
    #[serde(borrow, deserialize_with = "or_default")]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint<'a>>,
    /// It has the network of its node, so that each of its ports is one of the node's.
    pub host_network: Option<bool>,
    /// All volumes; few kinds of them matter.
    #[serde(borrow, deserialize_with = "or_default")]
    pub volumes: Vec<PodVolume<'a>>,
    /// Devices that it asks for.
    #[serde(borrow, deserialize_with = "or_default")]
    pub resource_claims: Vec<PodResourceClaim<'a>>,
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
    /// Where it listens.
    #[serde(borrow, deserialize_with = "or_default")]
    pub ports: Vec<ContainerPort<'a>>,
}

/// One of a container's `ports`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort<'a> {
    /// In the pod.
    pub container_port: Option<i64>,
    /// On the node; none or 0 when it is not open there.
    pub host_port: Option<i64>,
    /// The node's address; empty for every address.
    #[serde(borrow, rename = "hostIP")]
    pub host_ip: Text<'a>,
    /// `TCP` (also when empty), `UDP` or `SCTP`.
    #[serde(borrow)]
    pub protocol: Text<'a>,
}

/// One of `spec.volumes`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodVolume<'a> {
    /// Unique in its pod.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// A claim that exists by itself.
    #[serde(borrow)]
    pub persistent_volume_claim: Option<ClaimSource<'a>>,
    /// A claim that is made for the pod and called after both.
    pub ephemeral: Option<IgnoredAny>,
    /// An empty folder that goes with the pod.
    #[serde(borrow)]
    pub empty_dir: Option<EmptyDir<'a>>,
    /// A folder of the node.
    pub host_path: Option<IgnoredAny>,
    /// A disk without a claim.
    pub aws_elastic_block_store: Option<IgnoredAny>,
    /// A disk without a claim.
    pub azure_disk: Option<IgnoredAny>,
    /// A disk without a claim.
    pub cinder: Option<IgnoredAny>,
    /// A disk without a claim.
    pub gce_persistent_disk: Option<IgnoredAny>,
    /// A disk without a claim.
    pub iscsi: Option<IgnoredAny>,
    /// A disk without a claim.
    pub rbd: Option<IgnoredAny>,
    /// A disk without a claim.
    pub vsphere_volume: Option<IgnoredAny>,
}

/// `emptyDir` of a pod's volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct EmptyDir<'a> {
    /// `Memory`, or empty for the node's disk.
    #[serde(borrow)]
    pub medium: Text<'a>,
}

/// `persistentVolumeClaim` of a pod's volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimSource<'a> {
    /// In the pod's namespace.
    #[serde(borrow)]
    pub claim_name: Text<'a>,
}

/// One of `spec.resourceClaims`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodResourceClaim<'a> {
    /// Unique in its pod; containers name it.
    #[serde(borrow)]
    pub name: Text<'a>,
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
    /// The node on which the scheduler makes room for it.
    #[serde(borrow)]
    pub nominated_node_name: Option<Text<'a>>,
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
