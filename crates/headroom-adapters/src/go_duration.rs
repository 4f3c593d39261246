//! Durations as Go writes them: `90s`, `1h10m`, `1.5h`, `-300ms`, and a lone `0`.

use jiff::SignedDuration;

const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration by the rules of Go's `time.ParseDuration`. None for what Go refuses, which includes what does not
/// fit in 64 bits of nanoseconds (292 years).
pub fn parse(text: &str) -> Option<SignedDuration> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    let mut nanos: i128 = 0;
    loop {
        let number_end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (number, tail) = rest.split_at_checked(number_end)?;
        let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(unit_end)?;
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        nanos = nanos.checked_add(part(number, *factor)?)?;
        if nanos > i128::from(i64::MAX) + i128::from(negative) {
            return None;
        }
        rest = tail;
        if rest.is_empty() {
            break;
        }
    }
    let nanos = if negative { -nanos } else { nanos };
    i64::try_from(nanos).ok().map(SignedDuration::from_nanos)
}

/// `1.5` units in nanoseconds, cut off below one.
fn part(number: &str, factor: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') || whole.len() > 19 {
        return None;
    }
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
    // Digits beyond the fifteenth are below a nanosecond even of an hour.
    let fraction = fraction.get(..fraction.len().min(15))?;
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    digits(whole)?.checked_mul(factor)?.checked_add(digits(fraction)?.checked_mul(factor)? / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_go_reads() {
        let table = [
            ("0", 0),
            ("-0", 0),
            ("+5s", 5_000_000_000),
            ("1h10m", 4_200_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("10m1h", 4_200_000_000_000),
            ("1m1m", 120_000_000_000),
            (".5s", 500_000_000),
            ("5.s", 5_000_000_000),
            ("-300ms", -300_000_000),
            ("1us1µs1μs", 3_000),
            ("0.0000000001s", 0),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
            ("21h21m21s", 76_881_000_000_000),
        ];
        for (text, nanos) in table {
            assert_eq!(parse(text), Some(SignedDuration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn refuses_what_go_refuses() {
        for text in
            ["", "10", "1d", "h", "1h ", " 1h", "1h-1m", ".s", "1.2.3s", "bla", "--1s", "9223372036854775808ns", "1H"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-+0-9.hmsnuµ]*|.*") {
            let _ = parse(&text);
        }
    }
}
