//! Machines that may be bought while pods are placed.

use super::TemplateId;

/// A kind of machine of which some may be bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What they are made from.
    pub template: TemplateId,
    /// At most so many.
    pub limit: u32,
    /// What one of them costs, in any unit. Where all cost the same, the fewest machines are the cheapest.
    pub cost: u64,
}

/// What may be bought: kinds of machines, the ones that are tried first first, and how many in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supply {
    /// What is left of each offer.
    pub(super) offers: Vec<Offer>,
    /// How many may still be bought in all.
    left: u32,
    /// How many could be bought at first.
    pub(super) given: u32,
}

impl Supply {
    /// Up to `limit` machines in all; None is no limit other than those of the offers.
    pub fn new(offers: &[Offer], limit: Option<u32>) -> Self {
        let all = offers.iter().fold(0_u32, |sum, offer| sum.saturating_add(offer.limit));
        let left = limit.unwrap_or(u32::MAX).min(all);
        Supply { offers: offers.to_vec(), left, given: left }
    }

    /// Nothing may be bought.
    pub fn none() -> Self {
        Supply::default()
    }

    /// How many machines of each offer were bought, given the offers as they were at first.
    pub fn bought(&self, offers: &[Offer]) -> Vec<u32> {
        offers.iter().zip(&self.offers).map(|(first, now)| first.limit - now.limit.min(first.limit)).collect()
    }

    /// How many machines were bought in all, given the supply as it was at first.
    pub(super) fn bought_since(&self, given: &Supply) -> u32 {
        given.left.saturating_sub(self.left)
    }

    /// How many machines of the offer at this position may still be bought.
    pub(super) fn left_of(&self, at: usize) -> u32 {
        self.offers.get(at).map_or(0, |offer| offer.limit.min(self.left))
    }

    /// Buys machines of the offer at this position.
    pub(super) fn take(&mut self, at: usize, count: u32) {
        self.left = self.left.saturating_sub(count);
        if let Some(offer) = self.offers.get_mut(at) {
            offer.limit = offer.limit.saturating_sub(count);
        }
    }
}
