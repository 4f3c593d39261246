//! Cpu and memory, the way reports print them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ratio::decimal;

/// An amount of cpu in millicores, a thousandth of a core each.
///
/// Prints like a Kubernetes quantity: whole cores as `4`, anything else as `1100m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MilliCpu(pub i64);

impl fmt::Display for MilliCpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(milli) = self;
        // Through `pad`, here and below, so that a width in the format string works.
        f.pad(&if milli % 1000 == 0 { (milli / 1000).to_string() } else { format!("{milli}m") })
    }
}

/// An amount of memory or storage in bytes.
///
/// Prints in the largest binary unit it fills, with at most two decimals, half rounded away from zero: `1000`, `512Mi`,
/// `1.5Gi`, `383.62Gi`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub i64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, i128); 6] =
            [("Ei", 1 << 60), ("Pi", 1 << 50), ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
        let bytes = i128::from(self.0);
        // An amount also fills a unit when it falls short by at most half a hundredth of the next smaller one (a 1024th
        // of it): in that one it would round to "1024".
        let fills = |unit: i128| 200 * (unit - bytes.abs()) <= unit / 1024;
        let (suffix, unit) = UNITS.into_iter().find(|(_, unit)| fills(*unit)).unwrap_or(("", 1));
        f.pad(&format!("{}{suffix}", decimal("", bytes, unit, 0..=2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_prints_cores_when_whole() {
        let table = [
            (0, "0"),
            (1, "1m"),
            (900, "900m"),
            (1_000, "1"),
            (1_100, "1100m"),
            (4_000, "4"),
            (10_500, "10500m"),
            (-500, "-500m"),
            (-2_000, "-2"),
            (i64::MAX, "9223372036854775807m"),
            (i64::MIN, "-9223372036854775808m"),
        ];
        for (milli, expected) in table {
            assert_eq!(MilliCpu(milli).to_string(), expected);
        }
        assert_eq!(format!("{:>6}|{:<6}|", MilliCpu(900), MilliCpu(4_000)), "  900m|4     |");
    }

    #[test]
    fn bytes_print_the_largest_unit() {
        let table = [
            (0, "0"),
            (1_000, "1000"),
            (1_023, "1023"),
            (1_024, "1Ki"),
            (1_536, "1.5Ki"),
            (-1_536, "-1.5Ki"),
            (512 << 20, "512Mi"),
            (3 << 29, "1.5Gi"),
            (38_362 * (1 << 30) / 100, "383.62Gi"),
            (1 << 40, "1Ti"),
            (1_024 + 256, "1.25Ki"),
            // 0.005 of a Ki is 5.12 bytes.
            (1_024 + 5, "1Ki"),
            (1_024 + 6, "1.01Ki"),
            (1_048_576 - 6, "1023.99Ki"),
            (1_048_576 - 5, "1Mi"),
            (5 - 1_048_576, "-1Mi"),
            ((1 << 60) - 1, "1Ei"),
            (i64::MAX, "8Ei"),
            (i64::MIN, "-8Ei"),
        ];
        for (bytes, expected) in table {
            assert_eq!(Bytes(bytes).to_string(), expected, "{bytes}");
        }
        assert_eq!(format!("{:>8}|", Bytes(3 << 29)), "   1.5Gi|");
    }

    #[test]
    fn json_is_the_bare_integer() {
        assert_eq!(serde_json::to_string(&(MilliCpu(1_500), Bytes(-1))).unwrap(), "[1500,-1]");
        assert_eq!(serde_json::from_str::<(MilliCpu, Bytes)>("[1500,-1]").unwrap(), (MilliCpu(1_500), Bytes(-1)));
    }
}
