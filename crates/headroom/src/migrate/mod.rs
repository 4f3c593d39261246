//! Configurations of other autoscalers, turned into `headroom.yaml`.

pub mod escalator;
mod go_duration;
mod yaml;

pub use go_duration::parse as parse_go_duration;
