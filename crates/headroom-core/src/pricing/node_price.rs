//! The price of a new node, stated or estimated.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

use super::{Quote, UnitPrices};
use crate::quantity::{Money, Ratio, Resources};

/// What one new node costs in an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum NodePrice {
    /// Somebody states it.
    Stated(Quote),
    /// Nobody does.
    Estimated {
        /// What it is taken to be: by unit prices, on the scale of the stated prices.
        amount: Money,
        /// What it would be by unit prices alone.
        by_unit_prices: Money,
    },
}

/// The prices of new nodes with these capacities, of which some are stated, such that all can be compared.
///
/// Stated prices stand. What the unit prices say of the others is multiplied with the highest ratio of stated to estimated
/// price among the first (at least 1), and rounded up. Unit prices alone would make every machine without a price look
/// cheap where real machines cost more than the defaults say.
pub fn on_one_scale<'a>(
    machines: impl Iterator<Item = (&'a Resources, Option<Quote>)> + Clone,
    unit_prices: &UnitPrices,
) -> Vec<NodePrice> {
    let priced = machines.clone().filter_map(|(capacity, quote)| Some((quote?, unit_prices.price_of_one(capacity))));
    let scale = priced.fold(Scale::ONE, |scale, (quote, estimate)| scale.max(Scale::of(quote.amount, estimate)));
    let price = |(capacity, quote): (&Resources, Option<Quote>)| match quote {
        Some(quote) => NodePrice::Stated(quote),
        None => {
            let by_unit_prices = unit_prices.price_of_one(capacity);
            NodePrice::Estimated { amount: scale.apply(by_unit_prices), by_unit_prices }
        }
    };
    machines.map(price).collect()
}

impl NodePrice {
    /// The price to reckon with.
    pub fn amount(&self) -> Money {
        match self {
            NodePrice::Stated(quote) => quote.amount,
            NodePrice::Estimated { amount, .. } => *amount,
        }
    }

    /// Whether nobody states it.
    pub fn is_estimated(&self) -> bool {
        matches!(self, NodePrice::Estimated { .. })
    }
}

impl fmt::Display for NodePrice {
    /// `$0.19 (config)`, `$0.24 (estimated)` or `$5.10 (estimated $0.20, times 25.5 as others cost)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodePrice::Stated(Quote { amount, source }) => write!(f, "{amount} ({source})"),
            NodePrice::Estimated { amount, by_unit_prices } if amount == by_unit_prices => {
                write!(f, "{amount} (estimated)")
            }
            NodePrice::Estimated { amount, by_unit_prices } => {
                write!(f, "{amount} (estimated {by_unit_prices}")?;
                if let Some(times) = Ratio::new(amount.0.into(), by_unit_prices.0.into()) {
                    write!(f, ", times {times} as others cost")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// How many times its estimate a machine costs, as a quotient that is at least 1.
#[derive(Clone, Copy, Debug)]
struct Scale {
    stated: i128,
    estimated: i128,
}

impl Scale {
    const ONE: Self = Scale { stated: 1, estimated: 1 };

    fn of(stated: Money, estimated: Money) -> Self {
        if estimated.0 <= 0 || stated <= estimated {
            return Scale::ONE;
        }
        Scale { stated: stated.0.into(), estimated: estimated.0.into() }
    }

    fn max(self, other: Self) -> Self {
        // Both products are of two values that fit in i64.
        let order = (self.stated * other.estimated).cmp(&(other.stated * self.estimated));
        if order == Ordering::Less { other } else { self }
    }

    fn apply(self, estimate: Money) -> Money {
        let nano = crate::quantity::ceil_div(i128::from(estimate.0) * self.stated, self.estimated);
        Money(i64::try_from(nano).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::PriceSource;
    use proptest::prelude::*;

    fn prices(machines: &[(i64, Option<i64>)]) -> Vec<NodePrice> {
        let unit_prices = UnitPrices { cpu: Money(1_000), ..UnitPrices::default() };
        let machines: Vec<_> = machines
            .iter()
            .map(|(cores, price)| {
                let quote = price.map(|price| Quote { amount: Money(price), source: PriceSource::Provider });
                (Resources::new(cores * 1_000, 0), quote)
            })
            .collect();
        on_one_scale(machines.iter().map(|(capacity, quote)| (capacity, *quote)), &unit_prices)
    }

    fn amounts(machines: &[(i64, Option<i64>)]) -> Vec<i64> {
        prices(machines).iter().map(|price| price.amount().0).collect()
    }

    #[test]
    fn the_highest_ratio_scales_what_is_estimated() {
        assert_eq!(amounts(&[(1, None), (4, None)]), [1_000, 4_000]);
        assert_eq!(amounts(&[(1, None), (4, Some(8_000)), (2, Some(3_000))]), [2_000, 8_000, 3_000]);
        // Rounded up: 1,000 * 10,001 / 3,000 is 3333.7.
        assert_eq!(amounts(&[(1, None), (3, Some(10_001))]), [3_334, 10_001]);
    }

    #[test]
    fn a_bargain_does_not_lower_estimates() {
        assert_eq!(amounts(&[(1, None), (4, Some(10))]), [1_000, 10]);
        assert_eq!(amounts(&[(1, None), (4, Some(0)), (0, Some(7))]), [1_000, 0, 7]);
    }

    #[test]
    fn the_text_says_what_is_estimated() {
        let text = |machines: &[_]| prices(machines).iter().map(NodePrice::to_string).collect::<Vec<_>>();
        assert_eq!(text(&[(100_000, None)]), ["$0.10 (estimated)"]);
        assert_eq!(
            text(&[(100_000, None), (100_000, Some(255_000_000))]),
            ["$0.255 (estimated $0.10, times 2.55 as others cost)", "$0.255 (provider)"]
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(machines in prop::collection::vec((0_i64..i64::MAX / 1_000, any::<Option<i64>>()), 0..5)) {
            for price in prices(&machines) {
                let _ = price.to_string();
            }
        }

        /// On one scale, no machine without a price is cheaper than the same machine with the dearest ratio.
        #[test]
        fn a_price_is_never_understated(cores in 1_i64..1_000, price in 1_i64..1 << 50) {
            let both = amounts(&[(cores, Some(price)), (cores, None)]);
            prop_assert!(both[1] >= both[0]);
        }
    }
}
