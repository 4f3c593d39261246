//! What exists: nodes, pods and cloud groups at one instant, and how much of each kind is known.
//!
//! A [`Snapshot`] is made by [`Builder::apply`], one [`Change`] at a time. What can be derived from the cluster alone
//! is kept up to date there: classes of equal pods with their counts, kinds of nodes, and sums for each node.

mod builder;
mod coverage;
mod disruption;
mod export;
mod key;
mod kinds;
mod labels;
mod object;
mod of_nodes;
mod options;
mod roll;
mod rules;
mod same;
mod storage;
mod workload;

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::{Equivalent, IndexMap};
use jiff::Timestamp;
use rustc_hash::FxBuildHasher;

pub use builder::{Builder, Change};
pub use coverage::{Coverage, Kind};
pub use disruption::DisruptionBudget;
pub use key::ObjectKey;
pub use labels::Labels;
pub use object::{
    CloudGroup, Effect, Eviction, Expression, Instance, InstanceState, LaunchError, LaunchFailure, Node, NodeTerm,
    Operator, Phase, Pod, PodKind, PodSpec, Readiness, SharedSpec, Taint, Template, Toleration,
};
pub(crate) use of_nodes::OfNodes;
pub use options::GroupOptions;
pub use rules::{HostPort, LabelSelector, PodPreference, PodTerm, Preference, Protocol, Spread};
pub use storage::{AccessModes, AttachLimits, Claim, ClaimState, StorageClass, Volume};
pub use workload::{BufferLimits, CapacityBuffer, Workload};

use crate::quantity::Totals;
use crate::scheduling::HOSTNAME;
use kinds::NodeKinds;
use roll::{Listed, Roll};

/// A cluster at one instant. Iterating gives nodes by name, classes by content and pods by name, whatever order the
/// changes came in.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    nodes: IndexMap<Arc<str>, NodeEntry, FxBuildHasher>,
    node_order: BTreeMap<Arc<str>, u32>,
    node_kinds: NodeKinds,
    pods: IndexMap<PodKey, PodEntry, FxBuildHasher>,
    namespaces: BTreeMap<Arc<str>, u32>,
    classes: Vec<ClassEntry>,
    class_index: IndexMap<SharedSpec, u32, FxBuildHasher>,
    class_order: BTreeMap<SharedSpec, u32>,
    free_classes: Vec<u32>,
    groups: BTreeMap<Arc<str>, CloudGroup>,
    daemon_sets: BTreeMap<(Arc<str>, Box<str>), SharedSpec>,
    coverage: BTreeMap<Kind, Coverage>,
    /// By namespace and name, the node on which room is being made for a waiting pod.
    nominated: BTreeMap<Arc<str>, BTreeMap<Box<str>, Box<str>>>,
    /// Pods that say which devices of their node they have.
    devices: BTreeMap<Arc<str>, BTreeMap<Box<str>, DeviceNumbers>>,
    /// By namespace and name, when the time of a pod that is being deleted is over.
    ends_by: BTreeMap<Arc<str>, BTreeMap<Box<str>, Timestamp>>,
    namespace_labels: BTreeMap<Arc<str>, Labels>,
    /// By namespace and name.
    disruption_budgets: BTreeMap<Arc<str>, BTreeMap<Box<str>, DisruptionBudget>>,
    volumes: BTreeMap<Arc<str>, Volume>,
    /// By namespace and name.
    claims: BTreeMap<Arc<str>, BTreeMap<Box<str>, Claim>>,
    storage_classes: BTreeMap<Arc<str>, StorageClass>,
    attach_limits: BTreeMap<Arc<str>, AttachLimits>,
    /// By namespace and `Kind/name`.
    workloads: BTreeMap<Arc<str>, BTreeMap<Box<str>, Workload>>,
    /// By namespace and name.
    buffers: BTreeMap<Arc<str>, BTreeMap<Box<str>, CapacityBuffer>>,
}

/// Devices of a node by their numbers.
type DeviceNumbers = Box<[u16]>;

/// A class of equal pods. A class keeps its id for as long as it has pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub(crate) u32);

/// A node's own values and the sums over its pods. `node` is None while only pods bound to it have been seen, and apart
/// so that the sums, which change with each pod, lie close together.
#[derive(Clone, Debug, Default)]
struct NodeEntry {
    node: Option<Box<Node>>,
    /// The number of the node's kind.
    kind: u32,
    /// The node's hostname label is its name, as it nearly always is.
    is_own_host: bool,
    sums: NodeSums,
    pods: Roll,
}

/// Sums over the pods that are bound to one node and have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSums {
    /// All of them.
    pub used: Totals,
    /// Those of DaemonSets.
    pub daemon_sets: Totals,
    /// How many would be lost with the node: all but DaemonSet, static and mirror pods.
    pub blocking: u32,
}

/// Namespaces are numbered, so that a pod need not hold a string that thousands share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PodKey {
    namespace: u32,
    name: Box<str>,
}

#[derive(Hash)]
struct PodKeyRef<'a> {
    namespace: u32,
    name: &'a str,
}

impl Equivalent<PodKey> for PodKeyRef<'_> {
    fn equivalent(&self, key: &PodKey) -> bool {
        self.namespace == key.namespace && *self.name == *key.name
    }
}

#[derive(Clone, Copy, Debug)]
struct PodEntry {
    class: u32,
    place: Place,
    /// Where the pod stands in the list of its node, or in the pending list of its class.
    at: u32,
    phase: Phase,
    deleting: bool,
    unready: bool,
    created: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Node(u32),
    /// Waits for a node.
    Pending,
    /// Has no node and does not wait for one: scheduling gates, or being deleted.
    Aside,
}

#[derive(Clone, Debug, Default)]
struct ClassEntry {
    spec: SharedSpec,
    namespace: u32,
    bound: u32,
    aside: u32,
    pending: Roll,
}

/// A node together with what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    /// The node itself.
    pub node: &'a Node,
    /// Sums over its pods.
    pub sums: &'a NodeSums,
    /// The number of its kind: nodes of one kind have the same labels but for the hostname, the same taints, and are all
    /// cordoned or not.
    pub(crate) kind: u32,
    /// Its number among the nodes of the snapshot.
    slot: u32,
    is_own_host: bool,
    snapshot: &'a Snapshot,
    pods: &'a Roll,
}

impl<'a> NodeView<'a> {
    /// The value of its hostname label.
    pub(crate) fn hostname(&self) -> Option<&'a str> {
        if self.is_own_host { Some(&self.node.name) } else { self.node.labels.get(HOSTNAME) }
    }

    /// Whether any of its pods is being deleted.
    pub(crate) fn has_deleting(&self) -> bool {
        self.pods.has_deleting()
    }

    /// Its pods by namespace and name, ended ones left out.
    pub fn pods(&self) -> Vec<PodView<'a>> {
        self.snapshot.sorted_pods(self.pods.pods())
    }

    /// Its pods in no meaningful order.
    pub(crate) fn pods_unsorted(&self) -> impl Iterator<Item = PodView<'a>> {
        self.pods_where(|_, _| true)
    }

    /// Those of its pods that are wanted by their class and by whether they are being deleted, in no meaningful order.
    /// Others are not looked at, which matters where nodes have many pods.
    pub(crate) fn pods_where(&self, wanted: impl Fn(ClassId, bool) -> bool) -> impl Iterator<Item = PodView<'a>> {
        self.pods.wanted(wanted).filter_map(|pod| self.snapshot.pod_at(pod))
    }

    /// The class of each of its pods and whether the pod is being deleted, in no meaningful order.
    pub(crate) fn classes(&self) -> impl Iterator<Item = (ClassId, bool)> {
        self.pods.classes()
    }

    /// The class of each of its pods and which devices of the node the pod has, as far as it says, in no meaningful order.
    pub(crate) fn devices(&self) -> impl Iterator<Item = (ClassId, &'a [u16])> {
        let snapshot = self.snapshot;
        let pod = move |pod: u32| snapshot.pods.get_index(pod as usize);
        self.pods.pods().filter_map(pod).map(move |(key, entry)| {
            let spec = snapshot.classes.get(entry.class as usize).map(|class| &class.spec);
            let of_namespace = spec.and_then(|spec| snapshot.devices.get(&spec.namespace));
            let devices = of_namespace.and_then(|pods| pods.get(&key.name)).map_or(&[][..], |devices| devices);
            (ClassId(entry.class), devices)
        })
    }
}

/// A pod together with its class.
#[derive(Clone, Copy, Debug)]
pub struct PodView<'a> {
    /// Unique in its namespace.
    pub name: &'a str,
    /// What it shares with equal pods, its namespace included.
    pub spec: &'a PodSpec,
    /// The class of pods that are equal to it.
    pub class: ClassId,
    /// The node that it is bound to.
    pub node: Option<&'a str>,
    /// How far it has come.
    pub phase: Phase,
    /// It is being deleted.
    pub deleting: bool,
    /// It has no node and waits for one.
    pub pending: bool,
    /// The node on which room is being made for it by preemption.
    pub nominated: Option<&'a str>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// It runs and is not ready.
    pub unready: bool,
    /// When its time to end is over, once it is being deleted.
    pub ends_by: Option<Timestamp>,
}

impl PodView<'_> {
    /// `namespace/name`, as people and `kubectl` write it.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.spec.namespace, self.name)
    }

    /// Whether the pod would be lost with its node: DaemonSet, static and mirror pods belong to it.
    pub fn blocks_removal(&self) -> bool {
        self.spec.kind == PodKind::Workload
    }
}

/// Equal pods and how many there are. Ended pods are not counted.
#[derive(Clone, Copy, Debug)]
pub struct ClassView<'a> {
    /// Stays the same for as long as there is such a pod.
    pub id: ClassId,
    /// What they share.
    pub spec: &'a PodSpec,
    /// Bound to a node.
    pub bound: u32,
    /// Without a node and not waiting for one: gated or being deleted.
    pub aside: u32,
    snapshot: &'a Snapshot,
    pending: &'a Roll,
}

impl<'a> ClassView<'a> {
    /// How many wait for a node.
    pub fn pending(&self) -> u32 {
        u32::try_from(self.pending.len()).unwrap_or(u32::MAX)
    }

    /// The first of the waiting pods by name.
    pub fn first_pending(&self) -> Option<PodView<'a>> {
        let names = self.pending.pods().filter_map(|pod| Some((self.snapshot.pod_name(pod)?, pod)));
        self.snapshot.pod_at(names.min()?.1)
    }

    /// The waiting pods by name.
    pub fn pending_pods(&self) -> Vec<PodView<'a>> {
        self.snapshot.sorted_pods(self.pending.pods())
    }
}

impl Snapshot {
    /// The nodes by name.
    pub fn nodes(&self) -> impl Iterator<Item = NodeView<'_>> {
        self.node_order.values().filter_map(|index| {
            let (_, entry) = self.nodes.get_index(*index as usize)?;
            self.view(*index, entry)
        })
    }

    /// The node called `name`.
    pub fn node(&self, name: &str) -> Option<NodeView<'_>> {
        let (slot, _, entry) = self.nodes.get_full(name)?;
        self.view(u32::try_from(slot).ok()?, entry)
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.node_order.len()
    }

    /// One more than the largest number of a kind of nodes.
    pub(crate) fn node_kind_slots(&self) -> usize {
        self.node_kinds.slots()
    }

    /// The classes of equal pods, by content.
    pub fn classes(&self) -> impl Iterator<Item = ClassView<'_>> {
        self.class_order.values().filter_map(|index| {
            let entry = self.classes.get(*index as usize)?;
            let ClassEntry { spec, bound, aside, pending, .. } = entry;
            Some(ClassView { id: ClassId(*index), spec, bound: *bound, aside: *aside, snapshot: self, pending })
        })
    }

    /// What the pods of a class share.
    pub(crate) fn spec(&self, class: ClassId) -> Option<&SharedSpec> {
        self.classes.get(class.0 as usize).map(|entry| &entry.spec)
    }

    /// The class of pods with this spec, when there are any.
    pub(crate) fn class_of(&self, spec: &SharedSpec) -> Option<ClassId> {
        self.class_index.get(spec).map(|class| ClassId(*class))
    }

    /// One more than the largest class id in use.
    pub(crate) fn class_slots(&self) -> usize {
        self.classes.len()
    }

    /// The pod `name` in `namespace`, unless it has ended.
    pub fn pod(&self, namespace: &str, name: &str) -> Option<PodView<'_>> {
        self.pod_at(u32::try_from(self.pod_index(namespace, name)?).ok()?)
    }

    /// Every pod called `name`, by namespace.
    pub fn pods_named(&self, name: &str) -> Vec<PodView<'_>> {
        let named = self.pods.keys().enumerate().filter(|(_, key)| &*key.name == name);
        self.sorted_pods(named.filter_map(|(index, _)| u32::try_from(index).ok()))
    }

    /// How many pods there are that have not ended.
    pub fn pod_count(&self) -> usize {
        self.pods.len()
    }

    /// The group called `name` as its cloud sees it; None when no cloud was asked.
    pub fn group(&self, name: &str) -> Option<&CloudGroup> {
        self.groups.get(name)
    }

    /// Waiting pods for which room is being made on a node, by namespace and name, with that node's name.
    pub fn nominated(&self) -> impl Iterator<Item = (PodView<'_>, &str)> {
        let all = self.nominated.iter().flat_map(|(namespace, pods)| pods.iter().map(move |pod| (namespace, pod)));
        all.filter_map(|(namespace, (name, node))| Some((self.pod(namespace, name)?, &**node)))
    }

    /// The labels of the namespace called `name`, when they are known.
    pub fn namespace(&self, name: &str) -> Option<&Labels> {
        self.namespace_labels.get(name)
    }

    /// The disruption budgets by namespace and name.
    pub fn disruption_budgets(&self) -> impl Iterator<Item = &DisruptionBudget> {
        self.disruption_budgets.values().flat_map(BTreeMap::values)
    }

    /// The claim `name` in `namespace`.
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&Claim> {
        self.claims.get(namespace)?.get(name)
    }

    /// The persistent volume called `name`.
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        self.volumes.get(name)
    }

    /// The persistent volumes by name.
    pub fn volumes(&self) -> impl Iterator<Item = &Volume> {
        self.volumes.values()
    }

    /// The storage class called `name`.
    pub fn storage_class(&self, name: &str) -> Option<&StorageClass> {
        self.storage_classes.get(name)
    }

    /// How many volumes of each driver the node called `node` can have attached; empty when nothing is known.
    pub fn attach_limits(&self, node: &str) -> &[(Arc<str>, u32)] {
        self.attach_limits.get(node).map_or(&[], |known| &known.limits)
    }

    /// What the pods of each DaemonSet are like, by namespace and name.
    pub fn daemon_sets(&self) -> impl Iterator<Item = &SharedSpec> {
        self.daemon_sets.values()
    }

    /// The workloads by namespace, kind and name.
    pub fn workloads(&self) -> impl Iterator<Item = &Workload> {
        self.workloads.values().flat_map(BTreeMap::values)
    }

    /// The workload in `namespace` with this reference (`Kind/name`).
    pub fn workload(&self, namespace: &str, reference: &str) -> Option<&Workload> {
        self.workloads.get(namespace)?.get(reference)
    }

    /// The capacity buffers by namespace and name.
    pub fn capacity_buffers(&self) -> impl Iterator<Item = &CapacityBuffer> {
        self.buffers.values().flat_map(BTreeMap::values)
    }

    /// How much is known of a kind. A new snapshot has complete nodes and pods and nothing else.
    pub fn coverage(&self, kind: Kind) -> Coverage {
        let unsaid = if matches!(kind, Kind::Nodes | Kind::Pods) { Coverage::Complete } else { Coverage::Absent };
        self.coverage.get(&kind).copied().unwrap_or(unsaid)
    }

    fn pod_index(&self, namespace: &str, name: &str) -> Option<usize> {
        let namespace = *self.namespaces.get(namespace)?;
        self.pods.get_index_of(&PodKeyRef { namespace, name })
    }

    fn view<'a>(&'a self, slot: u32, entry: &'a NodeEntry) -> Option<NodeView<'a>> {
        let node = entry.node.as_deref()?;
        let NodeEntry { sums, kind, is_own_host, pods, .. } = entry;
        Some(NodeView { node, sums, kind: *kind, slot, is_own_host: *is_own_host, snapshot: self, pods })
    }

    fn pod_name(&self, index: u32) -> Option<&str> {
        self.pods.get_index(index as usize).map(|(key, _)| &*key.name)
    }

    fn pod_at(&self, index: u32) -> Option<PodView<'_>> {
        let (key, entry) = self.pods.get_index(index as usize)?;
        let class = self.classes.get(entry.class as usize)?;
        let node = match entry.place {
            Place::Node(at) => self.nodes.get_index(at as usize).map(|(name, _)| &**name),
            Place::Pending | Place::Aside => None,
        };
        Some(PodView {
            name: &key.name,
            spec: &class.spec,
            class: ClassId(entry.class),
            node,
            phase: entry.phase,
            deleting: entry.deleting,
            pending: entry.place == Place::Pending,
            nominated: self
                .nominated
                .get(&class.spec.namespace)
                .and_then(|pods| pods.get(&key.name))
                .map(|node| &**node),
            created: entry.created,
            unready: entry.unready,
            ends_by: self.ends_by.get(&class.spec.namespace).and_then(|pods| pods.get(&key.name)).copied(),
        })
    }

    fn sorted_pods(&self, indices: impl Iterator<Item = u32>) -> Vec<PodView<'_>> {
        let mut pods: Vec<_> = indices.filter_map(|index| self.pod_at(index)).collect();
        pods.sort_by(|a, b| (&a.spec.namespace, a.name).cmp(&(&b.spec.namespace, b.name)));
        pods
    }
}
