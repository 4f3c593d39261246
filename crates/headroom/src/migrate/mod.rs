//! Configurations of other autoscalers, turned into `headroom.yaml`.

pub mod cluster_autoscaler;
mod command_line;
mod config_map;
pub mod escalator;
pub mod manifest;
mod yaml;

pub use command_line::CommandLine;
