//! Disruption budgets, used up across the whole plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::plan::{Action, Evict, Planned, Unmovable};
use crate::scheduling::selects;
use crate::snapshot::{DisruptionBudget, LabelSelector, Phase, PodSpec, PodView, Snapshot};

/// The budgets of a cluster and what of each is left.
pub(crate) struct Disruptions<'a> {
    budgets: Vec<&'a DisruptionBudget>,
    by_namespace: BTreeMap<&'a str, Near<'a>>,
    left: Vec<u32>,
}

/// The budgets of a namespace.
#[derive(Default)]
struct Near<'a> {
    all: Vec<u32>,
    /// Those that only cover pods with a certain label, by it.
    by_label: FxHashMap<(&'a str, &'a str), Vec<u32>>,
    others: Vec<u32>,
}

/// Evictions by budget number.
pub(super) type Use = SmallVec<[(u32, u32); 2]>;

impl<'a> Disruptions<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let budgets: Vec<&DisruptionBudget> = snapshot.disruption_budgets().collect();
        let mut by_namespace: BTreeMap<&str, Near<'_>> = BTreeMap::new();
        for (number, budget) in (0..).zip(&budgets) {
            let near = by_namespace.entry(&budget.namespace).or_default();
            near.all.push(number);
            let label = budget.selector.as_ref().and_then(LabelSelector::single);
            label.map_or(&mut near.others, |label| near.by_label.entry(label).or_default()).push(number);
        }
        let left = budgets.iter().map(|budget| budget.allowed).collect();
        Disruptions { budgets, by_namespace, left }
    }

    /// The same, less what the actions of a plan use up.
    pub(crate) fn after(snapshot: &'a Snapshot, actions: &[Planned]) -> Self {
        let mut disruptions = Disruptions::new(snapshot);
        for planned in actions {
            let Action::Drain { pods, .. } = &planned.action else { continue };
            pods.iter().for_each(|evict| disruptions.note(evict));
        }
        disruptions
    }

    fn note(&mut self, evict: &Evict) {
        let Some(name) = &evict.budget else { return };
        let near = self.by_namespace.get(&*evict.namespace).map_or(&[][..], |near| &near.all);
        let called = |number: &u32| self.budget(*number).is_some_and(|budget| budget.name == *name);
        if let Some(number) = near.iter().copied().find(called) {
            self.take(number);
        }
    }

    /// The eviction of a pod that nothing but its disruption budgets can hold back, when they allow one more now.
    pub(crate) fn evict(&mut self, pod: &PodView<'_>) -> Option<Evict> {
        let budget = match self.asked(pod, &self.of(pod.spec)) {
            Ok(None) => None,
            Ok(Some(number)) if self.take(number) => self.budget(number).map(|budget| budget.name.clone()),
            Ok(Some(_)) | Err(_) => return None,
        };
        Some(Evict { namespace: Arc::clone(&pod.spec.namespace), name: pod.name.into(), budget })
    }

    /// The budgets that cover pods with this spec.
    pub(super) fn of(&self, spec: &PodSpec) -> Vec<u32> {
        let Some(near) = self.by_namespace.get(&*spec.namespace) else { return Vec::new() };
        let covers = |budget: &DisruptionBudget| selects(budget.selector.as_ref(), &spec.labels);
        let by_label = spec.labels.iter().filter_map(|label| near.by_label.get(&label)).flatten();
        let candidates = by_label.chain(&near.others).copied();
        let mut covering: Vec<u32> = candidates.filter(|number| self.budget(*number).is_some_and(covers)).collect();
        covering.sort_unstable();
        covering
    }

    /// The budget that evicting a pod would use up, of those that cover it; None when the API asks none. An error when it
    /// would refuse whatever else this plan does.
    pub(super) fn asked(&self, pod: &PodView<'_>, covering: &[u32]) -> Result<Option<u32>, Unmovable> {
        // A pod that has not started, or is on its way out, is evicted whatever its budgets say.
        if covering.is_empty() || pod.phase == Phase::Pending || pod.deleting {
            return Ok(None);
        }
        let [number] = covering else {
            let budgets = covering.iter().filter_map(|number| Some(self.budget(*number)?.name.clone())).collect();
            return Err(Unmovable::SeveralBudgets { budgets });
        };
        let Some(budget) = self.budget(*number) else { return Ok(None) };
        if pod.unready && budget.gives_up_unready() {
            return Ok(None);
        }
        let DisruptionBudget { name, allowed, healthy, wanted, .. } = budget;
        if *allowed == 0 {
            return Err(Unmovable::Budget { budget: name.clone(), healthy: *healthy, wanted: *wanted });
        }
        Ok(Some(*number))
    }

    /// The first budget of which less is left than one of each, with what it allowed at first.
    pub(super) fn first_used_up(&self, wanted: &Use) -> Option<(u32, Unmovable)> {
        let used_up = wanted.iter().find(|(number, count)| *count > 0 && self.left(*number) == 0)?;
        let budget = self.budget(used_up.0)?;
        Some((used_up.0, Unmovable::BudgetUsed { budget: budget.name.clone(), allowed: budget.allowed }))
    }

    /// Whether all of these evictions are possible at once.
    pub(super) fn covers(&self, wanted: &Use) -> bool {
        wanted.iter().all(|(number, count)| *count <= self.left(*number))
    }

    /// Uses budgets up, as far as there is something left.
    pub(super) fn use_up(&mut self, wanted: &Use) {
        for (number, count) in wanted {
            if let Some(left) = self.left.get_mut(*number as usize) {
                *left = left.saturating_sub(*count);
            }
        }
    }

    /// Uses a budget up by one; false when nothing is left of it.
    pub(super) fn take(&mut self, number: u32) -> bool {
        match self.left.get_mut(number as usize) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    /// A budget by its number.
    pub(super) fn budget(&self, number: u32) -> Option<&'a DisruptionBudget> {
        self.budgets.get(number as usize).copied()
    }

    fn left(&self, number: u32) -> u32 {
        self.left.get(number as usize).copied().unwrap_or(0)
    }
}
