//! Buys machines for pods that fit nowhere.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::open::{Candidates, Open};
use super::options::{Choice, choose};
use crate::expander::Context;
use crate::limits::{Bound, Present};
use crate::round::Round;
use crate::scheduling::{Placement, TemplateId};
use crate::snapshot::ClassId;

/// Buys the best option first, until nothing more can be placed. What finds no place is left.
///
/// Options are compared by what they cost and not by how much their pods matter. Where limits then leave pods without a
/// machine and others of lower priority have got one, everything is bought anew, for one priority after the other.
pub(super) fn buy(
    round: &Round<'_>,
    open: &mut [Open<'_>],
    placement: &mut Placement,
    left: &mut Vec<(ClassId, u32)>,
    present: &mut Present,
) -> Vec<Choice> {
    let (mark, given, before) = (placement.mark(), left.clone(), present.clone());
    let groups: Vec<(u32, u32, Option<Bound>)> =
        open.iter().map(|open| (open.planned, open.room, open.bound.clone())).collect();
    let choices = buy_together(round, open, placement, left, present);
    if !are_overtaken(placement, open, left, &choices) {
        return choices;
    }
    placement.rollback(mark);
    *present = before;
    for (open, (planned, room, bound)) in open.iter_mut().zip(groups) {
        (open.planned, open.room, open.bound) = (planned, room, bound);
    }
    let mut by_priority: BTreeMap<Reverse<i32>, Vec<(ClassId, u32)>> = BTreeMap::new();
    for (class, count) in given {
        by_priority.entry(Reverse(placement.spec(class).priority)).or_default().push((class, count));
    }
    let mut choices: Vec<Choice> = Vec::new();
    left.clear();
    for mut pods in by_priority.into_values() {
        // What was bought for those before may have room left.
        let filled = placement.fill_there(&pods);
        pods = filled.left().collect();
        if let Some(choice) = choices.last_mut() {
            choice.estimate.placed.extend(filled.placed());
        }
        choices.extend(buy_together(round, open, placement, &mut pods, present));
        left.extend(pods);
    }
    choices
}

/// How many nodes each group may still get, under its own limits and those of the cluster.
pub(super) fn cut_rooms(open: &mut [Open<'_>], round: &Round<'_>, present: &Present) {
    for open in open.iter_mut().filter(|open| open.room > 0) {
        open.cut_room(&round.policy.pending.limits, present);
    }
}

fn buy_together(
    round: &Round<'_>,
    open: &mut [Open<'_>],
    placement: &mut Placement,
    left: &mut Vec<(ClassId, u32)>,
    present: &mut Present,
) -> Vec<Choice> {
    let policy = &round.policy.pending;
    let cluster_nodes = u32::try_from(round.snapshot.node_count()).unwrap_or(u32::MAX);
    let context = Context { formula: &policy.price, cluster_nodes, seed: seed(round) };
    let mut choices = Vec::new();
    while !left.is_empty() {
        cut_rooms(open, round, present);
        let candidates = Candidates(open, &policy.limits, present);
        let Some(choice) = choose(placement, &candidates, left, policy, &context) else { break };
        let mut bought = 0;
        for (at, count) in &choice.nodes {
            let Some(open) = open.get_mut(*at) else { continue };
            open.buy(*count, present);
            bought += count;
        }
        if bought == 0 {
            break;
        }
        *left = choice.estimate.unplaced.iter().map(|lot| (lot.class, lot.count)).collect();
        choices.push(choice);
    }
    cut_rooms(open, round, present);
    choices
}

/// Whether some pods got no machine for which one of lower priority got one: one more machine would take them, and only
/// what was bought stands in the way of it.
fn are_overtaken(placement: &mut Placement, open: &[Open<'_>], left: &[(ClassId, u32)], choices: &[Choice]) -> bool {
    let priority = |placement: &Placement, class: ClassId| placement.spec(class).priority;
    let bought = choices.iter().flat_map(|choice| &choice.estimate.placed).filter(|(_, count)| *count > 0);
    let Some(lowest) = bought.map(|(class, _)| priority(placement, *class)).min() else { return false };
    let bought_of = |at: usize| choices.iter().any(|choice| choice.nodes.iter().any(|(group, _)| *group == at));
    let is_cut = |at: usize, open: &Open<'_>| match open.bound {
        None => false,
        Some(Bound::GroupMax { .. }) => open.room == 0 && bought_of(at),
        Some(_) => open.room == 0,
    };
    let cut: Vec<u32> = (0..).zip(open).filter(|(at, open)| is_cut(*at as usize, open)).map(|(at, _)| at).collect();
    let above: Vec<ClassId> =
        left.iter().map(|(class, _)| *class).filter(|class| priority(placement, *class) > lowest).collect();
    above.iter().any(|class| cut.iter().any(|at| placement.fits_new(*class, TemplateId(*at)).is_ok()))
}

/// A number for the random expander that a replay arrives at again.
fn seed(round: &Round<'_>) -> u64 {
    round.now.as_second().unsigned_abs()
}
