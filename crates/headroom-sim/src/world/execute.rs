//! Carries out the actions of a plan.

use headroom_core::plan::{Action, Planned};
use headroom_core::scale_down::CANDIDATE_TAINT;

use super::*;

impl World {
    /// Does what a plan says, or nothing when it is refused.
    pub(crate) fn execute(&mut self, planned: &Planned) -> Result<(), Refused> {
        match &planned.action {
            Action::Resize { from, to } => {
                self.resize(&planned.group, *from, *to)?;
                self.ledger.counts.scale_ups += u64::from(to > from);
                self.ledger.counts.requested += u64::from(to.saturating_sub(*from));
            }
            Action::Taint { node, taint } => {
                let id = self.node_called(node)?;
                let now = self.now;
                if &*taint.key != CANDIDATE_TAINT {
                    if let Some(registered) = self.registered(id) {
                        registered.marked.get_or_insert(now);
                    }
                    self.ledger.counts.marked += 1;
                }
                self.add_taint(id, taint.clone());
            }
            Action::Untaint { node, key } => {
                let id = self.node_called(node)?;
                if &**key != CANDIDATE_TAINT {
                    if let Some(registered) = self.registered(id) {
                        registered.marked = None;
                    }
                    self.ledger.counts.unmarked += 1;
                }
                self.remove_taint(id, key);
            }
            Action::Drain { node, pods, .. } => {
                let id = self.node_called(node)?;
                self.evict(id, pods)?;
            }
            Action::Remove { node, .. } => {
                self.node_called(node)?;
                self.remove(node)?;
                self.ledger.counts.removed += 1;
            }
            Action::WriteOff { provider_id, replace } => {
                self.write_off(&planned.group, provider_id, *replace)?;
                self.ledger.counts.removed += 1;
            }
        }
        Ok(())
    }

    /// The node that a machine has become.
    pub(crate) fn node_of(&self, provider_id: &str) -> Option<Arc<str>> {
        let machine = self.machines.values().find(|machine| *machine.provider_id == *provider_id)?;
        machine.node.as_ref().map(|_| Arc::clone(&machine.name))
    }

    fn node_called(&self, name: &Arc<str>) -> Result<MachineId, Refused> {
        let id = self.by_name.get(name).copied();
        let registered = |id: &MachineId| self.machines.get(id).is_some_and(|machine| machine.node.is_some());
        id.filter(registered).ok_or_else(|| Refused::NoNode { node: Arc::clone(name) })
    }
}
