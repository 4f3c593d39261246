//! Pods leave a node, to see whether they find a place on the others.

use std::rc::Rc;

use super::shape::Tier;
use super::{NodeId, Placement};
use crate::snapshot::ClassId;

impl Placement {
    /// From now on pods only go to nodes that are there: what is on its way or new may not come.
    pub(crate) fn only_nodes(&mut self) {
        self.let_new_come(false);
    }

    /// Whether pods may go to what is on its way or new from now on.
    pub(crate) fn let_new_come(&mut self, may: bool) {
        self.only_nodes = !may;
        let shapes = &self.shapes;
        let there = |shape: u32| shapes.at(shape).tier <= Tier::Idle;
        for statics in self.statics.iter_mut() {
            if may {
                statics.seen = Vec::new();
                statics.fits = Default::default();
            } else {
                // What is known of shapes of nodes that are there stays true.
                (0..).zip(&mut statics.seen).for_each(|(shape, fits)| *fits &= there(shape));
                Rc::make_mut(&mut statics.fits).retain(|shape| there(*shape));
            }
        }
    }

    /// Whether rules bind the pods of a class to the pods around them.
    pub(crate) fn is_bound(&self, class: ClassId) -> bool {
        self.class(class).rules.is_some()
    }

    /// Takes `count` pods of a class away from a node that is closed and has them. What is free on such a node is nobody's
    /// concern, so that nothing changes by pods that are not listed.
    pub(crate) fn take_off(&mut self, class: ClassId, node: NodeId, count: u32) {
        if self.class(class).is_listed() {
            self.put(class.0, node.0, -i64::from(count));
        }
    }
}
