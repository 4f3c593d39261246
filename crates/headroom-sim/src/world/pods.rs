//! Pods come, run, end and are lost.

use headroom_core::quantity::Resources;

use super::*;
use crate::scenario::Arrival;

impl World {
    /// Plans what a workload does next, at `from` or later.
    pub(super) fn plan_demand(&mut self, source: usize, from: Timestamp) {
        if let Some((at, step)) = self.sources[source].next(from) {
            self.plan_at(at, Event::Demand(source, step));
        }
    }

    pub(super) fn step(&mut self, source: usize, step: Step) {
        match step {
            Step::Pods(count) => (0..count).for_each(|_| self.draw_pod(source)),
            Step::Replicas(count) => self.set_replicas(source, count),
            Step::RecordedUntil(until) => {
                let arrivals = self.sources[source].take_recorded(until);
                arrivals.into_iter().for_each(|arrival| self.arrive(source, arrival));
            }
        }
        self.plan_demand(source, after(self.now, SignedDuration::from_secs(1)));
    }

    /// Ends a pod whose time is over, wherever it is.
    pub(super) fn end_pod(&mut self, id: PodId) {
        self.take_pod(id);
    }

    /// Takes a pod off its node against its will. One with a controller is made again.
    pub(super) fn lose_pod(&mut self, id: PodId) {
        if self.replace_pod(id) {
            self.ledger.counts.lost += 1;
        }
    }

    /// A pod has started well.
    pub(super) fn make_ready(&mut self, id: PodId) {
        if let Some(pod) = self.pods.get_mut(&id) {
            pod.ready = true;
            self.note_pod(id);
        }
    }

    /// Ends a pod, and lets its controller make it again. Whether there was such a pod of a workload, which was not on its
    /// way out already.
    pub(super) fn replace_pod(&mut self, id: PodId) -> bool {
        let ending = self.pods.get(&id).is_some_and(|pod| pod.ends_by.is_some());
        if !ending {
            self.make_another(id);
        }
        self.take_pod(id).is_some_and(|pod| pod.workload.is_some()) && !ending
    }

    /// Lets the controller of a pod make another one in its place, if it has one.
    pub(super) fn make_another(&mut self, id: PodId) {
        let Some(pod) = self.pods.get(&id).filter(|pod| pod.spec.controller.is_some()) else { return };
        let (spec, runs_for, leaves_at) = (pod.spec.clone(), pod.runs_for, pod.leaves_at);
        if let Some(workload) = pod.workload {
            self.make_pod(workload, spec, runs_for, leaves_at);
        }
    }

    /// Puts a pod on a node. It runs at once.
    pub(super) fn bind(&mut self, id: PodId, machine: MachineId) {
        let Some(pod) = self.pods.get_mut(&id) else { return };
        let Some(node) = self.machines.get_mut(&machine) else { return };
        let Some(registered) = node.node.as_mut() else { return };
        pod.machine = Some(machine);
        let ready_after = pod.workload.and_then(|workload| self.sources.get_mut(workload)).map(Source::ready_after);
        let ready_after = ready_after.filter(|time| *time > SignedDuration::ZERO);
        pod.ready = ready_after.is_none();
        registered.pods.insert(id);
        registered.used += &pod.spec.requests;
        pod.devices = take_devices(&mut registered.devices, &pod.spec.requests);
        let levels = self.ledger.levels(node.group);
        levels.requested += &pod.spec.requests;
        if pod.spec.kind == PodKind::Workload {
            levels.used += u32::from(registered.work == 0);
            registered.work += 1;
            self.ledger.waited(self.now.duration_since(pod.created));
        }
        let runs_for = pod.runs_for;
        self.note_pod(id);
        self.note_busy(machine);
        if let Some(time) = ready_after {
            self.plan(time, Event::Readies(id));
        }
        if let Some(time) = runs_for {
            self.plan(time, Event::Ends(id));
        }
    }

    /// Makes a DaemonSet's pod on the node that it is for.
    pub(super) fn make_daemon(&mut self, name: &str, spec: SharedSpec, machine: MachineId) {
        let node = self.machines.get(&machine).map(|machine| Arc::clone(&machine.name)).unwrap_or_default();
        let pod = Pod {
            name: format!("{name}-{node}").into(),
            spec,
            workload: None,
            created: self.now,
            runs_for: None,
            leaves_at: None,
            machine: None,
            devices: Vec::new(),
            ready: false,
            ends_by: None,
        };
        let id = self.admit(pod);
        self.bind(id, machine);
    }

    fn draw_pod(&mut self, source: usize) {
        if let Some((spec, runs_for)) = self.sources[source].draw() {
            self.make_pod(source, spec, runs_for, None);
        }
    }

    fn set_replicas(&mut self, source: usize, wanted: u32) {
        let wanted = wanted as usize;
        let live = &self.crews[source].live;
        // As a ReplicaSet does: those without a node first, then the youngest.
        let mut order: Vec<(bool, PodId)> =
            live.iter().map(|id| (self.pods.get(id).is_none_or(|pod| pod.machine.is_none()), *id)).collect();
        let (surplus, missing) = (order.len().saturating_sub(wanted), wanted.saturating_sub(order.len()));
        order.sort_unstable_by(|a, b| b.cmp(a));
        order.into_iter().take(surplus).for_each(|(_, id)| self.end_pod(id));
        (0..missing).for_each(|_| self.draw_pod(source));
    }

    fn arrive(&mut self, source: usize, arrival: Arrival) {
        let Arrival { name, spec, runs_for, leaves_at, .. } = arrival;
        let pod = Pod {
            name,
            spec,
            workload: Some(source),
            created: self.now,
            runs_for,
            leaves_at,
            machine: None,
            devices: Vec::new(),
            ready: false,
            ends_by: None,
        };
        self.await_node(pod);
    }

    fn make_pod(
        &mut self,
        workload: usize,
        spec: SharedSpec,
        runs_for: Option<SignedDuration>,
        leaves_at: Option<Timestamp>,
    ) {
        let crew = &mut self.crews[workload];
        crew.made += 1;
        let name = format!("{}-{:05}", self.sources[workload].name(), crew.made).into();
        let pod = Pod {
            name,
            spec,
            workload: Some(workload),
            created: self.now,
            runs_for,
            leaves_at,
            machine: None,
            devices: Vec::new(),
            ready: false,
            ends_by: None,
        };
        self.await_node(pod);
    }

    fn await_node(&mut self, pod: Pod) {
        let (workload, spec, leaves_at) = (pod.workload, pod.spec.clone(), pod.leaves_at);
        let id = self.admit(pod);
        if let Some(workload) = workload {
            self.crews[workload].live.insert(id);
        }
        self.ledger.counts.arrived += 1;
        self.waiting.push(spec, id);
        if let Some(at) = leaves_at {
            self.plan_at(at.max(self.now), Event::Ends(id));
        }
    }

    fn admit(&mut self, pod: Pod) -> PodId {
        self.shunning |= !pod.spec.pod_anti_affinity.is_empty();
        let id = PodId(self.arrived);
        self.arrived += 1;
        self.pods.insert(id, pod);
        self.note_pod(id);
        id
    }

    /// Takes a pod out of the world.
    fn take_pod(&mut self, id: PodId) -> Option<Pod> {
        let pod = self.pods.remove(&id)?;
        if let Some(workload) = pod.workload {
            self.crews[workload].live.remove(&id);
        }
        match pod.machine {
            None => self.waiting.remove(&pod.spec, id),
            Some(machine) => self.unbind(&pod, id, machine),
        }
        self.note_pod_gone(id, &pod.spec.namespace, &pod.name);
        Some(pod)
    }

    fn unbind(&mut self, pod: &Pod, id: PodId, on: MachineId) {
        let Some(machine) = self.machines.get_mut(&on) else { return };
        let Some(registered) = machine.node.as_mut() else { return };
        registered.pods.remove(&id);
        registered.used -= &pod.spec.requests;
        for (resource, devices) in &mut registered.devices {
            devices.give_back_from(pod.spec.requests.extended(resource), &pod.devices);
        }
        let levels = self.ledger.levels(machine.group);
        levels.requested -= &pod.spec.requests;
        if pod.spec.kind == PodKind::Workload {
            registered.work = registered.work.saturating_sub(1);
            levels.used -= u32::from(registered.work == 0);
        }
        self.waiting.room_grew();
        self.note_busy(on);
    }
}

/// Takes what a pod asks for of the devices of a node, and says which ones these are.
fn take_devices(of_node: &mut [(Arc<str>, Devices)], requests: &Resources) -> Vec<u16> {
    let mut chosen = Vec::new();
    for (resource, devices) in of_node {
        let amount = requests.extended(resource);
        if amount > 0 {
            // Resources that count parts of the same devices are taken from the same ones.
            if chosen.is_empty() {
                chosen = devices.choose(amount).unwrap_or_default();
            }
            devices.take(amount, &chosen);
        }
    }
    chosen
}
