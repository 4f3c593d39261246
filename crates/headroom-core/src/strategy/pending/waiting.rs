//! Which waiting pods may buy machines.

use crate::membership::Membership;
use crate::plan::GroupReport;
use crate::policy::{Mode, Policy, Strategy};
use crate::snapshot::{ClassId, ClassView, PodKind, Snapshot};

/// The classes with waiting pods that `pending` groups may grow for, by content.
///
/// Left out are pods of too low a priority, and pods that a utilisation group counts as its own demand while that group
/// can still grow: buying for them twice is what two strategies side by side would do otherwise.
pub(super) fn waiting<'a>(
    snapshot: &'a Snapshot,
    policy: &Policy,
    membership: &Membership<'a>,
    decided: &[Option<GroupReport>],
) -> Vec<ClassView<'a>> {
    let mut counted: Vec<ClassId> = Vec::new();
    for ((group, classes), report) in policy.groups.iter().zip(&membership.classes).zip(decided) {
        if matches!(group.strategy, Strategy::Utilization(_)) && group.mode != Mode::Off && can_grow(report.as_ref()) {
            counted.extend(classes.iter().map(|class| class.id));
        }
    }
    counted.sort_unstable();
    let cutoff = policy.pending.expendable_below;
    let waits = |class: &ClassView<'_>| {
        class.pending() > 0
            && class.spec.kind == PodKind::Workload
            && class.spec.priority >= cutoff
            && counted.binary_search(&class.id).is_err()
    };
    snapshot.classes().filter(waits).collect()
}

fn can_grow(report: Option<&GroupReport>) -> bool {
    report.is_some_and(|report| report.max.is_some_and(|max| report.planned < max))
}
