//! Making a group larger: marks come off first, then the cloud is asked (`spec/escalator.md` 2.9).

use std::sync::Arc;

use jiff::Timestamp;

use super::Pass;
use super::nodes::{REMOVAL_TAINT, newest_first};
use crate::keys::INELIGIBLE;
use crate::memory::{Breaker, Lock};
use crate::plan::{Action, Reason, Why};
use crate::policy::RunsOn;
use crate::round::Round;

/// Whether a growth has to wait for the cool-down of the one before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cooling {
    /// The group has fewer nodes than its minimum: no waiting, since machines on their way are counted.
    Exempt,
    /// Any other reason.
    Waits,
}

impl Pass<'_, '_> {
    /// Adds `add` nodes. Nodes whose mark is taken off are paid for already, so no cool-down holds them back.
    pub(super) fn grow(&mut self, round: &mut Round<'_>, add: u32, reason: Reason, cooling: Cooling) {
        if let Some(why) = self.unhealthy_group() {
            round.refuse_group(self.group, why);
            return;
        }
        self.untaint(round, add, &reason);
        let rest = add.saturating_sub(self.untainted);
        if rest == 0 {
            return;
        }
        if cooling == Cooling::Waits
            && let Some(until) = self.locked_until(round)
        {
            round.wake.at(until);
            round.refuse_group(self.group, Why::CoolingDown { wanted: i64::from(rest), until });
            return;
        }
        self.resize(round, rest, reason);
    }

    fn untaint(&mut self, round: &mut Round<'_>, add: u32, reason: &Reason) {
        let unhealthy = |name: &str| self.unhealthy.contains_key(name);
        let mut candidates: Vec<_> =
            self.nodes.tainted.iter().filter(|view| !unhealthy(&view.node.name)).copied().collect();
        newest_first(&mut candidates);
        // Beyond the maximum the next round would mark them again.
        let room = self.limits.max.saturating_sub(self.count());
        for view in candidates.iter().take(add.min(room) as usize) {
            let key = match self.settings.runs_on {
                RunsOn::Kubernetes => REMOVAL_TAINT,
                RunsOn::Nomad => INELIGIBLE,
            };
            self.memory.marked.remove(&view.node.name);
            let action = Action::Untaint { node: Arc::clone(&view.node.name), key: key.into() };
            round.act(self.group, action, reason.clone());
            self.untainted += 1;
        }
    }

    fn resize(&mut self, round: &mut Round<'_>, add: u32, reason: Reason) {
        // Machines that never came are in the cloud's size and not in this base: what they leave open is not asked
        // for a second time on top, so the size never ratchets up while the cloud has nothing to give.
        let base = self.present.saturating_add(self.machines.unregistered).min(self.size);
        let wanted = base.saturating_add(add);
        let to = wanted.min(self.limits.max);
        if to < wanted {
            let allowed = self.limits.max.saturating_sub(base);
            round.refuse_group(self.group, Why::AtMax { wanted: add, allowed, max: self.limits.max });
        }
        if to <= self.size {
            if wanted > base && base < self.size {
                let (count, target) = (self.machines.never_came(), self.size);
                let boot_timeout = self.group.boot_timeout;
                round.refuse_group(self.group, Why::NeverCame { count, target, boot_timeout });
            }
            return;
        }
        if let Err(why) = self.breaker(round.now) {
            round.refuse_group(self.group, why);
            return;
        }
        round.act(self.group, Action::Resize { from: self.size, to }, reason);
        self.memory.lock = Some(Lock { at: round.now, requested: to - self.size });
        self.planned = to;
    }

    /// Counts enlargements after which the group has no more nodes than before them, and refuses another when there
    /// were too many in a row (Escalator's PR 294). An enlargement is judged once its machines have had their time.
    fn breaker(&mut self, now: Timestamp) -> Result<(), Why> {
        let Some(threshold) = self.settings.stop_after_failures else {
            self.memory.breaker = None;
            return Ok(());
        };
        let nodes = self.present;
        let failures = match self.memory.breaker {
            Some(last) if nodes > last.nodes => 0,
            Some(last) if now.duration_since(last.at) < self.group.boot_timeout => return Ok(()),
            Some(last) => last.failures.saturating_add(1),
            None => 0,
        };
        if failures >= threshold {
            return Err(Why::BreakerOpen { failures, nodes });
        }
        self.memory.breaker = Some(Breaker { failures, nodes, at: now });
        Ok(())
    }

    /// Until when the group's last enlargement keeps it from another one.
    pub(super) fn locked_until(&self, round: &Round<'_>) -> Option<Timestamp> {
        let lock = self.before.lock?;
        let until = lock.at.saturating_add(self.settings.cool_down).unwrap_or(Timestamp::MAX);
        (round.now < until).then_some(until)
    }
}
