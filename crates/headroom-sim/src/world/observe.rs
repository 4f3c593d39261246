//! What a watcher of the cluster and of the cloud is told.

use super::*;
use headroom_core::snapshot::{Change, Phase};

/// What has changed since it was last told.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    pub(super) nodes: BTreeSet<Arc<str>>,
    pub(super) pods: BTreeSet<PodId>,
    pub(super) groups: BTreeSet<usize>,
    gone: BTreeMap<PodId, (Arc<str>, Box<str>)>,
}

impl Unseen {
    pub(super) fn pod_gone(&mut self, id: PodId, namespace: &Arc<str>, name: &str) {
        self.pods.remove(&id);
        self.gone.insert(id, (Arc::clone(namespace), name.into()));
    }

    fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.pods.is_empty() && self.groups.is_empty() && self.gone.is_empty()
    }
}

impl World {
    /// Whether anything has changed since [`World::observe`].
    pub(crate) fn has_changed(&self) -> bool {
        !self.unseen.is_empty()
    }

    /// What has changed since the last call, each thing as it is now.
    pub(crate) fn observe(&mut self) -> Vec<Change> {
        let Unseen { nodes, pods, groups, gone } = std::mem::take(&mut self.unseen);
        let mut changes = Vec::with_capacity(nodes.len() + pods.len() + groups.len() + gone.len());
        changes.extend(groups.into_iter().map(|group| Change::Group(Box::new(self.group_object(group)))));
        changes.extend(nodes.into_iter().map(|name| match self.node_object(&name) {
            Some(node) => Change::Node(Box::new(node.clone())),
            None => Change::NodeGone(name),
        }));
        changes.extend(gone.into_values().map(|(namespace, name)| Change::PodGone { namespace, name }));
        changes.extend(pods.into_iter().filter_map(|id| self.pod_object(id)).map(Change::Pod));
        changes
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
            ..Default::default()
        })
    }
}
