//! Pods that are not in the snapshot: the classes of [`Setup::extra`](super::Setup::extra).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::shape::Tier;
use super::{NodeId, Placement, TemplateId};
use crate::scheduling::resources::times;
use crate::snapshot::ClassId;

/// How many pods of a class are where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// On nodes that are there.
    pub(crate) on_nodes: u32,
    /// On machines that are on their way.
    pub(crate) on_upcoming: u32,
    /// On new machines.
    pub(crate) on_new: u32,
}

/// Where a pod is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'p> {
    /// On the node of this name.
    Node(&'p Arc<str>),
    /// On a machine of this template that has no node yet, numbered from 0.
    Machine(TemplateId, usize),
}

impl Placement {
    /// Whether the class is one of pods that are not in the snapshot.
    pub(crate) fn is_extra(&self, class: ClassId) -> bool {
        self.class(class).extra
    }

    /// The pods on a node that are not in the snapshot.
    pub(crate) fn extra_on(&self, node: NodeId) -> impl Iterator<Item = (ClassId, u32)> {
        let pods = self.nodes.at(node.0).pods.iter().map(|(class, count)| (ClassId(*class), *count));
        pods.filter(|(class, _)| self.is_extra(*class))
    }

    /// Where the pods are that are not in the snapshot, and how many of a class are there.
    pub(crate) fn extra_places(&self) -> Vec<(Place<'_>, ClassId, u32)> {
        let mut machines: BTreeMap<u32, usize> = BTreeMap::new();
        let mut all = Vec::new();
        for (id, node) in self.nodes() {
            if node.is_named() {
                all.extend(self.extra_on(NodeId(id)).map(|(class, count)| (Place::Node(&node.name), class, count)));
                continue;
            }
            let first = machines.entry(node.template).or_default();
            let each = *first..*first + node.copies as usize;
            *first = each.end;
            for number in each {
                let place = Place::Machine(TemplateId(node.template), number);
                all.extend(self.extra_on(NodeId(id)).map(|(class, count)| (place, class, count)));
            }
        }
        all
    }

    /// The machines of a template that are on their way and have no node yet.
    pub(crate) fn expected_of(&self, template: TemplateId) -> Vec<NodeId> {
        let expected = self
            .nodes()
            .filter(|(id, node)| node.template == template.0 && !node.is_named() && self.is_upcoming(NodeId(*id)));
        expected.map(|(id, _)| NodeId(id)).collect()
    }

    /// How many pods of each class that is not in the snapshot are where.
    pub(crate) fn extra_counts(&self) -> BTreeMap<ClassId, Counts> {
        let mut all: BTreeMap<ClassId, Counts> = BTreeMap::new();
        for (id, node) in self.nodes() {
            for (class, each) in self.extra_on(NodeId(id)) {
                let counts = all.entry(class).or_default();
                let sum = match self.shapes.at(node.shape).tier {
                    Tier::Present | Tier::Idle => &mut counts.on_nodes,
                    Tier::Upcoming => &mut counts.on_upcoming,
                    Tier::New => &mut counts.on_new,
                };
                *sum = sum.saturating_add(each.saturating_mul(node.copies));
            }
        }
        all
    }

    /// Puts up to `wanted` pods of a class on a node, as many as it has room for; the answer is how many.
    pub(crate) fn pour_on(&mut self, class: ClassId, node: NodeId, wanted: u32) -> u32 {
        let mut placed = 0;
        while placed < wanted && self.fits(class, node).is_ok() {
            let bound = self.is_bound(class);
            let most = if bound { 1 } else { wanted - placed };
            let each = times(&self.nodes.at(node.0).free, &self.class(class).need, most).max(1);
            self.put(class.0, node.0, i64::from(each));
            placed += each;
        }
        placed
    }
}
