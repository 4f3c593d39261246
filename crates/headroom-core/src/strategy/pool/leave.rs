//! The last steps of a server: its tasks are moved off it, and it goes once all of them have ended.

use std::sync::Arc;

use jiff::Timestamp;

use super::Pass;
use super::servers::is_draining;
use crate::machines::provider_id;
use crate::plan::{Action, Evict, Reason, Subject, Why};
use crate::round::Round;
use crate::scale_down::Disruptions;
use crate::snapshot::NodeView;

impl Pass<'_, '_> {
    /// Drains servers that were made ineligible, and removes those that are drained. A drain that takes long holds up
    /// nothing else.
    pub(super) fn leave(&mut self, round: &mut Round<'_>) {
        if self.servers.leaving.is_empty() || !self.may_remove(round) {
            return;
        }
        let mut allowed = self.size.saturating_sub(self.limits.min);
        let mut disruptions = Disruptions::after(round.snapshot, &round.actions);
        self.servers.leaving.sort_by(|a, b| (a.1, &a.0.node.name).cmp(&(b.1, &b.0.node.name)));
        for (view, at) in &self.servers.leaving {
            let node = Arc::clone(&view.node.name);
            let subject = || Subject::Node(Arc::clone(&view.node.name));
            let marked_for = round.now.duration_since(*at);
            let deadline = at.saturating_add(self.drain_deadline).unwrap_or(Timestamp::MAX);
            let pods = view.sums.blocking;
            if let Some(value) = &view.node.no_delete {
                round.refuse(subject(), Why::NoDelete { value: value.clone() });
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
            } else if allowed == 0 {
                round.refuse(subject(), Why::AtMin { wanted: 1, allowed, min: self.limits.min });
            } else {
                let provider_id = provider_id(view.node, round.snapshot.group(&self.group.name));
                let action = Action::Remove { node, provider_id, pods: Vec::new() };
                round.act(self.group, action, Reason::Drained { marked_for });
                self.planned = self.planned.saturating_sub(1);
                allowed -= 1;
            }
        }
    }
}

/// The tasks that may be told to stop now and have not been. Nomad itself sees to it that not too many of a job move at once.
fn to_move(view: &NodeView<'_>, disruptions: &mut Disruptions<'_>) -> Vec<Evict> {
    let tasks = view.pods().into_iter().filter(|pod| pod.blocks_removal() && !pod.deleting);
    tasks.filter_map(|pod| disruptions.evict(&pod)).collect()
}
