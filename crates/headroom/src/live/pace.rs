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
    /// Since when there may be something new in the cluster.
    changed: Option<Instant>,
    /// Since when something else asks for a round.
    asked: Option<Instant>,
}

impl Pace {
    pub(super) fn new(interval: SignedDuration) -> Self {
        Pace { interval: unsigned(interval), ended: None, wake: None, changed: None, asked: None }
    }

    /// Goes by another interval.
    pub(super) fn set_interval(&mut self, interval: SignedDuration) {
        self.interval = unsigned(interval);
    }

    /// There may be something new in the cluster.
    pub(super) fn change(&mut self) {
        self.changed.get_or_insert_with(Instant::now);
    }

    /// A round is needed, whether or not there is.
    pub(super) fn ask(&mut self) {
        self.asked.get_or_insert_with(Instant::now);
    }

    /// There was nothing new: most of what happens in a cluster is a heartbeat.
    pub(super) fn nothing_new(&mut self) {
        self.changed = None;
    }

    /// Whether a round is due although nothing may be new.
    pub(super) fn is_due(&self) -> bool {
        self.needed() <= Instant::now()
    }

    /// A round has ended, at `now` by the clock of the plan; `wake_at` is when it wants another look.
    pub(super) fn round_ended(&mut self, now: Timestamp, wake_at: Option<Timestamp>) {
        let ended = Instant::now();
        self.ended = Some(ended);
        self.wake = wake_at.map(|at| ended + unsigned(at.duration_since(now)));
        self.changed = None;
        self.asked = None;
    }

    /// When the next round is, or the next look whether there is a need for one.
    pub(super) fn next(&self) -> Instant {
        let needed = self.needed();
        self.changed.map_or(needed, |changed| needed.min(self.rested(changed + GATHER)))
    }

    fn needed(&self) -> Instant {
        let Some(ended) = self.ended else { return Instant::now() };
        let due = self.wake.unwrap_or(ended + self.interval).min(ended + self.interval);
        self.rested(self.asked.map_or(due, |asked| due.min(asked + GATHER)))
    }

    fn rested(&self, due: Instant) -> Instant {
        self.ended.map_or(due, |ended| due.max(ended + REST))
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
    async fn a_heartbeat_is_looked_at_and_needs_no_round() {
        let mut pace = pace();
        let start = Instant::now();
        pace.round_ended(at(100), None);
        tokio::time::advance(Duration::from_secs(4)).await;
        pace.change();
        tokio::time::advance(GATHER).await;
        assert!(pace.next() <= Instant::now() && !pace.is_due());
        pace.nothing_new();
        assert_eq!(pace.next() - start, Duration::from_secs(10));
        pace.ask();
        tokio::time::advance(GATHER).await;
        assert!(pace.is_due(), "an action has ended");
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
