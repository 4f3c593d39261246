//! What was read last, so that only what is new has to be looked at.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use headroom_core::snapshot::{Change, Node, ObjectKey};

use super::translate::Tasks;

/// Changes of nodes and pods, the latest of each.
#[derive(Debug, Default)]
pub(super) struct Latest(pub(super) Vec<Change>);

/// The objects of the last reading.
#[derive(Debug, Default)]
pub(super) struct Known {
    nodes: BTreeMap<Arc<str>, Node>,
    tasks: Tasks,
}

impl Latest {
    /// Takes in what came later.
    pub(super) fn extend(&mut self, Latest(mut later): Latest) {
        if self.0.is_empty() {
            self.0 = later;
            return;
        }
        let newer: HashSet<ObjectKey> = later.iter().filter_map(Change::object).collect();
        self.0.retain(|change| change.object().is_none_or(|object| !newer.contains(&object)));
        self.0.append(&mut later);
    }
}

impl Known {
    /// What of a whole reading is new, and what is gone.
    pub(super) fn news(&mut self, nodes: Vec<Node>, tasks: Tasks) -> Latest {
        let nodes = nodes.into_iter().map(|node| (Arc::clone(&node.name), node)).collect();
        let before = std::mem::replace(self, Known { nodes, tasks });
        let new = self.nodes.values().filter(|node| before.nodes.get(&node.name) != Some(node));
        let gone = before.nodes.keys().filter(|name| !self.nodes.contains_key(*name));
        let new = new.map(|node| Change::Node(Box::new(node.clone())));
        let of_nodes = new.chain(gone.cloned().map(Change::NodeGone));
        Latest(of_nodes.chain(self.tasks.changes_since(&before.tasks)).collect())
    }
}

#[cfg(test)]
mod tests {
    use headroom_core::snapshot::Pod;

    use super::*;

    fn pod(name: &str, node: &str) -> Change {
        Change::Pod(Pod { name: name.into(), node: Some(node.into()), ..Pod::default() })
    }

    fn gone(name: &str) -> Change {
        Change::PodGone { namespace: "".into(), name: name.into() }
    }

    #[test]
    fn only_nodes_that_differ_from_the_reading_before_are_new() {
        let mut known = Known::default();
        let mut news = |nodes: &[&Node]| -> Vec<Change> {
            let nodes = nodes.iter().map(|&node| node.clone()).collect();
            known.news(nodes, Tasks::default()).0
        };
        let [a, b] = ["a", "b"].map(|name| Node { name: name.into(), ..Node::default() });
        let cordoned = Node { unschedulable: true, ..a.clone() };
        let change = |node: &Node| Change::Node(Box::new(node.clone()));
        assert_eq!(news(&[&a, &b]), [change(&a), change(&b)]);
        assert_eq!(news(&[&b, &a]), []);
        assert_eq!(news(&[&cordoned]), [change(&cordoned), Change::NodeGone("b".into())]);
        assert_eq!(news(&[&cordoned, &b]), [change(&b)]);
    }

    #[test]
    fn what_came_later_counts() {
        let mut latest = Latest::default();
        for later in [vec![pod("a", "n"), pod("b", "n")], vec![gone("a"), pod("c", "n")]] {
            latest.extend(Latest(later));
        }
        assert_eq!(latest.0, [pod("b", "n"), gone("a"), pod("c", "n")]);
    }
}
