//! Dumps: what `kubectl get -o json` or `-o yaml`, `kwokctl snapshot export` and Nomad's HTTP API wrote, read into a
//! snapshot.
//!
//! A file may hold one object or many: lists, YAML documents, JSON values one after the other, or an array of objects.
//! Objects go into the snapshot one by one, so that reading takes little more memory than the text itself. An object
//! that cannot be understood is skipped with a warning; a text that is no JSON or YAML, or that breaks off, is an
//! error, because what is missing from it is not known.

mod coverage;
mod error;
mod item;
mod json;
mod nomad;
mod place;
mod pools;
mod reader;
mod round;
mod source;
mod yaml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use headroom_core::snapshot::Builder;
use jiff::Timestamp;

pub use error::DumpError;
pub use place::Place;
pub use pools::{Apart, Pools, discover};
pub use reader::{Reader, Warning};
pub use round::{Assumed, Now, Round};

/// What was read from dumps, or from a running cluster.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// Where it was read from, as the user named it.
    pub files: Vec<String>,
    /// Holds the snapshot.
    pub builder: Builder,
    /// What was skipped or read in another way than it was written.
    pub warnings: Vec<Warning>,
    /// How many nodes and pods could not be understood: each has a warning.
    pub skipped: u64,
    /// How many objects of each kind there were, by the name that the API gives the kind.
    pub counts: BTreeMap<String, u64>,
    /// The objects are those of a Nomad cluster.
    pub nomad: bool,
    /// The latest instant that the objects mention: about when the dump was taken.
    pub newest: Option<Timestamp>,
}

/// The text of `file`, or of standard input when it is `-`.
pub(crate) fn read_text(file: &Path) -> Result<String, DumpError> {
    source::read(file)
}

/// Reads all `files` into one dump; `-` is standard input. Of an object that occurs twice the last one counts.
pub fn read(files: &[PathBuf]) -> Result<Dump, DumpError> {
    let mut reader = Reader::default();
    for file in files {
        let text = source::read(file)?;
        reader.read(&file.display().to_string(), &text)?;
    }
    reader.finish()
}
