//! How old the picture of the cluster may be: what is stale shrinks nothing, and what is very stale is not acted on.

use std::collections::{BTreeMap, BTreeSet};

use headroom_adapters::cluster::Observation;
use headroom_core::snapshot::{Change, Coverage, Kind};
use jiff::{SignedDuration, Timestamp};

/// A kind that is older counts as known in part, so that nothing is removed.
const STALE: SignedDuration = SignedDuration::from_mins(2);

/// Nothing at all is done while nodes or pods are older.
const BLIND: SignedDuration = SignedDuration::from_mins(5);

/// The kinds without which no round is worth anything.
const NEEDED: [Kind; 2] = [Kind::Nodes, Kind::Pods];

/// Watches the ages of what is known.
#[derive(Default)]
pub(super) struct Freshness {
    ages: BTreeMap<Kind, Option<Timestamp>>,
    stale: BTreeSet<Kind>,
}

impl Freshness {
    /// Takes in how old everything is; what has become stale counts as known in
    /// part. The cluster itself tells what it is once it is fresh again.
    pub(super) fn note(&mut self, observation: &mut Observation, now: Timestamp) {
        self.ages = std::mem::take(&mut observation.ages);
        for (kind, until) in &self.ages {
            let Some(until) = until else { continue };
            if now.duration_since(*until) >= STALE {
                let told = |change: &Change| matches!(change, Change::Coverage(of, _) if of == kind);
                if self.stale.insert(*kind) || observation.changes.iter().any(told) {
                    observation.changes.push(Change::Coverage(*kind, Coverage::Partial));
                }
            } else {
                self.stale.remove(kind);
            }
        }
    }

    /// Whether everything that a round needs was read completely once.
    pub(super) fn is_known(&self) -> bool {
        NEEDED.iter().all(|kind| matches!(self.ages.get(kind), Some(Some(_))))
    }

    /// Whether everything was.
    pub(super) fn is_all_known(&self) -> bool {
        self.is_known() && self.ages.values().all(Option::is_some)
    }

    /// The kind that is too old to act on, and its age.
    pub(super) fn blind(&self, now: Timestamp) -> Option<(Kind, SignedDuration)> {
        let ages = NEEDED.iter().filter_map(|kind| Some((*kind, now.duration_since((*self.ages.get(kind)?)?))));
        ages.max_by_key(|(_, age)| *age).filter(|(_, age)| *age >= BLIND)
    }
}
