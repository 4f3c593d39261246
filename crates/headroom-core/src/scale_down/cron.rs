//! Times that come again and again, written as in cron.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Span, Timestamp};

use crate::policy::Window;

/// Windows are looked for so many days back and ahead: every schedule that ever comes has come by then, the 29th of
/// February included.
const DAYS: i32 = 366 * 8;

/// Whether a window is open, and when that changes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) open: bool,
    pub(crate) changes: Option<Timestamp>,
}

impl Window {
    /// Whether the window is open at `now`, or what is wrong with how it is written. Time zones are those of the database
    /// that is built in, so that the answer is the same everywhere.
    pub(crate) fn at(&self, now: Timestamp) -> Result<Opening, String> {
        let schedule = Schedule::parse(&self.schedule)?;
        let zone = if self.time_zone.is_empty() {
            TimeZone::UTC
        } else {
            let unknown = |_| format!("there is no time zone {}", self.time_zone);
            TimeZoneDatabase::bundled().get(&self.time_zone).map_err(unknown)?
        };
        let begun = schedule.last_start(now, &zone);
        let ends = begun.and_then(|begun| begun.saturating_add(self.lasts).ok()).filter(|ends| now < *ends);
        let next = schedule.next_start(now, &zone);
        Ok(Opening { open: ends.is_some(), changes: ends.or(next) })
    }

    /// What is wrong with how it is written, if something is.
    pub fn problem(&self) -> Option<String> {
        if self.lasts <= SignedDuration::ZERO {
            return Some("it lasts no time".to_owned());
        }
        match self.at(Timestamp::UNIX_EPOCH) {
            Ok(Opening { open: false, changes: None }) => Some("it never comes".to_owned()),
            Ok(_) => None,
            Err(problem) => Some(problem),
        }
    }
}

/// Five fields of a crontab line: the values of each that match.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Schedule {
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
}

/// Values from 0 to 59, as bits, and whether the field begins with a star.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    values: u64,
    any: bool,
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Names of schedules that are asked for often.
const NAMED: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl Schedule {
    fn parse(text: &str) -> Result<Self, String> {
        let named = NAMED.iter().find(|(name, _)| *name == text.trim()).map(|(_, fields)| *fields);
        let fields: Vec<&str> = named.unwrap_or(text).split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = *fields else {
            return Err(format!("schedule {text:?} has not 5 fields but {}", fields.len()));
        };
        let mut weekdays = Field::parse(weekdays, 0, 7, &WEEKDAYS, 0)?;
        // 7 is Sunday too.
        if weekdays.has(7) {
            weekdays.values = (weekdays.values | 1) & 0x7f;
        }
        Ok(Schedule {
            minutes: Field::parse(minutes, 0, 59, &[], 0)?,
            hours: Field::parse(hours, 0, 23, &[], 0)?,
            days: Field::parse(days, 1, 31, &[], 0)?,
            months: Field::parse(months, 1, 12, &MONTHS, 1)?,
            weekdays,
        })
    }

    /// Whether it comes on a day. Where both the day of the month and the weekday are limited, either will do.
    fn comes_on(&self, date: Date) -> bool {
        let day = self.days.has(date.day().unsigned_abs());
        let weekday = self.weekdays.has(date.weekday().to_sunday_zero_offset().unsigned_abs());
        let either = if self.days.any || self.weekdays.any { day && weekday } else { day || weekday };
        self.months.has(date.month().unsigned_abs()) && either
    }

    /// The last start at or before `now`.
    fn last_start(&self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let today = now.to_zoned(zone.clone()).date();
        let days = (0..=DAYS).filter_map(|back| today.checked_sub(Span::new().days(back)).ok());
        let mut days = days.filter(|date| self.comes_on(*date));
        days.find_map(|date| self.starts(date, zone).into_iter().rev().find(|start| *start <= now))
    }

    /// The first start after `now`.
    fn next_start(&self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let today = now.to_zoned(zone.clone()).date();
        let days = (0..=DAYS).filter_map(|ahead| today.checked_add(Span::new().days(ahead)).ok());
        let mut days = days.filter(|date| self.comes_on(*date));
        days.find_map(|date| self.starts(date, zone).into_iter().find(|start| *start > now))
    }

    /// Every start on a day. A time that the clock skips comes as much later as it skips.
    fn starts(&self, date: Date, zone: &TimeZone) -> Vec<Timestamp> {
        let hours = (0..24).filter(|hour| self.hours.has(*hour));
        let times =
            hours.flat_map(|hour| (0..60).filter(|minute| self.minutes.has(*minute)).map(move |minute| (hour, minute)));
        let instant = |(hour, minute): (u8, u8)| {
            let time = Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()?;
            zone.to_timestamp(DateTime::from_parts(date, time)).ok()
        };
        let mut starts: Vec<Timestamp> = times.filter_map(instant).collect();
        starts.sort_unstable();
        starts
    }
}

impl Field {
    /// A list of `*`, `3`, `1-5` and `jan`, each perhaps with a step: `*/15`, `10-50/20`. Names count from `base`.
    fn parse(text: &str, least: u8, most: u8, names: &[&str], base: u8) -> Result<Self, String> {
        let wrong = |what: &str| format!("{what:?} is no value from {least} to {most}");
        let value = |text: &str| -> Result<u8, String> {
            let name = names.iter().position(|name| text.eq_ignore_ascii_case(name));
            let named = name.and_then(|at| u8::try_from(at).ok()).map(|at| at + base);
            let number = named.or_else(|| text.parse().ok()).filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| wrong(text))
        };
        let mut field = Field { values: 0, any: text.starts_with('*') };
        for part in text.split(',') {
            let (range, step) = match part.split_once('/') {
                Some((range, step)) => {
                    (range, step.parse::<u8>().ok().filter(|step| *step > 0).ok_or_else(|| wrong(part))?)
                }
                None => (part, 1),
            };
            let (from, to) = match range.split_once('-') {
                _ if range == "*" => (least, most),
                Some((from, to)) => (value(from)?, value(to)?),
                None if part.contains('/') => (value(range)?, most),
                None => (value(range)?, value(range)?),
            };
            if from > to {
                return Err(wrong(part));
            }
            (from..=to).step_by(step.into()).for_each(|value| field.values |= 1 << value);
        }
        Ok(field)
    }

    fn has(self, value: u8) -> bool {
        value < 64 && self.values & (1 << value) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(schedule: &str, lasts_hours: i64, zone: &str, now: &str) -> String {
        let lasts = SignedDuration::from_hours(lasts_hours);
        let window = Window { schedule: schedule.into(), lasts, time_zone: zone.into() };
        match window.at(now.parse().unwrap()) {
            Ok(Opening { open, changes }) => {
                let changes = changes.map_or("never".to_owned(), |at| at.to_string());
                format!("{} until {changes}", if open { "open" } else { "shut" })
            }
            Err(problem) => problem,
        }
    }

    #[test]
    fn windows_open_and_shut() {
        let table = [
            ("0 9 * * mon-fri", 8, "", "2026-01-02T09:00:00Z", "open until 2026-01-02T17:00:00Z"),
            ("0 9 * * mon-fri", 8, "", "2026-01-02T17:00:00Z", "shut until 2026-01-05T09:00:00Z"),
            ("0 9 * * 1-5", 8, "Europe/Zurich", "2026-07-01T06:59:59Z", "shut until 2026-07-01T07:00:00Z"),
            ("0 9 * * 1-5", 8, "Europe/Zurich", "2026-01-02T08:00:00Z", "open until 2026-01-02T16:00:00Z"),
            // It began yesterday.
            ("0 22 * * *", 8, "", "2026-01-02T05:00:00Z", "open until 2026-01-02T06:00:00Z"),
            ("*/15 10-12 * * *", 0, "", "2026-01-02T10:20:00Z", "shut until 2026-01-02T10:30:00Z"),
            // Either of two limits on days will do.
            ("0 0 13 * fri", 24, "", "2026-02-13T12:00:00Z", "open until 2026-02-14T00:00:00Z"),
            ("0 0 13 * fri", 24, "", "2026-02-14T12:00:00Z", "shut until 2026-02-20T00:00:00Z"),
            ("0 0 * * 7", 24, "", "2026-01-04T12:00:00Z", "open until 2026-01-05T00:00:00Z"),
            ("0 0 29 feb *", 24, "", "2026-03-01T00:00:00Z", "shut until 2028-02-29T00:00:00Z"),
            // The clock skips half past two and comes by it an hour later.
            ("30 2 * * *", 1, "Europe/Zurich", "2026-03-29T01:30:00Z", "open until 2026-03-29T02:30:00Z"),
            // It passes half past two twice and comes by it once, the first time.
            ("30 2 * * *", 1, "Europe/Zurich", "2026-10-25T00:30:00Z", "open until 2026-10-25T01:30:00Z"),
            ("30 2 * * *", 1, "Europe/Zurich", "2026-10-25T01:30:00Z", "shut until 2026-10-26T01:30:00Z"),
            // Hours that it is open for are hours, however the clock goes.
            ("0 0 * * *", 24, "Europe/Zurich", "2026-10-25T22:30:00Z", "shut until 2026-10-25T23:00:00Z"),
            ("@weekly", 1, "", "2026-01-04T00:30:00Z", "open until 2026-01-04T01:00:00Z"),
            ("0 0 31 2 *", 1, "", "2026-01-04T00:30:00Z", "shut until never"),
            ("0 0 * *", 1, "", "2026-01-04T00:30:00Z", "schedule \"0 0 * *\" has not 5 fields but 4"),
            ("60 * * * *", 1, "", "2026-01-04T00:30:00Z", "\"60\" is no value from 0 to 59"),
            ("* * * * mon-sun", 1, "", "2026-01-04T00:30:00Z", "\"mon-sun\" is no value from 0 to 7"),
            ("*/0 * * * *", 1, "", "2026-01-04T00:30:00Z", "\"*/0\" is no value from 0 to 59"),
            ("* * * * *", 1, "Mars/Base", "2026-01-04T00:30:00Z", "there is no time zone Mars/Base"),
        ];
        for (schedule, lasts, zone, now, expected) in table {
            assert_eq!(at(schedule, lasts, zone, now), expected, "{schedule} {zone} at {now}");
        }
    }
}
