//! Which pods go to machines that are on their way.

use std::collections::BTreeMap;

use super::shape::Tier;
use super::{Mark, NodeId, Placement};
use crate::snapshot::ClassId;

impl Placement {
    /// Whether the node is a machine on its way.
    pub fn is_upcoming(&self, node: NodeId) -> bool {
        self.shapes.at(self.nodes.at(node.0).shape).tier == Tier::Upcoming
    }

    /// How many pods of each class were put on machines on their way since the mark was made, which must be younger than
    /// the last of these machines. By class id.
    pub fn on_upcoming(&self, since: Mark) -> Vec<(ClassId, u32)> {
        if !self.shapes.iter().any(|(_, shape)| shape.tier == Tier::Upcoming && !shape.nodes.is_empty()) {
            return Vec::new();
        }
        let mut counts: BTreeMap<ClassId, u32> = BTreeMap::new();
        let mut add = |class: ClassId, count: u32| {
            let sum = counts.entry(class).or_default();
            *sum = sum.saturating_add(count);
        };
        for (node, class, count) in self.placed_since(since) {
            if self.is_upcoming(node) {
                add(class, count);
            }
        }
        for nodes in self.nameless(Tier::Upcoming) {
            nodes.pods.iter().for_each(|(class, each)| add(*class, each.saturating_mul(nodes.count)));
        }
        counts.into_iter().collect()
    }
}
