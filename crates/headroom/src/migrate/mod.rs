//! Configurations of other autoscalers, turned into `headroom.yaml`.

pub mod cluster_autoscaler;
mod command_line;
mod config_map;
pub mod escalator;
mod go_duration;
pub mod manifest;
mod yaml;

pub use command_line::CommandLine;
pub use go_duration::parse as parse_go_duration;
