//! Any option, each as likely as the others.
//!
//! An option's number depends on the seed and the name of its group alone. So neither the order of the options nor which
//! others there are changes the pick, and a replay picks the same.

use std::fmt;

use serde::Serialize;

use super::Candidate;

/// A number without meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Score(u64);

/// Mixes the seed with the group's name.
pub fn score(candidate: &Candidate, seed: u64) -> Score {
    Score(candidate.group.bytes().fold(mix(seed), |state, byte| mix(state ^ u64::from(byte))))
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lot {}", self.0)
    }
}

/// One step of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference implementation for seed 0 are steps from 0 and from one increment.
    #[test]
    fn mix_is_splitmix64() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }
}
