//! What one machine type costs: one entry of a price list, in the configuration or in a file of its own.

use headroom_core::pricing::{CapacityType, PriceEntry};
use headroom_core::quantity::Money;

use crate::config::kind::{Kind, dollars, text, words};
use crate::config::record::Record;

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
    .field(
        "capacityType",
        words(&[
            ("on-demand", CapacityType::OnDemand, "at the list price"),
            ("spot", CapacityType::Spot, "spare capacity that the cloud may take back"),
            ("reserved", CapacityType::Reserved, "paid for in advance"),
        ])
        .optional(),
        |entry| &mut entry.capacity_type,
        "Only on these terms.",
    )
    .required("price", dollars(), |entry| &mut entry.price, "What it costs, in dollars an hour.")
    .kind()
}
