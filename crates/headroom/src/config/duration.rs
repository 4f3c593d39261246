//! Durations as the configuration writes them: `90s`, `10m`, `1h30m`.

use jiff::SignedDuration;

/// A hundred years. Nothing that waits longer is meant, and sums of a few stay far from any limit of time.
pub(crate) const LONGEST: SignedDuration = SignedDuration::from_hours(876_000);

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DurationError {
    pub(crate) problem: &'static str,
    pub(crate) hint: &'static str,
}

/// Reads whole numbers of hours, minutes and seconds, in that order and each at most once.
pub(crate) fn parse(text: &str) -> Result<SignedDuration, DurationError> {
    let error = |problem, hint| DurationError { problem, hint };
    let mut seconds: i64 = 0;
    let mut rest = text;
    let mut units = [('h', 3_600), ('m', 60), ('s', 1)].into_iter();
    if text.is_empty() {
        return Err(error("this duration is empty", "write 90s, 10m or 1h30m"));
    }
    while !rest.is_empty() {
        let unit_at = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, tail) = rest.split_at_checked(unit_at).unwrap_or((rest, ""));
        let Some(unit) = tail.chars().next() else {
            return Err(error("this duration has no unit", "write s, m or h after the number"));
        };
        if unit == 'd' {
            return Err(error("days are no unit here", "write hours: two days are 48h"));
        }
        if digits.is_empty() || !matches!(unit, 'h' | 'm' | 's') || tail.starts_with("ms") {
            return Err(error("this is no duration", "write whole hours, minutes and seconds: 90s, 10m or 1h30m"));
        }
        let Some((_, factor)) = units.find(|(known, _)| *known == unit) else {
            return Err(error(
                "the units of this duration are out of order",
                "write hours, then minutes, then seconds",
            ));
        };
        let part = digits.parse::<i64>().ok().and_then(|number| number.checked_mul(factor));
        let too_long = || error("this duration is longer than a hundred years", "write a shorter one");
        seconds = part.and_then(|part| seconds.checked_add(part)).ok_or_else(too_long)?;
        if SignedDuration::from_secs(seconds) > LONGEST {
            return Err(too_long());
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    Ok(SignedDuration::from_secs(seconds))
}

/// The duration as [`parse`] reads it. What is below a second is dropped.
pub(crate) fn show(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    let parts = [(seconds / 3_600, 'h'), (seconds / 60 % 60, 'm'), (seconds % 60, 's')];
    let text: String = parts.iter().filter(|(n, _)| *n != 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if text.is_empty() { "0s".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_hours_minutes_and_seconds() {
        for (text, seconds) in [("0s", 0), ("90s", 90), ("10m", 600), ("1h30m", 5_400), ("1h1m1s", 3_661), ("007s", 7)]
        {
            assert_eq!(parse(text), Ok(SignedDuration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let table = [
            ("", "this duration is empty"),
            ("10", "this duration has no unit"),
            ("2d", "days are no unit here"),
            ("1h10", "this duration has no unit"),
            ("m", "this is no duration"),
            ("-1m", "this is no duration"),
            ("1.5h", "this is no duration"),
            ("10 m", "this is no duration"),
            ("10min", "this is no duration"),
            ("500ms", "this is no duration"),
            ("1m1h", "the units of this duration are out of order"),
            ("1m1m", "the units of this duration are out of order"),
            ("876001h", "this duration is longer than a hundred years"),
            ("99999999999999999999h", "this duration is longer than a hundred years"),
        ];
        for (text, problem) in table {
            assert_eq!(parse(text).map_err(|error| error.problem), Err(problem), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = parse(&text);
        }

        #[test]
        fn what_is_shown_is_read_back(seconds in 0_i64..=876_000 * 3_600) {
            let duration = SignedDuration::from_secs(seconds);
            prop_assert_eq!(parse(&show(duration)), Ok(duration));
        }
    }
}
