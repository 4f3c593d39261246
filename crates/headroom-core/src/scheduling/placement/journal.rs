//! The steps by which a placement changes, and how they are taken back.

use smallvec::SmallVec;

use super::counter::recount;
use super::node::Node;
use super::{NONE, NodeId, Placement, TemplateId};
use crate::snapshot::ClassId;

/// A point to which a placement can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(usize);

/// A step that was done. Each is taken back with everything after it already taken back.
#[derive(Clone, Debug)]
pub(super) enum Undo {
    /// So many pods of a class were put on each copy of a node, or taken away when negative.
    Put { class: u32, node: u32, each: i64 },
    /// The last node was split off from this one.
    Split { from: u32 },
    /// The last node was made.
    Opened,
    /// A node was closed.
    Closed { node: u32 },
    /// A node was opened again.
    Reopened { node: u32 },
}

impl Placement {
    /// Remembers how things are.
    pub fn mark(&self) -> Mark {
        Mark(self.journal.len())
    }

    /// Takes everything back that was done since the mark was made. A mark that was made after what is taken back means
    /// nothing any more.
    pub fn rollback(&mut self, mark: Mark) {
        while self.journal.len() > mark.0 {
            match self.journal.pop() {
                Some(Undo::Put { class, node, each }) => self.change(class, node, -each, false),
                Some(Undo::Split { from }) => self.merge(from),
                Some(Undo::Opened) => self.unmake(),
                Some(Undo::Closed { node }) => self.set_closed(node, false),
                Some(Undo::Reopened { node }) => self.set_closed(node, true),
                None => return,
            }
        }
    }

    /// The pods that were put on nodes with a name since the mark was made, by node and in the order of the classes'
    /// contents. For machines without a name see [`Placement::new_nodes`].
    pub fn placed_since(&self, mark: Mark) -> Vec<(NodeId, ClassId, u32)> {
        let steps = self.journal.get(mark.0..).unwrap_or(&[]).iter().filter_map(|undo| match undo {
            Undo::Put { class, node, each } if self.nodes.at(*node).is_named() => {
                Some(((*node, self.classes.at(*class).rank, *class), *each))
            }
            _ => None,
        });
        let mut steps: Vec<((u32, u32, u32), i64)> = steps.collect();
        steps.sort_unstable();
        let sums = steps.chunk_by(|(a, _), (b, _)| a == b).filter_map(|equal| {
            let count: i64 = equal.iter().map(|(_, each)| each).sum();
            let ((node, _, class), _) = equal.first().filter(|_| count > 0)?;
            Some((NodeId(*node), ClassId(*class), clamped(count)))
        });
        sums.collect()
    }

    /// The same step by step, in the order in which it was done: for callers that add up themselves, and know that none of
    /// these pods left its node again.
    pub(crate) fn arrivals_since(&self, mark: Mark) -> impl Iterator<Item = (NodeId, ClassId, u32)> {
        self.journal.get(mark.0..).unwrap_or(&[]).iter().filter_map(|undo| match undo {
            Undo::Put { class, node, each: each @ 1.. } if self.nodes.at(*node).is_named() => {
                Some((NodeId(*node), ClassId(*class), clamped(*each)))
            }
            _ => None,
        })
    }

    /// The nodes on which pods were put since the mark was made, and how many on each copy.
    pub(super) fn filled_since(&self, mark: Mark) -> impl Iterator<Item = (&Node, u32)> {
        self.journal.iter().skip(mark.0).filter_map(|undo| match undo {
            Undo::Put { node, each: each @ 1.., .. } => Some((self.nodes.at(*node), clamped(*each))),
            _ => None,
        })
    }

    /// Puts a pod on a node, whether it fits or not. The answer is the node that has it: one of several equal machines
    /// becomes a node of its own by that.
    pub fn place(&mut self, class: ClassId, node: NodeId) -> NodeId {
        let node = self.split(node.0, 1);
        self.put(class.0, node, 1);
        NodeId(node)
    }

    /// Takes a pod away from a node that has it.
    pub fn unplace(&mut self, class: ClassId, node: NodeId) -> NodeId {
        let node = self.split(node.0, 1);
        self.put(class.0, node, -1);
        NodeId(node)
    }

    /// Lets no more pods come to a node, as if it were tainted for removal; those that are there stay until they are
    /// taken away. Topology spread goes on counting the node, except for pods that ask to leave tainted nodes out.
    pub fn close(&mut self, node: NodeId) {
        if !self.nodes.at(node.0).closed {
            self.set_closed(node.0, true);
            self.journal.push(Undo::Closed { node: node.0 });
        }
    }

    /// Lets pods come to a node again.
    pub fn reopen(&mut self, node: NodeId) {
        if self.nodes.at(node.0).closed {
            self.set_closed(node.0, false);
            self.journal.push(Undo::Reopened { node: node.0 });
        }
    }

    /// Adds machines of a template that are on their way and have no node yet. Each is a node of its own, so that pods fill one
    /// up before they go to the next, as they will once it is there.
    pub fn expect(&mut self, template: TemplateId, count: u32) {
        let prototype = self.prototypes.at(template.0);
        if count == 0 || prototype.template == NONE {
            return;
        }
        let shape = self.shapes.upcoming(prototype.shape);
        self.learn_shapes();
        for _ in 0..count {
            self.make(template, shape, 1);
        }
    }

    /// Adds `count` machines of a template with nothing but DaemonSet pods on them, as one node with copies.
    pub(super) fn open(&mut self, template: TemplateId, count: u32) -> u32 {
        self.make(template, self.prototypes.at(template.0).shape, count)
    }

    /// Puts `each` pods of a class on each copy of a node, or takes them away when negative.
    pub(super) fn put(&mut self, class: u32, node: u32, each: i64) {
        self.change(class, node, each, false);
        self.journal.push(Undo::Put { class, node, each });
    }

    /// Makes `copies` of a node a node of their own. The answer is that node: the same one when it has no more.
    pub(super) fn split(&mut self, from: u32, copies: u32) -> u32 {
        let id = self.nodes.len();
        let node = self.nodes.at_mut(from);
        if node.copies <= copies {
            return from;
        }
        node.copies -= copies;
        let old_host = node.host;
        let mut part = Node { copies, ..node.clone() };
        if old_host != NONE {
            part.host = id;
            for (class, _) in &part.pods {
                let adds = &self.classes.at(*class).adds;
                adds.iter().for_each(|counter| self.counters.at_mut(*counter).split_host(old_host, id));
            }
        }
        self.append(part);
        self.journal.push(Undo::Split { from });
        id
    }

    /// [`Placement::put`] without a way back. `deleting` says that the pods are on their way out already.
    pub(super) fn change(&mut self, class: u32, node: u32, each: i64, deleting: bool) {
        let (id, number) = (node, class);
        let (class, node) = (self.classes.at(number), self.nodes.at_mut(id));
        node.take(number, class, each, deleting);
        if !class.adds.is_empty() {
            recount(&mut self.counters, &self.shapes, id, node, &class.adds, each, deleting);
        }
        // What is free on a node that is closed is seen once it is opened again.
        if !node.closed {
            self.show_room(id);
        }
    }

    /// Lets the search see what is free on a node.
    pub(super) fn show_room(&mut self, id: u32) {
        let node = self.nodes.at(id);
        self.shapes.set_room(node.shape, node.slot, (!node.closed).then_some(&node.free));
    }

    fn set_closed(&mut self, id: u32, closed: bool) {
        // Counters that leave tainted nodes out lose the node's pods, or get them back.
        let pods = self.nodes.at(id).pods.clone();
        let mut count = |node: &Node, sign: i64| {
            for (class, each) in &pods {
                let adds = self.classes.at(*class).adds.iter().copied();
                let adds: SmallVec<[u32; 2]> =
                    adds.filter(|counter| self.counters.at(*counter).leaves_out_closed()).collect();
                let each = sign * i64::from(*each);
                recount(&mut self.counters, &self.shapes, id, node, &adds, each, false);
            }
        };
        let node = self.nodes.at_mut(id);
        if closed {
            count(node, -1);
        }
        node.closed = closed;
        if !closed {
            count(node, 1);
        }
        let (copies, hosts) = (node.copies, if node.host == id { node.copies } else { 0 });
        let shape = self.shapes.at_mut(node.shape);
        if closed {
            shape.closed += copies;
            shape.closed_hosts += hosts;
        } else {
            shape.closed = shape.closed.saturating_sub(copies);
            shape.closed_hosts = shape.closed_hosts.saturating_sub(hosts);
        }
        self.show_room(id);
    }

    fn make(&mut self, template: TemplateId, shape: u32, copies: u32) -> u32 {
        let id = self.nodes.len();
        let node = Node { shape, copies, host: id, ..self.prototypes.at(template.0).clone() };
        for (class, each) in &node.pods {
            let adds = &self.classes.at(*class).adds;
            recount(&mut self.counters, &self.shapes, id, &node, adds, i64::from(*each), false);
        }
        let shape = self.shapes.at_mut(shape);
        shape.copies += copies;
        shape.hosts += copies;
        self.append(node);
        self.journal.push(Undo::Opened);
        id
    }

    fn unmake(&mut self) {
        let Some(node) = self.detach() else { return };
        let id = self.nodes.len();
        for (class, each) in &node.pods {
            let adds = &self.classes.at(*class).adds;
            recount(&mut self.counters, &self.shapes, id, &node, adds, -i64::from(*each), false);
        }
        let shape = self.shapes.at_mut(node.shape);
        shape.copies = shape.copies.saturating_sub(node.copies);
        shape.hosts = shape.hosts.saturating_sub(node.copies);
    }

    fn merge(&mut self, into: u32) {
        let Some(part) = self.detach() else { return };
        if part.host != NONE {
            for (class, _) in &part.pods {
                let adds = &self.classes.at(*class).adds;
                adds.iter().for_each(|counter| self.counters.at_mut(*counter).merge_host(part.host));
            }
        }
        self.nodes.at_mut(into).copies += part.copies;
    }

    /// Adds a node behind the last one of its shape.
    pub(super) fn append(&mut self, mut node: Node) {
        let (id, closed) = (self.nodes.len(), node.closed);
        node.slot = self.shapes.push_node(node.shape, id, &node.free);
        self.nodes.push(node);
        if closed {
            self.show_room(id);
        }
    }

    /// Takes the last node away.
    fn detach(&mut self) -> Option<Node> {
        let node = self.nodes.pop()?;
        self.shapes.pop_node(node.shape);
        Some(node)
    }
}

fn clamped(count: i64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
