//! The option that leaves the smallest share of its nodes unused.

use std::fmt;

use serde::Serialize;

use super::{Billionths, Candidate};
use crate::pricing::UnitPrices;
use crate::quantity::Totals;

/// Whether a GPU would idle, then how much cpu and memory would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Score {
    /// The nodes have GPUs and no pod asks for one. Cluster Autoscaler does not look at GPUs here, and so picks the
    /// dearest machine where it is the tightest in cpu and memory.
    pub unneeded_gpu: bool,
    /// The unused share of capacity, of cpu and of memory, added up: 0 to 2.
    pub waste: Billionths,
}

/// Adds up the unused shares of all new nodes together. `unit_prices` says what a GPU is.
pub fn score(candidate: &Candidate, unit_prices: &UnitPrices) -> Score {
    let mut capacity = Totals::default();
    capacity.add_times(&candidate.capacity, candidate.nodes.into());
    let requested = &candidate.requested;
    let waste = unused(capacity.cpu, requested.cpu).saturating_add(unused(capacity.memory, requested.memory));
    Score { unneeded_gpu: candidate.wastes_gpu(unit_prices), waste: Billionths(waste) }
}

/// The unused share in billionths. Of no capacity all is unused.
fn unused(capacity: i128, requested: i128) -> i128 {
    if capacity <= 0 {
        return Billionths::ONE;
    }
    capacity.saturating_sub(requested).saturating_mul(Billionths::ONE) / capacity
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gpu = if self.unneeded_gpu { " and idle GPUs" } else { "" };
        write!(f, "waste {}{gpu}", self.waste)
    }
}
