//! Why a class fits or not: on one node, on a new machine, on any of the nodes.

use super::class::Class;
use super::node::Node;
use super::shape::{Shape, Tier};
use super::{NodeId, Placement, TemplateId};
use crate::plan::Resource;
use crate::scheduling::resources::shortage;
use crate::scheduling::{Misfit, attach_limits, check_static, host_ports, pod_affinity, shares, spread};
use crate::snapshot::ClassId;

impl Placement {
    /// Whether one more pod of the class can go on the node, with all that has been placed so far.
    pub fn fits(&self, class: ClassId, node: NodeId) -> Result<(), Misfit> {
        self.check(self.class(class), self.nodes.at(node.0))
    }

    /// Whether a pod of the class can go on one new machine of a template.
    pub fn fits_new(&mut self, class: ClassId, template: TemplateId) -> Result<(), Misfit> {
        if self.class(class).rules.is_none() {
            // No need to make one: only rules look at more than the machine itself.
            self.learn_fits(class.0);
            return self.check(self.class(class), self.prototype(template));
        }
        let mark = self.mark();
        let node = self.open(template, 1);
        let answer = self.fits(class, NodeId(node));
        self.rollback(mark);
        answer
    }

    /// Why no node that is there, or on its way, or new can take one more pod of the class: the refusal of the node that
    /// came closest. Ok when one can.
    pub fn fits_any(&self, class: ClassId) -> Result<(), Misfit> {
        let class = self.class(class);
        let mut closest = Misfit::NoNodes;
        let statics = self.statics.at(class.statics);
        let by_node = statics.by_node;
        let there = |shape: &Shape| !shape.nodes.is_empty() && (!self.only_nodes || shape.tier <= Tier::Idle);
        for (id, shape) in self.shapes.iter().filter(|(_, shape)| there(shape)) {
            if !by_node
                && !statics.may_fit(id)
                && let Err(misfit) = check_static(&statics.demand(), &shape.host("", Some("")))
            {
                closest = closest.max(misfit);
                continue;
            }
            if shape.closed == shape.copies {
                closest = closest.max(Misfit::Closed);
                continue;
            }
            if !by_node && let Some(column) = shortage(shape.rooms.most(), &class.need) {
                let free = shape.rooms.most().get(column).copied().unwrap_or(0);
                closest = closest.max(self.too_little(class, column, free, 0));
                continue;
            }
            match self.closest(class, &shape.nodes) {
                Ok(()) => return Ok(()),
                Err(misfit) => closest = closest.max(misfit),
            }
        }
        Err(closest)
    }

    /// The same for some nodes, of which each may have enough of some resource, and none of all.
    fn closest(&self, class: &Class, nodes: &[u32]) -> Result<(), Misfit> {
        let mut closest = Misfit::NoNodes;
        // Of the nodes that pass, how far the best one gets, column by column, and what it has free there.
        let mut best: Option<(usize, i64)> = None;
        for node in nodes.iter().map(|node| self.nodes.at(*node)) {
            let free = if node.closed { None } else { shortage(&node.free, &class.need) };
            match free {
                Some(column) if !self.statics.at(class.statics).by_node => {
                    best = best.max(Some((column, node.free.get(column).copied().unwrap_or(0))));
                }
                _ => match self.check(class, node) {
                    Ok(()) => return Ok(()),
                    Err(misfit) => closest = closest.max(misfit),
                },
            }
        }
        if let Some((column, free)) = best {
            closest = closest.max(self.too_little(class, column, free, 0));
        }
        Err(closest)
    }

    /// Every constraint in kube-scheduler's order.
    fn check(&self, class: &Class, node: &Node) -> Result<(), Misfit> {
        let statics = self.statics.at(class.statics);
        if statics.by_node || !statics.may_fit(node.shape) {
            check_static(&statics.demand(), &self.host(node))?;
        }
        if node.closed {
            return Err(Misfit::Closed);
        }
        if let Some(rules) = &class.rules {
            host_ports::check(self, rules, node)?;
        }
        if let Some(column) = shortage(&node.free, &class.need) {
            let amount = |row: &[i64]| row.get(column).copied().unwrap_or(0);
            return Err(self.too_little(class, column, amount(&node.free), amount(&node.daemon_sets)));
        }
        let Some(rules) = &class.rules else { return Ok(()) };
        shares::check(self, rules, node)?;
        attach_limits::check(self, rules, node)?;
        spread::check(self, rules, node)?;
        pod_affinity::check(self, rules, node)
    }

    fn too_little(&self, class: &Class, column: usize, free: i64, daemon_sets: i64) -> Misfit {
        let needs = class.need.get(column).copied().unwrap_or(0);
        let resource: Resource = self.columns.resource(column);
        Misfit::Resource { resource, needs, free: free.max(0), daemon_sets }
    }
}
