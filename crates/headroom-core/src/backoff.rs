//! Which groups are left alone for a while because machines that were asked for did not come.
//!
//! What is remembered belongs to a group and to the machine type, zone and terms that it asked for: when a group changes
//! its machine type, what is known of the old one does not hold it back.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::pricing::Offering;
use crate::snapshot::LaunchError;

/// How long a group is left alone. The defaults are Cluster Autoscaler's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// After a first failure (`initial-node-group-backoff-duration`, 5 min).
    pub initial: SignedDuration,
    /// At most; each further failure doubles until then (`max-node-group-backoff-duration`, 30 min).
    pub max: SignedDuration,
    /// When the last failure is longer ago than this, the next one is a first again (`node-group-backoff-reset-timeout`,
    /// 3 h).
    pub forget_after: SignedDuration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            initial: SignedDuration::from_mins(5),
            max: SignedDuration::from_mins(30),
            forget_after: SignedDuration::from_hours(3),
        }
    }
}

/// Who backs off.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// The group.
    pub group: Arc<str>,
    /// What it asked for.
    pub offering: Offering,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Cause {
    /// The cloud has no such machine left.
    OutOfStock,
    /// The cloud refused for another reason.
    Refused,
    /// Machines did not come in time.
    NeverCame,
}

/// How one group backs off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backoff {
    /// The last failure.
    pub failed: Timestamp,
    /// How long the group is left alone after it.
    pub length: SignedDuration,
    /// What went wrong.
    pub cause: Cause,
}

/// All that is remembered; a part of the state between rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Key, Backoff)>", into = "Vec<(Key, Backoff)>")]
pub struct Backoffs(BTreeMap<Key, Backoff>);

impl Backoffs {
    /// The back-off that holds `key` back at `now`, if there is one.
    pub fn active(&self, key: &Key, now: Timestamp) -> Option<&Backoff> {
        self.0.get(key).filter(|backoff| now < backoff.until())
    }

    /// Notes a failure. One during a back-off starts it anew without making it longer: it comes from the request that
    /// failed before. One after it doubles the length.
    pub fn failed(&mut self, key: Key, cause: Cause, now: Timestamp, settings: &Settings) {
        let length = match self.0.get(&key) {
            Some(known) if known.is_stale(now, settings) => settings.initial,
            Some(known) if now < known.until() => known.length,
            Some(known) => known.length.saturating_mul(2),
            None => settings.initial,
        };
        let length = length.min(settings.max).max(SignedDuration::ZERO);
        self.0.insert(key, Backoff { failed: now, length, cause });
    }

    /// Notes that a machine came: what went wrong before is forgotten.
    pub fn succeeded(&mut self, key: &Key) {
        self.0.remove(key);
    }

    /// Forgets what is too long ago to matter.
    pub fn forget_stale(&mut self, now: Timestamp, settings: &Settings) {
        self.0.retain(|_, backoff| !backoff.is_stale(now, settings));
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything that is remembered, by group.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Backoff)> {
        self.0.iter()
    }
}

impl Backoff {
    /// When it is over: at this instant the group is free again.
    pub fn until(&self) -> Timestamp {
        self.failed.saturating_add(self.length).unwrap_or(Timestamp::MAX)
    }

    /// Whether the failure is too long ago to matter. A back-off that lasts never is.
    fn is_stale(&self, now: Timestamp, settings: &Settings) -> bool {
        now >= self.until() && now.duration_since(self.failed) > settings.forget_after
    }
}

impl From<Vec<(Key, Backoff)>> for Backoffs {
    fn from(entries: Vec<(Key, Backoff)>) -> Self {
        Backoffs(entries.into_iter().collect())
    }
}

impl From<Backoffs> for Vec<(Key, Backoff)> {
    fn from(backoffs: Backoffs) -> Self {
        backoffs.0.into_iter().collect()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.group, self.offering)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::OutOfStock => LaunchError::OutOfStock.fmt(f),
            Cause::Refused => LaunchError::Refused.fmt(f),
            Cause::NeverCame => f.write_str("machines never came"),
        }
    }
}

impl fmt::Display for Backoff {
    /// `the cloud is out of stock, left alone until 2026-01-01T00:05:00Z`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, left alone until {}", self.cause, self.until())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::CapacityType;
    use proptest::prelude::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
    }

    fn key(instance_type: &str, capacity_type: CapacityType) -> Key {
        let offering = Offering { instance_type: Some(instance_type.into()), zone: Some("1a".into()), capacity_type };
        Key { group: "web".into(), offering }
    }

    #[test]
    fn five_minutes_double_up_to_thirty() {
        let (mut backoffs, settings, key) = (Backoffs::default(), Settings::default(), Key::default());
        let mut now = 0;
        for minutes in [5, 10, 20, 30, 30] {
            backoffs.failed(key.clone(), Cause::NeverCame, at(now), &settings);
            now += minutes;
            assert!(backoffs.active(&key, at(now - 1)).is_some());
            assert_eq!(backoffs.active(&key, at(now)), None, "{minutes}");
        }
    }

    #[test]
    fn a_success_starts_over() {
        let (mut backoffs, settings, key) = (Backoffs::default(), Settings::default(), Key::default());
        backoffs.failed(key.clone(), Cause::Refused, at(0), &settings);
        backoffs.failed(key.clone(), Cause::Refused, at(6), &settings);
        backoffs.succeeded(&key);
        assert_eq!(backoffs.active(&key, at(7)), None);
        backoffs.failed(key.clone(), Cause::Refused, at(8), &settings);
        assert_eq!(backoffs.active(&key, at(8)).unwrap().until(), at(13));
    }

    #[test]
    fn machine_types_zones_and_terms_are_apart() {
        let (mut backoffs, settings) = (Backoffs::default(), Settings::default());
        let spot = key("m5.large", CapacityType::Spot);
        backoffs.failed(spot.clone(), Cause::OutOfStock, at(0), &settings);
        assert_eq!(
            format!("{spot}: {}", backoffs.active(&spot, at(1)).unwrap()),
            "web, m5.large in 1a (spot): the cloud is out of stock, left alone until 1970-01-01T00:05:00Z"
        );
        assert_eq!(backoffs.active(&key("m5.large", CapacityType::OnDemand), at(1)), None);
        assert_eq!(backoffs.active(&key("m6.large", CapacityType::Spot), at(1)), None);
    }

    #[test]
    fn it_survives_json() {
        let (mut backoffs, settings) = (Backoffs::default(), Settings::default());
        backoffs.failed(key("b", CapacityType::Spot), Cause::OutOfStock, at(0), &settings);
        backoffs.failed(key("a", CapacityType::OnDemand), Cause::NeverCame, at(1), &settings);
        let json = serde_json::to_string(&backoffs).unwrap();
        assert_eq!(serde_json::from_str::<Backoffs>(&json).unwrap(), backoffs);
    }

    proptest! {
        /// Whatever happens and when, a back-off lasts from `initial` to `max`, and time never has to run forwards.
        #[test]
        fn lengths_stay_within_bounds(failures in prop::collection::vec(-500_i64..500, 1..30)) {
            let (mut backoffs, settings, key) = (Backoffs::default(), Settings::default(), Key::default());
            for minute in failures {
                backoffs.failed(key.clone(), Cause::NeverCame, at(minute), &settings);
                let length = backoffs.active(&key, at(minute)).unwrap().length;
                prop_assert!(settings.initial <= length && length <= settings.max);
            }
        }
    }
}
