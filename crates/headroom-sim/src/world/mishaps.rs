//! What goes wrong, or is done to the cluster by somebody else.

use super::*;
use crate::scenario::Mishap;

/// A mishap that has begun, with what is needed to undo it.
#[derive(Debug)]
pub(super) struct Strike {
    incident: usize,
    /// Struck and not yet let go.
    machines: Vec<MachineId>,
    /// The cloud group's limits before it.
    limits: Option<(u32, u32)>,
}

impl World {
    pub(super) fn plan_incident(&mut self, incident: usize, from: Timestamp) {
        if let Some(at) = self.incidents[incident].at.next(self.start, from) {
            self.plan_at(at, Event::Begins(incident));
        }
    }

    pub(super) fn strike(&mut self, incident: usize) {
        self.plan_incident(incident, after(self.now, SignedDuration::from_secs(1)));
        let Incident { lasts, mishap, .. } = self.incidents[incident].clone();
        let machines = self.victims(incident, &mishap);
        let mut limits = None;
        match &mishap {
            Mishap::StockOut { node_type, zone } => {
                *self.stock_outs.entry((Arc::clone(node_type), zone.clone())).or_default() += 1;
            }
            Mishap::FailBoots { group, machines } => self.doom(group, |doomed| doomed.saturating_add(*machines)),
            Mishap::NotReady { .. } => machines.iter().for_each(|id| self.turn_not_ready(*id)),
            Mishap::Break { .. } => machines.iter().for_each(|id| self.break_down(*id)),
            Mishap::Cordon { .. } => {
                machines.iter().for_each(|id| self.edit_node(*id, |node| node.unschedulable = true));
            }
            Mishap::Taint { taint, .. } => machines.iter().for_each(|id| self.add_taint(*id, taint.clone())),
            Mishap::NoDelete { value, .. } => {
                machines.iter().for_each(|id| self.edit_node(*id, |node| node.no_delete = Some(value.clone())));
            }
            Mishap::Limits { group, min, max } => limits = self.set_limits(group, *min, *max),
            Mishap::Target { group, target } => {
                if let Ok(group) = self.group_called(group) {
                    self.set_target(group, *target);
                }
            }
        }
        self.strikes.push(Strike { incident, machines, limits });
        if let Some(time) = lasts {
            self.plan(time, Event::Passes(self.strikes.len() - 1));
        }
    }

    /// Undoes a mishap.
    pub(super) fn pass(&mut self, strike: usize) {
        let Strike { incident, machines, limits } = &mut self.strikes[strike];
        let (machines, limits) = (std::mem::take(machines), *limits);
        let mishap = self.incidents[*incident].mishap.clone();
        match &mishap {
            Mishap::StockOut { node_type, zone } => self.end_stock_out(node_type, zone.as_ref()),
            Mishap::FailBoots { group, machines } => self.doom(group, |doomed| doomed.saturating_sub(*machines)),
            Mishap::NotReady { .. } => machines.into_iter().for_each(|id| self.recover(id)),
            Mishap::Cordon { .. } => {
                machines.into_iter().for_each(|id| self.edit_node(id, |node| node.unschedulable = false));
            }
            Mishap::Taint { taint, .. } => machines.into_iter().for_each(|id| self.remove_taint(id, &taint.key)),
            Mishap::NoDelete { .. } => {
                machines.into_iter().for_each(|id| self.edit_node(id, |node| node.no_delete = None));
            }
            Mishap::Limits { group, .. } => {
                self.set_limits(group, limits.map(|(min, _)| min), limits.map(|(_, max)| max));
            }
            Mishap::Break { .. } | Mishap::Target { .. } => {}
        }
    }

    /// The oldest nodes of the group that this incident does not hold already.
    fn victims(&self, incident: usize, mishap: &Mishap) -> Vec<MachineId> {
        let (group, nodes) = match mishap {
            Mishap::NotReady { group, nodes }
            | Mishap::Break { group, nodes }
            | Mishap::Cordon { group, nodes }
            | Mishap::Taint { group, nodes, .. }
            | Mishap::NoDelete { group, nodes, .. } => (group, *nodes),
            Mishap::StockOut { .. } | Mishap::FailBoots { .. } | Mishap::Limits { .. } | Mishap::Target { .. } => {
                return Vec::new();
            }
        };
        let held: BTreeSet<MachineId> = self
            .strikes
            .iter()
            .filter(|strike| strike.incident == incident)
            .flat_map(|strike| strike.machines.iter().copied())
            .collect();
        let Ok(group) = self.group_called(group) else { return Vec::new() };
        let machines = self.groups[group].machines.iter().copied();
        let registered = |id: &MachineId| self.machines.get(id).is_some_and(|machine| machine.node.is_some());
        machines.filter(|id| registered(id) && !held.contains(id)).take(nodes as usize).collect()
    }

    fn break_down(&mut self, id: MachineId) {
        let group = self.machines.get(&id).map(|machine| machine.group);
        self.end_machine(id);
        if let Some(group) = group {
            self.reconcile_like(group);
        }
    }

    /// Sets the cloud group's own limits, and returns those before. A target below the lower one rises to it; one above
    /// the upper stays, as clouds do not end machines for that.
    fn set_limits(&mut self, group: &str, min: Option<u32>, max: Option<u32>) -> Option<(u32, u32)> {
        let group = self.group_called(group).ok()?;
        let state = &mut self.groups[group];
        let before = (state.spec.min, state.spec.max);
        state.spec.max = max.unwrap_or(before.1);
        state.spec.min = min.unwrap_or(before.0).min(state.spec.max);
        let target = state.target.max(state.spec.min);
        self.set_target(group, target);
        Some(before)
    }

    /// Changes how many of the next machines of a group never become nodes.
    fn doom(&mut self, group: &str, change: impl Fn(u32) -> u32) {
        if let Ok(group) = self.group_called(group) {
            let doomed = &mut self.groups[group].doomed;
            *doomed = change(*doomed);
        }
    }

    fn end_stock_out(&mut self, node_type: &Arc<str>, zone: Option<&Arc<str>>) {
        let key = (Arc::clone(node_type), zone.cloned());
        if let Some(active) = self.stock_outs.get_mut(&key) {
            *active = active.saturating_sub(1);
            if *active == 0 {
                self.stock_outs.remove(&key);
            }
        }
        for group in self.groups_of(node_type) {
            self.reconcile(group);
        }
    }
}
