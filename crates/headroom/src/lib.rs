//! Headroom, a node autoscaler for Kubernetes and Nomad: the program's parts.
//!
//! [`cli`] holds one file for each subcommand. It reads what the user gave, calls the other modules and prints.

pub mod cli;
pub mod config;
pub mod dump;
mod live;
pub mod metrics;
pub mod migrate;
mod prices;
pub mod record;
pub mod scenario;
pub mod view;
