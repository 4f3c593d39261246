//! Making a pool larger: servers on their way out come back first, since they are there and paid for.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Pass;
use super::servers::is_to_be_replaced;
use crate::keys::INELIGIBLE;
use crate::memory::Request;
use crate::plan::{Action, Reason, Why};
use crate::round::Round;
use crate::snapshot::{NodeView, Readiness};

impl Pass<'_, '_> {
    /// Adds `add` servers.
    pub(super) fn grow(&mut self, round: &mut Round<'_>, add: u32, reason: &Reason) {
        let back = self.bring_back(round, add, reason);
        if add > back {
            self.ask(round, add - back, back, reason);
        }
    }

    /// Makes servers eligible again that were on their way out, those with the most work first, and answers how many. Those
    /// that are to be replaced go on.
    fn bring_back(&mut self, round: &mut Round<'_>, add: u32, reason: &Reason) -> u32 {
        let stays_away = |view: &NodeView<'_>| view.node.readiness != Readiness::Ready || is_to_be_replaced(view.node);
        self.servers.leaving.sort_by_key(|(view, _)| {
            let load = (view.sums.used.memory, view.sums.used.cpu);
            (stays_away(view), Reverse((load, view.node.created)), Arc::clone(&view.node.name))
        });
        let could = self.servers.leaving.iter().filter(|(view, _)| !stays_away(view)).count();
        let back = could.min(add as usize);
        for (view, _) in self.servers.leaving.drain(..back) {
            let action = Action::Untaint { node: Arc::clone(&view.node.name), key: INELIGIBLE.into() };
            round.act(self.group, action, reason.clone());
            self.memory.marked.remove(&view.node.name);
        }
        u32::try_from(back).unwrap_or(u32::MAX)
    }

    /// Asks the cloud for `add` more than there are with the `back` that come back. Machines that never came are in its size and not in this base: what they leave open
    /// is not asked for a second time.
    fn ask(&mut self, round: &mut Round<'_>, add: u32, back: u32, reason: &Reason) {
        let there = self.servers.present().saturating_add(back).saturating_add(self.servers.unregistered);
        let base = there.min(self.size);
        let wanted = base.saturating_add(add);
        let to = wanted.min(self.limits.max);
        if to < wanted {
            let allowed = self.limits.max.saturating_sub(base);
            round.refuse_group(self.group, Why::AtMax { wanted: add, allowed, max: self.limits.max });
        }
        if let (true, Some(why)) = (wanted > self.size, self.backoff.clone()) {
            round.refuse_group(self.group, why);
        } else if to > self.size {
            round.act(self.group, Action::Resize { from: self.size, to }, reason.clone());
            let first = self.memory.request.map_or(round.now, |request| request.first);
            self.memory.request = Some(Request { first, last: round.now });
            self.planned = to;
        } else if base < self.size {
            let (count, target, boot_timeout) = (self.size - base, self.size, self.group.boot_timeout);
            round.refuse_group(self.group, Why::NeverCame { count, target, boot_timeout });
        }
    }
}
