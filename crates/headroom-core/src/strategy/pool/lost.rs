//! Servers that are good for nothing: machines that never became one, or are still there although they were removed, and
//! servers that have been down for long.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::Pass;
use super::servers::number;
use crate::machines::{Machines, Observed};
use crate::memory::GroupMemory;
use crate::plan::{Action, Planned, Reason, Why};
use crate::round::Round;
use crate::snapshot::CloudGroup;
use crate::strategy::removed;
use crate::strategy::utilization::ineligible;
use crate::strategy::write_off::write_off;

/// A machine that was removed may be missing from the cloud's list for a while and come back into it.
const LIST_LAGS: SignedDuration = SignedDuration::from_mins(10);

impl Pass<'_, '_> {
    /// Gives up machines that never became a server of the cluster, and answers whether there are any. What a cloud owes and
    /// does not list it goes on trying to make.
    pub(super) fn give_up(&mut self, round: &mut Round<'_>, observed: &Observed<'_, '_>, machines: &Machines) -> bool {
        if machines.unregistered == 0 && machines.never_came() == 0 && self.servers.booting.is_empty() {
            self.memory.request = None;
        }
        if machines.lost.is_empty() {
            return false;
        }
        // Whoever remembers nothing does not know for how long it has waited.
        if let Err(until) = round.memory.elapsed(None, self.group.boot_timeout, round.now) {
            round.wake.at(until);
            return false;
        }
        let lost = Machines { missing: 0, missing_since: None, ..machines.clone() };
        let before = round.actions.len();
        let lowered = write_off(round, observed, false, self.limits, &lost, self.memory).unwrap_or(0);
        self.size = self.size.saturating_sub(lowered);
        self.planned = self.size;
        round.actions.len() > before
    }

    /// Makes servers ineligible that have been down for long, so that they go as drained ones do. When most are down at
    /// once the fault is likely elsewhere.
    pub(super) fn retire(&mut self, round: &mut Round<'_>) {
        let grace = self.life.remove_down_after;
        let mut due = Vec::new();
        for view in &self.servers.lost {
            let since = self.not_ready_since.get(&view.node.name).copied();
            match round.memory.elapsed(since, grace, round.now) {
                Err(until) => round.wake.at(until),
                // Without its machine it could not go.
                Ok(()) if self.listed.provider_id(view.node).is_none() || view.node.no_delete.is_some() => {}
                Ok(()) => due.push((Arc::clone(&view.node.name), since.unwrap_or(round.now))),
            }
        }
        if due.is_empty() || !self.may_remove(round) {
            return;
        }
        let unready = number(&self.servers.lost).saturating_add(number(&self.servers.silent));
        let nodes = unready.saturating_add(number(&self.servers.in_service));
        if unready > nodes / 2 {
            round.refuse_group(self.group, Why::ManyUnready { unready, nodes });
            return;
        }
        for (node, since) in due {
            self.memory.marked.insert(Arc::clone(&node), round.now);
            let action = Action::Taint { node, taint: ineligible() };
            round.act(self.group, action, Reason::Unhealthy { since, grace });
        }
    }
}

/// Remembers the machines that go by these actions, and forgets those that are gone.
pub(super) fn remember(memory: &mut GroupMemory, actions: &[Planned], cloud: Option<&CloudGroup>, now: Timestamp) {
    if let Some(machines) = cloud.and_then(|cloud| cloud.instances.as_ref()) {
        memory.destroyed.retain(|id, at| {
            machines.iter().any(|machine| machine.provider_id == *id) || now.duration_since(*at) < LIST_LAGS
        });
    }
    removed::remember(memory, actions);
    for planned in actions {
        let goes = match &planned.action {
            Action::Remove { provider_id, .. } => provider_id.as_ref(),
            Action::WriteOff { provider_id, .. } => Some(provider_id),
            _ => None,
        };
        if let Some(id) = goes {
            memory.destroyed.entry(id.clone()).or_insert(now);
        }
    }
}
