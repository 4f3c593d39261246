//! Nomad's objects become the values of `headroom_core::snapshot`. No Nomad type leaves this module.

mod allocation;
mod busy;
mod constraints;
mod gathered;
mod held;
mod node;
mod resources;
mod tasks;
#[cfg(test)]
mod tests;

pub use allocation::{full_name, is_terminal};
pub use busy::busy;
pub(super) use busy::percent;
pub use constraints::Asks;
pub use gathered::{Gathered, Sight};
pub use node::node;
pub(super) use node::{REGISTERED, names_a_machine};
pub use tasks::Tasks;

/// Why an object cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It has no ID.
    #[error("it has no ID")]
    NoId,
    /// It does not say of which node it is.
    #[error(
        "it does not say of which node it is; hint: add it when it is saved: `jq --arg id $ID '. + {{NodeID: $id}}'`"
    )]
    NoNode,
    /// An amount is below zero.
    #[error("{field} {value} is below zero")]
    BelowZero {
        /// The field.
        field: &'static str,
        /// Its value.
        value: i64,
    },
}

/// Jobs without a namespace are in this one.
const DEFAULT_NAMESPACE: &str = "default";

fn namespace_of(namespace: &str) -> &str {
    if namespace.is_empty() { DEFAULT_NAMESPACE } else { namespace }
}
