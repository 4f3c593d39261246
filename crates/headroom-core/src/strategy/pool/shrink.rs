//! Making a pool smaller: the least loaded servers get no new tasks, if the rest of the pool has room for theirs.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Pass;
use super::servers::number;
use super::unplaced::Free;
use crate::plan::{Action, Reason, Subject, Why};
use crate::round::Round;
use crate::snapshot::{NodeView, PodSpec, PodView};
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
        candidates.sort_by_key(|(_, view)| {
            let load = (view.node.busy, view.sums.used.memory, view.sums.used.cpu);
            (load, Reverse(view.node.created), Arc::clone(&view.node.name))
        });
        let mut left = wanted.min(allowed);
        for (at, view) in candidates {
            if left == 0 {
                return;
            }
            let node = Arc::clone(&view.node.name);
            if let Some(value) = &view.node.no_delete {
                round.refuse(Subject::Node(node), Why::NoDelete { value: value.clone() });
                continue;
            }
            if self.listed.is_stranger(view.node) {
                round.refuse(Subject::Node(node), Why::NoMachine);
                continue;
            }
            if let Err(pod) = self.move_off(round, Some(at), &view) {
                round.refuse(Subject::Node(node), Why::NoPlaceElsewhere { pod });
                continue;
            }
            self.memory.marked.insert(Arc::clone(&node), round.now);
            round.act(self.group, Action::Taint { node, taint: ineligible() }, reason.clone());
            left -= 1;
        }
    }

    /// Gives the tasks of a server, and those that wait for it, places on others that are ready now; or answers with the
    /// first task that finds none. `at` is the server's own place among the free ones, if it has one.
    pub(super) fn move_off(
        &mut self,
        round: &Round<'a>,
        at: Option<usize>,
        server: &NodeView<'a>,
    ) -> Result<(), String> {
        let own = at.and_then(|at| self.free.get_mut(at));
        let promised = own.map_or_else(Vec::new, |own| {
            own.in_service = false;
            own.promised.clone()
        });
        let mut tasks = server.pods();
        tasks.retain(PodView::blocks_removal);
        for (class, count) in promised {
            tasks.extend(class.first_pending().into_iter().flat_map(|task| std::iter::repeat_n(task, count as usize)));
        }
        tasks.sort_by_key(|task| Reverse((task.spec.requests.memory, task.spec.requests.cpu)));
        let mut moved: Vec<(usize, &PodSpec)> = Vec::new();
        for task in tasks {
            let spec = task.spec;
            let fits = |free: &Free<'a>| free.in_service && free.has_room(&spec.requests) && free.suits(round, spec);
            let place = self.free.iter_mut().enumerate().find(|(_, free)| fits(free));
            if let Some((to, place)) = place {
                place.take(&spec.requests, 1);
                moved.push((to, spec));
                continue;
            }
            for (to, spec) in moved {
                self.free.get_mut(to).into_iter().for_each(|free| free.give_back(&spec.requests));
            }
            at.and_then(|at| self.free.get_mut(at)).into_iter().for_each(|own| own.in_service = true);
            return Err(task.full_name());
        }
        Ok(())
    }
}
