//! Waiting pods and placeholders find room on what is there and on its way.

use rustc_hash::FxHashMap;

use super::open::Open;
use super::placeholders::Placeholders;
use crate::estimator::Order;
use crate::scheduling::{Placement, TemplateId};
use crate::snapshot::ClassId;

/// Places pods, and placeholders beside them, on what is there and on its way; the answer is the pods that find no place.
///
/// Placeholders keep their places when every pod that can be helped finds one beside them; otherwise pods are placed as if
/// there were none. Machines on their way were bought for pods in one of several orders: one in which fewer are left out now
/// is as good as the order by priority, if it leaves out no others.
pub(super) fn settle(
    placement: &mut Placement,
    placeholders: &mut Placeholders,
    pods: &[(ClassId, u32)],
    open: &[Open<'_>],
) -> Vec<(ClassId, u32)> {
    let upcoming = open.iter().any(Open::has_upcoming);
    if placeholders.is_empty() && !upcoming {
        return fill(placement, pods, Order::Priority);
    }
    let start = placement.mark();
    let place = |order: Order, keep: bool, placement: &mut Placement, placeholders: &mut Placeholders| {
        placement.rollback(start);
        placeholders.forget_places();
        if keep {
            placeholders.keep(placement);
        }
        fill(placement, pods, order)
    };
    let mut attempt = |order: Order, keep: bool| {
        let left = place(order, keep, placement, placeholders);
        let helped = keep && any_helped(placement, open, &left);
        let lost = (count(&left), count(&placeholders.settle(placement)));
        Attempt { order, keep, left, helped, lost }
    };
    let first = attempt(Order::Priority, true);
    if first.lost == (0, 0) || (first.lost.0 == 0 && !upcoming) {
        return first.left;
    }
    let alone = attempt(Order::Priority, false);
    let is_fair = |attempt: &Attempt| !attempt.helped && no_more(&attempt.left, &alone.left);
    let mut best = if is_fair(&first) && first.lost <= alone.lost { &first } else { &alone };
    let mut better: Attempt;
    let orders = [Order::Size, Order::BoundFirst, Order::LargestShare].into_iter().filter(|_| upcoming);
    for (order, keep) in orders.flat_map(|order| [(order, true), (order, false)]) {
        if best.lost == (0, 0) {
            break;
        }
        let other = attempt(order, keep);
        if other.lost < best.lost && is_fair(&other) {
            better = other;
            best = &better;
        }
    }
    let (order, keep) = (best.order, best.keep);
    place(order, keep, placement, placeholders)
}

/// One way to place pods and placeholders.
struct Attempt {
    order: Order,
    /// Placeholders keep their places, and pods go beside them.
    keep: bool,
    left: Vec<(ClassId, u32)>,
    /// Pods are left for which a machine may be bought.
    helped: bool,
    /// How many pods and how many placeholders are left.
    lost: (u64, u64),
}

/// How many pods there are in all.
pub(super) fn count(pods: &[(ClassId, u32)]) -> u64 {
    pods.iter().map(|(_, count)| u64::from(*count)).sum()
}

/// Whether a new machine of some group takes any of these pods.
fn any_helped(placement: &mut Placement, open: &[Open<'_>], pods: &[(ClassId, u32)]) -> bool {
    let templates = (0..).zip(open).filter(|(_, open)| open.room > 0).map(|(at, _)| TemplateId(at));
    let templates: Vec<TemplateId> = templates.collect();
    pods.iter().any(|(class, _)| templates.iter().any(|template| placement.fits_new(*class, *template).is_ok()))
}

/// Whether of every class at most as many are in `some` as in `others`.
fn no_more(some: &[(ClassId, u32)], others: &[(ClassId, u32)]) -> bool {
    let others: FxHashMap<ClassId, u32> = others.iter().copied().collect();
    some.iter().all(|(class, count)| others.get(class).is_some_and(|most| count <= most))
}

/// Places pods on what is there and on its way, and gives those that find no place.
fn fill(placement: &mut Placement, pods: &[(ClassId, u32)], order: Order) -> Vec<(ClassId, u32)> {
    let mut pods = pods.to_vec();
    order.sort(placement, None, &mut pods);
    placement.fill_there_as_liked(&pods).left().collect()
}
