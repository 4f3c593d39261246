//! Prices of spot machines: what `aws ec2 describe-spot-price-history` prints, one page or several one after the
//! other.

use std::collections::BTreeMap;
use std::io::Read;

use headroom_core::pricing::{CapacityType, PriceEntry};
use headroom_core::quantity::Money;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::Error as _;

use super::{Said, Wanted};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct History {
    spot_price_history: Vec<Price>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Price {
    availability_zone: String,
    instance_type: String,
    product_description: String,
    spot_price: String,
    timestamp: Timestamp,
}

/// The latest price of each type in each zone.
pub(super) fn read(input: impl Read, wanted: &Wanted) -> Result<Said, serde_json::Error> {
    let pages = serde_json::Deserializer::from_reader(input).into_iter::<History>();
    let pages = pages.collect::<Result<Vec<_>, _>>()?;
    let mut latest: BTreeMap<(String, String), (Timestamp, Money)> = BTreeMap::new();
    for price in pages.into_iter().flat_map(|page| page.spot_price_history) {
        // `Linux/UNIX`, or `Linux/UNIX (Amazon VPC)`.
        let system = price.product_description.split([' ', '/']).next().unwrap_or_default();
        let in_region = wanted.region.as_ref().is_none_or(|region| price.availability_zone.starts_with(region));
        if !system.eq_ignore_ascii_case(&wanted.operating_system) || !in_region || !wanted.has(&price.instance_type) {
            continue;
        }
        let amount = Money::from_dollars_text(&price.spot_price).map_err(serde_json::Error::custom)?;
        let known = latest.entry((price.instance_type, price.availability_zone)).or_insert((price.timestamp, amount));
        if known.0 < price.timestamp {
            *known = (price.timestamp, amount);
        }
    }
    let published = latest.values().map(|(at, _)| *at).max();
    let entry = |((instance_type, zone), (_, price)): ((String, String), (Timestamp, Money))| PriceEntry {
        instance_type: instance_type.into(),
        zone: Some(zone.into()),
        capacity_type: Some(CapacityType::Spot),
        price,
    };
    Ok(Said {
        entries: latest.into_iter().map(entry).collect(),
        regions: wanted.region.clone().into_iter().collect(),
        published: published.map(|at| format!(", the last of {at}")).unwrap_or_default(),
        ..Said::new("spot prices")
    })
}
