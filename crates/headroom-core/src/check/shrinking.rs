//! What must hold when nodes of `pending` groups go.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{Checker, Invariant};
use crate::guard::Limits;
use crate::plan::{Action, Evict};
use crate::policy::Group;
use crate::quantity::Totals;
use crate::scale_down::{CANDIDATE_TAINT, DELETION_TAINT, stuck};
use crate::snapshot::{ClassId, Eviction, NodeView, PodKind, PodSpec, Snapshot, Taint};

impl Checker<'_, '_> {
    /// A node is marked as on its way out: it may go, its pods may be moved, and the group stays large enough.
    pub(super) fn judge_shrinking_mark(
        &mut self,
        group: &Group,
        limits: Limits,
        node: &Arc<str>,
        taint: &Taint,
    ) -> Result<(), Invariant> {
        self.shrinks()?;
        let view = self.own_node(node)?;
        if &*taint.key == CANDIDATE_TAINT {
            return if view.node.taint(CANDIDATE_TAINT).is_none() { Ok(()) } else { Err(Invariant::CannotMark) };
        }
        if &*taint.key != DELETION_TAINT || view.node.taint(DELETION_TAINT).is_some() || view.node.deleting {
            return Err(Invariant::CannotMark);
        }
        if view.node.no_delete.is_some() || view.node.scale_down_disabled {
            return Err(Invariant::NoDelete);
        }
        for (class, deleting) in view.classes() {
            let Some(spec) = self.snapshot.spec(class).filter(|spec| spec.kind == PodKind::Workload) else { continue };
            if deleting {
                continue;
            }
            self.judge_movable(spec)?;
            if spec.priority >= self.policy.pending.expendable_below {
                self.moved.cpu += i128::from(spec.requests.cpu);
                self.moved.memory += i128::from(spec.requests.memory);
            }
        }
        self.judge_room()?;
        self.take_off(group, limits)
    }

    /// Pods are evicted from a marked node, none more than its disruption budget allows.
    pub(super) fn judge_drain(&mut self, node: &Arc<str>, pods: &[Evict]) -> Result<(), Invariant> {
        self.shrinks()?;
        let view = self.own_node(node)?;
        if view.node.taint(DELETION_TAINT).is_none() {
            return Err(Invariant::NotMarked);
        }
        for evict in pods {
            if let Some(pod) = self.snapshot.pod(&evict.namespace, &evict.name) {
                self.judge_movable(pod.spec)?;
            }
            self.judge_eviction(node, evict)?;
        }
        Ok(())
    }

    /// The pod is on the node, and its disruption budget has something left.
    pub(super) fn judge_eviction(&mut self, node: &Arc<str>, evict: &Evict) -> Result<(), Invariant> {
        let pod = self.snapshot.pod(&evict.namespace, &evict.name);
        let here = pod.is_some_and(|pod| pod.node == Some(&**node) && pod.blocks_removal() && !pod.deleting);
        if !here {
            return Err(Invariant::NotOnNode(format!("{}/{}", evict.namespace, evict.name)));
        }
        let Some(name) = &evict.budget else { return Ok(()) };
        let mut budgets = self.snapshot.disruption_budgets();
        let budget = budgets.find(|budget| budget.namespace == evict.namespace && budget.name == *name);
        let allowed = budget.map_or(0, |budget| budget.allowed);
        let used = self.disruptions.entry((Arc::clone(&evict.namespace), name.clone())).or_default();
        *used += 1;
        if *used > allowed {
            return Err(Invariant::Disruptions { budget: name.clone(), used: *used, allowed });
        }
        Ok(())
    }

    /// A marked node is removed: nothing is left on it that has to run elsewhere.
    pub(super) fn judge_shrinking_removal(
        &mut self,
        group: &Group,
        limits: Limits,
        node: &Arc<str>,
        named: &[String],
    ) -> Result<(), Invariant> {
        self.shrinks()?;
        let view = self.own_node(node)?;
        if view.node.taint(DELETION_TAINT).is_none() {
            return Err(Invariant::NotMarked);
        }
        if view.node.no_delete.is_some() || view.node.scale_down_disabled {
            return Err(Invariant::NoDelete);
        }
        let left = view.pods_unsorted().filter(|pod| pod.blocks_removal() && !stuck(pod, self.now)).count();
        if left > 0 || !named.is_empty() {
            return Err(Invariant::NotEmpty(u32::try_from(left).unwrap_or(u32::MAX)));
        }
        if self.grows.contains(&group.name) {
            return Err(Invariant::GrowsToo);
        }
        // It has been counted off already, as one of the marked nodes; but sizes fall by what goes now, and only by that.
        let observed = self.size(group);
        let lowered = self.lowered.entry(Arc::clone(&group.name)).or_default();
        let size = observed.saturating_sub(*lowered);
        if size <= limits.min {
            return Err(Invariant::BelowMin { size: size.saturating_sub(1), min: limits.min });
        }
        *lowered += 1;
        Ok(())
    }

    /// Nodes of `pending` groups go only where that is wanted, and while most of the cluster works.
    fn shrinks(&self) -> Result<(), Invariant> {
        if self.policy.scale_down.is_none() {
            return Err(Invariant::ScaleDownOff);
        }
        self.unready.clone().map_or(Ok(()), |why| Err(Invariant::Unready(why)))
    }

    fn judge_movable(&self, spec: &PodSpec) -> Result<(), Invariant> {
        if !self.budgets_known {
            return Err(Invariant::NotKnown);
        }
        match spec.eviction {
            _ if spec.priority < self.policy.pending.expendable_below => Ok(()),
            Eviction::Unsafe | Eviction::OnCompletion => Err(Invariant::Unmovable),
            Eviction::Safe | Eviction::Unsaid => Ok(()),
        }
    }

    /// The nodes that stay have room for what is on those that go: not more than a sum, but one that no fault in placing can
    /// hide.
    fn judge_room(&self) -> Result<(), Invariant> {
        let lacks = self.moved.cpu > self.room.cpu || self.moved.memory > self.room.memory;
        if lacks { Err(Invariant::NoRoom) } else { Ok(()) }
    }
}

/// What is free on nodes that are not on their way out, those that come back included. Pods of low priority hold nothing.
pub(super) fn room(
    snapshot: &Snapshot,
    goes: &FxHashSet<&str>,
    stays: &BTreeSet<&str>,
    expendable_below: i32,
) -> Totals {
    let mut room = Totals::default();
    let low = snapshot.classes().filter(|class| class.spec.priority < expendable_below).map(|class| class.id);
    let low: FxHashSet<ClassId> = low.collect();
    let counts = |view: &NodeView<'_>| {
        let node = view.node;
        let marked = node.taint(DELETION_TAINT).is_some() && !stays.contains(&*node.name);
        !marked && !node.deleting && !node.unschedulable && !goes.contains(&*node.name)
    };
    for view in snapshot.nodes().filter(counts) {
        let (mut cpu, mut memory) = (view.sums.used.cpu, view.sums.used.memory);
        let expendable = (!low.is_empty()).then(|| view.pods_where(|class, _| low.contains(&class)));
        for pod in expendable.into_iter().flatten() {
            cpu -= i128::from(pod.spec.requests.cpu);
            memory -= i128::from(pod.spec.requests.memory);
        }
        room.cpu += (i128::from(view.node.allocatable.cpu) - cpu).max(0);
        room.memory += (i128::from(view.node.allocatable.memory) - memory).max(0);
    }
    room
}

/// The nodes that a plan marks as on their way out.
pub(super) fn marks<'p>(actions: impl Iterator<Item = &'p Action>) -> impl Iterator<Item = &'p str> {
    actions.filter_map(|action| match action {
        Action::Taint { node, taint } if &*taint.key == DELETION_TAINT => Some(&**node),
        _ => None,
    })
}
