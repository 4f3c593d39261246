//! Kubernetes quantities, read exactly.
//!
//! The grammar is the one documented for `resource.Quantity` in `k8s.io/apimachinery`:
//! `<sign>?<digits>[.<digits>]<suffix>?`. Three differences from what its parser does are on purpose:
//!
//! - It keeps nine decimals and rounds anything finer away from zero. Here a text counts for exactly what it says, until
//!   the caller's rounding.
//! - It caps values with a binary suffix at 2^63 - 1 without a word. Here every value is capped at [`MAX`], and the
//!   result says so.
//! - It takes a missing number (`.`, `-`, `Gi`) for zero, which its grammar does not allow. Here that is an error.

/// The largest magnitude a parsed quantity has: 2^60, that is 1Ei bytes or 1.15e15 cores.
///
/// No real cluster comes near it, and as many values as fit in memory can be added up in `i128` without overflow.
pub const MAX: i64 = 1 << 60;

/// Which neighbour a value between two whole results becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Round {
    /// Towards positive infinity: for what is asked for, so that it is never understated.
    Up,
    /// Towards negative infinity: for what is offered, so that it is never overstated.
    Down,
}

/// A quantity that was read, in the unit of the function that read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parsed {
    /// The value, within `-MAX..=MAX`.
    pub value: i64,
    /// Whether the text said more than [`MAX`] (or less than `-MAX`) and `value` is that bound instead.
    pub saturated: bool,
}

/// Why a text is no quantity: the text (at most 40 characters of it), what is wrong, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
// `text` is printed escaped: it comes from outside, and invisible characters are often the very mistake.
#[error("cannot read {text:?}: {problem}; hint: {hint}")]
pub struct QuantityError {
    text: String,
    problem: &'static str,
    hint: &'static str,
}

impl QuantityError {
    pub(super) fn new(text: &str, problem: &'static str, hint: &'static str) -> Self {
        let mut shown: String = text.chars().take(40).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        Self { text: shown, problem, hint }
    }
}

/// How many thousandths of the unit `text` says: `"1.5"` is 1500. For cpu, where the result is millicores.
///
/// Accepts every form of a Kubernetes `resource.Quantity`, and nothing else.
pub fn parse_milli(text: &str, round: Round) -> Result<Parsed, QuantityError> {
    parse(text, round, 3)
}

/// How many whole units `text` says: `"1Ki"` is 1024. For bytes and counts.
///
/// Accepts every form of a Kubernetes `resource.Quantity`, and nothing else.
pub fn parse_units(text: &str, round: Round) -> Result<Parsed, QuantityError> {
    parse(text, round, 0)
}

/// Reads `text` in units of 10^-`decimals`.
fn parse(text: &str, round: Round, decimals: i64) -> Result<Parsed, QuantityError> {
    let error = |problem| QuantityError::new(text, problem, "write 500m, 2, 1.5Gi or 1e3");
    let number = Number::split(text).map_err(error)?;
    let (tens, twos) = scale(number.suffix).map_err(error)?;
    let (floor, inexact) = number.scaled(tens.saturating_add(decimals), twos);

    // `floor` is of the magnitude: rounding a negative value down, or a positive one up, moves away from zero.
    let away = inexact && number.negative == (round == Round::Down);
    let (magnitude, saturated) = match i64::try_from(floor.saturating_add(u64::from(away))) {
        Ok(magnitude) if magnitude <= MAX => (magnitude, false),
        _ => (MAX, true),
    };
    let value = if number.negative { -magnitude } else { magnitude };
    Ok(Parsed { value, saturated })
}

/// What a suffix multiplies by, as a power of ten and a power of two (at most 2^60).
fn scale(suffix: &str) -> Result<(i64, u32), &'static str> {
    Ok(match suffix {
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "" => (0, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        "Ti" => (0, 40),
        "Pi" => (0, 50),
        "Ei" => (0, 60),
        _ => match suffix.strip_prefix(['e', 'E']) {
            Some(exponent) => (integer(exponent).ok_or("the exponent is not an integer")?, 0),
            None => return Err("unknown suffix after the number"),
        },
    })
}

/// A signed integer of any length; one too large for `i64` becomes the nearest bound.
fn integer(text: &str) -> Option<i64> {
    let (negative, unsigned) = split_sign(text);
    let (digits, rest) = split_digits(unsigned);
    if digits.is_empty() || !rest.is_empty() {
        return None;
    }
    let size =
        digits.bytes().map(digit).fold(0_i64, |size, digit| size.saturating_mul(10).saturating_add_unsigned(digit));
    Some(if negative { -size } else { size })
}

/// A decimal number as it is written, and whatever follows it.
pub(super) struct Number<'a> {
    pub(super) negative: bool,
    whole: &'a str,
    fraction: &'a str,
    pub(super) suffix: &'a str,
}

impl<'a> Number<'a> {
    /// Takes `text` apart. Digits may be missing on one side of the point, not on both.
    pub(super) fn split(text: &'a str) -> Result<Self, &'static str> {
        let (negative, unsigned) = split_sign(text);
        let (whole, rest) = split_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        if text.is_empty() {
            Err("it is empty")
        } else if whole.is_empty() && fraction.is_empty() {
            Err("it does not start with a number")
        } else {
            Ok(Self { negative, whole, fraction, suffix })
        }
    }

    /// The magnitude times 10^`tens` times 2^`twos`, without its fraction, and whether there was a fraction.
    /// Saturates at `u64::MAX`. `twos` is at most 60.
    ///
    /// The power of ten only moves the decimal point. The digits before it are summed up as usual. Those behind it are
    /// multiplied by the power of two like on paper, from the last to the first: each step leaves one decimal behind
    /// and carries the rest, and the carry out of the first decimal is what reaches the whole part. That is exact for
    /// any number of digits, and 64 bits are enough.
    pub(super) fn scaled(&self, tens: i64, twos: u32) -> (u64, bool) {
        // Casts: no `str` is longer than `i64::MAX` bytes, and `before` lies between zero and such a length.
        let length = (self.whole.len() + self.fraction.len()) as i64;
        let point = (self.whole.len() as i64).saturating_add(tens);
        let before = point.clamp(0, length);
        let digits = self.whole.bytes().chain(self.fraction.bytes()).map(digit);
        // Where the point falls outside the digits, zeros fill the gap. As 10^20 exceeds `u64::MAX`, more than twenty
        // change nothing, whatever the exponent.
        let zeros = |gap: i64| (0..gap.clamp(0, 20)).map(|_| 0);

        let whole = digits
            .clone()
            .take(before as usize)
            .chain(zeros(point.saturating_sub(length)))
            .fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add(digit));

        let mut inexact = false;
        let carried = digits.rev().take((length - before) as usize).chain(zeros(point.saturating_neg())).fold(
            0_u64,
            |carry, digit| {
                // The carry stays below 2^twos, so this sum stays below 10 * 2^60 < 2^64.
                let sum = (digit << twos) + carry;
                inexact |= !sum.is_multiple_of(10);
                sum / 10
            },
        );

        (whole.saturating_mul(1 << twos).saturating_add(carried), inexact)
    }
}

/// Whether `text` starts with a minus sign, and `text` without its sign.
fn split_sign(text: &str) -> (bool, &str) {
    (text.starts_with('-'), text.strip_prefix(['+', '-']).unwrap_or(text))
}

/// The digits `text` starts with, and the rest.
fn split_digits(text: &str) -> (&str, &str) {
    // The end is a position `find` reports, hence a character boundary.
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The value of an ASCII digit: its low four bits.
fn digit(ascii: u8) -> u64 {
    u64::from(ascii & 0x0f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Round::{Down, Up};
    use proptest::prelude::*;

    const fn exactly(value: i64) -> Result<Parsed, QuantityError> {
        Ok(Parsed { value, saturated: false })
    }

    const fn capped(value: i64) -> Result<Parsed, QuantityError> {
        Ok(Parsed { value, saturated: true })
    }

    fn milli(text: &str, round: Round) -> i64 {
        parse_milli(text, round).unwrap().value
    }

    fn units(text: &str, round: Round) -> i64 {
        parse_units(text, round).unwrap().value
    }

    #[test]
    fn exact_forms() {
        // Text, whole units.
        let table = [
            ("0", 0),
            ("-0", 0),
            ("+0.000", 0),
            ("0E", 0),
            ("007", 7),
            ("-1", -1),
            ("+2", 2),
            ("5.", 5),
            ("5.k", 5_000),
            (".5k", 500),
            ("-.5k", -500),
            ("1000000000n", 1),
            ("1000000u", 1),
            ("1000m", 1),
            ("1k", 1_000),
            ("1M", 1_000_000),
            ("1G", 1_000_000_000),
            ("1T", 1_000_000_000_000),
            ("1P", 1_000_000_000_000_000),
            ("1E", 1_000_000_000_000_000_000),
            ("1Ki", 1 << 10),
            ("1Mi", 1 << 20),
            ("1Gi", 1 << 30),
            ("1Ti", 1 << 40),
            ("1Pi", 1 << 50),
            ("1Ei", 1 << 60),
            ("-1Ei", -(1 << 60)),
            ("12.5Gi", 25 << 29),
            ("0.5Ei", 1 << 59),
            ("1e3", 1_000),
            ("1E3", 1_000),
            ("1e+3", 1_000),
            ("1e0", 1),
            ("100E-2", 1),
            ("1500e-2", 15),
            ("1.5e1", 15),
            (".00015e5", 15),
            ("1e00000000000000000000000000000003", 1_000),
            ("1000000000000000000000000000000e-30", 1),
            ("0.000000000000000000000000000001e30", 1),
            ("0e99999999999999999999999999", 0),
            ("0e-99999999999999999999999999", 0),
            // 2^-60, written out: all sixty decimals matter.
            ("0.000000000000000000867361737988403547205962240695953369140625Ei", 1),
        ];
        for (text, expected) in table {
            for round in [Up, Down] {
                assert_eq!(parse_units(text, round), exactly(expected), "{text:?}");
            }
        }
    }

    #[test]
    fn milli_forms() {
        // Text, thousandths rounded up, thousandths rounded down.
        let table = [
            ("1", 1_000, 1_000),
            ("500m", 500, 500),
            ("-500m", -500, -500),
            (".5", 500, 500),
            ("1.2345", 1_235, 1_234),
            ("0.1m", 1, 0),
            ("-0.1m", 0, -1),
            ("1n", 1, 0),
            ("1u", 1, 0),
            ("1000u", 1, 1),
            ("1e3", 1_000_000, 1_000_000),
            ("1E-3", 1, 1),
            ("1E-4", 1, 0),
            ("1Ki", 1_024_000, 1_024_000),
            ("0.001Ki", 1_024, 1_024),
            ("0.0001Ki", 103, 102),
        ];
        for (text, up, down) in table {
            assert_eq!((milli(text, Up), milli(text, Down)), (up, down), "{text:?}");
        }
    }

    #[test]
    fn rounding_is_exact_however_long_the_text() {
        let nines = "9".repeat(5_000);
        let zeros = "0".repeat(5_000);
        // Text, whole units rounded up, whole units rounded down.
        let table = [
            (format!("0.{nines}"), 1, 0),
            (format!("-0.{nines}"), 0, -1),
            (format!("1.{zeros}1"), 2, 1),
            (format!("1.{zeros}"), 1, 1),
            (format!("{zeros}1"), 1, 1),
            (format!("1{zeros}e-5000"), 1, 1),
            (format!("1{zeros}1e-5001"), 2, 1),
            (format!("0.{zeros}1e5001"), 1, 1),
            (format!("0.{nines}Ei"), 1 << 60, (1 << 60) - 1),
            ("1e-99999999999999999999999999".into(), 1, 0),
            ("-1e-99999999999999999999999999".into(), 0, -1),
            (format!("1e-{nines}"), 1, 0),
        ];
        for (text, up, down) in table {
            assert_eq!((units(&text, Up), units(&text, Down)), (up, down), "{text:.60}");
        }
    }

    #[test]
    fn beyond_max_saturates() {
        let nines = "9".repeat(5_000);
        let long = format!("1e{nines}");
        for text in
            ["9E", "100E", "2Ei", "1e19", "1e20", "1152921504606846977", "1e99999999999999999999999", &nines, &long]
        {
            for round in [Up, Down] {
                assert_eq!(parse_units(text, round), capped(MAX), "{text:.60}");
                let negative = format!("-{text}");
                assert_eq!(parse_units(&negative, round), capped(-MAX), "{negative:.60}");
            }
        }
        assert_eq!(parse_milli("1Ei", Down), capped(MAX));
        // What counts is the value after rounding.
        assert_eq!(parse_units("1152921504606846976.5", Down), exactly(MAX));
        assert_eq!(parse_units("1152921504606846976.5", Up), capped(MAX));
    }

    #[test]
    fn everything_else_is_an_error() {
        let table = [
            "",
            ".",
            "+",
            "-",
            "+-1",
            "--1",
            "-.",
            "1.2.3",
            "1..2",
            " 1",
            "1 ",
            "1 Gi",
            "1\n",
            "1K",
            "1KI",
            "1ki",
            "1kI",
            "1mi",
            "1i",
            "1g",
            "1B",
            "1Zi",
            "1mm",
            "1kk",
            "1GiB",
            "1e",
            "1e+",
            "1e-",
            "1E+-3",
            "e3",
            "E",
            "Ki",
            "1e3Ki",
            "1e3m",
            "1e1.5",
            "1e 3",
            "1Ee3",
            "1_000",
            "1,5",
            "0x10",
            "NaN",
            "inf",
            "١",
            "1µ",
            "99999999999999999999e9x",
            "1e99999999999999999999x",
        ];
        for text in table {
            assert!(parse_milli(text, Up).is_err(), "{text:?}");
            assert!(parse_units(text, Down).is_err(), "{text:?}");
        }
    }

    #[test]
    fn errors_say_what_to_do() {
        let message = |text| parse_units(text, Up).unwrap_err().to_string();
        assert_eq!(
            message("1K"),
            r#"cannot read "1K": unknown suffix after the number; hint: write 500m, 2, 1.5Gi or 1e3"#
        );
        assert!(message("").contains("it is empty"));
        assert!(message("Gi\t").contains(r#""Gi\t": it does not start with a number"#));
        assert!(message("1e").contains("the exponent is not an integer"));
        let (fits, cut) = ("ü".repeat(40), "ü".repeat(41));
        assert!(message(&fits).contains(&format!("\"{fits}\"")));
        assert!(message(&cut).contains(&format!("\"{fits}…\"")));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = (parse_milli(&text, Up), parse_units(&text, Down));
        }

        #[test]
        fn no_near_miss_panics(text in "[-+.0-9eEinumkKMG]*") {
            let _ = (parse_milli(&text, Up), parse_units(&text, Down));
        }

        #[test]
        fn units_bound_milli(
            text in "[+-]?([0-9]{1,40}\\.?|[0-9]{0,40}\\.[0-9]{1,40})([numkMGTPE]?|[KMGTPE]i|[eE][+-]?[0-9]{1,3})",
        ) {
            let (low, high) = (parse_units(&text, Down).unwrap(), parse_units(&text, Up).unwrap());
            let (milli_low, milli_high) = (parse_milli(&text, Down).unwrap(), parse_milli(&text, Up).unwrap());
            prop_assert!((0..=1).contains(&(high.value - low.value)));
            prop_assert!((0..=1).contains(&(milli_high.value - milli_low.value)));
            let thousand = |parsed: Parsed| (parsed.value.saturating_mul(1_000)).clamp(-MAX, MAX);
            for milli in [milli_low, milli_high] {
                prop_assert!(thousand(low) <= milli.value && milli.value <= thousand(high));
            }
        }

        #[test]
        fn agrees_with_plain_arithmetic(
            negative: bool, digits in 0_u32..100_000, decimals in 0_usize..6, suffix in 0_usize..16,
        ) {
            // The value in units of 10^-18, where everything below is whole.
            let (suffix, factor) = [
                ("n", 1), ("u", 1_000), ("m", 1_000_000), ("", 1_000_000_000), ("k", 1_000_000_000_000),
                ("M", 10_i128.pow(15)), ("G", 10_i128.pow(18)), ("T", 10_i128.pow(21)), ("P", 10_i128.pow(24)),
                ("e-9", 1), ("E2", 100_000_000_000), ("Ki", 1_000_000_000 << 10), ("Mi", 1_000_000_000 << 20),
                ("Gi", 1_000_000_000 << 30), ("Ti", 1_000_000_000 << 40), ("Pi", 1_000_000_000 << 50),
            ][suffix];
            let magnitude = i128::from(digits) * factor * 10_i128.pow(9 - decimals as u32);
            let value = if negative { -magnitude } else { magnitude };
            let padded = format!("{digits:010}");
            let (whole, fraction) = padded.split_at(padded.len() - decimals);
            let text = format!("{}{whole}.{fraction}{suffix}", if negative { "-" } else { "" });

            for (decimals, unit) in [(0, 10_i128.pow(18)), (3, 10_i128.pow(15))] {
                let down = value.div_euclid(unit);
                let up = down + i128::from(value.rem_euclid(unit) != 0);
                for (round, expected) in [(Down, down), (Up, up)] {
                    let bound = i128::from(MAX);
                    let parsed = parse(&text, round, decimals).unwrap();
                    prop_assert_eq!(i128::from(parsed.value), expected.clamp(-bound, bound), "{}", &text);
                    prop_assert_eq!(parsed.saturated, expected.abs() > bound, "{}", &text);
                }
            }
        }
    }
}
