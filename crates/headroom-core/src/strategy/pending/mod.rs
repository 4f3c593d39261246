//! Grow groups for pods that wait: all groups of this strategy are decided together, since each is an option for the
//! same pods.

mod ask;
mod buy;
mod coming;
mod daemon_sets;
mod look;
mod minimum;
mod on_offer;
mod open;
mod options;
mod place;
mod placeholders;
mod settle;
mod stranded;
mod template;
mod waiting;

use std::rc::Rc;

use crate::backoff::Backoffs;
use crate::limits::Present;
use crate::machines::{Observed, shape};
use crate::membership::Membership;
use crate::memory::{GroupMemory, Request};
use crate::plan::{Action, GroupReport, Reason, ScaleUp, Subject, Waiting, Why};
use crate::policy::{Group, Mode, Policy, Strategy};
use crate::round::Round;
use crate::slack::{self, GroupGround, Wanted};
use crate::snapshot::{Coverage, Kind, NodeView};
use coming::Coming;
use daemon_sets::DaemonSets;
use look::Look;
use open::Open;
use place::{place, present};
use waiting::Counted;

pub(crate) use on_offer::OnOffer;
pub(crate) use place::Placed;
pub(crate) use placeholders::Placeholders;
pub(crate) use template::stays_on_nodes;

pub use ask::{Fate, Fit, GroupAnswer, Inquiry, PodAnswer};
pub use template::TemplateSource;
pub use waiting::Aside;

/// What came of a round: the groups that might grow and, where pods waited, the cluster with the pods in their places.
pub(crate) struct Outcome<'a> {
    open: Vec<Open<'a>>,
    counted: Counted<'a>,
    /// What counts against the limits of the cluster after it.
    present: Present,
    placed: Option<Placed>,
}

impl<'a> Outcome<'a> {
    /// Machines that could be bought for something else than waiting pods.
    pub(crate) fn on_offer(&self, policy: &Policy) -> Vec<OnOffer<'a>> {
        on_offer::on_offer(&self.open, policy, &self.present)
    }

    /// The cluster with the waiting pods and the placeholders in their places.
    pub(crate) fn into_placed(self, round: &Round<'_>) -> Placed {
        self.placed.unwrap_or_else(|| Placed::nothing(round, &self.open))
    }
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
    let disputed_in = |at: usize| -> Vec<NodeView<'_>> {
        let of_group = membership.disputed_nodes.iter().filter(|(_, groups)| groups.contains(&at));
        of_group.map(|(view, _)| *view).collect()
    };
    let disputed: Vec<Vec<NodeView<'_>>> = (0..policy.groups.len()).map(disputed_in).collect();
    let everywhere = Rc::clone(&round.identities);
    let daemon_sets = DaemonSets::of(round.snapshot);
    let observed = policy.groups.iter().zip(&disputed).enumerate().map(|(at, (group, disputed))| {
        let nodes = membership.nodes.get(at).map_or(&[][..], Vec::as_slice);
        let cloud = round.snapshot.group(&group.name);
        (at, Observed { group, cloud, nodes, disputed, everywhere: &everywhere })
    });
    let observed: Vec<(usize, Observed<'_, '_>)> = observed.collect();
    let mut open: Vec<Open<'_>> = Vec::new();
    for ((at, observed), group) in observed.iter().zip(&policy.groups) {
        let Strategy::Pending(settings) = &group.strategy else { continue };
        let (at, Some(memory), true) = (*at, memories.get_mut(*at), group.mode != Mode::Off) else { continue };
        let look = Look { at, group, settings, observed, daemon_sets: &daemon_sets };
        let (report, candidate) = look.open(round, memory, backoffs);
        if let Some(slot) = reports.get_mut(at) {
            *slot = Some(report);
        }
        open.extend(candidate);
    }
    if !is_known(round, Kind::Nodes) {
        return None;
    }
    let mut present = present(round, &open);
    add_others(&mut present, policy, &open, membership, memories, reports, round);
    minimum::enforce(round, &mut open, &mut present);
    let pods_known = is_known(round, Kind::Pods);
    let counted = Counted::new(policy, membership, reports);
    let mut sums = Waiting::default();
    let waiting = if pods_known { waiting::waiting(round.snapshot, policy, &counted, &mut sums) } else { Vec::new() };
    let slack = if pods_known { slack(round, &open, membership) } else { Vec::new() };
    let placed = (!waiting.is_empty() || !slack.is_empty()).then(|| {
        let coming: Vec<Coming> = observed
            .iter()
            .filter_map(|(at, observed)| {
                let (memory, report) = (memories.get(*at)?, reports.get(*at)?.as_ref()?);
                Coming::of(round, observed, &daemon_sets, memory, report)
            })
            .collect();
        place(round, &mut open, &coming, &waiting, slack, &mut sums, &mut present)
    });
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

/// The placeholders that are wanted.
fn slack(round: &mut Round<'_>, open: &[Open<'_>], membership: &Membership<'_>) -> Vec<Wanted> {
    let grounds: Vec<GroupGround<'_>> = open
        .iter()
        .map(|open| GroupGround {
            group: open.group,
            spare: &open.settings.spare,
            template: &open.machine.template,
            free: &open.free,
            nodes: membership.nodes.get(open.at).map_or(&[][..], Vec::as_slice),
        })
        .collect();
    slack::wanted(round, &grounds)
}

/// Machines that groups of other strategies wait for, or ask for in this round, count against the limits of the cluster too.
fn add_others(
    present: &mut Present,
    policy: &Policy,
    open: &[Open<'_>],
    membership: &Membership<'_>,
    memories: &[GroupMemory],
    reports: &[Option<GroupReport>],
    round: &Round<'_>,
) {
    let others = policy.groups.iter().enumerate().filter(|(at, _)| !open::is_open(open, *at));
    for (at, group) in others {
        let (Some(Some(report)), Some(memory)) = (reports.get(at), memories.get(at)) else { continue };
        let nodes = membership.nodes.get(at).map_or(0, Vec::len);
        let coming = report.planned.saturating_sub(u32::try_from(nodes).unwrap_or(u32::MAX));
        present.nodes = present.nodes.saturating_add(coming);
        let Some(shape) = shape(group, round.snapshot.group(&group.name), memory).filter(|_| coming > 0) else {
            continue;
        };
        present.capacity.add_times(&shape.allocatable, i128::from(coming));
    }
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
        let of_group = || round.report.scale_ups.iter().filter(own);
        let pods = of_group().map(ScaleUp::pod_count).sum();
        let placeholders = of_group().map(ScaleUp::placeholder_count).sum();
        let reason = match (scale_up.pods.first(), scale_up.placeholders.first()) {
            (None, Some(first)) => Reason::SlackShort { first: first.of.clone(), placeholders, decided },
            (first, _) => {
                let first = first.map(|pods| pods.first.clone()).unwrap_or_default();
                Reason::PodsWaiting { first, pods, decided, placeholders }
            }
        };
        round.act(open.group, Action::Resize { from: open.size, to: open.planned }, reason);
    }
}
