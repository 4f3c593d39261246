//! Price lists of clouds, turned into a catalogue: the file that `prices.catalogue` names in headroom.yaml.

pub(crate) mod aws;

use std::collections::BTreeMap;
use std::fmt;

use headroom_core::pricing::{CapacityType, NodePrice, PriceEntry, PriceTable};
use headroom_core::quantity::Money;

/// One price for each machine type, zone and terms.
#[derive(Debug, Default)]
pub(crate) struct Catalogue(BTreeMap<Machine, Price>);

#[derive(Debug)]
struct Price {
    amount: Money,
    /// Where it is from, if nobody states it.
    note: Option<String>,
}

/// What has a price.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    instance_type: Box<str>,
    zone: Option<Box<str>>,
    terms: Option<CapacityType>,
}

impl Catalogue {
    /// Takes in a price. Of two for the same the higher one counts, so that no machine looks cheaper than it is.
    pub(crate) fn add(&mut self, entry: PriceEntry) {
        let PriceEntry { instance_type, zone, capacity_type, price } = entry;
        let machine = Machine { instance_type, zone, terms: capacity_type };
        let known = self.0.entry(machine).or_insert(Price { amount: price, note: None });
        known.amount = known.amount.max(price);
    }

    /// Takes in what a machine type is taken to cost on demand, and what it has.
    fn add_estimate(&mut self, instance_type: &str, price: &NodePrice, has: &impl fmt::Display) {
        let machine = Machine { instance_type: instance_type.into(), zone: None, terms: None };
        self.0.insert(machine, Price { amount: price.amount(), note: Some(format!("{has}: {price}")) });
    }

    /// The same as the table that it becomes once it is read.
    fn table(&self) -> PriceTable {
        let entries = self.0.iter().map(|(Machine { instance_type, zone, terms }, price)| PriceEntry {
            instance_type: instance_type.clone(),
            zone: zone.clone(),
            capacity_type: *terms,
            price: price.amount,
        });
        entries.collect::<Vec<_>>().into()
    }

    /// The catalogue as YAML, one price on each line, after lines that say where they are from.
    pub(crate) fn to_yaml(&self, from: &[String]) -> String {
        let mut text: String = from.iter().map(|line| format!("# {line}\n")).collect();
        for (Machine { instance_type, zone, terms }, price) in &self.0 {
            let zone = zone.as_ref().map(|zone| format!(", zone: {}", quoted(zone))).unwrap_or_default();
            let terms = terms.map(|terms| format!(", capacityType: {}", word(terms))).unwrap_or_default();
            let note = price.note.as_ref().map(|note| format!(" # {note}")).unwrap_or_default();
            let price = dollars(price.amount);
            text += &format!("- {{ instanceType: {}{zone}{terms}, price: {price} }}{note}\n", quoted(instance_type));
        }
        text
    }
}

fn word(terms: CapacityType) -> &'static str {
    match terms {
        CapacityType::OnDemand => "on-demand",
        CapacityType::Spot => "spot",
        CapacityType::Reserved => "reserved",
    }
}

/// Text as YAML: plain where nothing in it could mean something else.
fn quoted(text: &str) -> String {
    let starts_well = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let plain = text.chars().all(|char| char.is_ascii_alphanumeric() || ".-_".contains(char));
    if starts_well && plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Dollars with as many decimals as are needed.
fn dollars(price: Money) -> String {
    let text = format!("{}.{:09}", price.0 / 1_000_000_000, price.0.unsigned_abs() % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
