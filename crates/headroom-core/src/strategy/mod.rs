//! How the size of a group is decided: one file or folder for each strategy.

pub(crate) mod pending;
pub mod utilization;
