//! Contract tests with an API server that keeps objects and versions in memory.

mod api;
mod buffers;
mod connection;
mod election;
mod events;
mod evictions;
mod nodes;
mod rivals;
mod status;
mod store;
mod taints;

use api::{Api, Reaction};
