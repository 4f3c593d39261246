//! Raising several piles to one height, with the lowest first.

/// A pile, or several equal ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pile {
    /// Its height.
    pub(super) height: u32,
    /// How much can be put on it.
    pub(super) room: u32,
    /// How many equal ones there are.
    pub(super) copies: u32,
}

/// How high the piles become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// All of them, as far as they have room and are not higher already.
    pub(super) height: u32,
    /// And so many of them, the first ones that can, one more.
    pub(super) extra: u32,
}

impl Pile {
    /// How much is put on one copy to bring it to a height.
    pub(super) fn up_to(&self, height: u32) -> u32 {
        height.saturating_sub(self.height).min(self.room)
    }

    /// Whether one more can be put on a copy that is at this height.
    pub(super) fn can_pass(&self, height: u32) -> bool {
        self.height <= height && self.up_to(height) < self.room
    }
}

/// Puts `amount` on the piles so that they become as level as can be, and none gets higher than `limit` by it.
pub(super) fn level(piles: &[Pile], amount: u32, limit: u32) -> Level {
    let needed =
        |height: u32| -> u64 { piles.iter().map(|pile| u64::from(pile.up_to(height)) * u64::from(pile.copies)).sum() };
    // The lowest pile that could take everything would not get higher than this even if it did.
    let takes_all = piles.iter().filter(|pile| pile.room > amount && pile.copies > 0).map(|pile| pile.height).min();
    let beyond = takes_all.map_or(u32::MAX, |height| height.saturating_add(amount).saturating_add(1));
    let amount = u64::from(amount);
    // The highest level for which there is enough, by halving.
    let (mut enough, mut too_high) = (0, limit.saturating_add(1).min(beyond));
    while too_high - enough > 1 {
        let middle = enough + (too_high - enough) / 2;
        if needed(middle) <= amount { enough = middle } else { too_high = middle }
    }
    let rest = if enough < limit { amount - needed(enough).min(amount) } else { 0 };
    let passing = piles.iter().filter(|pile| pile.can_pass(enough)).map(|pile| u64::from(pile.copies)).sum::<u64>();
    Level { height: enough, extra: u32::try_from(rest.min(passing)).unwrap_or(u32::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pile(height: u32, room: u32, copies: u32) -> Pile {
        Pile { height, room, copies }
    }

    #[test]
    fn the_lowest_are_raised_first() {
        let check = |piles: &[Pile], amount, limit, (height, extra)| {
            assert_eq!(level(piles, amount, limit), Level { height, extra }, "{piles:?} {amount} {limit}");
        };
        check(&[pile(0, 10, 3)], 7, 100, (2, 1));
        check(&[pile(0, 10, 1), pile(4, 10, 1)], 5, 100, (4, 1));
        check(&[pile(0, 2, 1), pile(0, 10, 1)], 9, 100, (7, 0));
        check(&[pile(0, 10, 3)], 100, 4, (4, 0));
        check(&[pile(5, 10, 1)], 3, 4, (4, 0));
        check(&[], 3, 4, (4, 0));
        check(&[pile(0, 1, 2)], 9, u32::MAX, (u32::MAX - 1, 0));
    }
}
