//! How many new machines do these pods need?
//!
//! Pods of all classes are packed together: the larger ones first, the smaller ones into what is left. Equal pods on
//! equal machines are counted. Several orders are tried as long as there is hope for a better result than the one that
//! is there, and the cheapest is kept.

mod order;

pub use order::Order;

use crate::scheduling::{Filled, Offer, Placement, Supply, Unplaced};
use crate::snapshot::ClassId;

/// The orders that are tried, after [`Order::Size`].
const OTHER_ORDERS: [Order; 2] = [Order::BoundFirst, Order::LargestShare];

/// With more classes than this one order has to do, since each takes its time again: [`Order::BoundFirst`]. Without pods
/// that need distance it is the order by size; with them it is the fastest, as equal machines stay equal for longer.
const MANY_CLASSES: usize = 2_000;

/// What pods need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// How many machines of each offer, in the order of the offers.
    pub nodes: Vec<u32>,
    /// How many pods of each class were placed, on new machines or on what had room already.
    pub placed: Vec<(ClassId, u32)>,
    /// Those that were not, with the reason.
    pub unplaced: Vec<Unplaced>,
    /// The order that led to this.
    pub order: Order,
}

impl Estimate {
    /// How many machines in all.
    pub fn node_count(&self) -> u32 {
        self.nodes.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// How many pods in all were placed.
    pub fn placed_count(&self) -> u64 {
        self.placed.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// What the machines cost together.
    fn cost(&self, offers: &[Offer]) -> u128 {
        self.nodes.iter().zip(offers).map(|(count, offer)| u128::from(*count) * u128::from(offer.cost)).sum()
    }

    /// The fewer pods are left out and the less it costs, the better.
    fn rank(&self, offers: &[Offer]) -> (u64, u128) {
        (self.unplaced.iter().map(|unplaced| u64::from(unplaced.count)).sum(), self.cost(offers))
    }
}

/// Packs pods on new machines of the offers, of which the first that can take a pod is used, and of all offers at most
/// `limit` machines. Where it makes no difference to their number, pods go to the offers that they like best.
///
/// The most pods for the least cost win. When there are not enough machines for all pods, those of high priority
/// go first. The placement is left with the pods where they are to go: take a mark before and roll back to undo that.
pub fn estimate(placement: &mut Placement, offers: &[Offer], pods: &[(ClassId, u32)], limit: Option<u32>) -> Estimate {
    let (mark, before) = (placement.mark(), placement.node_kinds());
    let (first, others): (Order, &[Order]) = match pods.len() {
        0..=1 => (Order::Size, &[]),
        2..=MANY_CLASSES => (Order::Size, &OTHER_ORDERS),
        _ => (Order::BoundFirst, &[]),
    };
    let mut best = pack(placement, offers, pods, limit, first);
    let mut current = first;
    for order in others.iter().copied() {
        if best.unplaced.is_empty() && best.cost(offers) <= placement.least_cost(offers, before) {
            break;
        }
        placement.rollback(mark);
        let other = pack(placement, offers, pods, limit, order);
        current = order;
        if other.rank(offers) < best.rank(offers) {
            best = other;
        }
    }
    if is_short(placement, pods, &best) {
        best.order = Order::Priority;
    }
    let choice = offers.len() > 1 && pods.iter().any(|(class, _)| placement.has_wishes(*class));
    if best.order != current || choice {
        placement.rollback(mark);
        let fill = if choice { Placement::fill_as_liked } else { Placement::fill };
        best = pack_by(fill, placement, offers, pods, limit, best.order);
    }
    best
}

fn pack(
    placement: &mut Placement,
    offers: &[Offer],
    pods: &[(ClassId, u32)],
    limit: Option<u32>,
    order: Order,
) -> Estimate {
    pack_by(Placement::fill, placement, offers, pods, limit, order)
}

/// The same with another way to place pods.
fn pack_by(
    fill: impl Fn(&mut Placement, &[(ClassId, u32)], &mut Supply) -> Filled,
    placement: &mut Placement,
    offers: &[Offer],
    pods: &[(ClassId, u32)],
    limit: Option<u32>,
    order: Order,
) -> Estimate {
    let mut pods = pods.to_vec();
    order.sort(placement, offers.first().map(|offer| offer.template), &mut pods);
    let mut supply = Supply::new(offers, limit);
    let Filled { placed, unplaced } = fill(placement, &pods, &mut supply);
    Estimate { nodes: supply.bought(offers), placed, unplaced, order }
}

/// Whether machines were short and some pods matter more than others.
fn is_short(placement: &Placement, pods: &[(ClassId, u32)], estimate: &Estimate) -> bool {
    let mut priorities = pods.iter().map(|(class, _)| placement.spec(*class).priority);
    let first = priorities.next();
    let differ = priorities.any(|priority| Some(priority) != first);
    differ && estimate.unplaced.iter().any(|unplaced| unplaced.is_for_want_of_machines())
}
