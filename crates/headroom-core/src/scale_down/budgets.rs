//! How many nodes may be on their way out at once.

use std::sync::Arc;

use jiff::Timestamp;

use crate::plan::{BudgetUse, Kept};
use crate::policy::{Budget, Removal, Share};
use crate::wake::Wake;

/// Nodes on their way out, by the reason for which they go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Going {
    empty: u32,
    underutilized: u32,
    unready: u32,
    old: u32,
}

impl Going {
    pub(super) fn add(&mut self, reason: Removal) {
        *self.slot(reason) += 1;
    }

    pub(super) fn all(&self) -> u32 {
        self.empty + self.underutilized + self.unready + self.old
    }

    /// Those that a budget counts.
    fn under(mut self, budget: &Budget) -> u32 {
        if budget.reasons.is_empty() {
            return self.all();
        }
        let mut reasons = budget.reasons.clone();
        reasons.sort_unstable();
        reasons.dedup();
        reasons.into_iter().map(|reason| *self.slot(reason)).sum()
    }

    fn slot(&mut self, reason: Removal) -> &mut u32 {
        match reason {
            Removal::Empty => &mut self.empty,
            Removal::Underutilized => &mut self.underutilized,
            Removal::Unready => &mut self.unready,
            Removal::Old => &mut self.old,
        }
    }
}

/// The budgets of a group, or of all groups together, at one instant.
#[derive(Clone, Debug)]
pub(super) struct Budgets<'a> {
    active: Vec<(&'a Budget, Result<u32, Box<str>>)>,
    total: bool,
}

impl<'a> Budgets<'a> {
    /// Those that are in force, for `nodes` nodes. One that cannot be read allows nothing.
    pub(super) fn new(budgets: &'a [Budget], nodes: u32, total: bool, now: Timestamp, wake: &mut Wake) -> Self {
        let mut active = Vec::new();
        for budget in budgets {
            match budget.window.as_ref().map(|window| window.at(now)) {
                Some(Err(problem)) => active.push((budget, Err(problem.into()))),
                Some(Ok(opening)) => {
                    opening.changes.into_iter().for_each(|changes| wake.at(changes));
                    if opening.open {
                        active.push((budget, Ok(budget.nodes.of(nodes))));
                    }
                }
                None => active.push((budget, Ok(budget.nodes.of(nodes)))),
            }
        }
        Budgets { active, total }
    }

    /// Whether nodes may go for these reasons while others are on their way out. With `beyond`, a budget of which something
    /// is left is enough: so a group that goes as a whole and is larger than the budget goes too, one such group at a time.
    pub(super) fn allow(&self, going: &Going, reasons: &[Removal], beyond: bool) -> Result<(), Kept> {
        for (budget, nodes) in &self.active {
            let counts = |reason: &&Removal| budget.reasons.is_empty() || budget.reasons.contains(reason);
            let more = u32::try_from(reasons.iter().filter(counts).count()).unwrap_or(u32::MAX);
            if more == 0 {
                continue;
            }
            let nodes = nodes.clone().map_err(|problem| Kept::BrokenBudget { problem })?;
            let there = going.under(budget);
            let fits = if beyond { there < nodes } else { there.saturating_add(more) <= nodes };
            if !fits {
                return Err(Kept::Budget { nodes, going: there, total: self.total });
            }
        }
        Ok(())
    }
}

impl Budgets<'_> {
    /// How much of each is used.
    pub(super) fn uses(&self, group: Option<&Arc<str>>, going: &Going) -> impl Iterator<Item = BudgetUse> {
        self.active.iter().filter_map(move |(budget, nodes)| {
            let (nodes, reasons) = (*nodes.as_ref().ok()?, budget.reasons.clone());
            Some(BudgetUse { group: group.cloned(), nodes, going: going.under(budget), reasons })
        })
    }
}

impl Share {
    /// The share of so many nodes, rounded up.
    fn of(self, nodes: u32) -> u32 {
        match self {
            Share::Nodes(limit) => limit,
            Share::Percent(percent) => {
                let share = (u64::from(nodes) * u64::from(percent.0)).div_ceil(10_000);
                u32::try_from(share).unwrap_or(u32::MAX)
            }
        }
    }
}
