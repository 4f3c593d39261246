//! Servers that somebody wants replaced go one after the other, once others have come.

use std::sync::Arc;

use super::Pass;
use super::servers::{is_to_be_replaced, number};
use crate::plan::{Action, Reason, Subject, Why};
use crate::round::Round;
use crate::strategy::utilization::ineligible;

impl<'a> Pass<'_, 'a> {
    /// Makes the least loaded of them ineligible, if as many others as are `desired` are in service and none of them is on
    /// its way out already. They do not count for the size, so that others come first; a pool that may not become larger
    /// has to do without.
    pub(super) fn replace(&mut self, round: &mut Round<'a>, desired: u32) {
        let under_way = self.servers.leaving.iter().any(|(view, _)| is_to_be_replaced(view.node));
        let others = number(&self.servers.in_service) >= desired || self.planned >= self.limits.max;
        if self.servers.to_replace.is_empty() || under_way || !others || !self.may_remove(round) {
            return;
        }
        let allowed = self.size.saturating_sub(number(&self.servers.leaving)).saturating_sub(self.limits.min);
        if allowed == 0 {
            round.refuse_group(self.group, Why::AtMin { wanted: 1, allowed, min: self.limits.min });
            return;
        }
        let left = number(&self.servers.to_replace);
        let mut candidates = self.servers.to_replace.clone();
        candidates.sort_by_key(|view| {
            (view.node.busy, view.sums.used.memory, view.sums.used.cpu, Arc::clone(&view.node.name))
        });
        for view in candidates {
            let node = Arc::clone(&view.node.name);
            if let Err(why) = self.release(round, None, &view) {
                round.refuse(Subject::Node(node), why);
            } else {
                self.memory.marked.insert(Arc::clone(&node), round.now);
                round.act(self.group, Action::Taint { node, taint: ineligible() }, Reason::ToBeReplaced { left });
                return;
            }
        }
    }
}
