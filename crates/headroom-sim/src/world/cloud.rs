//! The cloud: node groups with a target, stock, and machines that are launched to meet it.

use headroom_core::policy::Percent;
use headroom_core::snapshot::{CloudGroup, Instance, InstanceState, Labels, LaunchError, LaunchFailure, Template};
use thiserror::Error;

use super::nodes::HOUR;
use super::*;
use crate::random::Stream;
use crate::scenario::{OutOfStock, Schedule, Span};

/// Why the simulated cluster or cloud does not do what it is asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// The group has another size than the plan was made for.
    #[error("{group} has {target} machines, not {from}")]
    Stale {
        /// The group.
        group: Arc<str>,
        /// The size that the plan was made for.
        from: u32,
        /// The size that it has.
        target: u32,
    },
    /// The size is outside the cloud group's own limits.
    #[error("{group} may have {min} to {max} machines, not {to}")]
    Limits {
        /// The group.
        group: Arc<str>,
        /// The size asked for.
        to: u32,
        /// The cloud's lower limit.
        min: u32,
        /// The cloud's upper limit.
        max: u32,
    },
    /// The cloud has not so many machines.
    #[error("{group}: no {node_type} in stock")]
    NoStock {
        /// The group.
        group: Arc<str>,
        /// Its node type.
        node_type: Arc<str>,
    },
    /// A pod's disruption budget does not allow its eviction.
    #[error("disruption budget {budget} keeps {pod}: {healthy} ready, {wanted} must be")]
    Disruption {
        /// The pod (`namespace/name`).
        pod: String,
        /// The disruption budget.
        budget: Box<str>,
        /// Pods that are ready.
        healthy: u32,
        /// Pods that must be.
        wanted: u32,
    },
    /// There is no such group.
    #[error("no group {group}")]
    NoGroup {
        /// The name.
        group: Arc<str>,
    },
    /// There is no such node.
    #[error("no node {node}")]
    NoNode {
        /// The name.
        node: Arc<str>,
    },
}

/// One node group with its machines.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) spec: NodeGroup,
    pub(super) target: u32,
    pub(super) machines: BTreeSet<MachineId>,
    /// So many of the next machines never become nodes.
    pub(super) doomed: u32,
    /// What it said when it last could not make machines that it was asked for.
    failure: Option<LaunchFailure>,
    stream: Stream,
    made: u32,
}

/// The label that names the zone of a node.
const ZONE: &str = "topology.kubernetes.io/zone";

impl Group {
    pub(super) fn new(spec: NodeGroup, seed: u64) -> Self {
        let stream = Stream::new(seed, &format!("group/{}", spec.name));
        Group { target: spec.nodes, machines: BTreeSet::new(), doomed: 0, failure: None, stream, made: 0, spec }
    }

    pub(super) fn within(&mut self, span: Span) -> SignedDuration {
        self.stream.within(span)
    }

    pub(super) fn chance(&mut self, percent: Percent) -> bool {
        self.stream.chance(percent)
    }
}

impl World {
    /// Makes the machines that a group has at the start.
    pub(super) fn found_group(&mut self, group: usize) {
        let NodeGroup { nodes, node_type, .. } = &self.groups[group].spec;
        let (nodes, node_type) = (*nodes, Arc::clone(node_type));
        self.ledger.levels(group).wanted = nodes;
        self.note_group(group);
        for _ in 0..nodes {
            let machine = self.new_machine(group, 0);
            self.register(machine);
            self.recover(machine);
            if node_type.flaky.is_some() {
                self.plan(HOUR, Event::Wavers(machine));
            }
        }
        let kinds: Vec<Arc<NodeType>> = self.groups[group].spec.kinds().map(|(kind, _)| Arc::clone(kind)).collect();
        kinds.iter().for_each(|kind| self.plan_restock(kind));
        self.plan_restock_of(group);
    }

    /// Sets a group's target, as long as it still is `from`.
    pub(super) fn resize(&mut self, name: &Arc<str>, from: u32, to: u32) -> Result<(), Refused> {
        let group = self.group_called(name)?;
        let in_stock = self.in_stock(group);
        let state = &self.groups[group];
        let (min, max) = (state.spec.min, state.spec.max);
        if state.target != from {
            return Err(Refused::Stale { group: Arc::clone(name), from, target: state.target });
        }
        if to < min || to > max {
            return Err(Refused::Limits { group: Arc::clone(name), to, min, max });
        }
        let missing = to.saturating_sub(count(&state.machines));
        let node_type = Arc::clone(&state.spec.node_type);
        if to > from && in_stock.is_some_and(|left| missing > left) && node_type.out_of_stock != OutOfStock::Wait {
            let message = format!("no {} in stock", node_type.name).into();
            self.groups[group].failure = Some(LaunchFailure { at: self.now, error: LaunchError::OutOfStock, message });
            self.note_group(group);
            if node_type.out_of_stock == OutOfStock::Refuse {
                return Err(Refused::NoStock { group: Arc::clone(name), node_type: Arc::clone(&node_type.name) });
            }
        }
        self.set_target(group, to);
        Ok(())
    }

    /// Removes one machine and lowers the target by one.
    pub(super) fn remove(&mut self, node: &Arc<str>) -> Result<(), Refused> {
        let no_node = || Refused::NoNode { node: Arc::clone(node) };
        let id = *self.by_name.get(node).ok_or_else(no_node)?;
        let group = self.machines.get(&id).ok_or_else(no_node)?.group;
        let state = &self.groups[group];
        let (min, max, to) = (state.spec.min, state.spec.max, state.target.saturating_sub(1));
        if to < min {
            return Err(Refused::Limits { group: Arc::clone(&state.spec.name), to, min, max });
        }
        self.end_machine(id);
        self.set_target(group, to);
        Ok(())
    }

    /// Removes a machine that is no node. The target is lowered by one, unless the cloud is to make another.
    pub(super) fn write_off(&mut self, name: &Arc<str>, provider_id: &str, replace: bool) -> Result<(), Refused> {
        let group = self.group_called(name)?;
        let is_it = |id: &&MachineId| self.machines.get(id).is_some_and(|known| *known.provider_id == *provider_id);
        let id = self.groups[group].machines.iter().find(is_it).copied();
        let id = id.ok_or_else(|| Refused::NoNode { node: provider_id.into() })?;
        let state = &self.groups[group];
        let (min, max, to) = (state.spec.min, state.spec.max, state.target.saturating_sub(u32::from(!replace)));
        if to < min {
            return Err(Refused::Limits { group: Arc::clone(name), to, min, max });
        }
        self.end_machine(id);
        self.set_target(group, to);
        Ok(())
    }

    pub(super) fn group_called(&self, name: &str) -> Result<usize, Refused> {
        let found = self.groups.iter().position(|group| *group.spec.name == *name);
        found.ok_or_else(|| Refused::NoGroup { group: Arc::from(name) })
    }

    pub(super) fn set_target(&mut self, group: usize, target: u32) {
        self.groups[group].target = target;
        self.ledger.levels(group).wanted = target;
        self.note_group(group);
        self.reconcile_like(group);
    }

    /// Reconciles every group with a node type of this one: what one gives back another may wait for.
    pub(super) fn reconcile_like(&mut self, group: usize) {
        let kinds = self.groups[group].spec.kinds().map(|(kind, _)| &kind.name);
        let alike: BTreeSet<usize> = kinds.flat_map(|name| self.groups_of(name)).collect();
        alike.into_iter().for_each(|group| self.reconcile(group));
    }

    /// Launches what a group lacks, as far as there is stock, and ends what it has too many.
    pub(super) fn reconcile(&mut self, group: usize) {
        let state = &self.groups[group];
        let have = count(&state.machines);
        let surplus = have.saturating_sub(state.target);
        // Machines without a node go first, then the youngest.
        let mut order: Vec<(bool, MachineId)> = state
            .machines
            .iter()
            .map(|id| (self.machines.get(id).is_some_and(|machine| machine.node.is_none()), *id))
            .collect();
        let missing = state.target.saturating_sub(have);
        order.sort_unstable_by(|a, b| b.cmp(a));
        for (_, id) in order.into_iter().take(surplus as usize) {
            self.end_machine(id);
        }
        for _ in 0..missing {
            match self.kind_in_stock(group) {
                Some(kind) => self.launch(group, kind),
                None => return,
            }
        }
    }

    /// Launches what waits for a node type whose stock may have grown.
    pub(super) fn restock(&mut self, node_type: &Arc<NodeType>) {
        for group in self.groups_of(&node_type.name) {
            self.reconcile(group);
        }
        self.plan_restock(node_type);
    }

    /// Launches what waits for the stock of one group.
    pub(super) fn restock_group(&mut self, group: usize) {
        self.reconcile(group);
        self.plan_restock_of(group);
    }

    pub(super) fn groups_of(&self, node_type: &str) -> Vec<usize> {
        let of_type = |(_, group): &(usize, &Group)| group.spec.kinds().any(|(kind, _)| *kind.name == *node_type);
        self.groups.iter().enumerate().filter(of_type).map(|(index, _)| index).collect()
    }

    /// The group as its cloud describes it.
    pub(super) fn group_object(&self, group: usize) -> CloudGroup {
        let Group { spec, target, machines, failure, .. } = &self.groups[group];
        let instance = |id: &MachineId| {
            let machine = self.machines.get(id)?;
            let state = if machine.node.is_some() { InstanceState::Running } else { InstanceState::Creating };
            Some(Instance {
                provider_id: machine.provider_id.clone(),
                state,
                created: Some(machine.launched),
                ..Instance::default()
            })
        };
        let template = || Template {
            allocatable: spec.node_type.allocatable.clone(),
            capacity: spec.node_type.capacity.clone(),
            labels: spec.labels.clone(),
            taints: spec.taints.clone(),
        };
        CloudGroup {
            name: Arc::clone(&spec.name),
            target: *target,
            min: Some(spec.min),
            max: Some(spec.max),
            instances: spec.lists_machines.then(|| machines.iter().filter_map(instance).collect()),
            template: spec.knows_template.then(template),
            failure: failure.clone(),
            ..CloudGroup::default()
        }
    }

    pub(super) fn new_machine(&mut self, group: usize, kind: usize) -> MachineId {
        let state = &mut self.groups[group];
        let id = MachineId(self.launched);
        self.launched += 1;
        state.made += 1;
        state.machines.insert(id);
        let name: Arc<str> = format!("{}-{:04}", state.spec.name, state.made).into();
        let provider_id = format!("sim:///{}/{:04}", state.spec.name, state.made).into();
        let machine = Machine { group, kind, name: Arc::clone(&name), provider_id, launched: self.now, node: None };
        self.machines.insert(id, machine);
        self.by_name.insert(name, id);
        self.ledger.levels(group).machines += 1;
        self.note_group(group);
        id
    }

    fn launch(&mut self, group: usize, kind: usize) {
        let id = self.new_machine(group, kind);
        let state = &mut self.groups[group];
        let node_type = Arc::clone(state.spec.kind(kind).0);
        let boot = state.stream.within(node_type.boot);
        let doomed = state.doomed > 0;
        state.doomed = state.doomed.saturating_sub(1);
        if state.stream.chance(node_type.boot_failures) || doomed {
            self.ledger.counts.failed_boots += 1;
        } else {
            self.plan(boot, Event::Boots(id));
        }
    }

    /// How many more machines of a group the cloud can make now; None is no limit.
    fn in_stock(&self, group: usize) -> Option<u32> {
        let spec = &self.groups[group].spec;
        let kinds = spec.kinds().map(|(node_type, labels)| self.in_stock_of(node_type, labels));
        let kinds = kinds.reduce(|sum, left| Some(sum?.saturating_add(left?))).flatten();
        let own = spec.stock.as_ref().map(|stock| self.left(stock, count(&self.groups[group].machines)));
        [own, kinds].into_iter().flatten().min()
    }

    /// The best kind of which the cloud can make another machine for a group now.
    fn kind_in_stock(&self, group: usize) -> Option<usize> {
        let spec = &self.groups[group].spec;
        let own = spec.stock.as_ref().map(|stock| self.left(stock, count(&self.groups[group].machines)));
        let has = |(node_type, labels): (&Arc<NodeType>, &Labels)| self.in_stock_of(node_type, labels) != Some(0);
        if own == Some(0) { None } else { spec.kinds().position(has) }
    }

    /// How many more machines of a kind the cloud can make now for nodes with these labels; None is no limit.
    fn in_stock_of(&self, node_type: &NodeType, labels: &Labels) -> Option<u32> {
        let zone = labels.get(ZONE).map(Arc::from);
        if [None, zone].into_iter().any(|zone| self.stock_outs.contains_key(&(Arc::clone(&node_type.name), zone))) {
            return Some(0);
        }
        let made = || self.groups_of(&node_type.name).into_iter().map(|group| self.made_of(group, &node_type.name));
        node_type.stock.as_ref().map(|stock| self.left(stock, made().fold(0, u32::saturating_add)))
    }

    /// How many machines of a kind a group has.
    fn made_of(&self, group: usize, node_type: &str) -> u32 {
        let Group { spec, machines, .. } = &self.groups[group];
        if spec.failovers.is_empty() {
            return count(machines);
        }
        let is_it = |id: &&MachineId| {
            self.machines.get(id).is_some_and(|machine| *spec.kind(machine.kind).0.name == *node_type)
        };
        u32::try_from(machines.iter().filter(is_it).count()).unwrap_or(u32::MAX)
    }

    fn left(&self, stock: &Schedule, used: u32) -> u32 {
        stock.whole_at(self.now).saturating_sub(used)
    }

    fn plan_restock(&mut self, node_type: &Arc<NodeType>) {
        let next = node_type.stock.as_ref().and_then(|stock| stock.next_change(self.now, self.end));
        if let Some(at) = next {
            self.plan_at(at, Event::Stock(Arc::clone(node_type)));
        }
    }

    fn plan_restock_of(&mut self, group: usize) {
        let stock = self.groups[group].spec.stock.as_ref();
        if let Some(at) = stock.and_then(|stock| stock.next_change(self.now, self.end)) {
            self.plan_at(at, Event::StockOf(group));
        }
    }
}

pub(super) fn count<T>(of: &BTreeSet<T>) -> u32 {
    u32::try_from(of.len()).unwrap_or(u32::MAX)
}
