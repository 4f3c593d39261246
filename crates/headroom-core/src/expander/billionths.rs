//! A score with nine decimals.

use std::fmt;

use serde::{Serialize, Serializer};

/// A number in whole billionths (10^-9), so that scores compare and tie alike on every platform.
///
/// Prints with at most four decimals; serializes as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Billionths(pub i128);

impl Billionths {
    /// One.
    pub const ONE: i128 = 1_000_000_000;

    /// The nearest number of billionths, half away from zero; the largest there is for infinity.
    pub fn round(value: f64) -> Self {
        // A cast from float stops at the bounds of the type.
        Billionths(libm::round(value * 1e9) as i128)
    }

    /// The value as a float, for output.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl fmt::Display for Billionths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.4}", self.to_f64());
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Serialize for Billionths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_prints() {
        assert_eq!(Billionths::round(2.416_789_904_372_172), Billionths(2_416_789_904));
        assert_eq!(Billionths::round(f64::INFINITY), Billionths(i128::MAX));
        assert_eq!(Billionths::round(2.416_789_904).to_string(), "2.4168");
        assert_eq!(Billionths::round(10.5).to_string(), "10.5");
        assert_eq!(Billionths::round(200.0).to_string(), "200");
        assert_eq!(Billionths(0).to_string(), "0");
        assert_eq!(serde_json::to_string(&Billionths(2_416_789_904)).unwrap(), "2.416789904");
    }
}
