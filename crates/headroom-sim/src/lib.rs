//! Headroom pretends: a simulated cluster and cloud in simulated time, driven by the real `decide`.
//!
//! A [`Scenario`] says what there is and what happens; a [`Simulation`] plays it, one round of Headroom at a time, and
//! a [`Summary`] says what came of it. Machines boot, break and run out; pods come, wait, run and end; a scheduler
//! places them. Nothing reads a clock: months pass in seconds, and the same scenario gives the same bytes everywhere.

mod chart;
mod demand;
mod ledger;
mod oracle;
#[cfg(test)]
mod properties;
mod queue;
mod random;
pub mod scenario;
mod simulation;
mod summary;
mod world;

pub use chart::Chart;
pub use oracle::Fault;
pub use scenario::Scenario;
pub use simulation::{Round, Simulation};
pub use summary::{GroupSummary, Nodes, Pods, Rounds, Scaling, Summary, Waits};
pub use world::Refused;
