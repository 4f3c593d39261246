//! Scenario files: one YAML file that becomes a [`Scenario`] of the simulator.

mod file;
mod reference;
pub mod trace;

use std::path::Path;

use headroom_sim::Scenario;

use crate::config::problem::{Problem, Problems};
use crate::config::{ConfigErrors, read_text, tree};

/// The scenario that is played when none is given: a day in a small company.
pub const BUILT_IN: &str = include_str!("day.yaml");

pub use reference::reference;

/// Reads the scenario file at `path`. All errors are reported at once.
pub fn load(path: &Path) -> Result<Scenario, ConfigErrors> {
    let name = path.display().to_string();
    parse(&name, &read_text(path, &name)?)
}

/// Reads a scenario from `text`; `name` is what errors call the file.
pub fn parse(name: &str, text: &str) -> Result<Scenario, ConfigErrors> {
    let mut problems = Problems::default();
    let root = tree::read(text, &mut problems);
    if root.is_none() && problems.is_empty() {
        problems.add(Problem::of_file(format!("{name} is empty"), "start with `groups:`, as in headroom.yaml"));
    }
    let file = root.and_then(|root| (file::file().kind().read)(&root, &mut problems));
    problems.none_or(name, text, file).map(file::File::scenario)
}
