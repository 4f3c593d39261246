//! Which waiting pods may buy machines.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::membership::Membership;
use crate::plan::{EqualPods, GroupReport, Waiting};
use crate::policy::{Mode, Policy, Strategy};
use crate::snapshot::{ClassId, ClassView, PodKind, Snapshot};

/// Why no machine is bought for a waiting pod, although it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aside {
    /// It comes with a node: no node comes for it.
    OfNode,
    /// Its priority is below the cutoff, so that it neither grows a group nor holds a node.
    LowPriority {
        /// Its priority.
        priority: i32,
        /// The lowest that counts.
        least: i32,
    },
    /// A utilisation group that can still grow counts it as its demand: buying for it twice is what two strategies side
    /// by side would do otherwise.
    CountedBy {
        /// The group.
        group: Arc<str>,
    },
}

/// The classes that utilisation groups count which can still grow, with the group.
#[derive(Debug)]
pub(super) struct Counted<'p>(FxHashMap<ClassId, &'p Arc<str>>);

impl<'p> Counted<'p> {
    /// `decided` are the reports of the groups that were decided on before.
    pub(super) fn new(policy: &'p Policy, membership: &Membership<'_>, decided: &[Option<GroupReport>]) -> Self {
        let mut counted = FxHashMap::default();
        for ((group, classes), report) in policy.groups.iter().zip(&membership.classes).zip(decided) {
            let by_usage = matches!(group.strategy, Strategy::Utilization(_)) && group.mode != Mode::Off;
            if by_usage && can_grow(report.as_ref()) {
                counted.extend(classes.iter().map(|class| (class.id, &group.name)));
            }
        }
        Counted(counted)
    }

    /// Why no machine is bought for pods of the class; None when one may be.
    pub(super) fn aside(&self, policy: &Policy, class: &ClassView<'_>) -> Option<Aside> {
        let (priority, least) = (class.spec.priority, policy.pending.expendable_below);
        if class.spec.kind != PodKind::Workload {
            return Some(Aside::OfNode);
        }
        if priority < least {
            return Some(Aside::LowPriority { priority, least });
        }
        self.0.get(&class.id).map(|group| Aside::CountedBy { group: Arc::clone(group) })
    }
}

/// The classes with waiting pods that `pending` groups may grow for, by content. The others are counted in `sums`.
pub(super) fn waiting<'a>(
    snapshot: &'a Snapshot,
    policy: &Policy,
    counted: &Counted<'_>,
    sums: &mut Waiting,
) -> Vec<ClassView<'a>> {
    let mut offered = Vec::new();
    for class in snapshot.classes().filter(|class| class.pending() > 0) {
        let pods = u64::from(class.pending());
        match counted.aside(policy, &class) {
            Some(Aside::OfNode) => {}
            Some(Aside::LowPriority { .. }) => sums.low_priority += pods,
            Some(Aside::CountedBy { .. }) => sums.counted += pods,
            None => offered.push(class),
        }
    }
    offered
}

/// Names classes of waiting pods by their first pods.
pub(super) struct Names<'w, 'a>(FxHashMap<ClassId, &'w ClassView<'a>>);

impl<'w, 'a> Names<'w, 'a> {
    pub(super) fn new(waiting: &'w [ClassView<'a>]) -> Self {
        Names(waiting.iter().map(|class| (class.id, class)).collect())
    }

    /// `namespace/name` of the first waiting pod of the class.
    pub(super) fn first(&self, class: ClassId) -> String {
        let first = self.0.get(&class).and_then(|class| class.first_pending());
        first.map(|pod| pod.full_name()).unwrap_or_default()
    }

    /// Those of some classes of which there is at least one pod.
    pub(super) fn pods(&self, placed: &[(ClassId, u32)]) -> Vec<EqualPods> {
        let some = placed.iter().filter(|(_, count)| *count > 0);
        some.map(|(class, count)| EqualPods { first: self.first(*class), count: *count }).collect()
    }
}

/// Whether a group that was decided on may still grow after this round.
pub(super) fn can_grow(report: Option<&GroupReport>) -> bool {
    report.is_some_and(|report| report.max.is_some_and(|max| report.planned < max))
}
