//! What must hold when servers of pools go.

use std::sync::Arc;

use super::{Checker, Invariant};
use crate::guard::Limits;
use crate::keys::{DRAINING, INELIGIBLE};
use crate::plan::Evict;
use crate::policy::Group;
use crate::snapshot::Node;

impl Checker<'_> {
    /// A server is made ineligible that is not, and enough others stay.
    pub(super) fn judge_withdrawal(&mut self, group: &Group, limits: Limits, node: &Arc<str>) -> Result<(), Invariant> {
        let view = self.own_node(node)?;
        if is_out_of_service(view.node) {
            return Err(Invariant::CannotMark);
        }
        if view.node.no_delete.is_some() {
            return Err(Invariant::NoDelete);
        }
        self.take_off(group, limits)
    }

    /// Tasks are moved off a server that gets no new ones.
    pub(super) fn judge_pool_drain(&mut self, node: &Arc<str>, pods: &[Evict]) -> Result<(), Invariant> {
        let view = self.own_node(node)?;
        if !is_out_of_service(view.node) {
            return Err(Invariant::NotMarked);
        }
        pods.iter().try_for_each(|evict| self.judge_eviction(node, evict))
    }

    /// A server goes that gets no new tasks, whose drain is over and on which nothing runs that belongs elsewhere.
    pub(super) fn judge_drained(&mut self, group: &Group, limits: Limits, node: &Arc<str>) -> Result<(), Invariant> {
        let view = self.own_node(node)?;
        if !is_out_of_service(view.node) {
            return Err(Invariant::NotMarked);
        }
        if view.node.no_delete.is_some() {
            return Err(Invariant::NoDelete);
        }
        if view.node.taint(DRAINING).is_some() || view.sums.blocking > 0 {
            return Err(Invariant::NotEmpty(view.sums.blocking));
        }
        self.take_off(group, limits)
    }
}

fn is_out_of_service(node: &Node) -> bool {
    node.unschedulable || node.taint(INELIGIBLE).is_some() || node.taint(DRAINING).is_some()
}
