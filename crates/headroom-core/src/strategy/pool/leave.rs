//! The last steps of a server: its tasks are moved off it, and it goes once all of them have ended.

use std::sync::Arc;

use jiff::Timestamp;

use super::Pass;
use super::servers::is_draining;
use crate::plan::{Action, Evict, Reason, Subject, Why};
use crate::round::Round;
use crate::snapshot::NodeView;

impl Pass<'_, '_> {
    /// Drains servers that were made ineligible, and removes those that are drained. A drain that takes long holds up
    /// nothing else.
    pub(super) fn leave(&mut self, round: &mut Round<'_>) {
        if self.servers.leaving.is_empty() || !self.may_remove(round) {
            return;
        }
        let mut allowed = self.size.saturating_sub(self.limits.min);
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
                let tasks = to_move(view);
                // A drain is asked for once: it then goes on by itself, and ends at its deadline.
                if is_draining(view.node) || tasks.is_empty() || round.now >= deadline {
                    round.refuse(subject(), Why::NotDrained { pods, deadline });
                } else {
                    let reason = Reason::Draining { pods, marked_for };
                    round.act(self.group, Action::Drain { node, pods: tasks, until: deadline }, reason);
                }
            } else if allowed == 0 {
                round.refuse(subject(), Why::AtMin { wanted: 1, allowed, min: self.limits.min });
            } else {
                let provider_id = view.node.provider_id.clone();
                let action = Action::Remove { node, provider_id, pods: Vec::new() };
                round.act(self.group, action, Reason::Drained { marked_for });
                self.planned = self.planned.saturating_sub(1);
                allowed -= 1;
            }
        }
    }
}

/// The tasks that have not been told to stop yet.
fn to_move(view: &NodeView<'_>) -> Vec<Evict> {
    let tasks = view.pods().into_iter().filter(|pod| pod.blocks_removal() && !pod.deleting);
    let evict =
        |namespace: &Arc<str>, name: &str| Evict { namespace: Arc::clone(namespace), name: name.into(), budget: None };
    tasks.map(|pod| evict(&pod.spec.namespace, pod.name)).collect()
}
