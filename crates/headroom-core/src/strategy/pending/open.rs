//! The groups that may grow in a round, and what is known of each before pods are placed.

use std::sync::Arc;

use super::daemon_sets::DaemonSets;
use super::template::{NewMachine, new_machine};
use super::write_off::write_off;
use super::{arrivals, suffices};
use crate::backoff::{Backoffs, Key};
use crate::balance::Shape;
use crate::guard;
use crate::limits::{self, Bound, Present};
use crate::machines::{Machines, Observed, machines};
use crate::memory::GroupMemory;
use crate::plan::{Counts, GroupReport, Resource, Usage, Why};
use crate::policy::{Group, Pending};
use crate::pricing::{Offering, Quote};
use crate::quantity::{Resources, Totals};
use crate::round::Round;
use crate::snapshot::{Kind, Labels, NodeView, Template};

/// A group that may be enlarged in this round, with what is known of it.
pub(super) struct Open<'p> {
    /// Its position in the policy.
    pub(super) at: usize,
    pub(super) group: &'p Group,
    pub(super) settings: &'p Pending,
    pub(super) machine: NewMachine,
    /// What is free on a new node beside its DaemonSets.
    pub(super) free: Resources,
    pub(super) machines: Machines,
    pub(super) size: u32,
    /// The size that this round asks for so far.
    pub(super) planned: u32,
    /// How many of the new nodes are for the minimum, whatever pods need.
    pub(super) for_min: u32,
    pub(super) min: u32,
    pub(super) max: u32,
    /// How many nodes more the limits allow, 0 when the group may not grow.
    pub(super) room: u32,
    /// The limit that allows no more; None when something else holds the group.
    pub(super) bound: Option<Bound>,
    /// What a new node costs, when somebody says so.
    pub(super) price: Option<Quote>,
    /// The labels of a new node, without those by which the group is told apart.
    pub(super) labels: Labels,
}

impl Open<'_> {
    /// How many nodes it may still get, under its own limits and those of the cluster.
    pub(super) fn cut_room(&mut self, limits: &limits::Limits, present: &Present) {
        let room = limits.room(self.planned, self.max, &self.machine.template.capacity, present);
        let whole = !self.settings.all_or_nothing || self.planned.saturating_add(room.nodes) >= self.max;
        self.room = if whole { room.nodes } else { 0 };
        self.bound = Some(room.bound);
    }

    /// Whether machines are on their way, those that a minimum asks for included.
    pub(super) fn has_upcoming(&self) -> bool {
        self.machines.unregistered > 0 || !self.machines.booting.is_empty() || self.for_min > 0
    }

    pub(super) fn buy(&mut self, nodes: u32, present: &mut Present) {
        self.planned = self.planned.saturating_add(nodes);
        present.nodes = present.nodes.saturating_add(nodes);
        present.added = present.added.saturating_add(nodes);
        present.capacity.add_times(&self.machine.template.capacity, i128::from(nodes));
    }
}

/// Whether the group at this position of the policy may be enlarged. The groups are in the order of the policy.
pub(super) fn is_open(open: &[Open<'_>], at: usize) -> bool {
    open.binary_search_by_key(&at, |open| open.at).is_ok()
}

/// The groups that may be enlarged, by position, and what counts against the limits of the cluster.
pub(super) struct Candidates<'c>(pub(super) &'c [Open<'c>], pub(super) &'c limits::Limits, pub(super) &'c Present);

impl<'c> Candidates<'c> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn name(&self, at: usize) -> Option<&'c Arc<str>> {
        self.0.get(at).map(|open| &open.group.name)
    }

    pub(super) fn group(&self, at: usize) -> Option<&'c Group> {
        self.0.get(at).map(|open| open.group)
    }

    /// The number of its template in the placement: the position.
    pub(super) fn template(&self, at: usize) -> u32 {
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// What a new node is like.
    pub(super) fn new_node(&self, at: usize) -> Option<&'c Template> {
        self.0.get(at).map(|open| &open.machine.template)
    }

    /// What makes groups similar or not.
    pub(super) fn shape(&self, at: usize) -> Option<Shape<'c>> {
        let Open { machine, free, labels, .. } = self.0.get(at)?;
        let Template { capacity, allocatable, .. } = &machine.template;
        Some(Shape { capacity, allocatable, free, labels })
    }

    pub(super) fn size(&self, at: usize) -> u32 {
        self.0.get(at).map_or(0, |open| open.planned)
    }

    pub(super) fn room(&self, at: usize) -> u32 {
        self.0.get(at).map_or(0, |open| open.room)
    }

    /// How many nodes these groups may get together.
    pub(super) fn family_room(&self, family: &[usize]) -> u32 {
        let members = || family.iter().filter_map(|at| self.0.get(*at));
        let each = members().fold(Resources::default(), |most, open| most.max_each(&open.machine.template.capacity));
        let rooms = members().fold(0, |sum: u32, open| sum.saturating_add(open.room));
        self.1.room(0, rooms, &each, self.2).nodes
    }

    /// What a new node costs, when somebody says so.
    pub(super) fn price(&self, at: usize) -> Option<Quote> {
        self.0.get(at).and_then(|open| open.price)
    }

    /// A group that grows as a whole or not at all shares with nobody.
    pub(super) fn may_share(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(|open| !open.settings.all_or_nothing)
    }

    /// The nodes that are bought when `needed` are needed.
    pub(super) fn whole(&self, at: usize, needed: u32) -> u32 {
        if self.may_share(at) { needed } else { self.room(at) }
    }
}

/// What is known of a group before anything is placed. Whatever keeps it from growing is refused here.
#[allow(clippy::too_many_arguments, reason = "each is one of the things that decide about a group")]
pub(super) fn look<'p>(
    round: &mut Round<'_>,
    at: usize,
    group: &'p Group,
    observed: &Observed<'_, '_>,
    settings: &'p Pending,
    daemon_sets: &DaemonSets,
    memory: &mut GroupMemory,
    backoffs: &mut Backoffs,
) -> (GroupReport, Option<Open<'p>>) {
    let Observed { cloud, nodes, disputed, .. } = *observed;
    let machines = machines(observed, memory, round.now, &mut round.wake);
    let present = nodes.iter().filter(|view| !view.node.deleting).count() as u32;
    let size = cloud.map_or(present, |cloud| cloud.target);
    let cordoned = nodes.iter().filter(|view| view.node.unschedulable).count() as u32;
    let booting = machines.booting.len() as u32;
    let known = [Kind::Nodes, Kind::Pods].into_iter().all(|kind| suffices(kind, round.snapshot.coverage(kind)));
    let mut report = GroupReport {
        name: Arc::clone(&group.name),
        strategy: "pending",
        nodes: Counts {
            in_service: present.saturating_sub(cordoned + booting),
            upcoming: booting.saturating_add(machines.unregistered),
            cordoned,
            never_came: machines.never_came(),
            disputed: disputed.len() as u32,
            ..Counts::default()
        },
        size,
        planned: size,
        pods: nodes.iter().map(|view| u64::from(view.sums.blocking)).sum(),
        usage: if known { usage(nodes) } else { Vec::new() },
        ..GroupReport::default()
    };
    let limits = match guard::Limits::of(group, cloud) {
        Ok(limits) => limits,
        Err(why) => {
            round.refuse_group(group, why);
            return (report, None);
        }
    };
    (report.min, report.max) = (Some(limits.min), Some(limits.max));
    if size > limits.max {
        round.refuse_group(group, Why::AboveMax { size, max: limits.max });
    }
    let written_off = write_off(round, observed, settings, limits, &machines, memory);
    let size_left = size - written_off.unwrap_or(0);
    report.planned = size_left;
    let Some(machine) = new_machine(round, observed, daemon_sets, memory) else {
        round.refuse_group(group, Why::NoTemplate);
        return (report, None);
    };
    let key = Key { group: Arc::clone(&group.name), offering: Offering::of(&machine.template.labels) };
    arrivals::learn(observed, &machines, memory, backoffs, &key, &round.policy.pending.backoff, round.now);
    let mut free = machine.template.allocatable.clone();
    machine.daemon_sets.iter().for_each(|spec| free = free.saturating_sub(&spec.requests));
    let mut room = if written_off.is_some() { 0 } else { limits.max.saturating_sub(size) };
    let bound = (limits.max <= size).then_some(Bound::GroupMax { max: limits.max, size });
    if let Some(backoff) = backoffs.active(&key, round.now) {
        round.wake.at(backoff.until());
        round.refuse_group(group, Why::BackingOff { until: backoff.until(), cause: backoff.cause });
        room = 0;
    }
    let from_cloud = cloud.and_then(|cloud| cloud.price);
    let price = round.policy.pending.prices.quote(group.price, &key.offering, from_cloud);
    let own = |key: &str| group.select.labels.get(key).is_some();
    let labels = machine.template.labels.iter().filter(|(key, _)| !own(key)).collect();
    let guard::Limits { min, max } = limits;
    let open = Open {
        at,
        group,
        settings,
        machine,
        free,
        machines,
        size,
        planned: size_left,
        for_min: 0,
        min,
        max,
        room,
        bound,
        price,
        labels,
    };
    (report, Some(open))
}

/// What the pods on some nodes request; empty without a node.
fn usage(nodes: &[NodeView<'_>]) -> Vec<Usage> {
    let (mut used, mut offered) = (Totals::default(), Totals::default());
    for view in nodes {
        used.cpu += view.sums.used.cpu;
        used.memory += view.sums.used.memory;
        offered += &view.node.allocatable;
    }
    let of = |resource, used, offered| Usage::new(resource, used, offered);
    let both = [of(Resource::Cpu, used.cpu, offered.cpu), of(Resource::Memory, used.memory, offered.memory)];
    both.into_iter().filter(|_| !nodes.is_empty()).collect()
}
