//! Headroom decides: `Snapshot + Policy + Memory + now --decide()--> Plan + Memory`.
//!
//! This crate is a function of values. It reads no clock, no environment, no file and no network, it has no threads
//! and iterates over nothing in random order, so that the same input gives the same plan everywhere.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unreachable)
)]

pub mod backoff;
pub mod balance;
mod check;
mod decide;
pub mod estimator;
pub mod expander;
pub mod fixture;
pub mod guard;
pub mod keys;
pub mod limits;
pub mod machines;
pub mod membership;
pub mod memory;
pub mod plan;
pub mod policy;
pub mod pricing;
pub mod quantity;
mod round;
pub mod scale_down;
pub mod scheduling;
mod slack;
pub mod snapshot;
pub mod strategy;
pub mod wake;

pub use check::{Invariant, Violation, check};
pub use decide::{decide, inquire};
