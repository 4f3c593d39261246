//! Random numbers that are the same on every platform.

use rand::RngExt;
use rand_pcg::Pcg64;

use crate::scenario::Span;
use headroom_core::policy::Percent;
use jiff::SignedDuration;

/// A source of random numbers for one purpose.
///
/// Each workload and each node group has its own, made from the scenario's seed and its name. So a workload that is
/// added or a policy that is changed leaves all other draws as they were, and two policies meet the same pods.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Pcg64);

impl Stream {
    /// The stream of the thing called `name`, for example `workload/web`.
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        Stream(Pcg64::new(u128::from(seed), u128::from(fnv1a(name))))
    }

    /// A whole number of seconds within `span`, ends included.
    pub(crate) fn within(&mut self, span: Span) -> SignedDuration {
        let (min, max) = (span.min.as_secs(), span.max.as_secs());
        SignedDuration::from_secs(if max > min { self.0.random_range(min..=max) } else { min })
    }

    /// True with the probability `percent`.
    pub(crate) fn chance(&mut self, percent: Percent) -> bool {
        // Certainty draws nothing, so that turning a fault off is the same as not having it.
        percent.0 > 0 && self.of(10_000, u128::from(percent.0))
    }

    /// True in `part` of `whole` cases.
    pub(crate) fn of(&mut self, whole: u128, part: u128) -> bool {
        self.below(whole) < part
    }

    /// A number from 0 to `whole` - 1; 0 when there is none.
    pub(crate) fn below(&mut self, whole: u128) -> u128 {
        if whole > 1 { self.0.random_range(0..whole) } else { 0 }
    }
}

/// The 64-bit FNV-1a hash: fixed for ever, unlike the hash of the standard library.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws must not change with the platform or with a new version of a library: golden files depend on them.
    #[test]
    fn draws_are_fixed() {
        let mut stream = Stream::new(42, "workload/web");
        let draws: Vec<u128> = (0..6).map(|_| stream.below(1000)).collect();
        expect_test::expect!["[144, 759, 962, 839, 212, 302]"].assert_eq(&format!("{draws:?}"));
    }

    #[test]
    fn streams_differ_by_name_and_seed() {
        let draws = |seed, name| {
            let mut stream = Stream::new(seed, name);
            (0..4).map(|_| stream.below(1 << 40)).collect::<Vec<_>>()
        };
        assert_ne!(draws(1, "a"), draws(1, "b"));
        assert_ne!(draws(1, "a"), draws(2, "a"));
    }

    #[test]
    fn chance_of_nothing_and_of_everything() {
        let mut stream = Stream::new(1, "x");
        assert!((0..100).all(|_| stream.chance(Percent::whole(100)) && !stream.chance(Percent::whole(0))));
    }
}
