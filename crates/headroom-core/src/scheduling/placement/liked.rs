//! Places pods where they like it best, as long as nothing is lost by it.
//!
//! Wishes decide between nodes that are there, and between machines of different offers. Machines that are on their way or
//! bought in this round are filled up one after the other all the same: otherwise more of them would be needed, and no
//! wish is worth a machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::class::{Wish, Wishes};
use super::fill::Lot;
use super::lots::Lots;
use super::shape::Tier;
use super::supply::Supply;
use super::{NONE, Placement};
use crate::scheduling::resources::covers;
use crate::snapshot::ClassId;

impl Placement {
    /// Places pods where they would rather be, unless more of them were left out or more machines were bought for that.
    pub(super) fn fill_lots_as_liked(&mut self, pods: &[(ClassId, u32)], supply: &mut Supply) -> Lots {
        let (mark, given) = (self.mark(), supply.clone());
        let plain = self.fill_lots(pods, supply, false);
        if !pods.iter().any(|(class, _)| self.has_wishes(*class)) {
            return plain;
        }
        let cost = (plain.left_out(), supply.bought_since(&given));
        self.rollback(mark);
        *supply = given.clone();
        let liked = self.fill_lots(pods, supply, true);
        if (liked.left_out(), supply.bought_since(&given)) <= cost {
            return liked;
        }
        self.rollback(mark);
        *supply = given;
        self.fill_lots(pods, supply, false)
    }

    /// Places up to `wanted` pods on nodes that are there; the answer is how many. Nodes that this passes over are left
    /// to the plain way.
    pub(super) fn pour_as_liked(&mut self, lot: &Lot, shapes: &[u32], wanted: u32) -> u32 {
        let Some(wishes) = lot.wishes.clone().filter(|wishes| wishes.by_name || !wishes.list.is_empty()) else {
            return 0;
        };
        let one_by_one = wishes.list.iter().any(|wish| wish.counts_own);
        let mut queues = self.queues(lot, &wishes, shapes);
        let mut placed = 0;
        while placed < wanted {
            let best = (0..).zip(&queues).filter_map(|(at, queue)| {
                let liking = queue.of_nodes.saturating_add(queue.of_places).saturating_add(queue.head?.liking);
                Some((liking, Reverse(at)))
            });
            let Some((_, Reverse(at))) = best.max() else { break };
            let Some(queue) = queues.get_mut(at) else { break };
            let Some(Head { node, .. }) = queue.head else { break };
            let room = self.room(lot, queue.shape).min(self.room_on(lot, self.nodes.at(node), u32::MAX).0);
            let each = room.min(wanted - placed).min(if one_by_one { 1 } else { u32::MAX });
            if each > 0 {
                self.put(lot.class, node, i64::from(each));
                placed += each;
            }
            self.pass_on(lot, &wishes, queue, each > 0);
            if one_by_one && each > 0 {
                for queue in &mut queues {
                    let of_places = self.liking_of_places(&wishes, self.shapes.at(queue.shape));
                    queue.of_places = of_places.unwrap_or(queue.of_places);
                }
            }
        }
        placed
    }

    /// Places up to `wanted` pods on new machines, each of the offer that is liked best by then; the answer is how many.
    /// Where no more than one offer has anything for them, there is nothing to choose.
    pub(super) fn pour_on_liked_offers(&mut self, lot: &Lot, wanted: u32, supply: &mut Supply) -> u32 {
        let Some(wishes) = lot.wishes.clone() else { return 0 };
        let mut offers: Vec<Liked> = Vec::new();
        for at in 0..supply.offers.len() {
            let Some((template, room, each, _)) = self.room_on_new(lot, at, supply) else { continue };
            let shape = self.shapes.at(self.prototype(template).shape);
            let Some(of_places) = self.liking_of_places(&wishes, shape) else { continue };
            let liking = of_places.saturating_add(self.liking_of_nodes(lot.class, shape));
            let own = wishes.list.iter().filter(|wish| wish.counts_own && !self.is_over_hosts(wish));
            let own = own.map(|wish: &Wish| (shape.domain(self.counter(wish.counter).key), wish.weight)).collect();
            let room = room.min(each.saturating_mul(supply.left_of(at)));
            offers.push(Liked { at, liking, own, each, room, share: 0 });
        }
        if offers.len() < 2 {
            return 0;
        }
        let mut left = wanted;
        while left > 0 {
            let open = offers.iter().enumerate().filter(|(_, offer)| offer.room > offer.share);
            let Some((best, _)) = open.max_by_key(|(at, offer)| (offer.liking, Reverse(*at))) else { break };
            let Some(Liked { each, room, share, own, .. }) = offers.get_mut(best) else { break };
            let more = (*each).min(*room - *share).min(left);
            let domains = own.clone();
            *share += more;
            left -= more;
            for offer in &mut offers {
                let same = offer.own.iter().zip(&domains).filter(|((own, _), (other, _))| own == other && *own != NONE);
                let change: i64 = same.map(|((_, weight), _)| weight.saturating_mul(i64::from(more))).sum();
                offer.liking = offer.liking.saturating_add(change);
            }
        }
        let shares = offers.iter().filter(|offer| offer.share > 0);
        shares.map(|offer| self.pour_on_new(lot, offer.at, offer.share, supply)).sum()
    }

    /// The shapes of nodes that are there, with their nodes in the order in which they are liked.
    fn queues(&self, lot: &Lot, wishes: &Wishes, shapes: &[u32]) -> Vec<Queue> {
        let there = shapes.iter().filter(|shape| {
            let shape = self.shapes.at(**shape);
            shape.tier == Tier::Present && lot.allows(shape)
        });
        let queue = |number: &u32| {
            let shape = self.shapes.at(*number);
            let (of_nodes, of_places) = (self.liking_of_nodes(lot.class, shape), self.liking_of_places(wishes, shape)?);
            Some(Queue { shape: *number, of_nodes, of_places, known: BinaryHeap::new(), next: 0, head: None })
        };
        let mut queues: Vec<Queue> = there.filter_map(queue).collect();
        let index: FxHashMap<u32, usize> = queues.iter().enumerate().map(|(at, queue)| (queue.shape, at)).collect();
        let over_hosts = wishes.list.iter().filter(|wish| self.is_over_hosts(wish));
        let mut hosts: Vec<u32> = over_hosts.flat_map(|wish| self.counter(wish.counter).domains()).collect();
        if wishes.by_name {
            hosts.extend(queues.iter().flat_map(|queue| &self.shapes.at(queue.shape).nodes));
        }
        hosts.sort_unstable();
        hosts.dedup();
        let need = &self.classes.at(lot.class).need;
        for host in hosts {
            let node = self.nodes.at(host);
            let queue = index.get(&node.shape).and_then(|at| queues.get_mut(*at));
            let room = covers(&node.free, need);
            if let (Some(queue), Some(liking), true) = (queue, self.liking_of_host(lot.class, wishes, node), room) {
                queue.known.push((liking, Reverse(node.slot)));
            }
        }
        queues.iter_mut().for_each(|queue| self.find_head(lot, wishes, queue));
        queues
    }

    /// Finds the next node of a queue after pods were put on the first one, or could not be.
    fn pass_on(&self, lot: &Lot, wishes: &Wishes, queue: &mut Queue, placed: bool) {
        let Some(Head { node, is_known, .. }) = queue.head else { return };
        let node = self.nodes.at(node);
        if is_known {
            queue.known.pop();
        }
        let liking = self.liking_of_host(lot.class, wishes, node).filter(|_| placed);
        match liking {
            Some(0) if !is_known => {}
            _ => {
                queue.next = if is_known { queue.next } else { node.slot + 1 };
                queue.known.extend(liking.map(|liking| (liking, Reverse(node.slot))));
            }
        }
        self.find_head(lot, wishes, queue);
    }

    /// The node that is liked best: of those that are liked more or less than others, or the next of the others.
    fn find_head(&self, lot: &Lot, wishes: &Wishes, queue: &mut Queue) {
        let shape = self.shapes.at(queue.shape);
        let need = &self.classes.at(lot.class).need;
        let at = |slot: u32| shape.nodes.get(slot as usize).copied();
        let mut other = None;
        while let Some(slot) = shape.rooms.next(queue.next, need) {
            let node = at(slot);
            if node.and_then(|node| self.liking_of_host(lot.class, wishes, self.nodes.at(node))) == Some(0) {
                other = Some((0, Reverse(slot)));
                break;
            }
            queue.next = slot + 1;
        }
        let known = queue.known.peek().copied();
        // A node that is liked as much as the others may be in both: what is known of it is used up first.
        let is_known = known >= other;
        let head = known.max(other);
        queue.head = head.and_then(|(liking, Reverse(slot))| Some(Head { node: at(slot)?, liking, is_known }));
    }
}

/// Nodes of one shape, the one that is liked best first.
struct Queue {
    shape: u32,
    /// How much they are liked for what they are.
    of_nodes: i64,
    /// And for the pods in the places where they are.
    of_places: i64,
    /// Nodes that differ from the others by the pods on them, by how much they are liked, and their slots.
    known: BinaryHeap<(i64, Reverse<u32>)>,
    /// The others from this slot on: as much liked as each other.
    next: u32,
    head: Option<Head>,
}

/// The first node of a queue.
#[derive(Clone, Copy)]
struct Head {
    node: u32,
    /// By how much it is liked more than the others.
    liking: i64,
    is_known: bool,
}

/// New machines of an offer.
struct Liked {
    at: usize,
    liking: i64,
    /// For each wish for which the pods count themselves, the domain and the weight.
    own: Vec<(u32, i64)>,
    /// Pods on one machine.
    each: u32,
    /// Pods on all of them.
    room: u32,
    /// Pods that are to go there.
    share: u32,
}
