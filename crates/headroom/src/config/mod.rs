//! The configuration file: one YAML file that becomes a [`Config`].
//!
//! Text becomes a tree that knows its places (`tree`), and the tree is read against the declarations (`file`), which
//! are put together from kinds of values (`kind`) and maps with known keys (`record`). Reading goes on after an error,
//! so that all of them are reported at once. The JSON schema and the reference page come from the same declarations.

mod aws;
pub(crate) mod duration;
mod externalgrpc;
pub(crate) mod file;
mod found;
pub(crate) mod kind;
mod kwok;
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

use file::growth::Grows;
pub use file::{Aws, Cloud, Cluster, CpuUsage, ExternalGrpc, Kwok, Live, Nomad, OtherAutoscalers, Servers, State};
pub use found::Found;
pub use problem::{ConfigErrors, ConfigWarnings};
use problem::{Problem, Problems};
use record::Record;

/// Everything that the configuration file says, with defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What is decided.
    pub policy: Policy,
    /// Where the nodes are.
    pub cluster: Cluster,
    /// Who makes and ends the machines of each group, by its name.
    pub clouds: BTreeMap<Arc<str>, Cloud>,
    /// Which groups clouds are asked for, beside those that are listed.
    pub discover: Vec<Cloud>,
    /// Groups that clouds were found to have and that are left out, since others have their names.
    pub taken: Vec<Arc<str>>,
    /// The longest time between two rounds; a change in the cluster starts one sooner.
    pub interval: SignedDuration,
    /// How the running program stands beside others and shows itself.
    pub live: Live,
    /// What is right but can hardly be meant.
    pub warnings: ConfigWarnings,
}

/// Reads the configuration file at `path`, with no group that would have to be found. All errors are reported at once.
pub fn load(path: &Path) -> Result<Config, ConfigErrors> {
    load_with(path, &Found::default())
}

/// The same, with the groups that clouds were found to have.
pub fn load_with(path: &Path, found: &Found) -> Result<Config, ConfigErrors> {
    let name = path.display().to_string();
    read(&name, &read_text(path, &name)?, folder(path), found)
}

/// Reads a configuration from `text`; `name` is what errors call the file. Paths in it are relative to the working
/// directory.
pub fn parse(name: &str, text: &str) -> Result<Config, ConfigErrors> {
    parse_with(name, text, &Found::default())
}

/// The same, with the groups that clouds were found to have.
pub fn parse_with(name: &str, text: &str, found: &Found) -> Result<Config, ConfigErrors> {
    read(name, text, Path::new(""), found)
}

fn read(name: &str, text: &str, folder: &Path, found: &Found) -> Result<Config, ConfigErrors> {
    let mut file = read_file(name, text, folder, file::file(), "start with a list of `groups:`")?;
    let warnings = ConfigWarnings::new(name, text, file.warnings());
    file.add(found);
    Ok(Config { warnings, ..file.into() })
}

/// Reads a file with such keys, and the files that it names, whose paths are relative to `folder`.
pub(crate) fn read_file<F: Grows + 'static>(
    name: &str,
    text: &str,
    folder: &Path,
    record: Record<F>,
    start: &str,
) -> Result<F, ConfigErrors> {
    let mut problems = Problems::default();
    let root = tree::read(text, &mut problems);
    if root.is_none() && problems.is_empty() {
        problems.add(Problem::of_file(format!("{name} is empty"), start));
    }
    let mut file = root.and_then(|root| (record.kind().read)(&root, &mut problems));
    let named = file.as_mut().map_or(Ok(()), |file| file.load(folder, &mut problems));
    match (problems.none_or(name, text, file), named) {
        (Ok(file), Ok(())) => Ok(file),
        (Ok(_), Err(errors)) | (Err(errors), Ok(())) => Err(errors),
        (Err(errors), Err(others)) => Err(errors.and(others)),
    }
}

/// Where the paths in the file at `path` start.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
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
    text_of(path, name).map_err(|problem| ConfigErrors::new(name, "", vec![problem]))
}

/// The same, where the file is named in another one.
fn text_of(path: &Path, name: &str) -> Result<String, Problem> {
    let bytes = std::fs::read(path).map_err(|error| {
        Problem::of_file(format!("cannot read {name}: {error}"), "give the path of a file that you may read")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("{name} is not text in UTF-8 from line {line} on");
        Problem::of_file(message, "save it as UTF-8, the usual encoding of YAML")
    })
}
