//! Nodes register, turn ready and not ready, and go with their machines.

use headroom_core::policy::Percent;
use headroom_core::quantity::Resources;
use headroom_core::scheduling::parts_of_device;
use headroom_core::snapshot::{Effect, Labels, Readiness, Taint};

use super::fit::{daemon_fits, may_stay};
use super::*;

/// The taint of a node that is not ready.
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// For so long pods stay on a node that is not ready: Kubernetes' default toleration.
const EVICTED_AFTER: SignedDuration = SignedDuration::from_secs(300);

pub(super) const HOUR: SignedDuration = SignedDuration::from_hours(1);

impl World {
    /// A machine has booted: its node registers and warms up.
    pub(super) fn boot(&mut self, id: MachineId) {
        let Some(machine) = self.machines.get(&id) else { return };
        let group = &mut self.groups[machine.group];
        let node_type = Arc::clone(group.spec.kind(machine.kind).0);
        let (warm_up, devices_after) = (group.within(node_type.warm_up), group.within(node_type.devices_after));
        let flaky = node_type.flaky;
        self.register(id);
        self.plan(warm_up, Event::Recovers(id));
        if devices_after > SignedDuration::ZERO {
            self.set_devices(id, false);
            self.plan(warm_up + devices_after, Event::Equips(id));
        }
        if flaky.is_some() {
            self.plan(HOUR, Event::Wavers(id));
        }
    }

    /// A node joins the cluster, not ready yet, and gets its DaemonSets' pods.
    pub(super) fn register(&mut self, id: MachineId) {
        let Some(machine) = self.machines.get_mut(&id) else { return };
        let spec = &self.groups[machine.group].spec;
        let (node_type, labels) = spec.kind(machine.kind);
        let object = Node {
            name: Arc::clone(&machine.name),
            provider_id: Some(machine.provider_id.clone()),
            labels: with_hostname(labels, &machine.name),
            taints: spec.taints.clone(),
            created: Some(self.now),
            allocatable: node_type.allocatable.clone(),
            capacity: node_type.capacity.clone(),
            busy: spec.measures_cpu.then_some(Percent(0)),
            ..Node::default()
        };
        let levels = self.ledger.levels(machine.group);
        levels.nodes += 1;
        levels.capacity += &object.allocatable;
        machine.node = Some(Registered {
            shape: self.shapes.of(&object),
            devices: devices(&object.allocatable),
            object,
            pods: BTreeSet::new(),
            used: Totals::default(),
            work: 0,
            outages: 0,
            marked: None,
        });
        let group = machine.group;
        self.note_group(group);
        self.turn_not_ready(id);
        self.start_daemons(id);
    }

    /// A node gets its extended resources.
    pub(super) fn equip(&mut self, id: MachineId) {
        self.set_devices(id, true);
    }

    fn set_devices(&mut self, id: MachineId, there: bool) {
        let Some(machine) = self.machines.get_mut(&id) else { return };
        let Some(registered) = machine.node.as_mut() else { return };
        let node_type = self.groups[machine.group].spec.kind(machine.kind).0;
        let extended = |of: &Resources| if there { of.extended.clone() } else { Vec::new() };
        let capacity = &mut self.ledger.levels(machine.group).capacity;
        *capacity -= &registered.object.allocatable;
        registered.object.allocatable.extended = extended(&node_type.allocatable);
        registered.object.capacity.extended = extended(&node_type.capacity);
        registered.devices = devices(&registered.object.allocatable);
        *capacity += &registered.object.allocatable;
        self.node_changed(id);
    }

    /// One reason less for a node not to be ready.
    pub(super) fn recover(&mut self, id: MachineId) {
        let Some(registered) = self.registered(id) else { return };
        registered.outages = registered.outages.saturating_sub(1);
        if registered.outages == 0 && registered.object.readiness != Readiness::Ready {
            registered.object.readiness = Readiness::Ready;
            registered.object.taints.retain(|taint| &*taint.key != NOT_READY);
            self.node_changed(id);
            self.note_guarded(id);
        }
    }

    /// One reason more for a node not to be ready.
    pub(super) fn turn_not_ready(&mut self, id: MachineId) {
        let now = self.now;
        let Some(registered) = self.registered(id) else { return };
        registered.outages += 1;
        if registered.outages > 1 {
            return;
        }
        registered.object.readiness = Readiness::NotReady { since: Some(now) };
        let taint = Taint { key: NOT_READY.into(), value: "".into(), effect: Effect::NoSchedule };
        registered.object.taints.push(taint);
        self.node_changed(id);
        self.note_guarded(id);
        self.plan(EVICTED_AFTER, Event::Evicts(id, now));
    }

    /// A flaky node turns NotReady, or does not.
    pub(super) fn waver(&mut self, id: MachineId) {
        let Some(machine) = self.machines.get(&id) else { return };
        let group = &mut self.groups[machine.group];
        let Some(Flaky { an_hour, lasts }) = group.spec.kind(machine.kind).0.flaky else { return };
        let (strikes, lasts) = (group.chance(an_hour), group.within(lasts));
        if strikes {
            self.turn_not_ready(id);
            self.plan(lasts, Event::Recovers(id));
        }
        self.plan(HOUR, Event::Wavers(id));
    }

    /// Gives up the pods of a node that has not been ready since `since`.
    pub(super) fn evict_unready(&mut self, id: MachineId, since: Timestamp) {
        let Some(registered) = self.registered(id) else { return };
        if registered.object.readiness == (Readiness::NotReady { since: Some(since) }) {
            self.lose_pods(id, |_| true);
        }
    }

    /// Adds a taint to a node, or replaces the one with its key and effect.
    pub(super) fn add_taint(&mut self, id: MachineId, taint: Taint) {
        let Some(registered) = self.registered(id) else { return };
        let same = |known: &Taint| known.key == taint.key && known.effect == taint.effect;
        registered.object.taints.retain(|known| !same(known));
        registered.object.taints.push(taint.clone());
        self.node_changed(id);
        self.lose_pods(id, |spec| !may_stay(spec, &taint));
    }

    pub(super) fn remove_taint(&mut self, id: MachineId, key: &str) {
        let Some(registered) = self.registered(id) else { return };
        registered.object.taints.retain(|taint| &*taint.key != key);
        self.node_changed(id);
    }

    /// Changes a node's object.
    pub(super) fn edit_node(&mut self, id: MachineId, edit: impl FnOnce(&mut Node)) {
        let Some(registered) = self.registered(id) else { return };
        edit(&mut registered.object);
        self.node_changed(id);
    }

    /// The pods of a node are others: where that is measured, its cpus are busy as they say.
    pub(super) fn note_busy(&mut self, id: MachineId) {
        let Some(machine) = self.machines.get_mut(&id) else { return };
        let name = Arc::clone(&machine.name);
        let Some(registered) = machine.node.as_mut().filter(|registered| registered.object.busy.is_some()) else {
            return;
        };
        let (used, has) = (registered.used.cpu.max(0), i128::from(registered.object.allocatable.cpu.max(1)));
        registered.object.busy = Some(Percent(u32::try_from(used * 10_000 / has).unwrap_or(u32::MAX).min(10_000)));
        self.note_node(&name);
    }

    /// Ends a machine: its node and its pods are gone.
    pub(super) fn end_machine(&mut self, id: MachineId) {
        let daemons = self.pods_of(id, |kind| kind != PodKind::Workload);
        daemons.into_iter().for_each(|pod| self.end_pod(pod));
        let work = self.pods_of(id, |kind| kind == PodKind::Workload);
        let Some(machine) = self.machines.get(&id) else { return };
        let group = machine.group;
        if let Some(registered) = &machine.node {
            let levels = self.ledger.levels(group);
            levels.nodes = levels.nodes.saturating_sub(1);
            levels.capacity -= &registered.object.allocatable;
            let name = Arc::clone(&machine.name);
            self.note_node(&name);
            // Less nodes may be more room: a domain that spread pods had to fill may be gone.
            self.waiting.room_grew();
        }
        work.into_iter().for_each(|pod| self.lose_pod(pod));
        if let Some(machine) = self.machines.remove(&id) {
            self.by_name.remove(&machine.name);
        }
        self.groups[group].machines.remove(&id);
        let levels = self.ledger.levels(group);
        levels.machines = levels.machines.saturating_sub(1);
        self.note_group(group);
    }

    pub(super) fn registered(&mut self, id: MachineId) -> Option<&mut Registered> {
        self.machines.get_mut(&id)?.node.as_mut()
    }

    fn node_changed(&mut self, id: MachineId) {
        let Some(machine) = self.machines.get_mut(&id) else { return };
        let name = Arc::clone(&machine.name);
        if let Some(registered) = &mut machine.node {
            registered.shape = self.shapes.of(&registered.object);
        }
        self.note_node(&name);
        self.waiting.room_grew();
    }

    fn start_daemons(&mut self, id: MachineId) {
        for at in 0..self.daemon_sets.len() {
            let (Some(set), Some(registered)) =
                (self.daemon_sets.get(at), self.machines.get(&id).and_then(|machine| machine.node.as_ref()))
            else {
                continue;
            };
            if daemon_fits(&set.spec, &registered.object, &registered.used) {
                let (name, spec) = (Arc::clone(&set.name), set.spec.clone());
                self.make_daemon(&name, spec, id);
            }
        }
    }

    fn lose_pods(&mut self, id: MachineId, which: impl Fn(&headroom_core::snapshot::PodSpec) -> bool) {
        let pods = self.pods_of(id, |kind| kind == PodKind::Workload);
        let lost: Vec<PodId> =
            pods.into_iter().filter(|pod| self.pods.get(pod).is_some_and(|pod| which(&pod.spec))).collect();
        lost.into_iter().for_each(|pod| self.lose_pod(pod));
    }

    fn pods_of(&self, id: MachineId, which: impl Fn(PodKind) -> bool) -> Vec<PodId> {
        let registered = self.machines.get(&id).and_then(|machine| machine.node.as_ref());
        let pods = registered.into_iter().flat_map(|registered| &registered.pods);
        pods.filter(|pod| self.pods.get(pod).is_some_and(|pod| which(pod.spec.kind))).copied().collect()
    }
}

/// The devices of an empty node with these resources, by the resources that count their parts.
fn devices(has: &Resources) -> Vec<(Arc<str>, Devices)> {
    let shared = has.extended.iter().filter(|(name, _)| parts_of_device(name).is_some());
    shared.map(|(name, _)| (Arc::clone(name), Devices::new(name, has))).collect()
}

/// These labels and the one that every node has.
fn with_hostname(labels: &Labels, name: &str) -> Labels {
    labels.iter().chain([("kubernetes.io/hostname", name)]).collect()
}
