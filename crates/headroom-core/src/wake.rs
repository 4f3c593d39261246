//! When a plan could become another one although nothing has changed.

use jiff::Timestamp;

/// Collects the instants at which a timer runs out and keeps the earliest that is still to come.
#[derive(Clone, Copy, Debug)]
pub struct Wake {
    now: Timestamp,
    earliest: Option<Timestamp>,
}

impl Wake {
    /// No timer yet.
    pub fn new(now: Timestamp) -> Self {
        Wake { now, earliest: None }
    }

    /// A timer runs out at `instant`; one in the past does not matter.
    pub fn at(&mut self, instant: Timestamp) {
        if instant > self.now {
            self.earliest = Some(self.earliest.map_or(instant, |earliest| earliest.min(instant)));
        }
    }

    /// The earliest one.
    pub fn earliest(self) -> Option<Timestamp> {
        self.earliest
    }
}
