//! What a watcher of the cluster and of the cloud is told.

use super::*;
use headroom_core::snapshot::{Change, Coverage, Kind, Phase};

/// Kinds of which an observer sees every object, if there is any.
const KNOWN: [Kind; 3] = [Kind::PodDisruptionBudgets, Kind::Workloads, Kind::CapacityBuffers];

/// What has changed since it was last told.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// Nobody has been told yet that all disruption budgets are known.
    budgets_known: bool,
    nodes: BTreeSet<Arc<str>>,
    pods: BTreeSet<PodId>,
    groups: BTreeSet<usize>,
    daemon_sets: BTreeSet<usize>,
    gone: BTreeMap<PodId, (Arc<str>, Box<str>)>,
}

impl Unseen {
    fn is_empty(&self) -> bool {
        let Unseen { budgets_known, nodes, pods, groups, daemon_sets, gone } = self;
        !budgets_known
            && nodes.is_empty()
            && pods.is_empty()
            && groups.is_empty()
            && daemon_sets.is_empty()
            && gone.is_empty()
    }
}

impl World {
    /// Whether anything has changed since [`World::observe`].
    pub(crate) fn has_changed(&self) -> bool {
        !self.unseen.is_empty()
    }

    /// What has changed since the last call, each thing as it is now.
    pub(crate) fn observe(&mut self) -> Vec<Change> {
        let unseen = std::mem::take(&mut self.unseen);
        let mut changes = self.changes(unseen);
        changes.extend(self.changed_budgets().into_iter().map(Box::new).map(Change::DisruptionBudget));
        changes
    }

    /// Everything that there is but for the cloud's groups, for an observer who has seen nothing.
    pub(super) fn everything(&self) -> Unseen {
        Unseen {
            nodes: self.by_name.keys().cloned().collect(),
            pods: self.pods.keys().copied().collect(),
            daemon_sets: (0..self.daemon_sets.len()).collect(),
            ..Unseen::default()
        }
    }

    /// The things of a list, each as it is now.
    pub(super) fn changes(&self, unseen: Unseen) -> Vec<Change> {
        let Unseen { budgets_known, nodes, pods, groups, daemon_sets, gone } = unseen;
        let mut changes = Vec::with_capacity(nodes.len() + pods.len() + groups.len() + daemon_sets.len() + gone.len());
        let known = KNOWN.into_iter().filter(|_| budgets_known);
        changes.extend(known.map(|kind| Change::Coverage(kind, Coverage::Complete)));
        changes.extend(
            daemon_sets
                .into_iter()
                .filter_map(|set| self.daemon_sets.get(set))
                .map(|set| Change::DaemonSet { name: (*set.name).into(), spec: set.spec.clone() }),
        );
        changes.extend(groups.into_iter().map(|group| Change::Group(Box::new(self.group_object(group)))));
        changes.extend(nodes.into_iter().map(|name| match self.node_object(&name) {
            Some(node) => Change::Node(Box::new(node.clone())),
            None => Change::NodeGone(name),
        }));
        changes.extend(gone.into_values().map(|(namespace, name)| Change::PodGone { namespace, name }));
        changes.extend(pods.into_iter().filter_map(|id| self.pod_object(id)).map(Change::Pod));
        changes
    }

    /// Notes that disruption budgets are looked at.
    pub(super) fn note_budgets(&mut self) {
        self.unseen.budgets_known = true;
    }

    /// Notes that a DaemonSet is there.
    pub(super) fn note_daemon_set(&mut self, set: usize) {
        self.unseen.daemon_sets.insert(set);
    }

    /// Notes that the cloud's view of a group is another one.
    pub(super) fn note_group(&mut self, group: usize) {
        self.unseen.groups.insert(group);
    }

    /// Notes that a node is another one, or gone.
    pub(super) fn note_node(&mut self, node: &Arc<str>) {
        for unseen in self.observers() {
            unseen.nodes.insert(Arc::clone(node));
        }
    }

    /// Notes that a pod is there, or another one.
    pub(super) fn note_pod(&mut self, pod: PodId) {
        for unseen in self.observers() {
            unseen.pods.insert(pod);
        }
    }

    /// Notes that a pod is gone.
    pub(super) fn note_pod_gone(&mut self, id: PodId, namespace: &Arc<str>, name: &str) {
        for unseen in self.observers() {
            unseen.pods.remove(&id);
            unseen.gone.insert(id, (Arc::clone(namespace), name.into()));
        }
    }

    fn observers(&mut self) -> impl Iterator<Item = &mut Unseen> {
        std::iter::once(&mut self.unseen).chain(self.mirror.as_mut().map(|mirror| &mut mirror.unseen))
    }

    fn node_object(&self, name: &str) -> Option<&Node> {
        let machine = self.machines.get(self.by_name.get(name)?)?;
        machine.node.as_ref().map(|registered| &registered.object)
    }

    fn pod_object(&self, id: PodId) -> Option<headroom_core::snapshot::Pod> {
        let pod = self.pods.get(&id)?;
        let node = pod.machine.and_then(|machine| self.machines.get(&machine)).map(|machine| &*machine.name);
        Some(headroom_core::snapshot::Pod {
            name: pod.name.clone(),
            spec: pod.spec.clone(),
            node: node.map(Into::into),
            phase: if node.is_some() { Phase::Running } else { Phase::Pending },
            created: Some(pod.created),
            devices: pod.devices.clone(),
            deleting: pod.ends_by.is_some(),
            ends_by: pod.ends_by,
            unready: node.is_some() && !self.is_ready(pod),
            ..Default::default()
        })
    }
}
