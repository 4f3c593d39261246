//! The last steps of a server: its tasks are moved off it, and it goes once all of them have ended.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::Pass;
use super::servers::{is_draining, is_to_be_replaced};
use crate::plan::{Action, Evict, Reason, Subject, Why};
use crate::round::Round;
use crate::scale_down::Disruptions;
use crate::snapshot::{NodeView, Readiness};
use crate::strategy::removed::machine_gone;

/// What clouds charge as a whole.
const HOUR: SignedDuration = SignedDuration::from_hours(1);
/// How long before its end a server goes, so that it is gone by then.
const TO_GO: SignedDuration = SignedDuration::from_mins(5);

impl Pass<'_, '_> {
    /// Drains servers that were made ineligible, and removes those that are drained. A drain that takes long holds up
    /// nothing else.
    pub(super) fn leave(&mut self, round: &mut Round<'_>) {
        if self.servers.leaving.is_empty() || !self.may_remove(round) {
            return;
        }
        let mut allowed = self.size.saturating_sub(self.limits.min);
        let cloud = round.snapshot.group(&self.group.name);
        let mut disruptions = Disruptions::after(round.snapshot, &round.actions);
        self.servers.leaving.sort_by(|a, b| (a.1, &a.0.node.name).cmp(&(b.1, &b.0.node.name)));
        for (view, at) in &self.servers.leaving {
            let node = Arc::clone(&view.node.name);
            let subject = || Subject::Node(Arc::clone(&view.node.name));
            let marked_for = round.now.duration_since(*at);
            let deadline = at.saturating_add(self.drain_deadline).unwrap_or(Timestamp::MAX);
            let pods = view.sums.blocking;
            let gone = machine_gone(self.memory, cloud, view.node);
            if let Some(value) = &view.node.no_delete {
                round.refuse(subject(), Why::NoDelete { value: value.clone() });
            } else if gone.is_some() && view.node.readiness == Readiness::Ready {
                round.refuse(subject(), Why::MachineGone);
            } else if gone.is_none() && self.listed.is_stranger(view.node) {
                round.refuse(subject(), Why::NoMachine);
            } else if pods > 0 || is_draining(view.node) {
                // A drain is asked for once: it then goes on by itself, and ends at its deadline.
                let goes_on = is_draining(view.node) || round.now >= deadline;
                let tasks = if goes_on { Vec::new() } else { to_move(view, &mut disruptions) };
                if tasks.is_empty() {
                    round.refuse(subject(), Why::NotDrained { pods, deadline });
                } else {
                    let reason = Reason::Draining { pods, marked_for };
                    round.act(self.group, Action::Drain { node, pods: tasks, until: deadline }, reason);
                }
            } else if let Some(until) = self.paid_until(round, view) {
                round.wake.at(until);
                round.refuse(subject(), Why::Paid { until });
            } else if let Some(machine) = gone {
                // Whoever removed it did not come to the end: the node is left.
                let action = Action::Remove { node, provider_id: Some(machine), pods: Vec::new() };
                round.act(self.group, action, Reason::Drained { marked_for });
            } else if allowed == 0 {
                round.refuse(subject(), Why::AtMin { wanted: 1, allowed, min: self.limits.min });
            } else {
                let provider_id = self.listed.provider_id(view.node);
                let action = Action::Remove { node, provider_id, pods: Vec::new() };
                round.act(self.group, action, Reason::Drained { marked_for });
                self.planned = self.planned.saturating_sub(1);
                allowed -= 1;
            }
        }
    }
}

impl Pass<'_, '_> {
    /// Until when a drained server stays that would be good for something, if it does.
    fn paid_until(&self, round: &Round<'_>, view: &NodeView<'_>) -> Option<Timestamp> {
        let good = view.node.readiness == Readiness::Ready && !is_to_be_replaced(view.node);
        if !self.life.keep_paid_hour || !good {
            return None;
        }
        let created = self.listed.machine(view.node).and_then(|machine| machine.created).or(view.node.created)?;
        let used = round.now.duration_since(created).as_secs().rem_euclid(HOUR.as_secs());
        let left = HOUR.checked_sub(SignedDuration::from_secs(used))?.checked_sub(TO_GO)?;
        if left.is_positive() { round.now.saturating_add(left).ok() } else { None }
    }
}

/// The tasks that may be told to stop now and have not been. Nomad itself sees to it that not too many of a job move at once.
fn to_move(view: &NodeView<'_>, disruptions: &mut Disruptions<'_>) -> Vec<Evict> {
    let tasks = view.pods().into_iter().filter(|pod| pod.blocks_removal() && !pod.deleting);
    tasks.filter_map(|pod| disruptions.evict(&pod)).collect()
}
