//! The simulated cluster and its cloud: what is true at one instant, and what happens by itself.

#[cfg(test)]
mod audit;
mod cloud;
mod disruption;
mod execute;
mod fit;
mod mishaps;
mod neighbours;
mod nodes;
mod observe;
mod pods;
mod scheduler;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headroom_core::quantity::Totals;
use headroom_core::scheduling::Devices;
use headroom_core::snapshot::{Node, PodKind, SharedSpec};
use headroom_core::strategy::utilization::FORCE_TAINT;
use jiff::{SignedDuration, Timestamp};

pub use cloud::Refused;

use crate::demand::{Source, Step};
use crate::ledger::Ledger;
use crate::queue::Queue;
use crate::scenario::{Flaky, Incident, NodeGroup, NodeType, Placement, Scenario};
use cloud::Group;
use fit::Shapes;
use neighbours::Mirror;
use observe::Unseen;
use scheduler::Waiting;

/// Identifies a machine for the whole run, in order of launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MachineId(u32);

/// Identifies a pod for the whole run, in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PodId(u32);

/// The cluster and the cloud.
#[derive(Debug)]
pub(crate) struct World {
    now: Timestamp,
    start: Timestamp,
    end: Timestamp,
    placement: Placement,
    queue: Queue<Event>,
    sources: Vec<Source>,
    /// The pods that a workload with replicas has, and how many it has made so far.
    crews: Vec<Crew>,
    /// Workloads with a disruption budget.
    guards: Vec<disruption::Guard>,
    daemon_sets: Vec<crate::scenario::DaemonSet>,
    incidents: Vec<Incident>,
    strikes: Vec<mishaps::Strike>,
    groups: Vec<Group>,
    stock_outs: BTreeMap<(Arc<str>, Option<Arc<str>>), u32>,
    machines: BTreeMap<MachineId, Machine>,
    by_name: BTreeMap<Arc<str>, MachineId>,
    launched: u32,
    pods: BTreeMap<PodId, Pod>,
    arrived: u32,
    waiting: Waiting,
    shapes: Shapes,
    /// There was a pod that wants others away, so that it matters for every pod where others are.
    shunning: bool,
    unseen: Unseen,
    mirror: Option<Mirror>,
    ledger: Ledger,
}

/// How a group is doing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupState {
    /// The cloud's own lower limit.
    pub(crate) min: u32,
    /// The cloud's own upper limit.
    pub(crate) max: u32,
    /// What the cloud is asked for.
    pub(crate) target: u32,
    /// What it has.
    pub(crate) machines: u32,
    /// Nodes that are neither cordoned nor marked by Headroom.
    pub(crate) in_service: u32,
    /// Nodes that Headroom has marked.
    pub(crate) marked: u32,
}

/// What matters about a node when it is to be removed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeState {
    /// Pods other than those of DaemonSets.
    pub(crate) pods: u32,
    /// When Headroom marked it for removal.
    pub(crate) marked: Option<Timestamp>,
    /// Whether somebody put the force taint on it.
    pub(crate) forced: bool,
}

/// Pods of one workload.
#[derive(Clone, Debug, Default)]
struct Crew {
    live: BTreeSet<PodId>,
    made: u32,
}

#[derive(Debug)]
struct Machine {
    group: usize,
    /// Which of the group's kinds of machines it is.
    kind: usize,
    name: Arc<str>,
    provider_id: Box<str>,
    launched: Timestamp,
    /// From its registration on.
    node: Option<Registered>,
}

/// What a machine is once its node has registered.
#[derive(Debug)]
struct Registered {
    object: Node,
    /// What its labels and taints make it.
    shape: usize,
    pods: BTreeSet<PodId>,
    used: Totals,
    /// Its devices, by the resources that count their parts.
    devices: Vec<(Arc<str>, Devices)>,
    /// How many of its pods are not a DaemonSet's.
    work: u32,
    /// How many reasons it has for not being ready.
    outages: u32,
    /// When Headroom marked it for removal.
    marked: Option<Timestamp>,
}

#[derive(Debug)]
struct Pod {
    name: Box<str>,
    spec: SharedSpec,
    workload: Option<usize>,
    created: Timestamp,
    runs_for: Option<SignedDuration>,
    leaves_at: Option<Timestamp>,
    machine: Option<MachineId>,
    /// The devices of the machine that it has all or a share of.
    devices: Vec<u16>,
    /// It has a node and has started well.
    ready: bool,
    /// When its grace period is over, once it was told to end.
    ends_by: Option<Timestamp>,
}

/// What happens by itself.
#[derive(Clone, Debug)]
enum Event {
    /// A workload takes a step.
    Demand(usize, Step),
    /// A pod has run for its time, or leaves.
    Ends(PodId),
    /// A pod is ready.
    Readies(PodId),
    /// A machine has booted.
    Boots(MachineId),
    /// A node's extended resources are there.
    Equips(MachineId),
    /// A reason why a node is not ready is over.
    Recovers(MachineId),
    /// A flaky node may turn NotReady.
    Wavers(MachineId),
    /// A node has not been ready since this instant: its pods are given up.
    Evicts(MachineId, Timestamp),
    /// The stock of a node type changes.
    Stock(Arc<NodeType>),
    /// The stock of one group changes.
    StockOf(usize),
    /// Something goes wrong.
    Begins(usize),
    /// A mishap is over.
    Passes(usize),
}

impl World {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let (start, end) = (scenario.start, scenario.end());
        let source = |workload: &crate::scenario::Workload| Source::new(workload.clone(), scenario.seed, start, end);
        let mut world = World {
            now: start,
            start,
            end,
            placement: scenario.placement,
            queue: Queue::new(),
            sources: scenario.workloads.iter().map(source).collect(),
            crews: vec![Crew::default(); scenario.workloads.len()],
            guards: Vec::new(),
            daemon_sets: scenario.daemon_sets.clone(),
            incidents: scenario.incidents.clone(),
            strikes: Vec::new(),
            groups: scenario.groups.iter().map(|group| Group::new(group.clone(), scenario.seed)).collect(),
            stock_outs: BTreeMap::new(),
            machines: BTreeMap::new(),
            by_name: BTreeMap::new(),
            launched: 0,
            pods: BTreeMap::new(),
            arrived: 0,
            waiting: Waiting::default(),
            shapes: Shapes::default(),
            shunning: false,
            unseen: Unseen::default(),
            mirror: None,
            ledger: Ledger::new(start, end, scenario.groups.iter().map(|group| group.node_type.price)),
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        self.guards = self.guards();
        self.note_budgets();
        for set in 0..self.daemon_sets.len() {
            self.note_daemon_set(set);
        }
        for group in 0..self.groups.len() {
            self.found_group(group);
        }
        for incident in 0..self.incidents.len() {
            self.plan_incident(incident, self.start);
        }
        for source in 0..self.sources.len() {
            self.plan_demand(source, self.start);
        }
        self.advance(self.start);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// When something happens next.
    pub(crate) fn next_event_at(&self) -> Option<Timestamp> {
        self.queue.next_at()
    }

    /// Lets everything happen that happens up to `now`, which must not be before the present.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        // What was done to the cluster since the last call may have made room.
        self.schedule();
        while let Some(at) = self.queue.next_at().filter(|at| *at <= now) {
            self.set_time(at);
            while let Some(event) = self.queue.pop_until(at) {
                self.happen(event);
            }
            self.schedule();
        }
        self.set_time(now);
    }

    /// What was measured so far.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The groups' names and those of their node types.
    pub(crate) fn group_names(&self) -> impl Iterator<Item = (Arc<str>, Arc<str>)> {
        self.groups.iter().map(|group| (Arc::clone(&group.spec.name), Arc::clone(&group.spec.node_type.name)))
    }

    /// How a group is doing.
    pub(crate) fn group_state(&self, name: &str) -> Option<GroupState> {
        let group = self.group_called(name).ok().map(|group| &self.groups[group])?;
        let nodes = group.machines.iter().filter_map(|id| self.machines.get(id)?.node.as_ref());
        let in_service = |node: &&Registered| !node.object.unschedulable && node.marked.is_none();
        let marked = nodes.clone().filter(|node| node.marked.is_some()).count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Some(GroupState {
            min: group.spec.min,
            max: group.spec.max,
            target: group.target,
            machines: cloud::count(&group.machines),
            in_service: number(nodes.filter(in_service).count()),
            marked: number(marked),
        })
    }

    /// What matters about a node when it is to be removed.
    pub(crate) fn node_state(&self, node: &str) -> Option<NodeState> {
        let registered = self.machines.get(self.by_name.get(node)?)?.node.as_ref()?;
        let forced = registered.object.taint(FORCE_TAINT).is_some();
        Some(NodeState { pods: registered.work, marked: registered.marked, forced })
    }

    fn set_time(&mut self, now: Timestamp) {
        self.ledger.advance(now);
        self.now = now;
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Demand(source, step) => self.step(source, step),
            Event::Ends(pod) => self.end_pod(pod),
            Event::Readies(pod) => self.make_ready(pod),
            Event::Boots(machine) => self.boot(machine),
            Event::Equips(machine) => self.equip(machine),
            Event::Recovers(machine) => self.recover(machine),
            Event::Wavers(machine) => self.waver(machine),
            Event::Evicts(machine, since) => self.evict_unready(machine, since),
            Event::Stock(node_type) => self.restock(&node_type),
            Event::StockOf(group) => self.restock_group(group),
            Event::Begins(incident) => self.strike(incident),
            Event::Passes(strike) => self.pass(strike),
        }
    }

    fn plan(&mut self, wait: SignedDuration, event: Event) {
        self.plan_at(after(self.now, wait), event);
    }

    fn plan_at(&mut self, at: Timestamp, event: Event) {
        // What lies behind the end is never looked at, so it is not kept.
        if at < self.end {
            self.queue.push(at, event);
        }
    }
}

fn after(now: Timestamp, wait: SignedDuration) -> Timestamp {
    now.saturating_add(wait).unwrap_or(Timestamp::MAX)
}
