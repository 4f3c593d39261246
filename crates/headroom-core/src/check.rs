//! The invariants of a plan. `decide` lets no plan out that breaks one; property tests and the simulator ask the same
//! function.

mod pools;
mod shrinking;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use crate::guard::Limits;
use crate::machines::is_node;
use crate::membership::{Membership, OfKind};
use crate::plan::{Action, Evict, Plan, Planned, Reason};
use crate::policy::{Group, Mode, Policy, Strategy};
use crate::quantity::Totals;
use crate::scale_down::{DELETION_TAINT, many_unready};
use crate::snapshot::{Coverage, Instance, InstanceState, Kind, NodeView, Snapshot};
use crate::strategy::utilization::{FORCE_TAINT, REMOVAL_TAINT, tainted_at};

/// An action that breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its place in the plan.
    pub action: usize,
    /// What it breaks.
    pub invariant: Invariant,
}

/// What must hold for every action of every plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Invariant {
    #[error("the policy has no group {0}")]
    UnknownGroup(Arc<str>),
    #[error("the group's mode does not allow it")]
    Mode,
    #[error("the group has no limits")]
    NoLimits,
    #[error("the size is {observed}, not {from}")]
    StaleSize { from: u32, observed: u32 },
    #[error("the new size {to} does not enlarge the group")]
    NotLarger { to: u32 },
    #[error("the new size {to} is not what is left without machines that never came")]
    NotWhatCame { to: u32 },
    #[error("the cloud lists no machine {0}")]
    UnknownMachine(Box<str>),
    #[error("the machine is the node {0}")]
    MachineIsNode(Arc<str>),
    #[error("{to} is above the maximum {max}")]
    AboveMax { to: u32, max: u32 },
    #[error("only {size} machines would be left, the minimum is {min}")]
    BelowMin { size: u32, min: u32 },
    #[error("a second action of this kind for the same thing")]
    Twice,
    #[error("there is no node {0}")]
    UnknownNode(Arc<str>),
    #[error("the node belongs to {0} groups")]
    NotOneGroup(usize),
    #[error("not all nodes and pods are known")]
    NotKnown,
    #[error("the node is marked already, or cordoned")]
    CannotMark,
    #[error("the node is not marked for removal")]
    NotMarked,
    #[error("none of the machines that the group's cloud lists is known to be the node")]
    NoMachine,
    #[error("the node is protected by an annotation")]
    NoDelete,
    #[error("the node has been marked for less than the soft grace period")]
    SoftGrace,
    #[error("{0} pods are on the node and its hard grace period is not over")]
    NotEmpty(u32),
    #[error("{named} of {pods} lost pods are named")]
    PodsNotNamed { named: usize, pods: u32 },
    #[error("nodes of such groups do not go by this policy")]
    ScaleDownOff,
    #[error("nothing is removed: {0}")]
    Unready(String),
    #[error("pod {0} is not on the node, or goes already")]
    NotOnNode(String),
    #[error("a pod on the node must not be moved")]
    Unmovable,
    #[error("disruption budget {budget} allows {allowed} evictions, not {used}")]
    Disruptions { budget: Box<str>, used: u32, allowed: u32 },
    #[error("the nodes that stay have no room for the pods of those that go")]
    NoRoom,
    #[error("the group grows in the same plan")]
    GrowsToo,
}

/// Every action of `plan` that breaks an invariant, each at most once, in the order of the plan.
pub fn check(snapshot: &Snapshot, policy: &Policy, plan: &Plan) -> Vec<Violation> {
    if plan.actions.is_empty() {
        return Vec::new();
    }
    check_members(snapshot, policy, &Membership::of(snapshot, policy), plan)
}

/// The same for a caller that has sorted nodes and pods into groups already.
pub(crate) fn check_members(
    snapshot: &Snapshot,
    policy: &Policy,
    membership: &Membership<'_>,
    plan: &Plan,
) -> Vec<Violation> {
    let mut checker = Checker::new(snapshot, policy, membership, plan);
    let verdicts = plan.actions.iter().map(|planned| checker.judge(planned));
    let broken = verdicts.enumerate().filter_map(|(action, verdict)| Some((action, verdict.err()?)));
    broken.map(|(action, invariant)| Violation { action, invariant }).collect()
}

/// What an action is about: at most one action of a plan is about each.
#[derive(PartialEq, Eq, Hash)]
enum Subject {
    Node(Arc<str>),
    Group(Arc<str>),
    Machine(Box<str>),
}

struct Checker<'a, 'm> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    membership: &'a Membership<'m>,
    /// The groups by name, the first of each, with the limits that hold; None where they make no sense.
    groups: FxHashMap<&'a str, (&'a Group, Option<Limits>)>,
    /// The size of each group before the plan.
    sizes: BTreeMap<&'a str, u32>,
    /// The groups that a node belongs to, whatever `membership` says.
    of_kind: OfKind<'a>,
    /// Why no node of a `pending` group may go, if so.
    unready: Option<String>,
    /// All disruption budgets are known.
    budgets_known: bool,
    now: Timestamp,
    /// What an action was about.
    seen: FxHashSet<Subject>,
    /// Machines removed from each group so far. Of `pending` groups those count that are marked.
    removed: BTreeMap<Arc<str>, u32>,
    /// By how much the plan has lowered the size of each `pending` group so far.
    lowered: BTreeMap<Arc<str>, u32>,
    /// Groups that the plan enlarges.
    grows: BTreeSet<Arc<str>>,
    /// Evictions so far, by namespace and name of the disruption budget.
    disruptions: BTreeMap<(Arc<str>, Box<str>), u32>,
    /// What pods request that have to move by this plan.
    moved: Totals,
    /// What is free on nodes that stay.
    room: Totals,
}

impl<'a, 'm> Checker<'a, 'm> {
    fn new(snapshot: &'a Snapshot, policy: &'a Policy, membership: &'a Membership<'m>, plan: &Plan) -> Self {
        let actions = || plan.actions.iter().map(|planned| &planned.action);
        let marks: FxHashSet<&str> = shrinking::marks(actions()).collect();
        let room = if marks.is_empty() {
            Totals::default()
        } else {
            shrinking::room(snapshot, &marks, &unmarked(plan), policy.pending.expendable_below)
        };
        let grows = |action: &Action| matches!(action, Action::Resize { from, to } if to > from);
        let grows = plan.actions.iter().filter(|planned| grows(&planned.action));
        let unready = policy.scale_down.as_ref().and_then(|scale_down| many_unready(snapshot, scale_down, plan.at));
        let mut checker = Checker {
            snapshot,
            policy,
            membership,
            groups: groups(snapshot, policy),
            sizes: sizes(snapshot, policy, membership),
            of_kind: OfKind::new(snapshot, policy),
            unready: unready.map(|why| why.to_string()),
            budgets_known: snapshot.coverage(Kind::PodDisruptionBudgets) == Coverage::Complete,
            now: plan.at,
            seen: FxHashSet::default(),
            removed: BTreeMap::new(),
            lowered: BTreeMap::new(),
            grows: grows.map(|planned| Arc::clone(&planned.group)).collect(),
            disruptions: BTreeMap::new(),
            moved: Totals::default(),
            room,
        };
        checker.count_marked(plan);
        checker
    }

    /// Counts the marked nodes of `pending` groups off their sizes, as far as the plan leaves the mark.
    fn count_marked(&mut self, plan: &Plan) {
        let unmarked = unmarked(plan);
        for (group, nodes) in self.policy.groups.iter().zip(&self.membership.nodes) {
            let marked = |view: &&NodeView<'_>| {
                view.node.taint(DELETION_TAINT).is_some() && !unmarked.contains(&*view.node.name)
            };
            let count = u32::try_from(nodes.iter().filter(marked).count()).unwrap_or(u32::MAX);
            if matches!(group.strategy, Strategy::Pending(_)) && count > 0 {
                self.removed.insert(Arc::clone(&group.name), count);
            }
        }
    }

    fn judge(&mut self, planned: &Planned) -> Result<(), Invariant> {
        let Some((group, limits)) = self.groups.get(&*planned.group).copied() else {
            return Err(Invariant::UnknownGroup(Arc::clone(&planned.group)));
        };
        let limits = limits.ok_or(Invariant::NoLimits)?;
        let removes = match &planned.action {
            Action::Taint { .. } | Action::Drain { .. } | Action::Remove { .. } | Action::WriteOff { .. } => true,
            Action::Resize { from, to } => to < from,
            Action::Untaint { .. } => false,
        };
        let by_pods = matches!(group.strategy, Strategy::Pending(_));
        let by_pool = pools::goes_by_eligibility(group);
        if group.mode == Mode::Off || (removes && group.mode == Mode::GrowOnly) {
            return Err(Invariant::Mode);
        }
        if removes && [Kind::Nodes, Kind::Pods].iter().any(|kind| self.snapshot.coverage(*kind) != Coverage::Complete) {
            return Err(Invariant::NotKnown);
        }
        let subject = match &planned.action {
            Action::WriteOff { provider_id, .. } => Subject::Machine(provider_id.clone()),
            action => match action.node() {
                Some(node) => Subject::Node(node.into()),
                None => Subject::Group(Arc::clone(&group.name)),
            },
        };
        if !self.seen.insert(subject) {
            return Err(Invariant::Twice);
        }
        match &planned.action {
            Action::Resize { from, to } if to < from => self.judge_lowering(group, limits, *from, *to, &planned.reason),
            Action::Resize { from, to } => self.judge_resize(group, limits, *from, *to),
            Action::Untaint { node, key } => {
                let view = self.own_node(node)?;
                view.node.taint(key).map(|_| ()).ok_or(Invariant::NotMarked)
            }
            Action::Taint { node, taint } if by_pods => self.judge_shrinking_mark(group, limits, node, taint),
            Action::Drain { node, pods, .. } if by_pods => self.judge_drain(node, pods),
            Action::Taint { node, .. } if by_pool => self.judge_withdrawal(group, limits, node, &planned.reason),
            Action::Drain { node, pods, .. } if by_pool => self.judge_pool_drain(node, pods),
            Action::Remove { node, provider_id, .. } if by_pool => {
                self.judge_drained(group, limits, node, provider_id.as_deref())
            }
            Action::Drain { node, pods, .. } => self.judge_last_drain(group, node, pods),
            Action::Remove { node, pods, .. } if by_pods => self.judge_shrinking_removal(group, limits, node, pods),
            Action::Taint { node, .. } => self.judge_mark(group, limits, node, &planned.reason),
            Action::Remove { node, pods, .. } => self.judge_removal(group, limits, node, pods),
            Action::WriteOff { provider_id, replace } => self.judge_write_off(group, limits, provider_id, *replace),
        }
    }

    fn judge_resize(&self, group: &Group, limits: Limits, from: u32, to: u32) -> Result<(), Invariant> {
        let observed = self.size(group);
        if from != observed {
            return Err(Invariant::StaleSize { from, observed });
        }
        if to <= from {
            return Err(Invariant::NotLarger { to });
        }
        if to > limits.max { Err(Invariant::AboveMax { to, max: limits.max }) } else { Ok(()) }
    }

    /// A size is lowered only by what the cloud owes and has not made.
    fn judge_lowering(
        &mut self,
        group: &Group,
        limits: Limits,
        from: u32,
        to: u32,
        why: &Reason,
    ) -> Result<(), Invariant> {
        let observed = self.size(group);
        if from != observed {
            return Err(Invariant::StaleSize { from, observed });
        }
        let lists = self.snapshot.group(&group.name).and_then(|cloud| cloud.instances.as_ref());
        let alive = |instances: &Vec<Instance>| {
            instances.iter().filter(|instance| instance.state != InstanceState::Deleting).count()
        };
        let never_came = matches!(why, Reason::NeverCame { .. } | Reason::LaunchFailed { .. });
        if !never_came || lists.is_none_or(|instances| (to as usize) < alive(instances)) {
            return Err(Invariant::NotWhatCame { to });
        }
        if to < limits.min {
            return Err(Invariant::BelowMin { size: to, min: limits.min });
        }
        *self.removed.entry(Arc::clone(&group.name)).or_default() += from - to;
        *self.lowered.entry(Arc::clone(&group.name)).or_default() += from - to;
        Ok(())
    }

    fn judge_write_off(&mut self, group: &Group, limits: Limits, id: &str, replace: bool) -> Result<(), Invariant> {
        let listed = self.snapshot.group(&group.name).and_then(|cloud| cloud.instances.as_ref());
        let machine = listed.into_iter().flatten().find(|machine| *machine.provider_id == *id);
        let Some(machine) = machine else { return Err(Invariant::UnknownMachine(id.into())) };
        let node = self.snapshot.nodes().find(|view| is_node(machine, view.node));
        if let Some(view) = node {
            return Err(Invariant::MachineIsNode(Arc::clone(&view.node.name)));
        }
        if !replace {
            self.take_off(group, limits)?;
            *self.lowered.entry(Arc::clone(&group.name)).or_default() += 1;
        }
        Ok(())
    }

    fn judge_mark(&mut self, group: &Group, limits: Limits, node: &Arc<str>, why: &Reason) -> Result<(), Invariant> {
        let view = self.own_node(node)?;
        let marked = view.node.taint(REMOVAL_TAINT).is_some() || view.node.taint(FORCE_TAINT).is_some();
        if marked || view.node.unschedulable {
            return Err(Invariant::CannotMark);
        }
        self.has_machine(group, &view)?;
        // A node that does not work is no help to the minimum.
        if matches!(why, Reason::Unhealthy { .. }) { Ok(()) } else { self.take_off(group, limits) }
    }

    /// Pods are evicted from a marked node past its hard grace period, none more than its disruption budget allows.
    fn judge_last_drain(&mut self, group: &Group, node: &Arc<str>, pods: &[Evict]) -> Result<(), Invariant> {
        let view = self.own_node(node)?;
        if view.node.no_delete.is_some() {
            return Err(Invariant::NoDelete);
        }
        let Strategy::Utilization(settings) = &group.strategy else { return Err(Invariant::NotMarked) };
        let Ok(Some(since)) = tainted_at(view.node) else { return Err(Invariant::NotMarked) };
        if self.now.duration_since(since) < settings.hard_grace {
            return Err(Invariant::NotEmpty(view.sums.blocking));
        }
        pods.iter().try_for_each(|evict| self.judge_eviction(node, evict))
    }

    fn judge_removal(
        &mut self,
        group: &Group,
        limits: Limits,
        node: &Arc<str>,
        named: &[String],
    ) -> Result<(), Invariant> {
        let view = self.own_node(node)?;
        if view.node.no_delete.is_some() {
            return Err(Invariant::NoDelete);
        }
        let pods = view.sums.blocking;
        if view.node.taint(FORCE_TAINT).is_some() && pods == 0 {
            return self.take_off(group, limits);
        }
        let Strategy::Utilization(settings) = &group.strategy else { return Err(Invariant::NotMarked) };
        let Ok(Some(since)) = tainted_at(view.node) else { return Err(Invariant::NotMarked) };
        let over = |grace: SignedDuration| self.now.duration_since(since) >= grace;
        if !over(settings.soft_grace) {
            return Err(Invariant::SoftGrace);
        }
        if pods > 0 && !over(settings.hard_grace) {
            return Err(Invariant::NotEmpty(pods));
        }
        if named.len() != pods as usize {
            return Err(Invariant::PodsNotNamed { named: named.len(), pods });
        }
        self.take_off(group, limits)
    }

    /// Counts one machine off the group's size, which stays at or above the minimum.
    fn take_off(&mut self, group: &Group, limits: Limits) -> Result<(), Invariant> {
        let observed = self.size(group);
        let removed = self.removed.entry(Arc::clone(&group.name)).or_default();
        let size = observed.saturating_sub(*removed + 1);
        if size < limits.min {
            return Err(Invariant::BelowMin { size, min: limits.min });
        }
        *removed += 1;
        Ok(())
    }

    fn own_node(&mut self, name: &Arc<str>) -> Result<NodeView<'a>, Invariant> {
        let view = self.snapshot.node(name).ok_or_else(|| Invariant::UnknownNode(Arc::clone(name)))?;
        match self.of_kind.groups(&view).len() {
            1 => Ok(view),
            several => Err(Invariant::NotOneGroup(several)),
        }
    }

    /// Where a group's cloud lists its machines, a node that is to go must be one of them.
    fn has_machine(&self, group: &Group, view: &NodeView<'_>) -> Result<(), Invariant> {
        let mut groups = self.policy.groups.iter().zip(&self.membership.machines);
        let of_group = groups.find(|(it, _)| it.name == group.name);
        if of_group.is_some_and(|(_, listed)| listed.is_stranger(view.node)) {
            return Err(Invariant::NoMachine);
        }
        Ok(())
    }

    /// The cloud's target, or without a cloud the number of nodes.
    fn size(&self, group: &Group) -> u32 {
        self.sizes.get(&*group.name).copied().unwrap_or(0)
    }
}

/// The nodes off which the plan takes a mark.
fn unmarked(plan: &Plan) -> BTreeSet<&str> {
    let untaints = plan.actions.iter().filter(|planned| matches!(planned.action, Action::Untaint { .. }));
    untaints.filter_map(|planned| planned.action.node()).collect()
}

fn groups<'a>(snapshot: &Snapshot, policy: &'a Policy) -> FxHashMap<&'a str, (&'a Group, Option<Limits>)> {
    let mut groups = FxHashMap::default();
    for group in &policy.groups {
        let limits = || Limits::of(group, snapshot.group(&group.name)).ok();
        groups.entry(&*group.name).or_insert_with(|| (group, limits()));
    }
    groups
}

/// The size of each group before the plan.
fn sizes<'a>(snapshot: &Snapshot, policy: &'a Policy, membership: &Membership<'_>) -> BTreeMap<&'a str, u32> {
    let size = |(group, nodes): (&'a Group, &Vec<NodeView<'_>>)| {
        let present = || u32::try_from(nodes.iter().filter(|view| !view.node.deleting).count()).unwrap_or(u32::MAX);
        (&*group.name, snapshot.group(&group.name).map_or_else(present, |cloud| cloud.target))
    };
    policy.groups.iter().zip(&membership.nodes).map(size).collect()
}
