//! Kinds of nodes: what nodes have in common on which it depends where pods may run and which group a node belongs to.

use std::hash::{Hash, Hasher};

use indexmap::{Equivalent, IndexMap};
use rustc_hash::FxBuildHasher;

use super::{Labels, Node, Taint};
use crate::scheduling::HOSTNAME;

/// The kinds of the nodes of a cluster, numbered. A kind keeps its number for as long as it has nodes; numbers say nothing
/// about order.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeKinds {
    index: IndexMap<NodeKind, Known, FxBuildHasher>,
    free: Vec<u32>,
    slots: u32,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    number: u32,
    nodes: u32,
}

/// All labels but the hostname, all taints, and whether the node is cordoned.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NodeKind {
    labels: Labels,
    taints: Vec<Taint>,
    unschedulable: bool,
}

/// The kind of a node without a copy of it.
struct KindOf<'a>(&'a Node);

impl NodeKinds {
    /// Counts a node in, and gives the number of its kind.
    pub(super) fn hold(&mut self, node: &Node) -> u32 {
        if let Some(known) = self.index.get_mut(&KindOf(node)) {
            known.nodes += 1;
            return known.number;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        let labels = without_hostname(&node.labels).collect();
        let kind = NodeKind { labels, taints: node.taints.clone(), unschedulable: node.unschedulable };
        self.index.insert(kind, Known { number, nodes: 1 });
        number
    }

    /// Counts a node out that was counted in before.
    pub(super) fn release(&mut self, node: &Node) {
        let Some(known) = self.index.get_mut(&KindOf(node)) else { return };
        known.nodes -= 1;
        if known.nodes == 0 {
            self.free.push(known.number);
            self.index.swap_remove(&KindOf(node));
        }
    }

    /// One more than the largest number in use.
    pub(super) fn slots(&self) -> usize {
        self.slots as usize
    }
}

fn without_hostname(labels: &Labels) -> impl Iterator<Item = (&str, &str)> {
    labels.iter().filter(|(key, _)| *key != HOSTNAME)
}

fn write<'a>(
    labels: impl Iterator<Item = (&'a str, &'a str)>,
    taints: &[Taint],
    unschedulable: bool,
    state: &mut impl Hasher,
) {
    labels.for_each(|label| label.hash(state));
    (taints, unschedulable).hash(state);
}

impl Hash for NodeKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        write(self.labels.iter(), &self.taints, self.unschedulable, state);
    }
}

impl Hash for KindOf<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        write(without_hostname(&self.0.labels), &self.0.taints, self.0.unschedulable, state);
    }
}

impl Equivalent<NodeKind> for KindOf<'_> {
    fn equivalent(&self, kind: &NodeKind) -> bool {
        let KindOf(node) = self;
        node.unschedulable == kind.unschedulable
            && node.taints == kind.taints
            && without_hostname(&node.labels).eq(kind.labels.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, pool: &str, unschedulable: bool) -> Node {
        let labels = [(HOSTNAME, name), ("pool", pool)].into_iter().collect();
        Node { name: name.into(), labels, unschedulable, ..Node::default() }
    }

    #[test]
    fn nodes_that_differ_in_their_names_are_of_one_kind() {
        let mut kinds = NodeKinds::default();
        let web = kinds.hold(&node("a", "web", false));
        assert_eq!(kinds.hold(&node("b", "web", false)), web);
        assert_ne!(kinds.hold(&node("c", "db", false)), web);
        assert_ne!(kinds.hold(&node("d", "web", true)), web);
        assert_eq!(kinds.slots(), 3);
    }

    #[test]
    fn the_number_of_a_kind_without_nodes_is_given_again() {
        let mut kinds = NodeKinds::default();
        let [a, b] = ["a", "b"].map(|name| node(name, "web", false));
        let web = kinds.hold(&a);
        kinds.hold(&b);
        kinds.release(&a);
        assert_ne!(kinds.hold(&node("c", "db", false)), web);
        kinds.release(&b);
        assert_eq!(kinds.hold(&node("d", "gpu", false)), web);
        assert_eq!(kinds.slots(), 2);
    }
}
