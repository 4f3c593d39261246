//! A group below its minimum grows to it, whether pods wait or not.

use super::open::{Open, is_open};
use crate::limits::Present;
use crate::plan::{Action, GroupReport, Reason, Why};
use crate::policy::{Mode, Strategy};
use crate::quantity::Resources;
use crate::round::Round;

/// Enlarges groups that are below their minimum, as far as limits allow and unless they back off. This comes before pods
/// are placed, so that pods use the new machines and the group ends at the larger of its minimum and what pods need.
pub(super) fn enforce(round: &mut Round<'_>, open: &mut [Open<'_>], present: &mut Present) {
    for open in open.iter_mut().filter(|open| open.planned < open.min && open.room > 0) {
        open.cut_room(&round.policy.pending.limits, present);
        let wanted = if open.settings.all_or_nothing { open.max } else { open.min } - open.planned;
        open.buy(wanted.min(open.room), present);
        open.for_min = open.planned - open.size;
        open.cut_room(&round.policy.pending.limits, present);
        if let (true, Some(bound)) = (open.planned < open.min, open.bound.clone()) {
            round.refuse_group(open.group, Why::HeldBelowMin { min: open.min, size: open.planned, bound });
        }
    }
}

/// Enlarges groups to their minimum of which nobody knows what a new node is like: the first one shows. They come last,
/// since no pod can be placed on them.
pub(super) fn enforce_unknown(
    round: &mut Round<'_>,
    open: &[Open<'_>],
    reports: &mut [Option<GroupReport>],
    present: &mut Present,
) {
    let policy = round.policy;
    for ((at, group), report) in policy.groups.iter().enumerate().zip(reports) {
        let unknown = matches!(group.strategy, Strategy::Pending(_)) && group.mode != Mode::Off && !is_open(open, at);
        let (Some(report), true) = (report.as_mut(), unknown) else { continue };
        let (Some(min), Some(max)) = (report.min, report.max) else { continue };
        let room = policy.pending.limits.room(report.size, max, &Resources::default(), present);
        let add = min.saturating_sub(report.size).min(room.nodes);
        if add == 0 {
            continue;
        }
        report.planned = report.size.saturating_add(add);
        report.wanted = i64::from(add);
        (present.nodes, present.added) = (present.nodes.saturating_add(add), present.added.saturating_add(add));
        let (from, to) = (report.size, report.planned);
        round.act(group, Action::Resize { from, to }, Reason::BelowMin { have: from, min });
    }
}
