//! How many new machines do these pods need?
//!
//! Pods of all classes are packed together: the larger ones first, the smaller ones into what is left. Equal pods on
//! equal machines are counted. Several orders are tried as long as there is hope for a better result than the one that
//! is there, and the cheapest is kept.

mod order;

pub use order::Order;

use crate::scheduling::{Filled, Offer, Placement, Supply, Unplaced};
use crate::snapshot::ClassId;

/// The orders that are tried, the most promising one first.
const ORDERS: [Order; 3] = [Order::Size, Order::BoundFirst, Order::LargestShare];

/// With more classes than this only the first order is tried: with so many sizes of pods the last machines are filled
/// well by any order that begins with the large ones, and each order takes its time again.
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
/// `limit` machines.
///
/// The most pods for the least cost win. When there are not enough machines for all pods, those of high priority
/// go first. The placement is left with the pods where they are to go: take a mark before and roll back to undo that.
pub fn estimate(placement: &mut Placement, offers: &[Offer], pods: &[(ClassId, u32)], limit: Option<u32>) -> Estimate {
    let (mark, before) = (placement.mark(), placement.node_kinds());
    let mut best = pack(placement, offers, pods, limit, Order::Size);
    let mut current = Order::Size;
    let orders = if (2..=MANY_CLASSES).contains(&pods.len()) { ORDERS.as_slice() } else { &[Order::Size] };
    for order in orders.iter().copied().skip(1) {
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
    if best.order != current {
        placement.rollback(mark);
        best = pack(placement, offers, pods, limit, best.order);
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
    let mut pods = pods.to_vec();
    order.sort(placement, offers.first().map(|offer| offer.template), &mut pods);
    let mut supply = Supply::new(offers, limit);
    let Filled { placed, unplaced } = placement.fill(&pods, &mut supply);
    Estimate { nodes: supply.bought(offers), placed, unplaced, order }
}

/// Whether machines were short and some pods matter more than others.
fn is_short(placement: &Placement, pods: &[(ClassId, u32)], estimate: &Estimate) -> bool {
    let mut priorities = pods.iter().map(|(class, _)| placement.spec(*class).priority);
    let first = priorities.next();
    let differ = priorities.any(|priority| Some(priority) != first);
    differ && estimate.unplaced.iter().any(|unplaced| unplaced.is_for_want_of_machines())
}
