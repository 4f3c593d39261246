//! Which nodes are whose, where the cloud says it by the machines that it lists.
//!
//! A node gets a label that stands for its group, so that everything else goes by labels alone. The label is in no object of
//! the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headroom_core::keys::NODE_GROUP;
use headroom_core::policy::Policy;
use headroom_core::snapshot::{Change, CloudGroup, Node, Snapshot};

/// The machines of groups that are known by them.
#[derive(Debug, Default)]
pub(super) struct Machines {
    /// Those groups, with the provider ids of their machines.
    groups: BTreeMap<Arc<str>, BTreeSet<Box<str>>>,
    /// The group of each machine.
    of: BTreeMap<Box<str>, Arc<str>>,
}

impl Machines {
    /// Goes by another policy: which groups are known by their machines, and what their clouds have said of them.
    pub(super) fn configure(&mut self, policy: &Policy, snapshot: &Snapshot) {
        let known = policy.groups.iter().filter(|group| group.select.labels.get(NODE_GROUP) == Some(&*group.name));
        self.groups = known.map(|group| (Arc::clone(&group.name), listed(snapshot.group(&group.name)))).collect();
        self.index();
    }

    /// Hears what a cloud says of a group. Whether other nodes are in groups now. A cloud that does not answer any more has
    /// not said that the machines are gone.
    pub(super) fn hear(&mut self, change: &Change) -> bool {
        let Change::Group(group) = change else { return false };
        let Some(known) = self.groups.get_mut(&group.name) else { return false };
        let listed = listed(Some(group));
        let is_new = *known != listed;
        if is_new {
            *known = listed;
            self.index();
        }
        is_new
    }

    /// Gives a node the label of its group, or takes it off.
    pub(super) fn mark(&self, change: &mut Change) {
        if let Change::Node(node) = change
            && let Some(marked) = self.marked(node)
        {
            **node = marked;
        }
    }

    /// The nodes whose label is not the one of their group.
    pub(super) fn moved(&self, snapshot: &Snapshot) -> Vec<Change> {
        let moved = snapshot.nodes().filter_map(|view| self.marked(view.node));
        moved.map(|node| Change::Node(Box::new(node))).collect()
    }

    /// The node with its label, if that is not what it has.
    fn marked(&self, node: &Node) -> Option<Node> {
        let group = node.provider_id.as_ref().and_then(|id| self.of.get(id));
        if node.labels.get(NODE_GROUP) == group.map(|group| &**group) {
            return None;
        }
        let others = node.labels.iter().filter(|(key, _)| *key != NODE_GROUP);
        let label = group.map(|group| (NODE_GROUP, &**group));
        Some(Node { labels: others.chain(label).collect(), ..node.clone() })
    }

    fn index(&mut self) {
        let each = self.groups.iter().flat_map(|(group, ids)| ids.iter().map(move |id| (id, group)));
        self.of = each.map(|(id, group)| (id.clone(), Arc::clone(group))).collect();
    }
}

fn listed(group: Option<&CloudGroup>) -> BTreeSet<Box<str>> {
    let machines = group.and_then(|group| group.instances.as_ref()).into_iter().flatten();
    machines.map(|machine| machine.provider_id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use headroom_core::policy::{Group, Selection};
    use headroom_core::snapshot::{Builder, Instance};

    use super::*;

    /// A cluster that is looked at as the program does.
    #[derive(Default)]
    struct Cluster {
        machines: Machines,
        builder: Builder,
    }

    impl Cluster {
        fn configure(&mut self, groups: &[&str]) {
            let group = |name: &&str| {
                let labels = [(NODE_GROUP, *name)].into_iter().collect();
                Group::new(*name, Selection { labels, capacity: None })
            };
            let policy = Policy { groups: groups.iter().map(group).collect(), ..Policy::default() };
            self.machines.configure(&policy, self.builder.snapshot());
            self.machines.moved(self.builder.snapshot()).into_iter().for_each(|change| self.builder.apply(change));
        }

        fn apply(&mut self, mut change: Change) {
            let moved = self.machines.hear(&change);
            self.machines.mark(&mut change);
            self.builder.apply(change);
            if moved {
                self.machines.moved(self.builder.snapshot()).into_iter().for_each(|change| self.builder.apply(change));
            }
        }

        fn node(&mut self, name: &str) {
            let labels = [("pool", "web"), (NODE_GROUP, "somebody's own")].into_iter().collect();
            let provider_id = Some(format!("cloud:///{name}").into());
            self.apply(Change::Node(Box::new(Node { name: name.into(), provider_id, labels, ..Node::default() })));
        }

        fn lists(&mut self, group: &str, machines: &[&str]) {
            let machine =
                |name: &&str| Instance { provider_id: format!("cloud:///{name}").into(), ..Instance::default() };
            let instances = Some(machines.iter().map(machine).collect());
            self.apply(Change::Group(Box::new(CloudGroup { name: group.into(), instances, ..CloudGroup::default() })));
        }

        /// The nodes with their groups.
        fn shown(&self) -> Vec<(&str, Option<&str>)> {
            self.builder.snapshot().nodes().map(|view| (&*view.node.name, view.node.labels.get(NODE_GROUP))).collect()
        }
    }

    #[test]
    fn a_node_is_in_the_group_that_lists_its_machine_whichever_is_seen_first() {
        let mut cluster = Cluster::default();
        cluster.configure(&["web", "batch"]);
        cluster.node("a");
        cluster.lists("web", &["a", "b"]);
        cluster.node("b");
        cluster.node("c");
        cluster.lists("not-discovered", &["c"]);
        assert_eq!(cluster.shown(), [("a", Some("web")), ("b", Some("web")), ("c", None)]);
        // Of an object of the cluster nothing else is lost.
        assert!(cluster.builder.snapshot().nodes().all(|view| view.node.labels.get("pool") == Some("web")));
        cluster.lists("web", &["b"]);
        cluster.lists("batch", &["a"]);
        assert_eq!(cluster.shown(), [("a", Some("batch")), ("b", Some("web")), ("c", None)]);
    }

    #[test]
    fn a_cloud_that_says_nothing_takes_no_node_away_and_a_group_that_is_gone_does() {
        let mut cluster = Cluster::default();
        cluster.configure(&["web", "batch"]);
        cluster.lists("web", &["a"]);
        cluster.lists("batch", &["b"]);
        cluster.node("a");
        cluster.node("b");
        cluster.apply(Change::GroupGone("web".into()));
        assert_eq!(cluster.shown(), [("a", Some("web")), ("b", Some("batch"))]);
        cluster.configure(&["batch"]);
        assert_eq!(cluster.shown(), [("a", None), ("b", Some("batch"))]);
    }
}
