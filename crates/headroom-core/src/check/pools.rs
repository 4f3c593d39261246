//! What must hold when servers of pools go.

use std::sync::Arc;

use super::{Checker, Invariant};
use crate::guard::Limits;
use crate::keys::DRAINING;
use crate::plan::{Evict, Reason};
use crate::policy::{Group, RunsOn};
use crate::strategy::utilization::is_out_of_service;

impl Checker<'_, '_> {
    /// A server is made ineligible that is not, and enough others stay.
    pub(super) fn judge_withdrawal(
        &mut self,
        group: &Group,
        limits: Limits,
        node: &Arc<str>,
        why: &Reason,
    ) -> Result<(), Invariant> {
        let view = self.own_node(node)?;
        if is_out_of_service(view.node) {
            return Err(Invariant::CannotMark);
        }
        if view.node.no_delete.is_some() {
            return Err(Invariant::NoDelete);
        }
        self.has_machine(group, &view)?;
        // A node that does not work is no help to the minimum.
        if matches!(why, Reason::Unhealthy { .. }) { Ok(()) } else { self.take_off(group, limits) }
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
    pub(super) fn judge_drained(
        &mut self,
        group: &Group,
        limits: Limits,
        node: &Arc<str>,
        machine: Option<&str>,
    ) -> Result<(), Invariant> {
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
        if machine.is_none() {
            self.has_machine(group, &view)?;
        }
        // A machine that its cloud lists no more is in no size.
        let listed = self.snapshot.group(&group.name).and_then(|cloud| cloud.instances.as_ref());
        let counts =
            |machine: &str| listed.is_none_or(|listed| listed.iter().any(|known| *known.provider_id == *machine));
        if machine.is_none_or(counts) { self.take_off(group, limits) } else { Ok(()) }
    }
}

/// Whether nodes of the group go by these rules: when each was marked is not to be seen, and only in memory.
pub(super) fn goes_by_eligibility(group: &Group) -> bool {
    group.strategy.runs_on() == RunsOn::Nomad
}
