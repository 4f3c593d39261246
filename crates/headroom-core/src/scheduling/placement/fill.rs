//! Places equal pods by number, never one by one where nodes and pods are equal.
//!
//! Pods go to the first node that can take them: nodes that are there before machines on their way, those before new
//! ones, and among nodes that are equally real the ones that the pods prefer.

use std::rc::Rc;

use smallvec::SmallVec;

use super::class::{Rules, SpreadRule, Wishes};
use super::lots::{Lots, Wanted};
use super::node::Node;
use super::shape::{Key, Shape};
use super::supply::Supply;
use super::{NONE, Placement, TemplateId};
use crate::scheduling::resources::times;
use crate::scheduling::{attach_limits, host_ports, pod_affinity, shares, spread};
use crate::snapshot::ClassId;

/// Equal pods that are being placed.
#[derive(Clone, Debug)]
pub(super) struct Lot {
    pub(super) class: u32,
    pub(super) rules: Option<Rc<Rules>>,
    /// What is to be looked at of what they wish.
    pub(super) wishes: Option<Rc<Wishes>>,
    /// Only nodes in this domain.
    pub(super) within: Option<(Key, u32)>,
    /// The counters of spread constraints that are seen to already: one over a label, one over hosts.
    pub(super) but: [u32; 2],
}

impl Placement {
    /// Places pods in the order given, on nodes that are there and on machines that are bought for them. `liked` says whether
    /// it is looked at what pods wish of the pods around them.
    ///
    /// Classes that wait for others, because they want to be near them or spread over the same domains, are tried again
    /// after these.
    pub(super) fn fill_lots(&mut self, pods: &[(ClassId, u32)], supply: &mut Supply, liked: bool) -> Lots {
        let mut lots = Lots::new(pods);
        let mut again = true;
        let mut first = true;
        while again {
            again = false;
            for Wanted { class, wanted, placed } in lots.iter_mut() {
                let bound = self.is_bound(*class);
                if *placed < *wanted && (first || bound) {
                    let more = self.fill_class(class.0, *wanted - *placed, supply, liked);
                    *placed += more;
                    // What was placed may have made room for a class that was tried before.
                    again |= more > 0;
                }
            }
            again &= lots.left().any(|(class, _)| self.is_bound(class));
            first = false;
        }
        lots
    }

    /// Places up to `wanted` pods of a class; the answer is how many.
    fn fill_class(&mut self, class: u32, wanted: u32, supply: &mut Supply, liked: bool) -> u32 {
        let entry = self.classes.at(class);
        let wishes = entry.wishes.clone().filter(|_| liked && entry.has_wishes());
        let lot = Lot { class, rules: entry.rules.clone(), wishes, within: None, but: [NONE; 2] };
        if lot.is_free() {
            return self.pour_by_room(&lot, wanted, supply);
        }
        let over_labels = lot.rules.as_deref().map(|rules| self.spreads_itself(rules, false)).unwrap_or_default();
        let mut placed = match &*over_labels {
            [] => self.pour(&lot, wanted, supply),
            [rule] => self.share(&lot, rule, wanted, supply),
            // Several such constraints at once are met pod by pod, below.
            [_, _, ..] => 0,
        };
        // Where constraints or wishes meet, filling by number keeps to what is certain: one pod more may still find a place.
        // To look for the best place each time would take too long.
        let lot = Lot { wishes: None, ..lot };
        while placed < wanted && self.pour_by_room(&lot, 1, supply) == 1 {
            placed += 1;
        }
        placed
    }

    /// Places up to `wanted` pods; the answer is how many.
    pub(super) fn pour(&mut self, lot: &Lot, wanted: u32, supply: &mut Supply) -> u32 {
        let over_hosts = lot.rules.as_deref().map(|rules| self.spreads_itself(rules, true)).unwrap_or_default();
        let (Some(rules), [rule]) = (&lot.rules, &*over_hosts) else {
            return self.pour_by_room(lot, wanted, supply);
        };
        if !pod_affinity::is_first(self, rules) {
            return self.pour_level(lot, rule, wanted, supply);
        }
        // The first pod decides where the others may go.
        match self.pour_by_room(lot, wanted.min(1), supply) {
            0 => 0,
            first => first + self.pour_level(lot, rule, wanted - first, supply),
        }
    }

    /// Node by node, as many on each as it has room for.
    pub(super) fn pour_by_room(&mut self, lot: &Lot, wanted: u32, supply: &mut Supply) -> u32 {
        let mut search = self.search(lot.class);
        let mut placed = self.pour_as_liked(lot, &search.fits, wanted);
        while placed < wanted
            && let Some(shape) = self.next_shape(lot.class, &mut search)
        {
            if lot.allows(self.shapes.at(shape)) {
                placed += self.pour_on_shape(lot, shape, wanted - placed);
            }
        }
        if placed < wanted {
            placed += self.pour_on_liked_offers(lot, wanted - placed, supply);
        }
        for at in 0..supply.offers.len() {
            if placed < wanted {
                placed += self.pour_on_new(lot, at, wanted - placed, supply);
            }
        }
        placed
    }

    fn pour_on_shape(&mut self, lot: &Lot, shape: u32, wanted: u32) -> u32 {
        let room = self.room(lot, shape).min(wanted);
        let (mut placed, mut from) = (0, 0);
        while placed < room {
            let shape = self.shapes.at(shape);
            let Some(slot) = shape.rooms.next(from, &self.classes.at(lot.class).need) else { break };
            from = slot + 1;
            let Some(node) = shape.nodes.get(slot as usize).copied() else { break };
            let (each, copies) = self.room_on(lot, self.nodes.at(node), room - placed);
            placed += self.put_on_copies(lot.class, node, room - placed, each, copies);
        }
        placed
    }

    pub(super) fn pour_on_new(&mut self, lot: &Lot, at: usize, wanted: u32, supply: &mut Supply) -> u32 {
        let mut placed = 0;
        // What is placed may change how many may follow.
        while placed < wanted {
            let Some((template, room, each, copies)) = self.room_on_new(lot, at, supply) else { break };
            let wanted = room.min(wanted - placed);
            let copies = wanted.div_ceil(each).min(copies).min(supply.left_of(at));
            supply.take(at, copies);
            let node = self.open(template, copies);
            placed += self.put_on_copies(lot.class, node, wanted, each, copies);
        }
        placed
    }

    /// What may be put on new machines of an offer: its template, how many pods in all, how many on each, and on how
    /// many machines. None when there is nothing.
    pub(super) fn room_on_new(&mut self, lot: &Lot, at: usize, supply: &Supply) -> Option<(TemplateId, u32, u32, u32)> {
        let template = supply.offers.get(at)?.template;
        let shape = self.prototypes.at(template.0).shape;
        if supply.left_of(at) == 0 || !lot.allows(self.shapes.at(shape)) || !self.shape_fits(lot.class, shape) {
            return None;
        }
        let (room, each, copies) = match &lot.rules {
            Some(rules) if self.matters_itself(rules, template) => self.room_on_trial(lot, template),
            _ => {
                let (each, copies) = self.room_on(lot, self.prototype(template), u32::MAX);
                (if each > 0 { self.room(lot, shape) } else { 0 }, each, copies)
            }
        };
        (room > 0 && each > 0).then_some((template, room, each, copies))
    }

    /// How many pods may be put on all nodes of a shape together.
    pub(super) fn room(&self, lot: &Lot, shape: u32) -> u32 {
        let Some(rules) = &lot.rules else { return u32::MAX };
        let shape = self.shapes.at(shape);
        spread::room(self, rules, shape, lot.but).min(pod_affinity::room(self, rules, shape))
    }

    /// Whether rules look at pods of a template's DaemonSets beyond their own machine, so that one machine more changes
    /// what may follow.
    pub(super) fn counts_daemon_sets(&self, rules: &Rules, template: TemplateId) -> bool {
        let beyond = |counter: &u32| self.counter(*counter).key != Key::Host && rules.asks(*counter);
        let pods = &self.prototype(template).pods;
        pods.iter().any(|(class, _)| self.classes.at(*class).rules.iter().any(|own| own.adds.iter().any(beyond)))
    }

    /// Whether a new machine changes by being there what may be put on it.
    fn matters_itself(&self, rules: &Rules, template: TemplateId) -> bool {
        rules.spread.iter().any(|rule| rule.min_domains > 1) || self.counts_daemon_sets(rules, template)
    }

    /// How many pods may be put on new machines of a template once there is one: in all, on each, and on how many.
    fn room_on_trial(&mut self, lot: &Lot, template: TemplateId) -> (u32, u32, u32) {
        let mark = self.mark();
        let node = self.open(template, 1);
        let (each, copies) = self.room_on(lot, self.nodes.at(node), u32::MAX);
        let room = self.room(lot, self.prototype(template).shape);
        self.rollback(mark);
        let one_by_one = lot.rules.as_ref().is_some_and(|rules| self.counts_daemon_sets(rules, template));
        (room, each, if one_by_one { 1 } else { copies })
    }

    /// How many pods may be put on a node of a shape that fits, up to `wanted`, and on how many copies of it.
    pub(super) fn room_on(&self, lot: &Lot, node: &Node, wanted: u32) -> (u32, u32) {
        let class = self.classes.at(lot.class);
        if node.closed || !self.named_fits(self.statics.at(class.statics), node) {
            return (0, 0);
        }
        let each = times(&node.free, &class.need, wanted);
        let Some(rules) = &lot.rules else { return (each, u32::MAX) };
        let each = each
            .min(host_ports::room_on(self, rules, node))
            .min(shares::room_on(rules, node))
            .min(attach_limits::room_on(self, rules, node))
            .min(spread::room_on(self, rules, node, lot.but))
            .min(pod_affinity::room_on(self, rules, node));
        (each, if pod_affinity::first_decides_node(self, rules) { 1 } else { u32::MAX })
    }

    /// Puts up to `wanted` pods on up to `copies` copies of a node, `each` on one; the answer is how many.
    pub(super) fn put_on_copies(&mut self, class: u32, node: u32, wanted: u32, each: u32, copies: u32) -> u32 {
        if each == 0 || wanted == 0 {
            return 0;
        }
        let copies = copies.min(self.nodes.at(node).copies);
        if copies == 1 {
            // As nearly always: a node that is there is one of its kind.
            let part = self.split(node, 1);
            self.put(class, part, i64::from(wanted.min(each)));
            return wanted.min(each);
        }
        let full = copies.min(wanted / each);
        if full > 0 {
            let part = self.split(node, full);
            self.put(class, part, i64::from(each));
        }
        let rest = if full < copies { wanted - full * each } else { 0 };
        if rest > 0 {
            let part = self.split(node, 1);
            self.put(class, part, i64::from(rest));
        }
        full * each + rest
    }

    /// The spread constraints, over hosts or over labels, that pods of the class fill up themselves.
    fn spreads_itself(&self, rules: &Rules, over_hosts: bool) -> SmallVec<[SpreadRule; 2]> {
        let filled = rules.spread.iter().filter(|rule| rule.counts_own);
        filled.filter(|rule| (self.counter(rule.counter).key == Key::Host) == over_hosts).copied().collect()
    }
}

impl Lot {
    /// Whether nothing but their needs and their static side decides where the pods go.
    pub(super) fn is_free(&self) -> bool {
        self.rules.is_none() && self.wishes.is_none() && self.within.is_none()
    }

    /// Whether nodes of a shape are in the right domain.
    pub(super) fn allows(&self, shape: &Shape) -> bool {
        self.within.is_none_or(|(key, domain)| shape.domain(key) == domain)
    }
}
