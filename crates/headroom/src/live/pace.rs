//! When the next round is: soon after a change, and at the latest after an interval.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Changes come in bursts; a round waits for as long as this after the first of them.
const GATHER: Duration = Duration::from_millis(200);

/// The shortest time from the end of a round to the next.
const REST: Duration = Duration::from_millis(300);

/// Says when the next round is.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    ended: Option<Instant>,
    /// When the plan itself asks for another look.
    wake: Option<Instant>,
    changed: Option<Instant>,
}

impl Pace {
    pub(super) fn new(interval: SignedDuration) -> Self {
        Pace { interval: unsigned(interval), ended: None, wake: None, changed: None }
    }

    /// Goes by another interval.
    pub(super) fn set_interval(&mut self, interval: SignedDuration) {
        self.interval = unsigned(interval);
    }

    /// There is something new to look at.
    pub(super) fn change(&mut self) {
        self.changed.get_or_insert_with(Instant::now);
    }

    /// A round has ended, at `now` by the clock of the plan; `wake_at` is when it wants another look.
    pub(super) fn round_ended(&mut self, now: Timestamp, wake_at: Option<Timestamp>) {
        let ended = Instant::now();
        self.ended = Some(ended);
        self.wake = wake_at.map(|at| ended + unsigned(at.duration_since(now)));
        self.changed = None;
    }

    /// When the next round is.
    pub(super) fn next(&self) -> Instant {
        let Some(ended) = self.ended else { return Instant::now() };
        let due = self.wake.unwrap_or(ended + self.interval).min(ended + self.interval);
        let due = self.changed.map_or(due, |changed| due.min(changed + GATHER));
        due.max(ended + REST)
    }
}

fn unsigned(span: SignedDuration) -> Duration {
    Duration::try_from(span).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> Pace {
        Pace::new(SignedDuration::from_secs(10))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn rounds_come_after_a_change_or_an_interval() {
        let mut pace = pace();
        let start = Instant::now();
        assert_eq!(pace.next(), start, "the first is at once");
        pace.round_ended(at(100), None);
        assert_eq!(pace.next() - start, Duration::from_secs(10), "nothing happens");
        tokio::time::advance(Duration::from_secs(4)).await;
        pace.change();
        tokio::time::advance(Duration::from_millis(100)).await;
        pace.change();
        assert_eq!(pace.next() - start, Duration::from_millis(4200), "a burst is gathered from its first change on");
    }

    #[tokio::test(start_paused = true)]
    async fn a_plan_may_ask_for_an_earlier_look_but_not_for_an_endless_one() {
        let mut pace = pace();
        let start = Instant::now();
        pace.round_ended(at(100), Some(at(103)));
        assert_eq!(pace.next() - start, Duration::from_secs(3));
        pace.round_ended(at(100), Some(at(100)));
        assert_eq!(pace.next() - start, REST);
        pace.round_ended(at(100), Some(at(500)));
        assert_eq!(pace.next() - start, Duration::from_secs(10));
        pace.change();
        assert_eq!(pace.next() - start, REST);
    }
}
