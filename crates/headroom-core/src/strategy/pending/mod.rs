//! Grow groups for pods that wait: all groups of this strategy are decided together, since each is an option for the
//! same pods.

mod arrivals;
mod ask;
mod daemon_sets;
mod minimum;
mod options;
mod template;
mod unknown;
mod waiting;
mod write_off;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::backoff::{Backoffs, Key};
use crate::balance::Shape;
use crate::expander::Context;
use crate::guard;
use crate::limits::{self, Bound, Present};
use crate::machines::{Machines, Observed, machines};
use crate::membership::Membership;
use crate::memory::{GroupMemory, Request};
use crate::plan::{Action, Counts, GroupReport, Reason, Resource, ScaleUp, Subject, Usage, Waiting, Why};
use crate::policy::{Group, Mode, Pending, Strategy};
use crate::pricing::{Offering, Quote};
use crate::quantity::{Resources, Totals};
use crate::round::Round;
use crate::scheduling::{Mark, NewNode, Placement, Setup, Standing, Supply, TemplateId};
use crate::snapshot::{ClassId, ClassView, Coverage, Kind, Labels, Node, NodeView, SharedSpec, Template};
use daemon_sets::DaemonSets;
use options::choose;
use template::{NewMachine, new_machine};
use waiting::{Counted, Names};
use write_off::write_off;

pub use ask::{Fate, Fit, GroupAnswer, Inquiry, PodAnswer};
pub use template::TemplateSource;
pub use waiting::Aside;

/// A group that may be enlarged in this round, with what is known of it.
struct Open<'p> {
    /// Its position in the policy.
    at: usize,
    group: &'p Group,
    settings: &'p Pending,
    machine: NewMachine,
    /// What is free on a new node beside its DaemonSets.
    free: Resources,
    machines: Machines,
    size: u32,
    /// The size that this round asks for so far.
    planned: u32,
    /// How many of the new nodes are for the minimum, whatever pods need.
    for_min: u32,
    min: u32,
    max: u32,
    /// How many nodes more the limits allow, 0 when the group may not grow.
    room: u32,
    /// The limit that allows no more; None when something else holds the group.
    bound: Option<Bound>,
    /// What a new node costs, when somebody says so.
    price: Option<Quote>,
    /// The labels of a new node, without those by which the group is told apart.
    labels: Labels,
}

impl Open<'_> {
    /// How many nodes it may still get, under its own limits and those of the cluster.
    fn cut_room(&mut self, limits: &limits::Limits, present: &Present) {
        let room = limits.room(self.planned, self.max, &self.machine.template.capacity, present);
        let whole = !self.settings.all_or_nothing || self.planned.saturating_add(room.nodes) >= self.max;
        self.room = if whole { room.nodes } else { 0 };
        self.bound = Some(room.bound);
    }

    fn buy(&mut self, nodes: u32, present: &mut Present) {
        self.planned = self.planned.saturating_add(nodes);
        present.nodes = present.nodes.saturating_add(nodes);
        present.added = present.added.saturating_add(nodes);
        present.capacity.add_times(&self.machine.template.capacity, i128::from(nodes));
    }
}

/// The groups that may be enlarged, by position, and what counts against the limits of the cluster.
struct Candidates<'c>(&'c [Open<'c>], &'c limits::Limits, &'c Present);

impl<'c> Candidates<'c> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn name(&self, at: usize) -> Option<&'c Arc<str>> {
        self.0.get(at).map(|open| &open.group.name)
    }

    fn group(&self, at: usize) -> Option<&'c Group> {
        self.0.get(at).map(|open| open.group)
    }

    /// The number of its template in the placement: the position.
    fn template(&self, at: usize) -> u32 {
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// What a new node is like.
    fn new_node(&self, at: usize) -> Option<&'c Template> {
        self.0.get(at).map(|open| &open.machine.template)
    }

    /// What makes groups similar or not.
    fn shape(&self, at: usize) -> Option<Shape<'c>> {
        let Open { machine, free, labels, .. } = self.0.get(at)?;
        let Template { capacity, allocatable, .. } = &machine.template;
        Some(Shape { capacity, allocatable, free, labels })
    }

    fn size(&self, at: usize) -> u32 {
        self.0.get(at).map_or(0, |open| open.planned)
    }

    fn room(&self, at: usize) -> u32 {
        self.0.get(at).map_or(0, |open| open.room)
    }

    /// How many nodes these groups may get together.
    fn family_room(&self, family: &[usize]) -> u32 {
        let members = || family.iter().filter_map(|at| self.0.get(*at));
        let each = members().fold(Resources::default(), |most, open| most.max_each(&open.machine.template.capacity));
        let rooms = members().fold(0, |sum: u32, open| sum.saturating_add(open.room));
        self.1.room(0, rooms, &each, self.2).nodes
    }

    /// What a new node costs, when somebody says so.
    fn price(&self, at: usize) -> Option<Quote> {
        self.0.get(at).and_then(|open| open.price)
    }

    /// A group that grows as a whole or not at all shares with nobody.
    fn may_share(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(|open| !open.settings.all_or_nothing)
    }

    /// The nodes that are bought when `needed` are needed.
    fn whole(&self, at: usize, needed: u32) -> u32 {
        if self.may_share(at) { needed } else { self.room(at) }
    }
}

/// What came of a round: the groups that might grow and, where pods waited, the cluster with the pods in their places.
pub(crate) struct Outcome<'a> {
    open: Vec<Open<'a>>,
    counted: Counted<'a>,
    /// What counts against the limits of the cluster after it.
    present: Present,
    placed: Option<Placed>,
}

impl Outcome<'_> {
    /// The cluster with the waiting pods in their places, and a point before they were put there.
    pub(crate) fn into_placement(self, round: &Round<'_>) -> (Placement, Mark) {
        match self.placed {
            Some(Placed { placement, start, .. }) => (placement, start),
            None => {
                let placement = placement(round, &self.open);
                let start = placement.mark();
                (placement, start)
            }
        }
    }
}

/// The cluster with the waiting pods in their places.
struct Placed {
    placement: Placement,
    /// Before any of them was placed.
    start: Mark,
    /// Before anything was bought.
    bought: Mark,
}

/// Decides about all groups with this strategy. The reports of the other groups are there already. None when there is
/// nothing to decide about.
pub(crate) fn pass<'a>(
    round: &mut Round<'a>,
    membership: &Membership<'_>,
    memories: &mut [GroupMemory],
    backoffs: &mut Backoffs,
    reports: &mut [Option<GroupReport>],
) -> Option<Outcome<'a>> {
    let policy = round.policy;
    let pending = |group: &Group| matches!(group.strategy, Strategy::Pending(_)) && group.mode != Mode::Off;
    if !policy.groups.iter().any(pending) {
        return None;
    }
    backoffs.forget_stale(round.now, &policy.pending.backoff);
    let disputed_in = |at: usize| -> Vec<NodeView<'_>> {
        let of_group = membership.disputed_nodes.iter().filter(|(_, groups)| groups.contains(&at));
        of_group.map(|(view, _)| *view).collect()
    };
    let disputed: Vec<Vec<NodeView<'_>>> = (0..policy.groups.len()).map(disputed_in).collect();
    let everywhere = Rc::clone(&round.identities);
    let daemon_sets = DaemonSets::of(round.snapshot);
    let mut open: Vec<Open<'_>> = Vec::new();
    for (at, group) in policy.groups.iter().enumerate() {
        let Strategy::Pending(settings) = &group.strategy else { continue };
        let (Some(memory), true) = (memories.get_mut(at), group.mode != Mode::Off) else { continue };
        let nodes = membership.nodes.get(at).map_or(&[][..], Vec::as_slice);
        let disputed = disputed.get(at).map_or(&[][..], Vec::as_slice);
        let cloud = round.snapshot.group(&group.name);
        let observed = Observed { group, cloud, nodes, disputed, everywhere: &everywhere };
        let (report, candidate) = look(round, at, group, &observed, settings, &daemon_sets, memory, backoffs);
        if let Some(slot) = reports.get_mut(at) {
            *slot = Some(report);
        }
        open.extend(candidate);
    }
    if !is_known(round, Kind::Nodes) {
        return None;
    }
    let mut present = present(round, &open);
    minimum::enforce(round, &mut open, &mut present);
    let pods_known = is_known(round, Kind::Pods);
    let counted = Counted::new(policy, membership, reports);
    let mut sums = Waiting::default();
    let waiting = if pods_known { waiting::waiting(round.snapshot, policy, &counted, &mut sums) } else { Vec::new() };
    let placed = (!waiting.is_empty()).then(|| place(round, &mut open, &waiting, &mut sums, &mut present));
    round.report.waiting = pods_known.then_some(sums);
    act(round, &open);
    for open in &open {
        let report = reports.get_mut(open.at).and_then(Option::as_mut);
        if let Some(report) = report {
            report.planned = open.planned;
            report.wanted = i64::from(open.planned) - i64::from(open.size);
        }
    }
    minimum::enforce_unknown(round, &open, reports, &mut present);
    for ((memory, report), group) in memories.iter_mut().zip(reports.iter()).zip(&policy.groups) {
        let grows = report.as_ref().is_some_and(|report| report.planned > report.size);
        if grows && pending(group) {
            let first = memory.request.map_or(round.now, |request| request.first);
            memory.request = Some(Request { first, last: round.now });
        }
    }
    pods_known.then_some(Outcome { open, counted, present, placed })
}

/// Whether enough is known of a kind to grow groups by; otherwise that is refused.
fn is_known(round: &mut Round<'_>, kind: Kind) -> bool {
    let coverage = round.snapshot.coverage(kind);
    let known = suffices(kind, coverage);
    if !known {
        round.refuse(Subject::Cluster, Why::CannotJudge { kind, coverage });
    }
    known
}

/// Nodes that may be missing could have room for every pod, while pods that may be missing only ask for more.
fn suffices(kind: Kind, coverage: Coverage) -> bool {
    coverage == Coverage::Complete || (coverage == Coverage::Partial && kind == Kind::Pods)
}

/// What is known of a group before anything is placed. Whatever keeps it from growing is refused here.
#[allow(clippy::too_many_arguments, reason = "each is one of the things that decide about a group")]
fn look<'p>(
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
    let size_left = size - written_off.as_ref().map_or(0, |written_off| written_off.lowered);
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

/// Places the waiting pods on what is there and on its way, and buys machines for the rest.
fn place(
    round: &mut Round<'_>,
    open: &mut [Open<'_>],
    waiting: &[ClassView<'_>],
    sums: &mut Waiting,
    present: &mut Present,
) -> Placed {
    let policy = &round.policy.pending;
    let names = Names::new(waiting);
    let mut placement = placement(round, open);
    unknown::warn(round, &placement, waiting, &names);
    let start = placement.mark();
    let unknown: BTreeSet<Kind> = waiting.iter().filter_map(|class| placement.unknown(class.id)).collect();
    sums.unknown = unknown.into_iter().collect();
    let mut pods: Vec<(ClassId, u32)> = waiting
        .iter()
        .map(|class| (class.id, class.pending().saturating_sub(placement.nominated(class.id))))
        .filter(|(_, count)| *count > 0)
        .collect();
    let of = |pods: &[(ClassId, u32)]| pods.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
    sums.nominated = waiting.iter().map(|class| u64::from(class.pending())).sum::<u64>() - of(&pods);
    // High priority first; the sort is stable, so equal ones stay by content.
    pods.sort_by_key(|(class, _)| std::cmp::Reverse(placement.spec(*class).priority));
    let filled = placement.fill(&pods, &mut Supply::none());
    let bought = placement.mark();
    sums.on_upcoming = placement.on_upcoming(start).iter().map(|(_, count)| u64::from(*count)).sum();
    sums.on_nodes = of(&filled.placed).saturating_sub(sums.on_upcoming);
    let mut left: Vec<(ClassId, u32)> = filled.unplaced.iter().map(|lot| (lot.class, lot.count)).collect();
    let cluster_nodes = u32::try_from(round.snapshot.node_count()).unwrap_or(u32::MAX);
    let context = Context { formula: &policy.price, cluster_nodes, seed: seed(round) };
    while !left.is_empty() {
        cut_rooms(open, round, present);
        let Some(choice) = choose(&mut placement, &Candidates(open, &policy.limits, present), &left, policy, &context)
        else {
            break;
        };
        let mut bought = 0;
        for (at, count) in &choice.nodes {
            let Some(open) = open.get_mut(*at) else { continue };
            open.buy(*count, present);
            bought += count;
        }
        if bought == 0 {
            break;
        }
        sums.on_new += choice.estimate.placed_count();
        let groups =
            choice.nodes.iter().filter_map(|(at, count)| Some((Arc::clone(&open.get(*at)?.group.name), *count)));
        round.report.scale_ups.push(ScaleUp {
            pods: names.pods(&choice.estimate.placed),
            nodes: groups.collect(),
            options: choice.ranking,
        });
        left = choice.estimate.unplaced.iter().map(|lot| (lot.class, lot.count)).collect();
    }
    cut_rooms(open, round, present);
    for (class, count) in left {
        sums.refused += u64::from(count);
        refuse(round, &mut placement, open, names.first(class), class, count);
    }
    Placed { placement, start, bought }
}

/// The cluster as it is, with the machines that are on their way and those that minima ask for.
fn placement(round: &Round<'_>, open: &[Open<'_>]) -> Placement {
    let templates: Vec<NewNode<'_>> = open
        .iter()
        .map(|open| NewNode {
            template: &open.machine.template,
            daemon_sets: &open.machine.daemon_sets,
            attach_limits: &open.machine.attach_limits,
        })
        .collect();
    let booting = (0..).zip(open).flat_map(|(at, open)| open.machines.booting.iter().map(move |name| (name, at)));
    let booting: FxHashMap<&Arc<str>, u32> = booting.collect();
    let standing = |node: &Node| match booting.get(&node.name) {
        Some(at) => Standing::Upcoming(TemplateId(*at)),
        None if node.deleting => Standing::Absent,
        None => round.idle.get(&node.name).map_or(Standing::Present, |rank| Standing::Idle { rank: *rank }),
    };
    let expendable_below = Some(round.policy.pending.expendable_below);
    let extra: &[SharedSpec] = &[];
    let setup = Setup { templates: &templates, extra, expendable_below, standing: &standing };
    let mut placement = Placement::new(round.snapshot, &setup);
    for (at, open) in open.iter().enumerate() {
        let expected = open.machines.unregistered.saturating_add(open.for_min);
        placement.expect(TemplateId(u32::try_from(at).unwrap_or(u32::MAX)), expected);
    }
    placement
}

/// What counts against the limits of the cluster so far.
fn present(round: &Round<'_>, open: &[Open<'_>]) -> Present {
    let mut present =
        Present { nodes: u32::try_from(round.snapshot.node_count()).unwrap_or(u32::MAX), ..Present::default() };
    for view in round.snapshot.nodes() {
        present.capacity += &view.node.capacity;
    }
    for open in open {
        let bought = open.planned.saturating_sub(open.size);
        let coming = open.machines.unregistered.saturating_add(bought);
        present.nodes = present.nodes.saturating_add(coming);
        present.added = present.added.saturating_add(bought);
        present.capacity.add_times(&open.machine.template.capacity, i128::from(coming));
    }
    present
}

/// How many nodes each group may still get, under its own limits and those of the cluster.
fn cut_rooms(open: &mut [Open<'_>], round: &Round<'_>, present: &Present) {
    for open in open.iter_mut().filter(|open| open.room > 0) {
        open.cut_room(&round.policy.pending.limits, present);
    }
}

fn act(round: &mut Round<'_>, open: &[Open<'_>]) {
    for open in open.iter().filter(|open| open.planned > open.size) {
        let own = |scale_up: &&ScaleUp| scale_up.nodes.iter().any(|(group, _)| *group == open.group.name);
        let Some(scale_up) = round.report.scale_ups.iter().find(own) else {
            let reason = Reason::BelowMin { have: open.size, min: open.min };
            round.act(open.group, Action::Resize { from: open.size, to: open.planned }, reason);
            continue;
        };
        let decided = scale_up.options.first().and_then(|best| {
            let next = scale_up.options.get(1)?;
            let (ours, theirs) = best.rank.decisive(&next.rank)?;
            Some(format!("{ours}, next best {} with {theirs}", next.rank.group))
        });
        let pods = round.report.scale_ups.iter().filter(own).map(ScaleUp::pod_count).sum();
        let first = scale_up.pods.first().map(|pods| pods.first.clone()).unwrap_or_default();
        let reason = Reason::PodsWaiting { first, pods, decided };
        round.act(open.group, Action::Resize { from: open.size, to: open.planned }, reason);
    }
}

fn refuse(
    round: &mut Round<'_>,
    placement: &mut Placement,
    open: &[Open<'_>],
    first: String,
    class: ClassId,
    count: u32,
) {
    // The group that comes closest: one that would hold the pod if it could grow, or else the mildest misfit.
    let mut closest: Option<(usize, crate::scheduling::Misfit)> = None;
    for (at, candidate) in open.iter().enumerate() {
        match placement.fits_new(class, TemplateId(u32::try_from(at).unwrap_or(u32::MAX))) {
            Ok(()) if candidate.room == 0 => {
                let (group, bound) = (Arc::clone(&candidate.group.name), candidate.bound.clone());
                round.refuse(Subject::Pods { first, count }, Why::GroupCannotGrow { group, bound });
                return;
            }
            Ok(()) => {}
            Err(misfit) => {
                if closest.as_ref().is_none_or(|(_, known)| misfit > *known) {
                    closest = Some((at, misfit));
                }
            }
        }
    }
    let why = match closest {
        Some((at, misfit)) => {
            let group = open.get(at).map(|open| Arc::clone(&open.group.name)).unwrap_or_default();
            Why::FitsNoGroup { group, misfit }
        }
        None => Why::NoGroupGrows,
    };
    round.refuse(Subject::Pods { first, count }, why);
}

/// A number for the random expander that a replay arrives at again.
fn seed(round: &Round<'_>) -> u64 {
    round.now.as_second().unsigned_abs()
}
