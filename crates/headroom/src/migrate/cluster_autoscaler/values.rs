//! The values of flags: as given, or Cluster Autoscaler's defaults.

use std::collections::BTreeMap;

use headroom_adapters::go_duration;
use jiff::SignedDuration;

use super::flags::{self, Flag, Kind};
use crate::config::duration::{LONGEST, show};
use crate::config::problem::{Problem, Problems};
use crate::config::tree::{Place, shorten};
use crate::migrate::command_line::Given;

/// What a command line says.
#[derive(Default)]
pub(super) struct Values {
    given: BTreeMap<&'static str, Vec<Given>>,
    /// In the order of the command line.
    pub(super) all: Vec<Given>,
}

/// A value in Headroom's words, and what had to be changed about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Worded {
    pub(super) value: String,
    pub(super) changed: Option<&'static str>,
}

impl Worded {
    fn same(value: impl ToString) -> Self {
        Worded { value: value.to_string(), changed: None }
    }

    fn changed(value: impl ToString, changed: &'static str) -> Self {
        Worded { value: value.to_string(), changed: Some(changed) }
    }
}

impl Values {
    /// Takes the flags, and reports values of the wrong type.
    pub(super) fn new(all: Vec<Given>, problems: &mut Problems) -> Self {
        let mut given: BTreeMap<&'static str, Vec<Given>> = BTreeMap::new();
        for one in &all {
            if one.value.contains(char::is_control) {
                let message = format!("`--{}` has line breaks or other control characters", one.flag);
                problems.add(Problem::at(one.place.clone(), message, "write it in one line"));
            }
            if let Some((expected, hint)) = flags::find(one.flag).and_then(|flag| mistaken(flag.kind, &one.value)) {
                let message = format!("`--{}` must be {expected}, not `{}`", one.flag, shorten(&one.value));
                problems.add(Problem::at(one.place.clone(), message, hint));
            }
            given.entry(one.flag).or_default().push(one.clone());
        }
        Values { given, all }
    }

    /// Whether the flag was given.
    pub(super) fn has(&self, flag: &str) -> bool {
        self.given.contains_key(flag)
    }

    /// Everything that was given for a flag that can be given several times.
    pub(super) fn each(&self, flag: &str) -> &[Given] {
        self.given.get(flag).map_or(&[], Vec::as_slice)
    }

    /// The value that counts: the last one.
    pub(super) fn text(&self, flag: &str) -> &str {
        match self.each(flag).last() {
            Some(given) => &given.value,
            None => flags::find(flag).map_or("", |flag| flag.default),
        }
    }

    /// Where the value that counts stands; the start of the text if it is the default.
    pub(super) fn place(&self, flag: &str) -> Place {
        self.each(flag).last().map(|given| given.place.clone()).unwrap_or_default()
    }

    /// A boolean.
    pub(super) fn on(&self, flag: &str) -> bool {
        boolean(self.text(flag)).unwrap_or_default()
    }

    /// A whole number.
    pub(super) fn integer(&self, flag: &str) -> i64 {
        integer(self.text(flag)).unwrap_or_default()
    }

    /// A duration.
    pub(super) fn duration(&self, flag: &str) -> SignedDuration {
        go_duration::parse(self.text(flag)).unwrap_or_default()
    }

    /// The value that counts, in Headroom's words.
    pub(super) fn worded(&self, flag: &Flag) -> Worded {
        let text = self.text(flag.name);
        match flag.kind {
            Kind::Flag => Worded::same(self.on(flag.name)),
            Kind::Integer { least } => at_least(self.integer(flag.name), least),
            Kind::Seconds { least } => seconds(SignedDuration::from_secs(self.integer(flag.name)), least),
            Kind::Duration { least } => seconds(self.duration(flag.name), least),
            Kind::Share => percent(text.parse().unwrap_or(0.0) * 100.0),
            Kind::Percent => percent(text.parse().unwrap_or(0.0)),
            Kind::Text | Kind::Texts => Worded::same(text),
        }
    }
}

/// What a value should have been, if it is something else, and what to do.
fn mistaken(kind: Kind, text: &str) -> Option<(&'static str, &'static str)> {
    let number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    let (right, expected, hint) = match kind {
        Kind::Flag => (boolean(text).is_some(), "true or false", "write true or false after the `=`"),
        Kind::Integer { .. } | Kind::Seconds { .. } => {
            (integer(text).is_some(), "a whole number", "write digits after the `=`")
        }
        Kind::Share => (number(text), "a share of 1", "write a number such as 0.5"),
        Kind::Percent => (number(text), "a percentage", "write a number such as 45"),
        Kind::Duration { .. } => {
            (go_duration::parse(text).is_some(), "a duration", "write a duration such as 90s, 10m or 1h30m")
        }
        Kind::Text | Kind::Texts => (true, "", ""),
    };
    (!right).then_some((expected, hint))
}

/// What Go's `strconv.ParseBool` reads.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// A whole number, also in the other bases of Go's `strconv.ParseInt` with base 0.
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match lower.get(..2) {
        Some("0x") => (16, lower.get(2..)?),
        Some("0o") => (8, lower.get(2..)?),
        Some("0b") => (2, lower.get(2..)?),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, lower.get(1..)?),
        _ => (10, &*lower),
    };
    let starts_well = digits.starts_with(|c: char| c.is_ascii_alphanumeric());
    let number = i64::from_str_radix(digits, base).ok().filter(|_| starts_well)?;
    Some(if negative { -number } else { number })
}

fn at_least(number: i64, least: i64) -> Worded {
    // Only priorities may be below zero.
    let most = if least < 0 { i64::from(i32::MAX) } else { i64::from(u32::MAX) };
    match number {
        number if number < least => Worded::changed(least, "raised to what Headroom takes at least"),
        number if number > most => Worded::changed(most, "cut to what Headroom takes at most"),
        number => Worded::same(number),
    }
}

/// A duration as Headroom writes it.
pub(super) fn seconds(duration: SignedDuration, least: i64) -> Worded {
    if duration > LONGEST {
        return Worded::changed(show(LONGEST), "cut to a hundred years");
    }
    let up = i64::from(duration.subsec_nanos() > 0);
    match duration.as_secs().saturating_add(up) {
        whole if whole < least => {
            Worded::changed(show(SignedDuration::from_secs(least)), "raised to what Headroom takes at least")
        }
        whole if up > 0 => Worded::changed(show(SignedDuration::from_secs(whole)), "rounded up to whole seconds"),
        whole => Worded::same(show(SignedDuration::from_secs(whole))),
    }
}

/// A percentage as Headroom writes it: of at most two decimals, and none between 0 and 1.
fn percent(percent: f64) -> Worded {
    let hundredths = (percent * 100.0).round();
    let text = |hundredths: f64| format!("{}", hundredths / 100.0);
    match hundredths {
        below if below < 0.0 => Worded::changed(0, "raised to nothing"),
        // Zero can have a sign.
        0.0 => Worded::same(0),
        above if above > 10_000.0 => Worded::changed(100, "cut to all"),
        tiny if tiny > 0.0 && tiny < 100.0 => Worded::changed(1, "raised to one percent"),
        exact if (exact - percent * 100.0).abs() < 1e-6 => Worded::same(text(exact)),
        rounded => Worded::changed(text(rounded), "rounded to hundredths of a percent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_as_go_reads_them() {
        let table = [
            ("7", Some(7)),
            ("-7", Some(-7)),
            ("+7", Some(7)),
            ("0", Some(0)),
            ("010", Some(8)),
            ("0x1F", Some(31)),
            ("0b11", Some(3)),
            ("", None),
            ("1.5", None),
            ("--7", None),
            ("0x-1", None),
            ("é", None),
            ("99999999999999999999", None),
        ];
        for (text, number) in table {
            assert_eq!(integer(text), number, "{text}");
        }
    }

    #[test]
    fn what_headroom_would_refuse_is_changed_and_said() {
        let table = [
            (percent(50.0), "50", false),
            (percent(62.5), "62.5", false),
            (percent(100.0 / 3.0), "33.33", true),
            (percent(0.3), "1", true),
            (percent(0.0), "0", false),
            (percent(-1.0), "0", true),
            (percent(-0.0), "0", false),
            (percent(150.0), "100", true),
            (seconds(SignedDuration::from_millis(1_500), 0), "2s", true),
            (seconds(SignedDuration::from_millis(-1_500), 1), "1s", true),
            (seconds(SignedDuration::ZERO, 0), "0s", false),
            (seconds(SignedDuration::MAX, 0), "876000h", true),
            (at_least(i64::MIN, 0), "0", true),
            (at_least(i64::MAX, 0), "4294967295", true),
        ];
        for (worded, value, changed) in table {
            assert_eq!((&*worded.value, worded.changed.is_some()), (value, changed));
        }
    }
}
