//! Amounts a plan is computed from: cpu, bytes, counts, money and the ratios between them.
//!
//! Everything is an integer in a fixed unit, so sums are exact and the same on every machine. Text becomes an amount
//! in exactly one place ([`parse_milli`], [`parse_units`], [`Money::from_dollars_text`]), where the caller says which
//! way to round: what is needed rounds up, what is available rounds down, and no plan is ever too optimistic.

mod amount;
mod money;
mod parse;
mod ratio;
mod resources;

pub use amount::{Bytes, MilliCpu};
pub use money::Money;
pub use parse::{MAX, Parsed, QuantityError, Round, parse_milli, parse_units};
pub use ratio::{Ratio, ceil_div};
pub use resources::{Amounts, Resources, Totals};
