//! The configuration file: one YAML file that becomes a [`Config`].
//!
//! Text becomes a tree that knows its places (`tree`), and the tree is read against the declarations (`file`), which
//! are put together from kinds of values (`kind`) and maps with known keys (`record`). Reading goes on after an error,
//! so that all of them are reported at once. The JSON schema and the reference page come from the same declarations.

pub(crate) mod duration;
pub(crate) mod file;
pub(crate) mod kind;
pub(crate) mod problem;
pub(crate) mod record;
pub(crate) mod reference;
mod schema;
pub(crate) mod shape;
pub(crate) mod suggest;
pub(crate) mod tree;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use headroom_core::policy::Policy;
use jiff::SignedDuration;

pub use file::{Cloud, Cluster};
pub use problem::ConfigErrors;
use problem::{Problem, Problems};

/// Everything that the configuration file says, with defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What is decided.
    pub policy: Policy,
    /// Where the nodes are.
    pub cluster: Cluster,
    /// Who makes and ends the machines of each group, by its name.
    pub clouds: BTreeMap<Arc<str>, Cloud>,
    /// The longest time between two rounds; a change in the cluster starts one sooner.
    pub interval: SignedDuration,
}

/// Reads the configuration file at `path`. All errors are reported at once.
pub fn load(path: &Path) -> Result<Config, ConfigErrors> {
    let name = path.display().to_string();
    let text = read_text(path, &name)?;
    parse(&name, &text)
}

/// Reads a configuration from `text`; `name` is what errors call the file.
pub fn parse(name: &str, text: &str) -> Result<Config, ConfigErrors> {
    let mut problems = Problems::default();
    let root = tree::read(text, &mut problems);
    if root.is_none() && problems.is_empty() {
        problems.add(Problem::of_file(format!("{name} is empty"), "start with a list of `groups:`"));
    }
    let file = root.and_then(|root| (file::file().kind().read)(&root, &mut problems));
    problems.none_or(name, text, file).map(Config::from)
}

/// The JSON schema of the configuration file.
pub fn schema() -> String {
    let mut schema = schema::schema(&file::file().kind().shape);
    // Whether maps keep their order is up to a feature that any crate of the build may turn on.
    schema.sort_all_objects();
    format!("{schema:#}\n")
}

/// The reference page of the configuration file, in Markdown.
pub fn reference() -> String {
    reference::reference(&file::file().kind().shape)
}

/// The text of the file at `path`.
pub(crate) fn read_text(path: &Path, name: &str) -> Result<String, ConfigErrors> {
    let of_file = |message: String, hint| ConfigErrors::new(name, "", vec![Problem::of_file(message, hint)]);
    let bytes = std::fs::read(path).map_err(|error| {
        of_file(format!("cannot read {name}: {error}"), "give the path of a file that you may read")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("{name} is not text in UTF-8 from line {line} on");
        of_file(message, "save it as UTF-8, the usual encoding of YAML")
    })
}
