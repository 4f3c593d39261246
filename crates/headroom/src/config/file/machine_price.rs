//! What one machine type costs: one entry of a price list, in the configuration or in a file of its own.

use std::collections::BTreeMap;

use headroom_core::pricing::{CapacityType, PriceEntry};
use headroom_core::quantity::Money;

use crate::config::kind::{Kind, dollars, text, words};
use crate::config::problem::{Problem, Problems};
use crate::config::record::Record;
use crate::config::tree::Place;

pub(super) fn kind() -> Kind<PriceEntry> {
    let start = || PriceEntry { instance_type: "".into(), zone: None, capacity_type: None, price: Money(0) };
    Record::new(
        "prices.machines[]",
        "What a machine of one type costs in an hour. Of several entries that fit, one that names the \
         terms counts most, then one that names the zone; where the zone of new nodes is not known, the \
         dearest.",
        start,
    )
    .required(
        "instanceType",
        text(),
        |entry: &mut PriceEntry| &mut entry.instance_type,
        "As the nodes' label `node.kubernetes.io/instance-type` has it.",
    )
    .field(
        "zone",
        text().optional(),
        |entry| &mut entry.zone,
        "Only in this zone, as the label `topology.kubernetes.io/zone` has it.",
    )
    .field("capacityType", capacity_type().optional(), |entry| &mut entry.capacity_type, "Only on these terms.")
    .required("price", dollars(), |entry| &mut entry.price, "What it costs, in dollars an hour.")
    .kind()
}

/// On which terms a machine is paid for.
pub(super) fn capacity_type() -> Kind<CapacityType> {
    words(&[
        ("on-demand", CapacityType::OnDemand, "at the list price"),
        ("spot", CapacityType::Spot, "spare capacity that the cloud may take back"),
        ("reserved", CapacityType::Reserved, "paid for in advance"),
    ])
}

/// Reports a second price for the same type, zone and terms.
pub(super) fn check(entries: &[(Place, PriceEntry)], problems: &mut Problems) {
    let mut first = BTreeMap::new();
    for (place, entry) in entries {
        let key = (&entry.instance_type, &entry.zone, entry.capacity_type);
        if let Some(first) = first.insert(key, place) {
            let message = format!("this is a second price for `{}` with the same zone and terms", entry.instance_type);
            let problem = Problem::at(place.clone(), message, "keep one, or name another `zone` or `capacityType`");
            problems.add(problem.also(first.clone(), "the first one"));
        }
    }
}
