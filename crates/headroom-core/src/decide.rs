//! One round: snapshot in, plan out.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::backoff::Backoffs;
use crate::check::check_members;
use crate::machines::Listed;
use crate::membership::Membership;
use crate::memory::{GroupMemory, Memory, Places, Watch};
use crate::plan::{Action, GroupReport, Plan, Planned, Subject, Why};
use crate::policy::{Group, Mode, Policy, Strategy};
use crate::round::Round;
use crate::scale_down::{self, DELETION_TAINT, Look};
use crate::snapshot::{Coverage, Kind, Snapshot};
use crate::strategy::pending::{self, Inquiry, Outcome, Placed};
use crate::strategy::pool::{self, Rule};
use crate::strategy::utilization::{self, Members};

/// Decides what to do about `snapshot` under `policy`, and what to remember for the next round.
///
/// Total and deterministic: it cannot fail, and the same values give the same plan and memory. What is missing or does
/// not make sense becomes a refusal in the report.
pub fn decide(snapshot: &Snapshot, policy: &Policy, memory: &Memory, now: Timestamp) -> (Plan, Memory) {
    let policy = &*policy.heeding(snapshot);
    let mut round = Round::new(snapshot, policy, memory, now);
    let Decided { membership, mut remembered, backoffs, look, outcome } = decide_all(&mut round);
    let on_offer = outcome.as_ref().map(|outcome| outcome.on_offer(policy)).unwrap_or_default();
    let mut placed = outcome.map(|outcome| outcome.into_placed(&round));
    // Before scale-down tries out what would be if nodes went that stay for now.
    let mut placeholders = placed.as_ref().map_or_else(|| memory.placeholders.clone(), Placed::places);
    let growth = placed.as_ref().map_or(memory.growth, |placed| placed.growth);
    let scale_down = look.map(|look| match &mut placed {
        Some(placed) => scale_down::pass(&mut round, look, &membership, placed, &on_offer, &mut remembered),
        None => Watch { idle: BTreeMap::new(), ..memory.scale_down.clone().unwrap_or_default() },
    });
    forget_going(&mut placeholders, &round.actions);
    let groups = keep(policy, memory, remembered);
    let next = Memory { since: memory.since, groups, backoffs, scale_down, growth, placeholders };
    let mut plan = Plan { at: now, actions: round.actions, report: round.report, wake_at: round.wake.earliest() };
    reject_violations(&mut plan, snapshot, policy, &membership);
    plan.report.refusals.sort_by_key(|refusal| refusal.subject.rank());
    (plan, next)
}

/// Decides as [`decide`] does, and keeps what came of it to be asked about single pods and groups. None when no group has
/// the strategy `pending`, or when too little is known to judge these groups. The policy must be one that heeds what
/// clouds say ([`Policy::heeding`]).
pub fn inquire<'a>(
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    memory: &'a Memory,
    now: Timestamp,
) -> Option<Inquiry<'a>> {
    let mut round = Round::new(snapshot, policy, memory, now);
    let outcome = decide_all(&mut round).outcome?;
    Some(Inquiry::new(&round, outcome))
}

/// What a round leaves beside its actions and its report.
struct Decided<'a> {
    membership: Membership<'a>,
    remembered: Vec<GroupMemory>,
    backoffs: Backoffs,
    /// What could go; None when scale-down is off.
    look: Option<Look<'a>>,
    outcome: Option<Outcome<'a>>,
}

fn decide_all<'a>(round: &mut Round<'a>) -> Decided<'a> {
    let (snapshot, policy, memory) = (round.snapshot, round.policy, round.memory);
    judge(round);
    let membership = Membership::of(snapshot, policy);
    refuse_disputes(round, &membership);
    let mut remembered: Vec<GroupMemory> = policy.groups.iter().map(|group| memory.group(&group.name)).collect();
    let mut reports: Vec<Option<GroupReport>> = Vec::new();
    let mut backoffs = memory.backoffs.clone();
    backoffs.forget_stale(round.now, &policy.pending.backoff);
    for ((at, group), memory) in policy.groups.iter().enumerate().zip(&mut remembered) {
        reports.push(decide_group(round, &membership, at, group, memory, &mut backoffs));
    }
    let look = Look::new(round, &membership);
    round.idle = look.as_ref().map(|look| look.ranks(snapshot)).unwrap_or_default();
    round.leaving = look.as_ref().map(|look| look.may_return(snapshot)).unwrap_or_default();
    let outcome = pending::pass(round, &membership, &mut remembered, &mut backoffs, &mut reports);
    round.report.groups = reports.into_iter().flatten().collect();
    Decided { membership, remembered, backoffs, look, outcome }
}

/// A placeholder does not stay on a node that goes: the next round finds it another place.
fn forget_going(placeholders: &mut BTreeMap<Arc<str>, Places>, actions: &[Planned]) {
    for planned in actions {
        let going = match &planned.action {
            Action::Taint { node, taint } if *taint.key == *DELETION_TAINT => node,
            Action::Drain { node, .. } | Action::Remove { node, .. } => node,
            _ => continue,
        };
        for places in placeholders.values_mut() {
            places.nodes.remove(going);
        }
    }
    placeholders.retain(|_, places| *places != Places::default());
}

/// What is remembered of the groups of the policy. What is only shown must not start a timer.
fn keep(policy: &Policy, before: &Memory, remembered: Vec<GroupMemory>) -> BTreeMap<Arc<str>, GroupMemory> {
    let groups = policy.groups.iter().zip(remembered).map(|(group, memory)| {
        if !policy.only_shows(group) {
            return (Arc::clone(&group.name), memory);
        }
        let GroupMemory { lock, last_step, breaker, request, drains, marked, destroyed, removed, given_up, .. } =
            before.group(&group.name);
        let timers = GroupMemory { lock, last_step, breaker, request, drains, marked, ..memory };
        let memory = GroupMemory { destroyed, removed, given_up, ..timers };
        (Arc::clone(&group.name), memory)
    });
    groups.filter(|(_, memory)| *memory != GroupMemory::default()).collect()
}

/// Nothing is removed while the cluster is not completely known.
fn judge(round: &mut Round<'_>) {
    for kind in [Kind::Nodes, Kind::Pods] {
        let coverage = round.snapshot.coverage(kind);
        if coverage != Coverage::Complete && round.holds_removal.is_none() {
            let why = Why::NotKnown { kind, coverage };
            round.refuse(Subject::Cluster, why.clone());
            round.holds_removal = Some(why);
        }
    }
}

fn refuse_disputes(round: &mut Round<'_>, membership: &Membership<'_>) {
    let policy = round.policy;
    let names = |groups: &[usize]| -> Vec<Arc<str>> {
        groups.iter().filter_map(|at| policy.groups.get(*at)).map(|group| Arc::clone(&group.name)).collect()
    };
    for (view, groups) in &membership.disputed_nodes {
        let why = Why::SeveralGroups { groups: names(groups) };
        round.refuse(Subject::Node(Arc::clone(&view.node.name)), why);
    }
    let waiting = |class: &crate::snapshot::ClassView<'_>| {
        Some(Subject::Pods { first: class.first_pending()?.full_name(), count: class.pending() })
    };
    for (class, groups) in &membership.disputed_classes {
        if let Some(subject) = waiting(class) {
            round.refuse(subject, Why::SeveralGroups { groups: names(groups) });
        }
    }
    // With groups of the strategy `pending`, a pod need not ask for a group to get a node.
    let by_pods = policy.groups.iter().any(|group| matches!(group.strategy, Strategy::Pending(_)));
    for class in membership.groupless_classes.iter().filter(|_| !by_pods) {
        if let Some(subject) = waiting(class) {
            round.refuse(subject, Why::NoGroup);
        }
    }
}

fn decide_group<'a>(
    round: &mut Round<'a>,
    membership: &Membership<'a>,
    at: usize,
    group: &Group,
    memory: &mut GroupMemory,
    backoffs: &mut Backoffs,
) -> Option<GroupReport> {
    if group.mode == Mode::Off {
        round.refuse_group(group, Why::ModeOff);
        let (name, strategy) = (Arc::clone(&group.name), group.strategy.name());
        return Some(GroupReport { name, strategy, ..GroupReport::default() });
    }
    let disputed_classes = membership.disputed_classes.iter().filter(|(_, groups)| groups.contains(&at));
    let disputed_nodes = membership.disputed_nodes.iter().filter(|(_, groups)| groups.contains(&at));
    let none = Listed::default();
    let members = Members {
        nodes: membership.nodes.get(at).map_or(&[], Vec::as_slice),
        listed: membership.machines.get(at).unwrap_or(&none),
        classes: membership.classes.get(at).map_or(&[], Vec::as_slice),
        disputed_classes: disputed_classes.map(|(class, _)| *class).collect(),
        disputed_nodes: disputed_nodes.map(|(view, _)| *view).collect(),
    };
    match &group.strategy {
        Strategy::Utilization(settings) => Some(utilization::pass(round, group, settings, &members, memory)),
        Strategy::MemoryPool(settings) => {
            Some(pool::pass(round, group, Rule::Memory(settings), &members, memory, backoffs))
        }
        Strategy::CpuPool(settings) => Some(pool::pass(round, group, Rule::Cpu(settings), &members, memory, backoffs)),
        // Those are decided together, once the others are.
        Strategy::Pending(_) => None,
    }
}

/// Takes out what breaks an invariant. That is a fault in Headroom, and the safe answer to it is to do less.
fn reject_violations(plan: &mut Plan, snapshot: &Snapshot, policy: &Policy, membership: &Membership<'_>) {
    for violation in check_members(snapshot, policy, membership, plan).into_iter().rev() {
        if violation.action >= plan.actions.len() {
            continue;
        }
        let planned = plan.actions.remove(violation.action);
        let why = Why::Rejected { action: planned.action.to_string(), violation: violation.invariant.to_string() };
        plan.report.refusals.push(crate::plan::Refusal { subject: Subject::Group(planned.group), why });
    }
}
