//! Exact quotients: compared without rounding, rounded once when printed.

use std::cmp::Ordering;
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Serialize, Serializer};

/// An exact quotient of two integers.
///
/// Compares exactly, so ties are ties. Prints with at most two decimals, half rounded away from zero and trailing zeros
/// trimmed (`250`, `12.5`, `3.13`), and serializes as the number it prints.
// Always in lowest terms with `den` > 0, so that equal quotients have equal fields and the derived `Eq` and `Hash` hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ratio {
    num: i128,
    den: i128,
}

impl Ratio {
    /// `num / den`, or `None` unless `den` is positive.
    pub fn new(num: i128, den: i128) -> Option<Self> {
        if den <= 0 {
            return None;
        }
        // A divisor of `den` is at most `den`, so the conversion succeeds.
        let divisor = i128::try_from(gcd(num.unsigned_abs(), den.unsigned_abs())).ok()?;
        Some(Self { num: num / divisor, den: den / divisor })
    }

    /// How many percent of `whole` `part` is, or `None` unless `whole` is positive and `part * 100` fits.
    pub fn percent_of(part: i128, whole: i128) -> Option<Self> {
        Self::new(part.checked_mul(100)?, whole)
    }

    /// The value as it prints, as the nearest float. For output formats whose numbers are floats, such as JSON, and for
    /// nothing else: a decision compares the [`Ratio`] itself.
    pub fn to_f64(self) -> f64 {
        // Reading the printed form back rounds correctly at any size. It is always a number; the default is for the type.
        self.to_string().parse().unwrap_or_default()
    }
}

impl Ord for Ratio {
    /// Cross products of large terms would overflow. Those are compared as continued fractions do: the whole parts, and where
    /// they agree, the reciprocals of what is left, the other way round. The terms shrink as in Euclid's algorithm.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut left, mut right) = (*self, *other);
        if [left.num, left.den, right.num, right.den].iter().all(|term| i64::try_from(*term).is_ok()) {
            return (left.num * right.den).cmp(&(right.num * left.den));
        }
        loop {
            let whole = left.num.div_euclid(left.den).cmp(&right.num.div_euclid(right.den));
            let (left_rest, right_rest) = (left.num.rem_euclid(left.den), right.num.rem_euclid(right.den));
            if whole.is_ne() || left_rest == 0 || right_rest == 0 {
                // With a rest of zero on one side, the smaller rest belongs to the smaller quotient.
                return whole.then(left_rest.cmp(&right_rest));
            }
            (left, right) = (Self { num: right.den, den: right_rest }, Self { num: left.den, den: left_rest });
        }
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&decimal("", self.num, self.den, 0..=2))
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // An integer where it prints as one: `250`, not `250.0`.
        match self.to_string().parse() {
            Ok(whole) => serializer.serialize_i64(whole),
            Err(_) => serializer.serialize_f64(self.to_f64()),
        }
    }
}

/// `num / den`, rounded towards positive infinity: how many of size `den` hold `num`.
///
/// `den` is positive; a smaller one counts as 1, so that the function has an answer for everything.
pub fn ceil_div(num: i128, den: i128) -> i128 {
    let den = den.max(1);
    // No overflow: with a remainder, `den` is at least 2 and the quotient far from the bounds.
    num.div_euclid(den) + i128::from(num.rem_euclid(den) != 0)
}

/// `num / den` in decimals, with the sign in front of `prefix`: half rounded away from zero at the most decimals of
/// `places`, trailing zeros trimmed down to the fewest. `den` is positive, the most decimals are few.
pub(super) fn decimal(prefix: &str, num: i128, den: i128, places: RangeInclusive<usize>) -> String {
    let (fewest, most) = places.into_inner();
    let (size, den) = (num.unsigned_abs(), den.unsigned_abs());
    let (mut whole, mut rest) = (size / den, size % den);
    let (mut fraction, mut one) = (0_u128, 1_u128);
    for _ in 0..most {
        let (digit, next) = ten_times(rest, den);
        fraction = fraction * 10 + digit;
        one *= 10;
        rest = next;
    }
    if rest >= den - rest {
        fraction += 1;
        if fraction == one {
            whole += 1;
            fraction = 0;
        }
    }
    let sign = if num < 0 && (whole, fraction) != (0, 0) { "-" } else { "" };
    let mut text = format!("{sign}{prefix}{whole}.{fraction:0most$}");
    for _ in fewest..most {
        if text.ends_with('0') {
            text.pop();
        }
    }
    if text.ends_with('.') {
        text.pop();
    }
    text
}

/// Quotient and remainder of `10 * rest / den`, for `rest` < `den`. By addition, as the product may not fit.
fn ten_times(rest: u128, den: u128) -> (u128, u128) {
    (0..10).fold((0, 0), |(quotient, sum), _| {
        let room = den - rest;
        if sum >= room { (quotient + 1, sum - room) } else { (quotient, sum + rest) }
    })
}

/// The greatest common divisor, by Euclid's algorithm.
fn gcd(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        // Division of 128 bits takes many times as long.
        (Ok(a), Ok(b)) => gcd_of_small(a, b).into(),
        _ if b == 0 => a,
        _ => gcd(b, a % b),
    }
}

fn gcd_of_small(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd_of_small(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(num: i128, den: i128) -> Ratio {
        Ratio::new(num, den).unwrap()
    }

    #[test]
    fn needs_a_positive_denominator() {
        assert_eq!(Ratio::new(1, 0), None);
        assert_eq!(Ratio::new(1, -1), None);
        assert_eq!(Ratio::percent_of(1, 0), None);
        assert_eq!(Ratio::percent_of(i128::MAX, 1), None);
        assert!(Ratio::new(i128::MIN, 1).is_some());
    }

    #[test]
    fn prints_at_most_two_decimals() {
        let table = [
            (Ratio::percent_of(5, 2), "250"),
            (Ratio::percent_of(1, 8), "12.5"),
            (Ratio::percent_of(1, 32), "3.13"),
            (Ratio::percent_of(5, 8), "62.5"),
            (Ratio::percent_of(-1, 32), "-3.13"),
            (Ratio::percent_of(0, 7), "0"),
            (Ratio::percent_of(1, 3), "33.33"),
            (Ratio::percent_of(2, 3), "66.67"),
            (Ratio::percent_of(1, 1), "100"),
            (Ratio::new(1, 20), "0.05"),
            (Ratio::new(1, 200), "0.01"),
            (Ratio::new(1, 201), "0"),
            (Ratio::new(-1, 201), "0"),
            (Ratio::new(-1, 200), "-0.01"),
            (Ratio::new(1_999, 200), "10"),
            (Ratio::new(i128::MAX, i128::MAX), "1"),
            (Ratio::new(i128::MAX - 1, i128::MAX), "1"),
            (Ratio::new(i128::MAX / 2, i128::MAX), "0.5"),
            (Ratio::new(i128::MIN, 1), "-170141183460469231731687303715884105728"),
        ];
        for (ratio, expected) in table {
            assert_eq!(ratio.unwrap().to_string(), expected);
        }
        assert_eq!(format!("{:>6}|", ratio(25, 2)), "  12.5|");
    }

    #[test]
    fn json_is_the_printed_number() {
        let json = |num, den| serde_json::to_string(&ratio(num, den)).unwrap();
        assert_eq!(json(250, 1), "250");
        assert_eq!(json(100, 8), "12.5");
        assert_eq!(json(100, 32), "3.13");
        assert_eq!(json(-100, 3), "-33.33");
        assert_eq!(json(0, 5), "0");
        assert_eq!(json(i128::MAX, 1), "1.7014118346046923e+38");
    }

    #[test]
    fn compares_exactly() {
        let big = 1 << 90;
        assert_eq!(ratio(1, 2), ratio(2, 4));
        assert!(ratio(big, big + 1) < ratio(big + 1, big + 2));
        assert!(ratio(-big, big + 1) > ratio(-big - 1, big + 2));
        assert!(ratio(-1, 3) < ratio(0, 1));
        assert!(ratio(i128::MIN, 1) < ratio(i128::MIN, 2));
        assert!(ratio(i128::MAX, i128::MAX - 1) > ratio(1, 1));
        assert!(ratio(i128::MAX - 1, i128::MAX) > ratio(i128::MAX - 2, i128::MAX - 1));
    }

    #[test]
    fn ceil_div_table() {
        let table = [
            (0, 3, 0),
            (1, 3, 1),
            (3, 3, 1),
            (4, 3, 2),
            (-1, 3, 0),
            (-3, 3, -1),
            (-4, 3, -1),
            (i128::MAX, 1, i128::MAX),
            (i128::MIN, 1, i128::MIN),
            (i128::MAX, 2, 1 << 126),
            (7, 0, 7),
            (i128::MIN, -1, i128::MIN),
        ];
        for (num, den, expected) in table {
            assert_eq!(ceil_div(num, den), expected, "{num} / {den}");
        }
    }

    proptest! {
        #[test]
        fn order_is_that_of_cross_products(
            a in -(1_i128 << 62)..1 << 62, b in 1..1_i128 << 62, c in -(1_i128 << 62)..1 << 62, d in 1..1_i128 << 62,
        ) {
            prop_assert_eq!(ratio(a, b).cmp(&ratio(c, d)), (a * d).cmp(&(c * b)));
        }

        #[test]
        fn order_of_small_terms(a in -9_i128..9, b in 1_i128..9, c in -9_i128..9, d in 1_i128..9) {
            prop_assert_eq!(ratio(a, b).cmp(&ratio(c, d)), (a * d).cmp(&(c * b)));
            prop_assert_eq!(ratio(a, b) == ratio(c, d), a * d == c * b);
        }

        #[test]
        fn order_is_consistent_at_any_size(a: i128, b in 1..=i128::MAX, c: i128, d in 1..=i128::MAX) {
            let (left, right) = (ratio(a, b), ratio(c, d));
            prop_assert_eq!(left.cmp(&right), right.cmp(&left).reverse());
            prop_assert_eq!(left.cmp(&right).is_eq(), left == right);
            let _ = (left.to_string(), left.to_f64());
        }

        #[test]
        fn prints_the_nearest_hundredth(a in -(1_i128 << 100)..1 << 100, b in 1..1_i128 << 100) {
            let hundredths = (2 * a.abs() * 100 + b) / (2 * b);
            let sign = if a < 0 && hundredths > 0 { "-" } else { "" };
            let fixed = format!("{sign}{}.{:02}", hundredths / 100, hundredths % 100);
            prop_assert_eq!(ratio(a, b).to_string(), fixed.trim_end_matches('0').trim_end_matches('.'));
        }

        #[test]
        fn ceil_div_is_the_least_that_holds(num in -(1_i128 << 100)..1 << 100, den in 1_i128..1 << 20) {
            let count = ceil_div(num, den);
            prop_assert!(count * den >= num && (count - 1) * den < num);
        }
    }
}
