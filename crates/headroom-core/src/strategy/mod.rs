//! How the size of a group is decided: one file or folder for each strategy.

mod arrivals;
mod level;
pub mod pending;
pub(crate) mod pool;
mod removed;
pub mod utilization;
mod write_off;
