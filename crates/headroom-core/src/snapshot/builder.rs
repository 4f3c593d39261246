//! Applies changes to a snapshot and keeps what can be derived from the cluster alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    AttachLimits, CapacityBuffer, Claim, ClassEntry, CloudGroup, Coverage, DisruptionBudget, Kind, Labels, Listed,
    Node, Place, Pod, PodEntry, PodKey, PodKind, Roll, SharedSpec, Snapshot, StorageClass, Volume, Workload,
};
use crate::scheduling::HOSTNAME;

/// One change of the cluster. Pods are the most by far, so the other large values are boxed. Applying the same change again changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// A node appeared or changed.
    Node(Box<Node>),
    /// The node with this name is gone.
    NodeGone(Arc<str>),
    /// A pod appeared or changed. One that has ended is forgotten, since it holds nothing.
    Pod(Pod),
    /// A pod is gone.
    PodGone {
        /// Its namespace.
        namespace: Arc<str>,
        /// Its name.
        name: Box<str>,
    },
    /// A cloud group was read.
    Group(Box<CloudGroup>),
    /// The cloud no longer has this group.
    GroupGone(Arc<str>),
    /// A namespace appeared or changed.
    Namespace {
        /// Its name.
        name: Arc<str>,
        /// Its labels.
        labels: Labels,
    },
    /// The namespace with this name is gone.
    NamespaceGone(Arc<str>),
    /// A disruption budget appeared or changed.
    DisruptionBudget(Box<DisruptionBudget>),
    /// A disruption budget is gone.
    DisruptionBudgetGone {
        /// Its namespace.
        namespace: Arc<str>,
        /// Its name.
        name: Box<str>,
    },
    /// A persistent volume appeared or changed.
    Volume(Box<Volume>),
    /// The persistent volume with this name is gone.
    VolumeGone(Arc<str>),
    /// A persistent volume claim appeared or changed.
    Claim(Box<Claim>),
    /// A persistent volume claim is gone.
    ClaimGone {
        /// Its namespace.
        namespace: Arc<str>,
        /// Its name.
        name: Box<str>,
    },
    /// A storage class appeared or changed.
    StorageClass(StorageClass),
    /// The storage class with this name is gone.
    StorageClassGone(Arc<str>),
    /// How many volumes a node can have attached became known or changed.
    AttachLimits(AttachLimits),
    /// It is not known any more for the node with this name.
    AttachLimitsGone(Arc<str>),
    /// A DaemonSet appeared or changed: what its pods are like.
    DaemonSet {
        /// Its name; the namespace is in the spec.
        name: Box<str>,
        /// What its pods share.
        spec: SharedSpec,
    },
    /// A DaemonSet is gone.
    DaemonSetGone {
        /// Its namespace.
        namespace: Arc<str>,
        /// Its name.
        name: Box<str>,
    },
    /// Something that makes pods appeared or changed.
    Workload(Box<Workload>),
    /// Something that makes pods is gone.
    WorkloadGone {
        /// Its namespace.
        namespace: Arc<str>,
        /// `Kind/name`.
        reference: Box<str>,
    },
    /// A capacity buffer appeared or changed.
    CapacityBuffer(Box<CapacityBuffer>),
    /// A capacity buffer is gone.
    CapacityBufferGone {
        /// Its namespace.
        namespace: Arc<str>,
        /// Its name.
        name: Box<str>,
    },
    /// How much of a kind is known.
    Coverage(Kind, Coverage),
}

/// Makes a [`Snapshot`] from changes, in any order: a pod may come before its node.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    snapshot: Snapshot,
}

impl Builder {
    /// An empty cluster whose nodes and pods are completely known.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Makes room for this many nodes and pods at once.
    pub fn with_capacity(nodes: usize, pods: usize) -> Self {
        let mut builder = Builder::default();
        builder.snapshot.nodes.reserve(nodes);
        builder.snapshot.pods.reserve(pods);
        builder
    }

    /// The cluster as it is after the changes so far.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Takes in one change.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Node(node) => self.set_node(node),
            Change::NodeGone(name) => self.forget_node(&name),
            Change::Pod(pod) if pod.ended() => self.forget_pod(&pod.spec.namespace, &pod.name),
            Change::Pod(pod) => self.set_pod(pod),
            Change::PodGone { namespace, name } => self.forget_pod(&namespace, &name),
            Change::Group(group) => drop(self.snapshot.groups.insert(Arc::clone(&group.name), *group)),
            Change::GroupGone(name) => drop(self.snapshot.groups.remove(&name)),
            Change::Namespace { name, labels } => drop(self.snapshot.namespace_labels.insert(name, labels)),
            Change::NamespaceGone(name) => drop(self.snapshot.namespace_labels.remove(&name)),
            Change::DisruptionBudget(budget) => {
                let of_namespace = &mut self.snapshot.disruption_budgets;
                let of_namespace = of_namespace.entry(Arc::clone(&budget.namespace)).or_default();
                of_namespace.insert(budget.name.clone(), *budget);
            }
            Change::DisruptionBudgetGone { namespace, name } => {
                forget(&mut self.snapshot.disruption_budgets, &namespace, &name);
            }
            Change::Volume(volume) => drop(self.snapshot.volumes.insert(Arc::clone(&volume.name), *volume)),
            Change::VolumeGone(name) => drop(self.snapshot.volumes.remove(&name)),
            Change::Claim(claim) => {
                let of_namespace = self.snapshot.claims.entry(Arc::clone(&claim.namespace)).or_default();
                of_namespace.insert(claim.name.clone(), *claim);
            }
            Change::ClaimGone { namespace, name } => forget(&mut self.snapshot.claims, &namespace, &name),
            Change::StorageClass(class) => {
                drop(self.snapshot.storage_classes.insert(Arc::clone(&class.name), class));
            }
            Change::StorageClassGone(name) => drop(self.snapshot.storage_classes.remove(&name)),
            Change::AttachLimits(limits) => {
                drop(self.snapshot.attach_limits.insert(Arc::clone(&limits.node), limits));
            }
            Change::AttachLimitsGone(node) => drop(self.snapshot.attach_limits.remove(&node)),
            Change::DaemonSet { name, spec } => {
                drop(self.snapshot.daemon_sets.insert((Arc::clone(&spec.namespace), name), spec));
            }
            Change::DaemonSetGone { namespace, name } => drop(self.snapshot.daemon_sets.remove(&(namespace, name))),
            Change::Workload(workload) => {
                let of_namespace = self.snapshot.workloads.entry(Arc::clone(&workload.spec.namespace)).or_default();
                of_namespace.insert(workload.reference().into(), *workload);
            }
            Change::WorkloadGone { namespace, reference } => {
                forget(&mut self.snapshot.workloads, &namespace, &reference);
            }
            Change::CapacityBuffer(buffer) => {
                let of_namespace = self.snapshot.buffers.entry(Arc::clone(&buffer.namespace)).or_default();
                of_namespace.insert(buffer.name.clone(), *buffer);
            }
            Change::CapacityBufferGone { namespace, name } => forget(&mut self.snapshot.buffers, &namespace, &name),
            Change::Coverage(kind, coverage) => drop(self.snapshot.coverage.insert(kind, coverage)),
        }
    }

    fn set_node(&mut self, node: Box<Node>) {
        let name = Arc::clone(&node.name);
        let index = self.node_index(&name);
        let Snapshot { nodes, node_kinds, .. } = &mut self.snapshot;
        if let Some((_, entry)) = nodes.get_index_mut(index as usize) {
            entry.kind = node_kinds.hold(&node);
            entry.is_own_host = node.labels.get(HOSTNAME) == Some(&*node.name);
            let known = entry.node.replace(node);
            known.into_iter().for_each(|known| node_kinds.release(&known));
        }
        self.snapshot.node_order.insert(name, index);
    }

    /// The index of a node, which is made without values when a pod names it first.
    fn node_index(&mut self, name: &str) -> u32 {
        let nodes = &mut self.snapshot.nodes;
        let index = match nodes.get_index_of(name) {
            Some(index) => index,
            None => nodes.insert_full(Arc::from(name), Default::default()).0,
        };
        to_u32(index)
    }

    fn forget_node(&mut self, name: &str) {
        self.snapshot.node_order.remove(name);
        if let Some((index, _, entry)) = self.snapshot.nodes.get_full_mut(name) {
            let known = entry.node.take();
            known.into_iter().for_each(|known| self.snapshot.node_kinds.release(&known));
            self.drop_node_if_unused(to_u32(index));
        }
    }

    fn drop_node_if_unused(&mut self, index: u32) {
        let nodes = &mut self.snapshot.nodes;
        let unused = |at| nodes.get_index(at).is_some_and(|(_, entry)| entry.node.is_none() && entry.pods.is_empty());
        if !unused(index as usize) {
            return;
        }
        nodes.swap_remove_index(index as usize);
        // The last node has moved into the gap: what points at it follows.
        if let Some((name, moved)) = nodes.get_index(index as usize) {
            if let Some(at) = self.snapshot.node_order.get_mut(name) {
                *at = index;
            }
            for pod in moved.pods.pods() {
                if let Some((_, pod)) = self.snapshot.pods.get_index_mut(pod as usize) {
                    pod.place = Place::Node(index);
                }
            }
        }
    }

    fn set_pod(&mut self, pod: Pod) {
        let Pod { name, spec, node, phase, created, deleting, gated, devices, nominated, unready, ends_by } = pod;
        let waits = node.is_none() && !gated && !deleting;
        let devices = (!devices.is_empty()).then(|| devices.into_boxed_slice());
        note(&mut self.snapshot.devices, &spec.namespace, &name, devices);
        note(&mut self.snapshot.nominated, &spec.namespace, &name, nominated.filter(|_| waits));
        note(&mut self.snapshot.ends_by, &spec.namespace, &name, ends_by.filter(|_| deleting));
        let class = self.class_index(&spec);
        let namespace = self.snapshot.classes.get(class as usize).map_or(u32::MAX, |class| class.namespace);
        let key = PodKey { namespace, name };
        // One look-up for both: a pod that is known keeps its index, and its old entry comes back.
        let unplaced = PodEntry { class, place: Place::Aside, at: 0, phase, deleting, unready, created };
        let (index, known) = self.snapshot.pods.insert_full(key, unplaced);
        if let Some(known) = known {
            // The new class is held before the old one is let go, in case they are the same.
            self.hold_class(class);
            self.unplace(known);
            self.release_class(class);
        }
        // Only now: letting go of the old node may have moved the index of the new one.
        let place = match &node {
            Some(node) => Place::Node(self.node_index(node)),
            None if gated || deleting => Place::Aside,
            None => Place::Pending,
        };
        self.count(place, class, 1);
        let listed = Listed { pod: to_u32(index), class, deleting };
        let at = self.roll(place, class).map_or(0, |roll| to_u32(roll.push(listed)));
        if let Some((_, entry)) = self.snapshot.pods.get_index_mut(index) {
            *entry = PodEntry { place, at, ..unplaced };
        }
    }

    fn forget_pod(&mut self, namespace: &str, name: &str) {
        let Some(index) = self.snapshot.pod_index(namespace, name) else { return };
        forget(&mut self.snapshot.devices, namespace, name);
        forget(&mut self.snapshot.nominated, namespace, name);
        forget(&mut self.snapshot.ends_by, namespace, name);
        let Some(entry) = self.snapshot.pods.get_index(index).map(|(_, entry)| *entry) else { return };
        self.unplace(entry);
        self.snapshot.pods.swap_remove_index(index);
        // The last pod has moved into the gap: the list that it stands in follows.
        let Some((_, moved)) = self.snapshot.pods.get_index(index) else { return };
        let PodEntry { place, at, class, .. } = *moved;
        self.roll(place, class).into_iter().for_each(|roll| roll.renumber(at as usize, to_u32(index)));
    }

    /// Takes a pod off its node and out of its class.
    fn unplace(&mut self, entry: PodEntry) {
        let PodEntry { place, class, at, .. } = entry;
        self.count(place, class, -1);
        let moved = self.roll(place, class).and_then(|roll| roll.remove(at as usize));
        if let Some((_, moved)) = moved.and_then(|moved| self.snapshot.pods.get_index_mut(moved as usize)) {
            moved.at = at;
        }
        if let Place::Node(node) = place {
            self.drop_node_if_unused(node);
        }
        self.drop_class_if_unused(class);
    }

    /// The list that a pod with this place stands in.
    fn roll(&mut self, place: Place, class: u32) -> Option<&mut Roll> {
        match place {
            Place::Node(node) => self.snapshot.nodes.get_index_mut(node as usize).map(|(_, entry)| &mut entry.pods),
            Place::Pending => self.snapshot.classes.get_mut(class as usize).map(|entry| &mut entry.pending),
            Place::Aside => None,
        }
    }

    /// Counts a pod in its class and on its node.
    fn count(&mut self, place: Place, class: u32, change: i32) {
        let Some(class) = self.snapshot.classes.get_mut(class as usize) else { return };
        match place {
            Place::Node(node) => {
                class.bound = class.bound.saturating_add_signed(change);
                if let Some((_, entry)) = self.snapshot.nodes.get_index_mut(node as usize) {
                    let sums = &mut entry.sums;
                    sums.used.add_times(&class.spec.requests, i128::from(change));
                    match class.spec.kind {
                        PodKind::DaemonSet => sums.daemon_sets.add_times(&class.spec.requests, i128::from(change)),
                        PodKind::Workload => sums.blocking = sums.blocking.saturating_add_signed(change),
                        PodKind::Static | PodKind::Mirror => {}
                    }
                }
            }
            Place::Aside => class.aside = class.aside.saturating_add_signed(change),
            // The length of the roll is the count.
            Place::Pending => {}
        }
    }

    fn class_index(&mut self, spec: &SharedSpec) -> u32 {
        let snapshot = &mut self.snapshot;
        if let Some(index) = snapshot.class_index.get(spec) {
            return *index;
        }
        let numbered = to_u32(snapshot.namespaces.len());
        let namespace = *snapshot.namespaces.entry(Arc::clone(&spec.namespace)).or_insert(numbered);
        let entry = ClassEntry { spec: spec.clone(), namespace, ..ClassEntry::default() };
        let index = match snapshot.free_classes.pop() {
            Some(index) => {
                if let Some(slot) = snapshot.classes.get_mut(index as usize) {
                    *slot = entry;
                }
                index
            }
            None => {
                snapshot.classes.push(entry);
                to_u32(snapshot.classes.len() - 1)
            }
        };
        snapshot.class_index.insert(spec.clone(), index);
        snapshot.class_order.insert(spec.clone(), index);
        index
    }

    fn hold_class(&mut self, class: u32) {
        if let Some(entry) = self.snapshot.classes.get_mut(class as usize) {
            entry.aside += 1;
        }
    }

    fn release_class(&mut self, class: u32) {
        if let Some(entry) = self.snapshot.classes.get_mut(class as usize) {
            entry.aside -= 1;
        }
    }

    fn drop_class_if_unused(&mut self, class: u32) {
        let snapshot = &mut self.snapshot;
        let Some(entry) = snapshot.classes.get_mut(class as usize) else { return };
        if entry.bound > 0 || entry.aside > 0 || !entry.pending.is_empty() {
            return;
        }
        let spec = std::mem::take(entry).spec;
        snapshot.class_index.swap_remove(&spec);
        snapshot.class_order.remove(&spec);
        snapshot.free_classes.push(class);
    }
}

/// Values that only few objects have, by namespace and name.
type Sparse<T> = BTreeMap<Arc<str>, BTreeMap<Box<str>, T>>;

/// Sets the value of an object, or forgets it.
fn note<T>(values: &mut Sparse<T>, namespace: &Arc<str>, name: &str, value: Option<T>) {
    match value {
        Some(value) => drop(values.entry(Arc::clone(namespace)).or_default().insert(name.into(), value)),
        None => forget(values, namespace, name),
    }
}

/// Forgets the value of an object, and the namespace with the last one.
fn forget<T>(values: &mut Sparse<T>, namespace: &str, name: &str) {
    let Some(of_namespace) = values.get_mut(namespace) else { return };
    of_namespace.remove(name);
    if of_namespace.is_empty() {
        values.remove(namespace);
    }
}

/// Indices are 32 bits wide: a cluster has far fewer than four thousand million of anything.
fn to_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
