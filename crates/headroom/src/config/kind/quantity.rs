//! Amounts of resources and of money.

use headroom_core::quantity::{Bytes, MilliCpu, Money, Parsed, QuantityError, Round, parse_milli, parse_units};
use serde_json::{Value as Json, json};

use super::Kind;
use super::scalar::{Complaint, scalar};
use crate::config::shape::Shape;
use crate::config::tree::Scalar;

const AMOUNT: &str = "write what `kubectl get node -o yaml` shows for such a machine";
const SUM: &str = "write what all nodes have together, such as 400 or 1Ti";

/// Cpu of a machine in milli, more than none.
pub(crate) fn cpu() -> Kind<i64> {
    quantity("4 or 3920m", |text| parse_milli(text, Round::Down), show_cpu, 1, AMOUNT)
}

/// Bytes of a machine, more than none.
pub(crate) fn bytes() -> Kind<i64> {
    quantity("16Gi", |text| parse_units(text, Round::Down), show_bytes, 1, AMOUNT)
}

/// Pieces of something that a machine has, more than none.
pub(crate) fn pieces() -> Kind<i64> {
    quantity("8", |text| parse_units(text, Round::Down), |pieces| json!(pieces), 1, AMOUNT)
}

/// Cpu in milli of many machines, more than none.
pub(crate) fn sum_of_cpu() -> Kind<i64> {
    quantity("400", |text| parse_milli(text, Round::Down), show_cpu, 1, SUM)
}

/// Bytes of many machines, more than none.
pub(crate) fn sum_of_bytes() -> Kind<i64> {
    quantity("1Ti", |text| parse_units(text, Round::Down), show_bytes, 1, SUM)
}

/// Pieces of something that many machines have; it may be none.
pub(crate) fn sum_of_pieces() -> Kind<i64> {
    quantity("8", |text| parse_units(text, Round::Down), |pieces| json!(pieces), 0, SUM)
}

/// Cpu in milli that a pod asks for.
pub(crate) fn requested_cpu() -> Kind<i64> {
    request("500m", |text| parse_milli(text, Round::Up), show_cpu)
}

/// Bytes or pieces that a pod asks for.
pub(crate) fn requested() -> Kind<i64> {
    request("512Mi", |text| parse_units(text, Round::Up), show_bytes)
}

fn request(
    example: &'static str,
    parse: fn(&str) -> Result<Parsed, QuantityError>,
    show: fn(i64) -> Json,
) -> Kind<i64> {
    const REQUEST: &str = "write what the pod's `resources.requests` says";
    let read = move |scalar: &Scalar| match parse(&scalar.text) {
        Ok(parsed) if parsed.saturated => Err(Complaint::new("no pod asks for that much", REQUEST)),
        Ok(parsed) if parsed.value < 0 => Err(Complaint::new("a request is not negative", REQUEST)),
        Ok(parsed) => Ok(parsed.value),
        Err(error) => Err(error.into()),
    };
    scalar(Shape::Quantity { example }, read, move |value| show(*value))
}

fn show_cpu(milli: i64) -> Json {
    json!(MilliCpu(milli).to_string())
}

fn show_bytes(bytes: i64) -> Json {
    json!(Bytes(bytes).to_string())
}

fn quantity(
    example: &'static str,
    parse: fn(&str) -> Result<Parsed, QuantityError>,
    show: fn(i64) -> Json,
    least: i64,
    hint: &'static str,
) -> Kind<i64> {
    let read = move |scalar: &Scalar| match parse(&scalar.text) {
        Ok(parsed) if parsed.saturated => Err(Complaint::new("no machine has that much", hint)),
        Ok(parsed) if parsed.value < least && least > 0 => Err(Complaint::new("this must be more than nothing", hint)),
        Ok(parsed) if parsed.value < least => Err(Complaint::new("this must not be less than nothing", hint)),
        Ok(parsed) => Ok(parsed.value),
        Err(error) => Err(error.into()),
    };
    scalar(Shape::Quantity { example }, read, move |value| show(*value))
}

/// Dollars an hour.
pub(crate) fn dollars() -> Kind<Money> {
    let parse = |scalar: &Scalar| match Money::from_dollars_text(&scalar.text) {
        Ok(price) if price.0 < 0 => Err(Complaint::new("a price is not negative", "write 0 for what costs nothing")),
        Ok(price) => Ok(price),
        Err(error) => Err(error.into()),
    };
    // Prices are printed rounded and with a sign; what is shown here must read back.
    let show = |price: &Money| {
        let text = format!("{}.{:09}", price.0 / 1_000_000_000, price.0 % 1_000_000_000);
        json!(text.trim_end_matches('0').trim_end_matches('.'))
    };
    scalar(Shape::Dollars, parse, show)
}

impl From<QuantityError> for Complaint {
    fn from(error: QuantityError) -> Self {
        let text = error.to_string();
        let (message, hint) = text.split_once("; hint: ").unwrap_or((&text, AMOUNT));
        Complaint::new(message, hint)
    }
}
