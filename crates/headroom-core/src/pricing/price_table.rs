//! Prices by machine type, and where a machine's price is looked for.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CapacityType, Offering};
use crate::quantity::Money;

/// Prices by machine type. A table in the configuration and a catalogue file both become one of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<PriceEntry>", into = "Vec<PriceEntry>")]
pub struct PriceTable(BTreeMap<Box<str>, Vec<PriceEntry>>);

/// What one machine type costs in an hour, everywhere or in one zone, on any terms or on certain ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PriceEntry {
    /// The cloud's name for the machine type.
    pub instance_type: Box<str>,
    /// Only in this zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<Box<str>>,
    /// Only on these terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_type: Option<CapacityType>,
    /// What a machine costs in an hour.
    pub price: Money,
}

/// A price that somebody states, and who.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quote {
    /// One machine for one hour.
    pub amount: Money,
    /// Who says so.
    pub source: PriceSource,
}

/// Who states a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PriceSource {
    /// The configuration: the group's own price, or the table of machine types.
    Config,
    /// A catalogue file.
    Catalogue,
    /// The cloud.
    Provider,
}

/// Where prices of machines are looked for, besides the group's own price and the cloud.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PriceSources {
    /// The table in the configuration.
    pub config: PriceTable,
    /// The catalogue file.
    pub catalogue: PriceTable,
}

impl PriceSources {
    /// The first price that is stated: by the configuration for the group (`group`), by its table, by the catalogue, by
    /// the cloud (`provider`). Prices below zero are taken for typing errors and count as not stated.
    pub fn quote(&self, group: Option<Money>, offering: &Offering, provider: Option<Money>) -> Option<Quote> {
        let stated = [
            (group, PriceSource::Config),
            (self.config.price(offering), PriceSource::Config),
            (self.catalogue.price(offering), PriceSource::Catalogue),
            (provider, PriceSource::Provider),
        ];
        stated.into_iter().find_map(|(amount, source)| {
            amount.filter(|amount| *amount >= Money(0)).map(|amount| Quote { amount, source })
        })
    }
}

impl PriceTable {
    /// The price of the entry that fits best, or None if none fits.
    ///
    /// An entry fits unless it names another zone or other terms. One that names the machine's terms is better than one
    /// that does not, then one that names its zone; between equals, and when the machine's zone is not known, the dearest
    /// is taken, so that a price is never understated.
    pub fn price(&self, offering: &Offering) -> Option<Money> {
        let entries = self.0.get(offering.instance_type.as_deref()?)?;
        let fits = |entry: &&PriceEntry| {
            let zone = entry.zone.is_none() || offering.zone.is_none() || entry.zone == offering.zone;
            zone && entry.capacity_type.is_none_or(|terms| terms == offering.capacity_type)
        };
        let best = entries.iter().filter(fits).max_by_key(|entry| {
            let names_zone = entry.zone.is_some() && entry.zone == offering.zone;
            (entry.capacity_type.is_some(), names_zone, entry.price)
        });
        best.map(|entry| entry.price)
    }

    /// Whether there is no price.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Vec<PriceEntry>> for PriceTable {
    fn from(entries: Vec<PriceEntry>) -> Self {
        let mut table = PriceTable::default();
        for entry in entries {
            table.0.entry(entry.instance_type.clone()).or_default().push(entry);
        }
        // So that tables with the same entries are equal.
        table.0.values_mut().for_each(|entries| entries.sort());
        table
    }
}

impl From<PriceTable> for Vec<PriceEntry> {
    fn from(table: PriceTable) -> Self {
        table.0.into_values().flatten().collect()
    }
}

impl fmt::Display for PriceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PriceSource::Config => "config",
            PriceSource::Catalogue => "catalogue",
            PriceSource::Provider => "provider",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"[
        {"instanceType": "m5.large", "price": 96000000},
        {"instanceType": "m5.large", "capacityType": "spot", "price": 40000000},
        {"instanceType": "m5.large", "capacityType": "spot", "zone": "1a", "price": 30000000},
        {"instanceType": "m5.large", "zone": "1c", "price": 99000000},
        {"instanceType": "c5.large", "zone": "1a", "capacityType": "on-demand", "price": 80000000},
        {"instanceType": "c5.large", "zone": "1b", "capacityType": "on-demand", "price": 90000000}
    ]"#;

    fn offering(instance_type: &str, zone: Option<&str>, capacity_type: CapacityType) -> Offering {
        Offering { instance_type: Some(instance_type.into()), zone: zone.map(Box::from), capacity_type }
    }

    #[test]
    fn the_best_fitting_entry_wins() {
        let table: PriceTable = serde_json::from_str(TABLE).unwrap();
        use CapacityType::{OnDemand, Spot};
        let cases = [
            ("m5.large", None, OnDemand, Some(99_000_000)),
            ("m5.large", Some("1a"), OnDemand, Some(96_000_000)),
            ("m5.large", Some("1c"), OnDemand, Some(99_000_000)),
            ("m5.large", Some("1a"), Spot, Some(30_000_000)),
            ("m5.large", Some("1b"), Spot, Some(40_000_000)),
            ("m5.large", Some("1c"), Spot, Some(40_000_000)),
            ("c5.large", None, OnDemand, Some(90_000_000)),
            ("c5.large", Some("1a"), OnDemand, Some(80_000_000)),
            ("c5.large", Some("1c"), OnDemand, None),
            ("c5.large", Some("1a"), Spot, None),
            ("r5.large", Some("1a"), OnDemand, None),
        ];
        for (instance_type, zone, terms, expected) in cases {
            assert_eq!(
                table.price(&offering(instance_type, zone, terms)),
                expected.map(Money),
                "{instance_type} {zone:?}"
            );
        }
        assert_eq!(table.price(&Offering::default()), None);
    }

    #[test]
    fn a_table_is_a_list_in_json() {
        let table: PriceTable = serde_json::from_str(TABLE).unwrap();
        let json = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<PriceTable>(&json).unwrap(), table);
        assert!(serde_json::from_str::<PriceTable>(r#"[{"instanceType": "a", "price": 1, "zoen": "b"}]"#).is_err());
    }

    #[test]
    fn sources_are_asked_in_order() {
        let sources = PriceSources {
            config: serde_json::from_str(r#"[{"instanceType": "a", "price": 2}]"#).unwrap(),
            catalogue: serde_json::from_str(
                r#"[{"instanceType": "a", "price": 3}, {"instanceType": "b", "price": 4}]"#,
            )
            .unwrap(),
        };
        let quote = |instance_type, group, provider| {
            let quote = sources.quote(group, &offering(instance_type, None, CapacityType::OnDemand), provider);
            quote.map(|quote| format!("{} {}", quote.amount.0, quote.source))
        };
        assert_eq!(quote("a", Some(Money(1)), Some(Money(5))).as_deref(), Some("1 config"));
        assert_eq!(quote("a", None, Some(Money(5))).as_deref(), Some("2 config"));
        assert_eq!(quote("b", None, Some(Money(5))).as_deref(), Some("4 catalogue"));
        assert_eq!(quote("c", None, Some(Money(5))).as_deref(), Some("5 provider"));
        assert_eq!(quote("c", Some(Money(-1)), None), None);
    }
}
