//! Numbers that change over the day.

use jiff::{SignedDuration, Timestamp};

const DAY: i64 = 24 * 3600;

/// A number over the day (UTC): the same every day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Seconds since midnight and the value from then on, in order of time.
    points: Vec<(i64, u32)>,
    /// Values move evenly from one point to the next, instead of at once.
    ramp: bool,
}

impl Schedule {
    /// Always `value`.
    pub fn constant(value: u32) -> Self {
        Schedule { points: vec![(0, value)], ramp: false }
    }

    /// Takes each value at its time (seconds since midnight), or moves there evenly when it is a `ramp`. A later value
    /// for the same time wins; without any the value is 0.
    pub fn daily(points: impl IntoIterator<Item = (u32, u32)>, ramp: bool) -> Self {
        let mut points: Vec<(i64, u32)> =
            points.into_iter().map(|(time, value)| (i64::from(time).min(DAY - 1), value)).collect();
        points.reverse();
        points.sort_by_key(|(time, _)| *time);
        points.dedup_by_key(|(time, _)| *time);
        if points.is_empty() {
            points.push((0, 0));
        }
        Schedule { points, ramp }
    }

    /// The largest value that it takes.
    pub fn peak(&self) -> u32 {
        self.points.iter().map(|(_, value)| *value).max().unwrap_or(0)
    }

    /// The value at an instant, as a fraction while it ramps.
    pub(crate) fn at(&self, now: Timestamp) -> (i128, i128) {
        let time = now.as_second().rem_euclid(DAY);
        let after = self.points.partition_point(|(start, _)| *start <= time);
        let last = self.points.last().map_or((0, 0), |(start, value)| (start - DAY, *value));
        let first = self.points.first().map_or((DAY, 0), |(start, value)| (start + DAY, *value));
        let (from, low) = after.checked_sub(1).and_then(|at| self.points.get(at).copied()).unwrap_or(last);
        let (to, high) = self.points.get(after).copied().unwrap_or(first);
        if !self.ramp {
            return (i128::from(low), 1);
        }
        let (whole, part) = (i128::from(to - from), i128::from(time - from));
        (i128::from(low) * (whole - part) + i128::from(high) * part, whole)
    }

    /// The value at an instant, rounded down.
    pub(crate) fn whole_at(&self, now: Timestamp) -> u32 {
        let (num, den) = self.at(now);
        u32::try_from(num / den.max(1)).unwrap_or(u32::MAX)
    }

    /// The next time (to the minute, while it ramps) at which the rounded value is another one, if there is one.
    pub(crate) fn next_change(&self, now: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let value = self.whole_at(now);
        let mut at = now;
        while at < end {
            at = if self.ramp { next_minute(at) } else { self.next_point(at) };
            if self.whole_at(at) != value {
                return Some(at);
            }
            let day_later = at.duration_since(now) > SignedDuration::from_secs(DAY);
            if day_later {
                return None;
            }
        }
        None
    }

    fn next_point(&self, now: Timestamp) -> Timestamp {
        let time = now.as_second().rem_euclid(DAY);
        let next = self.points.iter().map(|(start, _)| *start).find(|start| *start > time);
        let next = next.or(self.points.first().map(|(start, _)| start + DAY)).unwrap_or(time + DAY);
        now.saturating_add(SignedDuration::from_secs(next - time)).unwrap_or(Timestamp::MAX)
    }
}

fn next_minute(now: Timestamp) -> Timestamp {
    let seconds = 60 - now.as_second().rem_euclid(60);
    now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

/// An instant of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Once, so long after the start.
    After(SignedDuration),
    /// Every day, so many seconds after midnight (UTC).
    Daily(u32),
}

impl When {
    /// The first such instant that is not before `from`.
    pub(crate) fn next(self, start: Timestamp, from: Timestamp) -> Option<Timestamp> {
        match self {
            When::After(time) => start.saturating_add(time).ok().filter(|at| *at >= from),
            When::Daily(time) => {
                let wait = (i64::from(time) - from.as_second()).rem_euclid(DAY);
                from.saturating_add(SignedDuration::from_secs(wait)).ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u32 = 3600;

    fn at(text: &str) -> Timestamp {
        format!("2026-01-05T{text}Z").parse().unwrap()
    }

    #[test]
    fn holds_a_value_until_the_next_time() {
        let schedule = Schedule::daily([(8 * HOUR, 20), (18 * HOUR, 4)], false);
        assert_eq!(schedule.whole_at(at("07:59:59")), 4, "yesterday evening's value");
        assert_eq!(schedule.whole_at(at("08:00:00")), 20);
        assert_eq!(schedule.whole_at(at("23:00:00")), 4);
        let end = at("23:59:59");
        assert_eq!(schedule.next_change(at("00:00:00"), end), Some(at("08:00:00")));
        assert_eq!(schedule.next_change(at("08:00:00"), end), Some(at("18:00:00")));
        assert_eq!(schedule.peak(), 20);
    }

    #[test]
    fn ramps_evenly_and_over_midnight() {
        let schedule = Schedule::daily([(6 * HOUR, 0), (8 * HOUR, 60), (18 * HOUR, 60)], true);
        assert_eq!(schedule.at(at("07:00:00")), (60 * 3600, 7200));
        assert_eq!(schedule.whole_at(at("12:00:00")), 60);
        assert_eq!(schedule.whole_at(at("00:00:00")), 30, "half way from 18:00 to 06:00");
        assert_eq!(schedule.next_change(at("07:00:00"), at("23:59:59")), Some(at("07:02:00")));
    }

    #[test]
    fn a_constant_never_changes() {
        assert_eq!(Schedule::constant(3).next_change(at("00:00:00"), Timestamp::MAX), None);
        assert_eq!(Schedule::daily([], true).whole_at(at("00:00:00")), 0);
    }

    #[test]
    fn instants_once_and_daily() {
        let start = at("09:00:00");
        assert_eq!(When::After(SignedDuration::from_hours(1)).next(start, start), Some(at("10:00:00")));
        assert_eq!(When::After(SignedDuration::from_hours(1)).next(start, at("10:00:01")), None);
        assert_eq!(When::Daily(10 * HOUR).next(start, start), Some(at("10:00:00")));
        assert_eq!(When::Daily(8 * HOUR).next(start, start), Some("2026-01-06T08:00:00Z".parse().unwrap()));
    }
}
