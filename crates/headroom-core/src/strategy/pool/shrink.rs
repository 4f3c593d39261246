//! Making a pool smaller: the least loaded servers get no new tasks, if the rest of the pool has room for theirs.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use super::Pass;
use super::servers::number;
use super::unplaced::Free;
use crate::plan::{Action, Reason, Subject, Why};
use crate::round::Round;
use crate::snapshot::{ClassId, NodeView, PodKind, PodSpec};
use crate::strategy::utilization::ineligible;

impl<'a> Pass<'_, 'a> {
    /// Makes up to `surplus` servers ineligible: the least loaded first, of equal ones the newest.
    pub(super) fn shrink(&mut self, round: &mut Round<'a>, surplus: u32, reason: &Reason) {
        if !self.may_remove(round) {
            return;
        }
        let wanted = surplus;
        let going = number(&self.servers.leaving);
        let allowed = self.size.saturating_sub(going).saturating_sub(self.limits.min);
        if wanted > allowed {
            round.refuse_group(self.group, Why::AtMin { wanted, allowed, min: self.limits.min });
        }
        let mut candidates: Vec<(usize, NodeView<'a>)> = self.servers.in_service.iter().copied().enumerate().collect();
        candidates.sort_by_cached_key(|(_, view)| {
            let load = (view.node.busy, view.sums.used.memory, view.sums.used.cpu);
            (load, Reverse(view.node.created), &view.node.name)
        });
        let mut left = wanted.min(allowed);
        for (at, view) in candidates {
            if left == 0 {
                return;
            }
            let node = Arc::clone(&view.node.name);
            if let Err(why) = self.release(round, Some(at), &view) {
                round.refuse(Subject::Node(node), why);
                continue;
            }
            self.memory.marked.insert(Arc::clone(&node), round.now);
            round.act(self.group, Action::Taint { node, taint: ineligible() }, reason.clone());
            left -= 1;
        }
    }

    /// Lets a server go as far as the pool is concerned, its tasks having places elsewhere; or says why it stays. `at` is its
    /// own place among the free ones, if it has one.
    pub(super) fn release(&mut self, round: &Round<'a>, at: Option<usize>, server: &NodeView<'a>) -> Result<(), Why> {
        if let Some(value) = &server.node.no_delete {
            return Err(Why::NoDelete { value: value.clone() });
        }
        if self.listed.is_stranger(server.node) {
            return Err(Why::NoMachine);
        }
        self.move_off(round, at, server).map_err(|pod| Why::NoPlaceElsewhere { pod })
    }

    /// Gives the tasks of a server, and those that wait for it, places on others that are ready now; or answers with the
    /// first task that finds none.
    fn move_off(&mut self, round: &Round<'a>, at: Option<usize>, server: &NodeView<'a>) -> Result<(), String> {
        let own = at.and_then(|at| self.free.get_mut(at));
        let promised = own.map_or_else(Vec::new, |own| {
            own.in_service = false;
            own.promised.clone()
        });
        let of_class = |(class, _)| Some(Task::of(class, round.snapshot.spec(class)?));
        let there = server.classes().filter_map(of_class).filter(|task| task.spec.kind == PodKind::Workload);
        let coming = promised.iter().map(|(class, count)| (Task::of(class.id, class.spec), *count as usize));
        let tasks = there.chain(coming.flat_map(|(task, count)| std::iter::repeat_n(task, count))).collect();
        let Err(class) = self.place_all(round, tasks) else { return Ok(()) };
        at.and_then(|at| self.free.get_mut(at)).into_iter().for_each(|own| own.in_service = true);
        let there = server.pods_where(|of, _| of == class).min_by_key(|task| task.name);
        let coming = promised.iter().find(|(of, _)| of.id == class).and_then(|(of, _)| of.first_pending());
        Err(there.or(coming).map(|task| task.full_name()).unwrap_or_default())
    }

    /// Takes a place for each of the tasks, or none at all where one finds none: of which class it is.
    fn place_all(&mut self, round: &Round<'a>, mut tasks: Vec<Task<'a>>) -> Result<(), ClassId> {
        // Mostly it is the largest that finds none, and the others need no order.
        let largest = tasks.iter().min_by(|a, b| a.largest_first(b));
        if let Some(largest) = largest.filter(|task| self.place(round, task.spec).is_none()) {
            return Err(largest.class);
        }
        tasks.sort_by(Task::largest_first);
        let mut taken: Vec<(usize, &PodSpec)> = Vec::new();
        for Task { class, spec, .. } in tasks {
            let Some(to) = self.place(round, spec) else {
                for (to, spec) in taken {
                    self.free.get_mut(to).into_iter().for_each(|free| free.give_back(&spec.requests));
                }
                return Err(class);
            };
            if let Some(free) = self.free.get_mut(to) {
                free.take(&spec.requests, 1);
            }
            taken.push((to, spec));
        }
        Ok(())
    }

    /// The first server that is ready now, stays, and has room for such a task.
    fn place(&self, round: &Round<'a>, spec: &PodSpec) -> Option<usize> {
        let fits = |free: &Free<'a>| free.in_service && free.has_room(&spec.requests) && free.suits(round, spec);
        self.free.iter().position(fits)
    }
}

/// A task that has to move. Of those on a server the pods themselves are not looked at, which would be most of the time.
#[derive(Clone, Copy)]
struct Task<'a> {
    class: ClassId,
    spec: &'a PodSpec,
    size: (i64, i64),
}

impl<'a> Task<'a> {
    fn of(class: ClassId, spec: &'a PodSpec) -> Self {
        Task { class, spec, size: (spec.requests.memory, spec.requests.cpu) }
    }

    /// By memory, then by cpu. Of equal ones the order is that of their specs, whichever the snapshot heard of first.
    fn largest_first(&self, other: &Self) -> Ordering {
        let same = || if self.class == other.class { Ordering::Equal } else { self.spec.cmp(other.spec) };
        other.size.cmp(&self.size).then_with(same)
    }
}
