//! Places pods that are spread over the values of a label, such as zones: shares them out first, then fills each domain.

use super::Placement;
use super::class::SpreadRule;
use super::fill::Lot;
use super::level::{Level, Pile, level};
use super::shape::Key;
use super::supply::Supply;
use super::{Mark, NONE, TemplateId};
use crate::scheduling::spread::{domain_list, domains};

/// After so many corrections for each domain the shares are given up, and pods are placed one by one.
const CORRECTIONS: usize = 3;

/// A domain that can take pods.
struct Share {
    domain: u32,
    /// As far as is known, it takes no more than this.
    room: u32,
}

/// A host that got pods, or several equal ones.
struct Raised {
    /// How many it has now of those that a constraint over hosts counts.
    to: u32,
    /// How many it got.
    by: u32,
    copies: u32,
    domain: u32,
}

impl Placement {
    /// Places up to `wanted` pods of a class that fill up a spread constraint over a label themselves.
    ///
    /// Every domain that can take pods or get new machines has its share. Where a domain turns out to take less, the
    /// others may not have as much either: everything is taken back and shared out anew. Nothing is placed where each new
    /// machine changes what the constraint counts, or where a constraint over hosts stands in the way.
    pub(super) fn share(&mut self, lot: &Lot, rule: &SpreadRule, wanted: u32, supply: &mut Supply) -> u32 {
        let key = self.counter(rule.counter).key;
        let Some(rules) = &lot.rules else { return 0 };
        if supply.offers.iter().any(|offer| self.counts_daemon_sets(rules, offer.template)) {
            return 0;
        }
        let mut shares = self.takers(lot, key, supply);
        let mark = self.mark();
        for _ in 0..=shares.len() * CORRECTIONS {
            let mut bought = supply.clone();
            let mut placed = 0;
            let wishes = self.wishes(rule, &shares, wanted);
            let short = shares.iter_mut().zip(wishes).find_map(|(share, wish)| {
                let lot = Lot { within: Some((key, share.domain)), but: [rule.counter, NONE], ..lot.clone() };
                let got = if wish > 0 { self.pour(&lot, wish, &mut bought) } else { 0 };
                placed += got;
                (got < wish).then_some((share, got))
            });
            let Some((share, got)) = short else {
                if self.is_out_of_reach(lot, rule, mark) {
                    self.rollback(mark);
                    return 0;
                }
                *supply = bought;
                return placed;
            };
            share.room = got;
            self.rollback(mark);
        }
        0
    }

    /// Whether what was placed since the mark could not have been placed one by one, given that hosts are spread over too.
    ///
    /// Either a host got more pods than such a constraint allows, now that there are new hosts in other domains: while
    /// those are waited for, it could not have got them all. Or hosts that are raised level by level, as the constraint
    /// wants it, would take the domains of the label out of the skew on the way.
    fn is_out_of_reach(&self, lot: &Lot, over_label: &SpreadRule, mark: Mark) -> bool {
        let rules = lot.rules.iter().flat_map(|rules| &rules.spread).filter(|rule| rule.counts_own);
        let mut over_hosts = rules.filter(|rule| self.counter(rule.counter).key == Key::Host);
        over_hosts.any(|rule| {
            let counter = self.counter(rule.counter);
            let most = domains(self, counter).fewest_for(rule).saturating_add(rule.max_skew);
            let raised = self.filled_since(mark).map(|(node, by)| Raised {
                to: counter.count(node.host),
                by,
                copies: node.copies,
                domain: self.domain(self.counter(over_label.counter).key, node),
            });
            let raised: Vec<Raised> = raised.collect();
            raised.iter().any(|host| host.to > most) || self.leaves_skew(over_label, &raised)
        })
    }

    /// Whether the domains of a label are out of the skew when the hosts are raised to some height below their own.
    fn leaves_skew(&self, rule: &SpreadRule, raised: &[Raised]) -> bool {
        let counter = self.counter(rule.counter);
        let there = domain_list(self, counter);
        let lowest = raised.iter().map(|host| host.to.saturating_sub(host.by)).min().unwrap_or(0);
        let highest = raised.iter().map(|host| host.to).max().unwrap_or(0);
        (lowest.saturating_add(1)..highest).any(|height| {
            let count = |domain: u32| {
                let hosts = raised.iter().filter(|host| host.domain == domain);
                let missing = hosts.map(|host| host.by.min(host.to.saturating_sub(height)).saturating_mul(host.copies));
                counter.count(domain).saturating_sub(missing.fold(0, u32::saturating_add))
            };
            let few = there.len() < rule.min_domains as usize;
            let fewest = if few { 0 } else { there.iter().map(|domain| count(*domain)).min().unwrap_or(0) };
            there.iter().any(|domain| {
                let grew = raised.iter().any(|host| host.domain == *domain);
                grew && count(*domain) > fewest.saturating_add(rule.max_skew)
            })
        })
    }

    /// The domains that can take pods, in the order in which nodes and offers are tried.
    fn takers(&mut self, lot: &Lot, key: Key, supply: &Supply) -> Vec<Share> {
        let need = self.classes.at(lot.class).need.clone();
        let mut search = self.search(lot.class);
        let mut domains: Vec<u32> = Vec::new();
        while let Some(shape) = self.next_shape(lot.class, &mut search) {
            let shape = self.shapes.at(shape);
            let domain = shape.domain(key);
            if !domains.contains(&domain) && shape.rooms.next(0, &need).is_some() {
                domains.push(domain);
            }
        }
        for (at, offer) in supply.offers.iter().enumerate().filter(|(at, _)| supply.left_of(*at) > 0) {
            let TemplateId(template) = offer.template;
            let shape = self.prototypes.at(template).shape;
            if supply.left_of(at) > 0 && self.shape_fits(lot.class, shape) {
                domains.push(self.shapes.at(shape).domain(key));
            }
        }
        let mut shares: Vec<Share> = Vec::new();
        for domain in domains {
            if domain != NONE && !shares.iter().any(|known| known.domain == domain) {
                shares.push(Share { domain, room: u32::MAX });
            }
        }
        shares
    }

    /// How many pods each domain would get.
    fn wishes(&self, rule: &SpreadRule, shares: &[Share], wanted: u32) -> Vec<u32> {
        let counter = self.counter(rule.counter);
        let there = domain_list(self, counter);
        let is_there = |domain: u32| there.binary_search(&domain).is_ok();
        let shared = |domain: &&u32| shares.iter().any(|share| share.domain == **domain);
        let others = there.iter().filter(|domain| !shared(domain)).map(|domain| counter.count(*domain));
        // A domain that takes no more holds the others back, unless it has no node and gets none.
        let full = shares.iter().filter(|share| share.room < u32::MAX && (share.room > 0 || is_there(share.domain)));
        let full = full.map(|share| counter.count(share.domain).saturating_add(share.room));
        let fewest = others.chain(full).min();
        let limit = fewest.map_or(u32::MAX, |fewest| fewest.saturating_add(rule.max_skew));
        let height = |share: &Share| counter.count(share.domain);
        let piles: Vec<Pile> =
            shares.iter().map(|share| Pile { height: height(share), room: share.room, copies: 1 }).collect();
        let wishes = spread(&piles, wanted, limit);
        let new = shares.iter().zip(&wishes).filter(|(share, wish)| **wish > 0 && !is_there(share.domain)).count();
        if there.len() + new >= rule.min_domains as usize {
            return wishes;
        }
        spread(&piles, wanted, limit.min(rule.max_skew))
    }
}

/// What each pile gets.
fn spread(piles: &[Pile], wanted: u32, limit: u32) -> Vec<u32> {
    let Level { height, mut extra } = level(piles, wanted, limit);
    let each = |pile: &Pile| {
        let more = u32::from(extra > 0 && pile.can_pass(height));
        extra -= more;
        pile.up_to(height) + more
    };
    piles.iter().map(each).collect()
}
