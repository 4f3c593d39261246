//! The things a cluster is made of, as plain values: what adapters translate to and what a recording holds.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use super::{GroupOptions, HostPort, Labels, PodPreference, PodTerm, Preference, Spread};
use crate::policy::Percent;
use crate::quantity::{Money, Resources};

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// New pods stay away.
    #[default]
    NoSchedule,
    /// New pods prefer other nodes.
    PreferNoSchedule,
    /// New pods stay away and running ones are evicted.
    NoExecute,
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Effect::NoSchedule => "NoSchedule",
            Effect::PreferNoSchedule => "PreferNoSchedule",
            Effect::NoExecute => "NoExecute",
        })
    }
}

/// A mark on a node that keeps pods away unless they tolerate it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Taint {
    /// For example `node.kubernetes.io/not-ready`.
    pub key: Box<str>,
    /// Often empty.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub value: Box<str>,
    /// What it does.
    pub effect: Effect,
}

impl Taint {
    /// The instant that its value is, in unix seconds.
    pub fn instant(&self) -> Option<Timestamp> {
        Timestamp::from_second(self.value.parse().ok()?).ok()
    }
}

impl std::fmt::Display for Taint {
    /// `key=value:effect`, the form of `kubectl taint`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}:{}", self.key, self.effect)
        } else {
            write!(f, "{}={}:{}", self.key, self.value, self.effect)
        }
    }
}

/// Whether a node is ready to run pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Readiness {
    /// The Ready condition is True.
    #[default]
    Ready,
    /// The Ready condition is False, Unknown or missing.
    NotReady {
        /// Since when: the condition's last transition, or the node's creation when it never reported. None when the
        /// source does not say.
        since: Option<Timestamp>,
    },
}

/// A machine that has joined the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Node {
    /// Unique in the cluster.
    pub name: Arc<str>,
    /// What people call it, where its name is an ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// How the cloud names the machine, for example `aws:///us-east-1b/i-0abc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<Box<str>>,
    /// All labels.
    pub labels: Labels,
    /// All taints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
    /// Cordoned by somebody: takes no new pods.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unschedulable: bool,
    /// Whether it runs pods.
    pub readiness: Readiness,
    /// When the Node object was made. None sorts as oldest.
    pub created: Option<Timestamp>,
    /// What pods may use.
    pub allocatable: Resources,
    /// What the machine has, more than allocatable. Zero when unknown.
    pub capacity: Resources,
    /// The object is being deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleting: bool,
    /// Its host names and internal addresses, by which a cloud may know it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<Box<str>>,
    /// Somebody asked that this node is not removed, for example by `atlassian.com/no-delete`: the annotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_delete: Option<Box<str>>,
    /// The annotation `cluster-autoscaler.kubernetes.io/scale-down-disabled` is `true`: scale-down leaves the node alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub scale_down_disabled: bool,
    /// How busy its cpus are, where that is measured: the mean over all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<Percent>,
}

impl Node {
    /// The taint with this key, if the node has one.
    pub fn taint(&self, key: &str) -> Option<&Taint> {
        self.taints.iter().find(|taint| &*taint.key == key)
    }
}

/// How far a pod has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Not all containers have started; it may be bound to a node already.
    #[default]
    Pending,
    /// At least one container runs.
    Running,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
}

/// What a pod says about being evicted (the annotation `cluster-autoscaler.kubernetes.io/safe-to-evict`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Eviction {
    /// Nothing: the rules for such pods decide.
    #[default]
    Unsaid,
    /// `true`: whatever else the rules say of such pods.
    Safe,
    /// `false`: its node stays.
    Unsafe,
    /// `on-completion`: its node waits until it has ended by itself.
    OnCompletion,
}

/// Who keeps a pod, as far as removing a node is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PodKind {
    /// Ordinary work that has to run somewhere.
    #[default]
    Workload,
    /// One per node; goes with its node.
    DaemonSet,
    /// Started by the kubelet from a file; goes with its node.
    Static,
    /// The API server's picture of a static pod.
    Mirror,
}

/// One `nodeSelectorTerms` entry of a required node affinity: all of its expressions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeTerm {
    /// Expressions over node labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Expression>,
    /// Expressions over node fields (`metadata.name`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Expression>,
}

/// One requirement on a label or field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Expression {
    /// The label or field.
    pub key: Box<str>,
    /// How it is compared.
    pub operator: Operator,
    /// What it is compared with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Box<str>>,
}

/// How an [`Expression`] compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "Kubernetes' own words")]
pub enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
}

/// A pod's leave to run on tainted nodes. An empty key tolerates every key.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Toleration {
    /// Empty with `exists` tolerates every taint.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub key: Box<str>,
    /// Any value will do (operator Exists); otherwise the value must be equal.
    pub exists: bool,
    /// Compared unless `exists`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub value: Box<str>,
    /// None tolerates every effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// What equal pods share: all that decides where they can run and what they cost. Pods with equal specs are one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The pod's namespace.
    pub namespace: Arc<str>,
    /// Labels that other pods' rules may select, without those that are unique to each pod of a StatefulSet or Job.
    pub labels: Labels,
    /// What one pod asks for; `pods` is 1.
    pub requests: Resources,
    /// `spec.nodeSelector`.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub node_selector: Labels,
    /// Required node affinity: one of the terms must hold. Empty when there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_affinity: Vec<NodeTerm>,
    /// Whether `spec.affinity` has any of its three parts, preferred ones included.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_affinity: bool,
    /// Preferred node affinity: breaks ties and never keeps a pod away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_node_affinity: Vec<Preference>,
    /// `spec.tolerations`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Required affinity to other pods: all of the terms must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pod_affinity: Vec<PodTerm>,
    /// Required anti-affinity to other pods: none of the terms may hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pod_anti_affinity: Vec<PodTerm>,
    /// Preferred affinity to other pods: breaks ties and never keeps a pod away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_pod_affinity: Vec<PodPreference>,
    /// Preferred anti-affinity to other pods: breaks ties and never keeps a pod away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_pod_anti_affinity: Vec<PodPreference>,
    /// Topology spread constraints that keep a pod waiting (`DoNotSchedule`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<Spread>,
    /// Topology spread constraints that only break ties (`ScheduleAnyway`): domains with fewer pods are better.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_spread: Vec<Spread>,
    /// Ports of the node that the containers take, those of sidecars included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_ports: Vec<HostPort>,
    /// Names of the persistent volume claims that it mounts, those made for its ephemeral volumes included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Box<str>>,
    /// Names of its resource claims (dynamic resource allocation).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_claims: Vec<Box<str>>,
    /// Higher goes first.
    pub priority: i32,
    /// Who keeps it.
    pub kind: PodKind,
    /// Kind and name of the controller, for example `ReplicaSet/web-7c5d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<Box<str>>,
    /// What it says about being evicted.
    #[serde(skip_serializing_if = "is_default")]
    pub eviction: Eviction,
    /// The first of its volumes whose contents would be lost with the node: a `hostPath` or an `emptyDir` that is not in
    /// memory, unless the annotation `cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_storage: Option<Box<str>>,
    /// The annotation [`SPARE_COPIES`](crate::keys::SPARE_COPIES).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_copies: Option<Box<str>>,
}

/// A [`PodSpec`] that equal pods can share, with its hash worked out once.
#[derive(Clone)]
pub struct SharedSpec(Arc<(u64, PodSpec)>);

impl SharedSpec {
    /// Wraps a spec. Cloning the result is cheap.
    pub fn new(spec: PodSpec) -> Self {
        let mut hasher = FxHasher::default();
        spec.hash(&mut hasher);
        SharedSpec(Arc::new((hasher.finish(), spec)))
    }

    /// Whether somebody else has it too.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl std::fmt::Debug for SharedSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.1.fmt(f)
    }
}

impl Deref for SharedSpec {
    type Target = PodSpec;
    fn deref(&self) -> &PodSpec {
        &self.0.1
    }
}

impl PartialEq for SharedSpec {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for SharedSpec {}

impl Hash for SharedSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.0);
    }
}

impl PartialOrd for SharedSpec {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SharedSpec {
    /// By content, never by hash, so that the order means something to people and survives a change of hasher.
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.1.cmp(&other.0.1) }
    }
}

impl Default for SharedSpec {
    /// All defaults are one.
    fn default() -> Self {
        static DEFAULT: LazyLock<SharedSpec> = LazyLock::new(|| SharedSpec::new(PodSpec::default()));
        DEFAULT.clone()
    }
}

impl Serialize for SharedSpec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.1.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SharedSpec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PodSpec::deserialize(deserializer).map(SharedSpec::new)
    }
}

/// One pod.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pod {
    /// Unique in its namespace, which is in the spec.
    pub name: Box<str>,
    /// What it shares with equal pods.
    pub spec: SharedSpec,
    /// The node that it is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Box<str>>,
    /// How far it has come.
    pub phase: Phase,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// It is being deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleting: bool,
    /// It has scheduling gates: the scheduler does not look at it yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gated: bool,
    /// The numbers of the devices of its node of which it has all or a share, where the scheduler notes them on the pod; empty
    /// when it has none or nobody says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<u16>,
    /// The node on which the scheduler makes room for it by preemption (`status.nominatedNodeName`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominated: Option<Box<str>>,
    /// It runs and its Ready condition is not True: disruption budgets may count it as down already.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unready: bool,
    /// When its time to end is over, once it is being deleted (`metadata.deletionTimestamp`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_by: Option<Timestamp>,
}

impl Pod {
    /// Whether the pod has ended and holds nothing any more.
    pub fn ended(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }
}

/// What one new machine of a group will be like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Template {
    /// What pods may use.
    pub allocatable: Resources,
    /// What the machine has.
    pub capacity: Resources,
    /// Labels of the Node object.
    pub labels: Labels,
    /// Taints that stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
}

/// How a machine is doing in the eyes of its cloud.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InstanceState {
    /// Asked for, not running yet.
    Creating,
    /// Runs.
    #[default]
    Running,
    /// Goes.
    Deleting,
    /// The cloud could not make it; [`CloudGroup::failure`] says why. It counts in the size until it is deleted.
    Failed,
}

/// Why a cloud makes no machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LaunchError {
    /// It has none of the kind left.
    OutOfStock,
    /// It refuses for another reason, such as a quota.
    Refused,
}

impl std::fmt::Display for LaunchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LaunchError::OutOfStock => "the cloud is out of stock",
            LaunchError::Refused => "the cloud refused",
        })
    }
}

/// What a cloud said when it last could not make a machine for a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchFailure {
    /// When it tried.
    pub at: Timestamp,
    /// The kind of reason.
    pub error: LaunchError,
    /// In the cloud's own words.
    pub message: Box<str>,
}

/// One machine of a group, as its cloud sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Instance {
    /// Equal to the `provider_id` of the node that it becomes.
    pub provider_id: Box<str>,
    /// Its host names and internal addresses, where the cloud gives them: a node that has one of them is this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<Box<str>>,
    /// How it is doing.
    pub state: InstanceState,
    /// When it was launched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
}

/// A node group as its cloud sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CloudGroup {
    /// The name of the group in the policy.
    pub name: Arc<str>,
    /// How many machines the cloud tries to have.
    pub target: u32,
    /// The cloud's own lower limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// The cloud's own upper limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// The machines; None when the cloud does not list them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<Vec<Instance>>,
    /// The last time that it could not make a machine, as long as the cloud tells of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<LaunchFailure>,
    /// What a new machine will be like, when the cloud knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// What one machine costs in an hour, when the cloud says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Money>,
    /// How it is to be treated, as far as the cloud says so.
    #[serde(skip_serializing_if = "is_default")]
    pub options: GroupOptions,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
