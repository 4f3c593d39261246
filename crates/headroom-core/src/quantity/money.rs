//! What a node costs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::parse::{MAX, Number, QuantityError};
use super::ratio::decimal;

/// A price in nano-dollars (10^-9 US dollars) an hour.
///
/// Cloud price lists carry up to ten decimals; nine are kept, so that totals over thousands of nodes stay exact to far
/// below a cent. Prints as dollars with two to four decimals, half rounded away from zero: `$1.20`, `$0.0332`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub i64);

impl Money {
    /// The price written as dollars in plain decimals, such as `0.033174`, with half a nano-dollar rounded away from
    /// zero.
    ///
    /// Anything but a sign, digits and a point is an error, and so is a price beyond 2^60 nano-dollars (1.15 billion
    /// dollars an hour): no such price is meant.
    pub fn from_dollars_text(text: &str) -> Result<Self, QuantityError> {
        let error = |problem| QuantityError::new(text, problem, "write dollars an hour, such as 0.0332 or 12.50");
        let number = Number::split(text).map_err(error)?;
        if !number.suffix.is_empty() {
            return Err(error("something follows the number"));
        }
        // One decimal more than is kept decides the rounding; what lies behind it cannot.
        let (tenths, _) = number.scaled(10, 0);
        match i64::try_from(tenths.saturating_add(5) / 10) {
            Ok(nano) if nano <= MAX => Ok(Self(if number.negative { -nano } else { nano })),
            _ => Err(error("no price is that large")),
        }
    }

    /// The sum, or `None` if it does not fit.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The sum, or the nearest amount that fits.
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What `count` of these cost, or the nearest amount that fits.
    pub fn saturating_mul(self, count: i64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&decimal("$", self.0.into(), 1_000_000_000, 2..=4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_dollars_to_the_nano() {
        let table = [
            ("0", 0),
            ("0.033174", 33_174_000),
            ("0.0331740000", 33_174_000),
            ("1.2", 1_200_000_000),
            ("12", 12_000_000_000),
            (".5", 500_000_000),
            ("5.", 5_000_000_000),
            ("+1", 1_000_000_000),
            ("-1.20", -1_200_000_000),
            ("0.0000000004", 0),
            ("0.00000000049999", 0),
            ("0.0000000005", 1),
            ("0.0000000015", 2),
            ("-0.0000000005", -1),
            ("1152921504.606846976", MAX),
            ("-1152921504.606846976", -MAX),
        ];
        for (text, nano) in table {
            assert_eq!(Money::from_dollars_text(text), Ok(Money(nano)), "{text:?}");
        }
    }

    #[test]
    fn rejects_everything_else() {
        let long = "9".repeat(1_000);
        for text in
            ["", ".", "-", "$1", "1$", "1k", "1e3", " 1", "1 ", "1,20", "1.2.3", "1152921504.606846977", "1e", &long]
        {
            assert!(Money::from_dollars_text(text).is_err(), "{text:?}");
        }
        assert_eq!(
            Money::from_dollars_text("1,20").unwrap_err().to_string(),
            r#"cannot read "1,20": something follows the number; hint: write dollars an hour, such as 0.0332 or 12.50"#,
        );
    }

    #[test]
    fn prints_two_to_four_decimals() {
        let table = [
            (0, "$0.00"),
            (1_200_000_000, "$1.20"),
            (33_174_000, "$0.0332"),
            (33_150_000, "$0.0332"),
            (33_149_999, "$0.0331"),
            (1_205_000_000, "$1.205"),
            (1_234_500_000_000, "$1234.50"),
            (999_950_000, "$1.00"),
            (999_949_999, "$0.9999"),
            (-1_200_000_000, "-$1.20"),
            (-33_150_000, "-$0.0332"),
            // Nothing rounds to a negative zero.
            (-1, "$0.00"),
            (-50_000, "-$0.0001"),
            (i64::MAX, "$9223372036.8548"),
            (i64::MIN, "-$9223372036.8548"),
        ];
        for (nano, expected) in table {
            assert_eq!(Money(nano).to_string(), expected, "{nano}");
        }
        assert_eq!(format!("{:>8}|", Money(1_200_000_000)), "   $1.20|");
    }

    #[test]
    fn arithmetic_never_overflows() {
        assert_eq!(Money(2).checked_add(Money(-3)), Some(Money(-1)));
        assert_eq!(Money(i64::MAX).checked_add(Money(1)), None);
        assert_eq!(Money(i64::MAX).saturating_add(Money(1)), Money(i64::MAX));
        assert_eq!(Money(7).saturating_mul(-3), Money(-21));
        assert_eq!(Money(i64::MAX).saturating_mul(-2), Money(i64::MIN));
    }

    #[test]
    fn json_is_the_bare_integer() {
        assert_eq!(serde_json::to_string(&Money(33_174_000)).unwrap(), "33174000");
        assert_eq!(serde_json::from_str::<Money>("33174000").unwrap(), Money(33_174_000));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = Money::from_dollars_text(&text);
        }

        #[test]
        fn every_nano_reads_back(nano in -MAX..=MAX) {
            let (whole, fraction) = (nano.abs() / 1_000_000_000, nano.abs() % 1_000_000_000);
            let text = format!("{}{whole}.{fraction:09}", if nano < 0 { "-" } else { "" });
            prop_assert_eq!(Money::from_dollars_text(&text), Ok(Money(nano)));
        }

        #[test]
        fn no_amount_panics(nano: i64) {
            let _ = Money(nano).to_string();
        }
    }
}
