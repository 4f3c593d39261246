//! Places pods that are spread over hosts: level, so that they can be placed in some order without ever leaving the skew.

use super::class::SpreadRule;
use super::counter::Counter;
use super::fill::Lot;
use super::level::{Level, Pile, level};
use super::supply::Supply;
use super::{NONE, Placement};
use crate::scheduling::spread::{Domains, domains};

impl Placement {
    /// Places up to `wanted` pods of a class that fill up a spread constraint over hosts themselves.
    pub(super) fn pour_level(&mut self, lot: &Lot, rule: &SpreadRule, wanted: u32, supply: &mut Supply) -> u32 {
        let [over_labels, _] = lot.but;
        let level = Lot { but: [over_labels, rule.counter], ..lot.clone() };
        let Some((nodes, piles)) = self.piles(&level, rule, wanted) else {
            return self.pour_by_room(lot, wanted, supply);
        };
        let mut placed = self.raise(&level, rule, &nodes, &piles, wanted);
        for at in 0..supply.offers.len() {
            if placed < wanted {
                placed += self.level_on_new(&level, rule, at, wanted - placed, supply);
            }
        }
        placed
    }

    /// The nodes that can take pods, as piles. None when another constraint binds several of them together.
    fn piles(&mut self, lot: &Lot, rule: &SpreadRule, wanted: u32) -> Option<(Vec<u32>, Vec<Pile>)> {
        let (mut nodes, mut piles) = (Vec::new(), Vec::new());
        let shapes = self.fitting(lot.class);
        for id in shapes.iter().copied() {
            let shape = self.shapes.at(id);
            if !lot.allows(shape) || shape.nodes.is_empty() {
                continue;
            }
            match self.room(lot, id) {
                0 => continue,
                room if room < wanted => return None,
                _ => {}
            }
            let need = &self.classes.at(lot.class).need;
            let mut from = 0;
            while let Some(slot) = shape.rooms.next(from, need) {
                from = slot + 1;
                let Some(id) = shape.nodes.get(slot as usize).copied() else { break };
                let node = self.nodes.at(id);
                let (room, _) = self.room_on(lot, node, u32::MAX);
                if room > 0 && node.host != NONE {
                    nodes.push(id);
                    let height = self.counter(rule.counter).count(node.host);
                    piles.push(Pile { height, room, copies: node.copies });
                }
            }
        }
        Some((nodes, piles))
    }

    fn raise(&mut self, lot: &Lot, rule: &SpreadRule, nodes: &[u32], piles: &[Pile], wanted: u32) -> u32 {
        let counter = self.counter(rule.counter);
        let Domains { count, .. } = domains(self, counter);
        let full = piles.iter().map(|pile| pile.height.saturating_add(pile.room)).min();
        let fewest = match fewest_elsewhere(counter, count, piles) {
            _ if count < rule.min_domains => Some(0),
            elsewhere => elsewhere.into_iter().chain(full).min(),
        };
        let limit = fewest.map_or(u32::MAX, |fewest| fewest.saturating_add(rule.max_skew));
        let Level { height, mut extra } = level(piles, wanted, limit);
        let mut placed = 0;
        for (node, pile) in nodes.iter().zip(piles) {
            let each = pile.up_to(height);
            let higher = if pile.can_pass(height) { extra.min(pile.copies) } else { 0 };
            extra -= higher;
            placed += self.put_each(lot.class, *node, higher, each.saturating_add(1));
            placed += self.put_each(lot.class, *node, pile.copies - higher, each);
        }
        placed
    }

    fn level_on_new(&mut self, lot: &Lot, rule: &SpreadRule, at: usize, wanted: u32, supply: &mut Supply) -> u32 {
        let Some((template, room, each, copies)) = self.room_on_new(lot, at, supply) else { return 0 };
        let counter = self.counter(rule.counter);
        let Domains { count, fewest } = domains(self, counter);
        // Pods of a DaemonSet may be counted too.
        let there = counter.count(self.prototype(template).host);
        let allowed = |fewest: u32| fewest.saturating_add(rule.max_skew).saturating_sub(there);
        let wanted = wanted.min(room);
        let copies = |each: u32| wanted.div_ceil(each.max(1)).min(copies).min(supply.left_of(at));
        let mut each = each.min(fewest.map_or(u32::MAX, allowed));
        if count.saturating_add(copies(each)) < rule.min_domains {
            each = each.min(allowed(0));
        }
        if each == 0 {
            return 0;
        }
        let copies = copies(each);
        let wanted = wanted.min(copies.saturating_mul(each));
        supply.take(at, copies);
        let node = self.open(template, copies);
        let higher = wanted % copies;
        self.put_each(lot.class, node, higher, wanted / copies + 1)
            + self.put_each(lot.class, node, copies - higher, wanted / copies)
    }

    /// Puts `each` pods on so many copies of a node; the answer is how many in all.
    fn put_each(&mut self, class: u32, node: u32, copies: u32, each: u32) -> u32 {
        if copies > 0 && each > 0 {
            let part = self.split(node, copies);
            self.put(class, part, i64::from(each));
        }
        copies.saturating_mul(each)
    }
}

/// Pods on the emptiest of the hosts that are not among the piles; None when there is no other.
fn fewest_elsewhere(counter: &Counter, hosts: u32, piles: &[Pile]) -> Option<u32> {
    let mut others = counter.hosts_by_count().clone();
    for pile in piles {
        if let Some(hosts) = others.get_mut(&pile.height) {
            *hosts = hosts.saturating_sub(pile.copies);
        }
    }
    let elsewhere = hosts.saturating_sub(piles.iter().map(|pile| pile.copies).sum());
    if elsewhere > others.values().sum() {
        return Some(0);
    }
    others.into_iter().find(|(_, hosts)| *hosts > 0).map(|(count, _)| count)
}
