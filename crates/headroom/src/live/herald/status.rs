//! How everything is after a round.

use std::collections::BTreeMap;

use headroom_adapters::bulletin::{GroupStatus, Growth, Status};
use headroom_core::backoff::Cause;
use headroom_core::membership::groups_of_node;
use headroom_core::plan::{GroupReport, Subject, Why};

use super::super::hold::Hold;
use crate::metrics::Seen;

/// What of a round is shown.
pub(super) fn status(seen: &Seen<'_>, hold: Option<&Hold>) -> Status {
    let report = &seen.plan.report;
    let candidates = candidates(seen);
    let groups = report.groups.iter().map(|group| GroupStatus {
        name: group.name.clone(),
        healthy: !unwell(seen, &Subject::Group(group.name.clone())),
        nodes: group.nodes,
        target: group.size,
        min: group.min.unwrap_or_default(),
        max: group.max.unwrap_or(group.size),
        growth: growth(seen, group, hold.is_none()),
        candidates: candidates.get(&*group.name).copied().unwrap_or_default().max(marked(group)),
    });
    Status {
        at: seen.plan.at,
        message: hold.map(|hold| format!("nothing is carried out: {hold}")),
        healthy: !unwell(seen, &Subject::Cluster) && !matches!(hold, Some(Hold::Blind { .. })),
        groups: groups.collect(),
    }
}

/// Whether so much is out of order that nothing is removed, or nothing is bought.
fn unwell(seen: &Seen<'_>, subject: &Subject) -> bool {
    let mut refusals = seen.plan.report.refusals.iter().filter(|refusal| refusal.subject == *subject);
    refusals.any(|refusal| {
        matches!(
            refusal.why,
            Why::ManyUnready { .. } | Why::SuddenDrop { .. } | Why::GroupUnhealthy { .. } | Why::BreakerOpen { .. }
        )
    })
}

/// Nodes that have been found to be idle, by group.
fn candidates<'a>(seen: &Seen<'a>) -> BTreeMap<&'a str, u32> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let idle = seen.memory.scale_down.iter().flat_map(|watch| watch.idle.keys());
    for view in idle.filter_map(|name| seen.snapshot.node(name)) {
        if let [index] = *groups_of_node(seen.policy, view.node)
            && let Some(group) = seen.policy.groups.get(index)
        {
            *counts.entry(&*group.name).or_default() += 1;
        }
    }
    counts
}

fn marked(group: &GroupReport) -> u32 {
    group.nodes.tainted.saturating_add(group.nodes.force_tainted)
}

fn growth(seen: &Seen<'_>, group: &GroupReport, carried_out: bool) -> Growth {
    let mut backoffs = seen.memory.backoffs.iter();
    if let Some((_, backoff)) =
        backoffs.find(|(key, backoff)| key.group == group.name && backoff.until() > seen.plan.at)
    {
        let code = match backoff.cause {
            Cause::OutOfStock => "outOfStock",
            Cause::Refused => "refused",
            // The word of Cluster Autoscaler.
            Cause::NeverCame => "timeout",
        };
        return Growth::BackingOff { code, message: backoff.to_string() };
    }
    let asked = carried_out && group.planned > group.size;
    if group.nodes.upcoming > 0 || asked { Growth::InProgress } else { Growth::None }
}
