//! Times of a scenario: instants, spans, and numbers that change over the day.

use headroom_sim::scenario::{Schedule, Span, When};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::config::duration::{parse, show};
use crate::config::kind::{Kind, count, unexpected, written};
use crate::config::problem::{Problem, Problems};
use crate::config::shape::Shape;
use crate::config::tree::{Content, Node};

/// An instant such as `2026-01-05T00:00:00Z`.
pub(super) fn instant() -> Kind<Timestamp> {
    let parse = |text: &str| text.parse().map_err(|_| "write date, time and zone".to_owned());
    written("an instant such as 2026-01-05T00:00:00Z", r"^\d{4}-\d\d-\d\dT", parse, Timestamp::to_string)
}

/// One duration, or the range from which one is drawn: `60s`, `60s..3m`.
pub(super) fn span() -> Kind<Span> {
    let one = |text: &str| parse(text).map_err(|error| format!("{}; {}", error.problem, error.hint));
    let parse = move |text: &str| match text.split_once("..") {
        None => one(text).map(Span::exactly),
        Some((min, max)) => {
            let span = Span { min: one(min)?, max: one(max)? };
            if span.min > span.max { Err("write the shorter one first".to_owned()) } else { Ok(span) }
        }
    };
    let show = |span: &Span| match span.min == span.max {
        true => show(span.min),
        false => format!("{}..{}", show(span.min), show(span.max)),
    };
    written("a duration such as 90s, or a range of them such as 60s..3m", r"^\d+[hms0-9.]*$", parse, show)
}

/// A time of every day, or a time after the start: `13:30`, `2h`.
pub(super) fn when() -> Kind<When> {
    let hint = "write a time of every day such as 13:30 (UTC), or a time after the start such as 2h30m";
    let parse = move |text: &str| match clock(text) {
        Some(time) => Ok(When::Daily(time)),
        None => parse(text).map(When::After).map_err(|_| hint.to_owned()),
    };
    let show = |when: &When| match when {
        When::Daily(time) => format!("{:02}:{:02}", time / 3600, time / 60 % 60),
        When::After(time) => show(*time),
    };
    written("a time of day such as 13:30, or a time after the start such as 2h30m", r"^\d+[:hms0-9]*$", parse, show)
}

/// A number, or numbers by the time of day from which they hold: `5`, `{ 08:00: 20, 18:00: 5 }`. `ramped` makes it move
/// evenly in between.
pub(super) fn schedule() -> Kind<Points> {
    let (number, value) = (count(0), count(0));
    let shape = Shape::Written {
        expected: "a whole number, or a map of times of day to whole numbers such as { 08:00: 20, 18:00: 5 }",
        pattern: ".",
    };
    let expected = shape.expected();
    let read = move |node: &Node, problems: &mut Problems| match &node.content {
        Content::Scalar(_) if !node.is_null() => (number.read)(node, problems).map(|value| Points(vec![(0, value)])),
        Content::Map(entries) if !entries.is_empty() => {
            let mut points = Vec::new();
            for (key, entry) in entries {
                match clock(key) {
                    Some(time) => points.extend((value.read)(&entry.value, problems).map(|value| (time, value))),
                    None => {
                        let message = format!("`{key}` is no time of day");
                        problems.add(Problem::at(entry.key_place.clone(), message, "write hours and minutes: 08:00"));
                    }
                }
            }
            Some(Points(points))
        }
        _ => unexpected(&expected, node, "write one number, or `time: number` on each line", problems),
    };
    let show = |points: &Points| match points.0.as_slice() {
        [(0, only)] => Some(json!(only)),
        _ => None,
    };
    Kind { shape, read: Box::new(read), show: Box::new(show) }
}

/// Seconds after midnight and the number from then on.
#[derive(Clone, Debug, Default)]
pub(super) struct Points(Vec<(u32, u32)>);

impl Points {
    /// The schedule, with even moves between its numbers or with steps.
    pub(super) fn schedule(&self, ramp: bool) -> Schedule {
        Schedule::daily(self.0.iter().copied(), ramp)
    }
}

/// `13:30` in seconds after midnight.
fn clock(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |digits: &str, below: u32| {
        let two_digits = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<u32>().ok().filter(|number| two_digits && *number < below)
    };
    Some(number(hours, 24)? * 3600 + number(minutes, 60)? * 60)
}

/// At least one second, which is as fine as scenarios are.
pub(super) const SECOND: SignedDuration = SignedDuration::from_secs(1);
