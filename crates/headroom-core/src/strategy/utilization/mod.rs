//! Scale a group by requests against capacity: Escalator's algorithm (`seeds/utilisation-algorithm.md`), with the
//! faults of its implementation mended (docs/escalator.md lists each difference).

mod demand;
mod growth;
mod health;
mod last_drain;
mod nodes;
mod removal;
mod starve;
mod threshold;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use jiff::Timestamp;

use super::pool::forget_marks;
use super::{level, removed};
pub use demand::{Demand, counts_on};
use growth::Cooling;
pub(crate) use health::not_ready_since;
pub use health::{GroupHealth, group_health, unhealthy_since};
pub use nodes::{FORCE_TAINT, Nodes, REMOVAL_TAINT, is_ineligible, newest_first, oldest_first, tainted_at};
pub(crate) use nodes::{ineligible, is_out_of_service, replaced_on};
use starve::Free;
pub use starve::{Shortage, shortage};
pub(crate) use threshold::is_larger;
pub use threshold::{busiest, compare, nodes_to_add, usages};

use crate::guard::{self, Limits};
use crate::machines::{Listed, Machines, Observed, learn, machines, shape};
use crate::memory::{GroupMemory, Learnt};
use crate::plan::{Counts, GroupReport, Reason, Resource, Subject, Usage, Warning, Why};
use crate::policy::{CountPods, DaemonSets, Group, Percent, RunsOn, Utilization};
use crate::quantity::{Ratio, Resources, Totals};
use crate::round::Round;
use crate::snapshot::{ClassView, NodeView, Readiness};

/// The nodes and classes of pods that one group is about.
pub(crate) struct Members<'m, 'a> {
    pub(crate) nodes: &'m [NodeView<'a>],
    pub(crate) listed: &'m Listed<'a>,
    pub(crate) classes: &'m [ClassView<'a>],
    pub(crate) disputed_classes: Vec<ClassView<'a>>,
    pub(crate) disputed_nodes: Vec<NodeView<'a>>,
}

/// One pass over one group.
struct Pass<'p, 'a> {
    group: &'p Group,
    settings: &'p Utilization,
    limits: Limits,
    nodes: Nodes<'p>,
    machines: Machines,
    /// The machines that its cloud lists.
    listed: &'p Listed<'a>,
    /// Nodes that are there, whatever they are good for.
    present: u32,
    /// The cloud's target.
    size: u32,
    planned: u32,
    health: Option<GroupHealth>,
    /// Unhealthy nodes and since when.
    unhealthy: BTreeMap<Arc<str>, Timestamp>,
    before: &'p GroupMemory,
    memory: &'p mut GroupMemory,
    /// How many marks this pass takes off.
    untainted: u32,
    marked: BTreeSet<Arc<str>>,
    /// Demand that keeps nodes, against capacity.
    keep: [Usage; 2],
    /// Why nothing may be removed from this group for now, if so.
    fell: Option<Why>,
    /// The reason against removing anything has been given.
    said_no_removal: bool,
}

/// What the rules want before limits and brakes.
#[derive(Default)]
struct Wanted {
    nodes: i64,
    /// Of the nodes to remove, how many are above the maximum.
    excess: u32,
    reason: Option<Reason>,
}

/// Decides about one group.
pub(crate) fn pass(
    round: &mut Round<'_>,
    group: &Group,
    settings: &Utilization,
    members: &Members<'_, '_>,
    memory: &mut GroupMemory,
) -> GroupReport {
    let cloud = round.snapshot.group(&group.name);
    let before = memory.clone();
    learn(group, cloud, members.nodes, memory);
    let everywhere = Rc::clone(&round.identities);
    let observed =
        Observed { group, cloud, nodes: members.nodes, disputed: &members.disputed_nodes, everywhere: &everywhere };
    let machines = machines(&observed, memory, round.now, &mut round.wake);
    let shape = shape(group, cloud, memory);
    let since = health::not_ready_since(members.nodes, round.memory, memory, round.now);
    forget_marks(memory, members.nodes, round.now, &mut round.wake);
    let nodes = Nodes::sort(members.nodes, &machines, &memory.marked);
    let demand = Demand::of(settings, &memory.marked, members.nodes, members.classes, &members.disputed_classes);
    let present = nodes.all().count() as u32;
    let size = cloud.map_or(present, |cloud| cloud.target);
    let mut report = GroupReport {
        name: Arc::clone(&group.name),
        strategy: "utilization",
        nodes: counts(&nodes, &machines, members.disputed_nodes.len() as u32),
        size,
        planned: size,
        pods: demand.pods,
        ..GroupReport::default()
    };
    let Some(limits) = guard::judge(round, group, cloud, &mut report) else { return report };
    warn(round, group, settings, members.nodes, &demand, shape.as_ref());
    let unhealthy = unhealthy_nodes(round, settings, members.nodes, &since);
    let health =
        settings.unhealthy.map(|settings| group_health(members.nodes, &since, &settings, round.now, &mut round.wake));
    let fell = match settings.runs_on {
        RunsOn::Kubernetes => None,
        RunsOn::Nomad => level::fell(round, members, memory),
    };
    let mut pass = Pass {
        group,
        settings,
        limits,
        nodes,
        machines,
        listed: members.listed,
        present,
        size,
        planned: size,
        health,
        unhealthy,
        before: &before,
        memory,
        untainted: 0,
        marked: BTreeSet::new(),
        keep: usages(&Totals::default(), &Totals::default()),
        fell,
        said_no_removal: false,
    };
    let actions = round.actions.len();
    pass.mark_unhealthy(round);
    let wanted = pass.wanted(round, &demand, shape.as_ref(), &mut report.usage);
    report.wanted = wanted.nodes;
    pass.carry_out(round, wanted);
    if !pass.grew() {
        pass.reap(round);
    }
    report.planned = pass.planned;
    if settings.runs_on == RunsOn::Nomad {
        removed::remember(pass.memory, round.actions.get(actions..).unwrap_or_default());
    }
    report
}

impl Pass<'_, '_> {
    /// Nodes in service and machines on their way: the seed's n.
    fn count(&self) -> u32 {
        (self.nodes.counting().count() as u32).saturating_add(self.machines.unregistered)
    }

    /// Why the group is left alone, when too many of its nodes are unhealthy.
    fn unhealthy_group(&self) -> Option<Why> {
        let (health, settings) = (self.health?, self.settings.unhealthy?);
        (!health.healthy).then(|| health.refusal(settings.max))
    }

    fn wanted(
        &mut self,
        round: &mut Round<'_>,
        demand: &Demand<'_>,
        shape: Option<&Learnt>,
        usage: &mut Vec<Usage>,
    ) -> Wanted {
        let have = self.count();
        let capacity = self.capacity(shape);
        let grow = usages(&demand.grow, &capacity);
        let keep = usages(&demand.keep, &capacity);
        *usage = keep.to_vec();
        self.keep = keep.clone();
        if have < self.limits.min {
            let reason = Some(Reason::BelowMin { have, min: self.limits.min });
            return Wanted { nodes: i64::from(self.limits.min - have), excess: 0, reason };
        }
        let mut wanted = self.by_threshold(round, &grow, &keep, shape);
        if wanted.nodes < 1
            && let Some(reason) = self.by_starvation(round, demand, shape)
        {
            wanted = Wanted { nodes: 1, excess: 0, reason: Some(reason) };
        }
        if wanted.nodes < 1
            && let Some(reason) = self.by_age(round)
        {
            wanted = Wanted { nodes: 1, excess: 0, reason: Some(reason) };
        }
        let in_service = self.nodes.counting().count() as u32;
        if in_service > self.limits.max {
            let excess = in_service - self.limits.max;
            wanted.excess = excess;
            if wanted.nodes > -i64::from(excess) {
                wanted.nodes = -i64::from(excess);
                wanted.reason = Some(Reason::AboveMax { have: in_service, max: self.limits.max });
            }
        }
        wanted
    }

    /// What the thresholds say.
    fn by_threshold(
        &self,
        round: &mut Round<'_>,
        grow: &[Usage; 2],
        keep: &[Usage; 2],
        shape: Option<&Learnt>,
    ) -> Wanted {
        let settings = self.settings;
        let upcoming = self.machines.unregistered;
        if upcoming > 0 && shape.is_none() {
            round.refuse_group(self.group, Why::UpcomingOfUnknownSize { upcoming });
            return Wanted::default();
        }
        let nodes = self.count();
        if nodes > 0 && keep.iter().any(|usage| usage.capacity <= 0) {
            round.refuse_group(self.group, Why::NoCapacity { nodes });
            return Wanted::default();
        }
        let [cpu, memory] = keep;
        let busiest_keep = busiest(cpu, memory);
        let remove = |below: Percent, rate: u32| Wanted {
            nodes: -i64::from(rate),
            excess: 0,
            reason: Some(Reason::BelowThreshold { usage: busiest_keep.clone(), below, rate }),
        };
        if nodes == 0 {
            return self.starting_from_zero(grow, shape);
        }
        if compare(busiest_keep, settings.remove_fast_below) == Ordering::Less {
            return remove(settings.remove_fast_below, settings.fast_rate);
        }
        if compare(busiest_keep, settings.remove_slowly_below) == Ordering::Less {
            return remove(settings.remove_slowly_below, settings.slow_rate);
        }
        let [cpu, memory] = grow;
        if compare(busiest(cpu, memory), settings.scale_up_above) != Ordering::Greater {
            return Wanted::default();
        }
        match self.largest_need(grow, shape) {
            Some((usage, add, _)) => {
                let (usage, above) = (usage.clone(), settings.scale_up_above);
                let reason = Reason::AboveThreshold { usage, above, nodes, add };
                Wanted { nodes: i64::from(add), excess: 0, reason: Some(reason) }
            }
            None => {
                let reason = Reason::UnknownSize { usage: busiest(cpu, memory).clone() };
                Wanted { nodes: 1, excess: 0, reason: Some(reason) }
            }
        }
    }

    fn starting_from_zero(&self, grow: &[Usage; 2], shape: Option<&Learnt>) -> Wanted {
        let [cpu, memory] = grow;
        if cpu.requests <= 0 && memory.requests <= 0 {
            return Wanted::default();
        }
        let reason = match self.largest_need(grow, shape) {
            Some((usage, add, per_node)) => {
                Reason::FromZero { usage: usage.clone(), above: self.settings.scale_up_above, per_node, add }
            }
            None => Reason::UnknownSize { usage: if cpu.requests > 0 { cpu.clone() } else { memory.clone() } },
        };
        let add = if let Reason::FromZero { add, .. } = reason { add } else { 1 };
        Wanted { nodes: i64::from(add), excess: 0, reason: Some(reason) }
    }

    /// The resource that needs the most new nodes, how many, and what each offers of it; None when the size of a new
    /// node is not known.
    fn largest_need<'u>(&self, usage: &'u [Usage; 2], shape: Option<&Learnt>) -> Option<(&'u Usage, u32, i128)> {
        let offers = self.offered(shape?);
        let [cpu, memory] = usage;
        let need = |usage: &'u Usage, per_node: i64| {
            let per_node = i128::from(per_node);
            let add = nodes_to_add(usage.requests, usage.capacity, per_node, self.settings.scale_up_above)?;
            Some((usage, add, per_node))
        };
        let (cpu, memory) = (need(cpu, offers.cpu)?, need(memory, offers.memory)?);
        Some(if memory.1 > cpu.1 { memory } else { cpu })
    }

    /// What a new node adds to the capacity.
    fn offered(&self, shape: &Learnt) -> Resources {
        match self.settings.daemon_sets {
            DaemonSets::Ignore => shape.allocatable.clone(),
            DaemonSets::Subtract => shape.allocatable.saturating_sub(&shape.daemon_sets),
        }
    }

    /// What a node that is there adds to the capacity.
    fn offered_by(&self, view: &NodeView<'_>) -> Resources {
        match self.settings.daemon_sets {
            DaemonSets::Ignore => view.node.allocatable.clone(),
            DaemonSets::Subtract => view.sums.daemon_sets.left_of(&view.node.allocatable),
        }
    }

    /// The capacity of nodes in service, of booting ones (the shape of a new node, should they not report theirs yet)
    /// and of machines on their way.
    fn capacity(&self, shape: Option<&Learnt>) -> Totals {
        let mut capacity = Totals::default();
        let serves = |view: &&NodeView<'_>| match self.settings.runs_on {
            RunsOn::Kubernetes => true,
            RunsOn::Nomad => self.machines.booting.contains(&view.node.name) || view.node.readiness == Readiness::Ready,
        };
        for view in self.nodes.counting().filter(serves) {
            capacity += &self.offered_by(view);
        }
        if let Some(shape) = shape {
            let silent = self.nodes.booting.iter().filter(|view| view.node.allocatable == Resources::default()).count();
            capacity.add_times(&self.offered(shape), silent as i128 + i128::from(self.machines.unregistered));
        }
        capacity
    }

    fn by_starvation(&self, round: &mut Round<'_>, demand: &Demand<'_>, shape: Option<&Learnt>) -> Option<Reason> {
        if !self.settings.scale_on_starve || demand.waiting.is_empty() || self.count() >= self.limits.max {
            return None;
        }
        let new_node = shape.map(|shape| Free {
            resources: shape.allocatable.saturating_sub(&shape.daemon_sets),
            has_pod_limit: shape.allocatable.pods > 0,
        });
        let on_nodes = self.nodes.counting().map(|view| Free {
            resources: view.sums.used.left_of(&view.node.allocatable),
            has_pod_limit: view.node.allocatable.pods > 0,
        });
        let upcoming = new_node.iter().filter(|_| self.machines.unregistered > 0).cloned();
        let free: Vec<Free> = on_nodes.chain(upcoming).collect();
        let found = starve::starved(&demand.waiting, &free, new_node.as_ref());
        for (first, count, Shortage { resource, needs, free }) in found.hopeless {
            let group = Arc::clone(&self.group.name);
            let why = Why::LargerThanNode { group, resource, needs: needs.into(), offers: free.into() };
            round.refuse(Subject::Pods { first, count }, why);
        }
        found.reason
    }

    /// At its minimum a group replaces nodes that are too old: one more comes, and the ordinary removal, which takes
    /// the oldest first, does the rest.
    fn by_age(&self, round: &mut Round<'_>) -> Option<Reason> {
        let max_age = self.settings.max_node_age.filter(|age| age.is_positive())?;
        if self.count() != self.limits.min || self.count() == 0 || !self.nodes.tainted.is_empty() {
            return None;
        }
        let mut nodes: Vec<NodeView<'_>> =
            self.nodes.counting().filter(|view| view.node.created.is_some()).copied().collect();
        oldest_first(&mut nodes);
        let oldest = nodes.first()?;
        let created = oldest.node.created?;
        let age = round.now.duration_since(created);
        if age < max_age {
            created.saturating_add(max_age).into_iter().for_each(|at| round.wake.at(at));
            return None;
        }
        Some(Reason::TooOld { node: Arc::clone(&oldest.node.name), age, max_age })
    }

    /// Whether this pass adds nodes. It then removes none, so that growth and removal never fight over one.
    fn grew(&self) -> bool {
        self.planned > self.size || self.untainted > 0
    }

    fn carry_out(&mut self, round: &mut Round<'_>, wanted: Wanted) {
        let Some(reason) = wanted.reason else { return };
        let count = u32::try_from(wanted.nodes.unsigned_abs()).unwrap_or(u32::MAX);
        if wanted.nodes > 0 {
            let below_min = matches!(reason, Reason::BelowMin { .. });
            let cooling = if below_min { Cooling::Exempt } else { Cooling::Waits };
            self.grow(round, count, reason, cooling);
        } else if wanted.nodes < 0 {
            self.mark(round, count, wanted.excess, reason);
        }
    }
}

fn counts(nodes: &Nodes<'_>, machines: &Machines, disputed: u32) -> Counts {
    let not_ready = nodes.in_service.iter().filter(|view| view.node.readiness != Readiness::Ready).count() as u32;
    Counts {
        in_service: nodes.in_service.len() as u32 - not_ready,
        not_ready,
        upcoming: (nodes.booting.len() as u32).saturating_add(machines.unregistered),
        tainted: nodes.tainted.len() as u32,
        force_tainted: nodes.force_tainted.len() as u32,
        cordoned: nodes.cordoned.len() as u32,
        never_came: machines.never_came(),
        disputed,
    }
}

/// The unhealthy nodes of the group, each with since when; and a wake-up for each that may become one.
fn unhealthy_nodes(
    round: &mut Round<'_>,
    settings: &Utilization,
    nodes: &[NodeView<'_>],
    since: &BTreeMap<Arc<str>, Timestamp>,
) -> BTreeMap<Arc<str>, Timestamp> {
    let Some(settings) = settings.unhealthy else { return BTreeMap::new() };
    let mut unhealthy = BTreeMap::new();
    for view in nodes {
        let not_ready = since.get(&view.node.name).copied();
        match unhealthy_since(view.node, not_ready, &settings, round.now) {
            Some(since) => drop(unhealthy.insert(Arc::clone(&view.node.name), since)),
            None => {
                let from = not_ready.map(|since| view.node.created.map_or(since, |created| created.max(since)));
                let until = from.and_then(|from| from.saturating_add(settings.grace).ok());
                until.into_iter().for_each(|until| round.wake.at(until));
            }
        }
    }
    unhealthy
}

fn warn(
    round: &mut Round<'_>,
    group: &Group,
    settings: &Utilization,
    nodes: &[NodeView<'_>],
    demand: &Demand<'_>,
    shape: Option<&Learnt>,
) {
    let name = || Arc::clone(&group.name);
    let of = |resource: &Resource, amounts: &Resources| match resource {
        Resource::Memory => amounts.memory,
        _ => amounts.cpu,
    };
    for resource in [Resource::Cpu, Resource::Memory] {
        let sizes = || nodes.iter().map(|view| of(&resource, &view.node.allocatable));
        let (smallest, largest) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        if smallest != largest {
            let new = shape.map_or(0, |shape| of(&resource, &shape.allocatable));
            round.warn(Warning::MixedSizes { group: name(), resource, smallest, largest, new });
        }
    }
    if demand.without_requests > 0 {
        round.warn(Warning::WithoutRequests { group: name(), pods: demand.without_requests });
    }
    if demand.foreign > 0 && settings.count_pods != CountPods::Placed {
        round.warn(Warning::ForeignPods { group: name(), pods: demand.foreign });
    }
    if settings.daemon_sets == DaemonSets::Ignore {
        large_daemon_sets(group, settings, nodes).into_iter().for_each(|warning| round.warn(warning));
    }
}

/// Warns when DaemonSets use more of a node than the scale-up threshold leaves free (the seed's caveat).
fn large_daemon_sets(group: &Group, settings: &Utilization, nodes: &[NodeView<'_>]) -> Option<Warning> {
    let left = Ratio::new(10_000 - i128::from(settings.scale_up_above.0), 100)?;
    let shares = nodes.iter().flat_map(|view| {
        let (used, has) = (&view.sums.daemon_sets, &view.node.allocatable);
        let share = |resource, used: i128, has: i64| {
            let has = i128::from(has);
            Some((Ratio::percent_of(used, has)?, Ratio::percent_of(has - used, has)?, resource, &view.node.name))
        };
        share(Resource::Cpu, used.cpu, has.cpu).into_iter().chain(share(Resource::Memory, used.memory, has.memory))
    });
    let (percent, enough, resource, node) = shares.max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.3.cmp(a.3)))?;
    let (group, node) = (Arc::clone(&group.name), Arc::clone(node));
    (percent > left).then_some(Warning::LargeDaemonSets { group, node, resource, percent, left, enough })
}
