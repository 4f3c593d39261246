//! What machines and pods cost in an hour.
//!
//! A machine's price is what the user or a list says, or else what the cloud says ([`PriceSources`]). Where nobody says,
//! it is estimated from [`UnitPrices`] and put on the scale of the known prices ([`on_one_scale`]), so that no machine
//! looks cheap only because its price is unknown.

mod node_price;
mod offering;
mod price_table;
mod unit_prices;

pub use node_price::{NodePrice, on_one_scale};
pub use offering::{CapacityType, Offering};
pub use price_table::{PriceEntry, PriceSource, PriceSources, PriceTable, Quote};
pub use unit_prices::UnitPrices;
