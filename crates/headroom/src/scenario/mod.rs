//! Scenario files: one YAML file that becomes a [`Scenario`] of the simulator.

mod file;
mod reference;
pub mod trace;

use std::path::Path;

use headroom_sim::Scenario;

use crate::config::{self, ConfigErrors, read_text};

/// The scenario that is played when none is given: a day in a small company.
pub const BUILT_IN: &str = include_str!("day.yaml");

/// A Nomad cluster: hardware fails over, pools grow until the memory is there, load falls, servers are drained and go.
pub const NOMAD: &str = include_str!("nomad.yaml");

pub use reference::reference;

/// Reads the scenario file at `path`. All errors are reported at once.
pub fn load(path: &Path) -> Result<Scenario, ConfigErrors> {
    let name = path.display().to_string();
    read(&name, &read_text(path, &name)?, config::folder(path))
}

/// Reads a scenario from `text`; `name` is what errors call the file. Paths in it are relative to the working directory.
pub fn parse(name: &str, text: &str) -> Result<Scenario, ConfigErrors> {
    read(name, text, Path::new(""))
}

fn read(name: &str, text: &str, folder: &Path) -> Result<Scenario, ConfigErrors> {
    let start = "start with `groups:`, as in headroom.yaml";
    config::read_file(name, text, folder, file::file(), start).map(file::File::scenario)
}
