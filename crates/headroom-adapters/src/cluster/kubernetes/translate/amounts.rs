//! Lists of quantities, read into amounts.

use headroom_core::quantity::{MAX, Resources, Round, parse_milli, parse_units};

use super::Malformed;
use crate::cluster::kubernetes::object::Quantity;

/// Reads a list of quantities. `place` says where it stands, for errors and warnings.
pub(super) fn amounts<'s, 'a: 's>(
    list: impl Iterator<Item = (&'s str, &'s Quantity<'a>)>,
    round: Round,
    place: impl Fn() -> String,
    warnings: &mut Vec<String>,
) -> Result<Resources, Malformed> {
    let mut amounts = Resources::default();
    for (name, quantity) in list {
        let value = amount(name, quantity, round, &place, warnings)?;
        set(&mut amounts, name, value);
    }
    Ok(amounts)
}

/// Reads one quantity: cpu in thousandths, everything else in whole units. Below zero it counts as zero.
pub(super) fn amount(
    name: &str,
    quantity: &Quantity<'_>,
    round: Round,
    place: impl Fn() -> String,
    warnings: &mut Vec<String>,
) -> Result<i64, Malformed> {
    let parse = if name == "cpu" { parse_milli } else { parse_units };
    let parsed = parse(quantity, round).map_err(|error| Malformed::Quantity {
        place: place(),
        resource: name.to_owned(),
        error,
    })?;
    if parsed.saturated {
        let unit = if name == "cpu" { "m" } else { "" };
        let bound = if parsed.value < 0 { 0 } else { MAX };
        warnings.push(format!("{}: {name} {} is out of range and counts as {bound}{unit}", place(), &**quantity));
    } else if parsed.value < 0 {
        warnings.push(format!("{}: {name} {} is below zero and counts as 0", place(), &**quantity));
    }
    Ok(parsed.value.max(0))
}

/// Sets the amount of the resource that the API calls `name`.
pub(super) fn set(amounts: &mut Resources, name: &str, value: i64) {
    match name {
        "cpu" => amounts.cpu = value,
        "memory" => amounts.memory = value,
        "ephemeral-storage" => amounts.ephemeral_storage = value,
        "pods" => amounts.pods = value,
        _ => amounts.set_extended(name, value),
    }
}
