//! Why a dump cannot be read.

use super::Place;

/// Why a dump cannot be read. Nothing of it is used then: what it lacks would look like free capacity.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The file cannot be opened or read.
    #[error("cannot read {file}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no text.
    #[error("{place}: this is no UTF-8 text; hint: write it with kubectl get nodes,pods -A -o json > dump.json")]
    NotText {
        /// Where the first byte is that fits in no text.
        place: Place,
    },
    /// The text breaks off.
    #[error("{place}: the text breaks off in the middle of an object; hint: the file is cut off, write it again")]
    Truncated {
        /// The end of the text.
        place: Place,
    },
    /// The text follows neither JSON nor YAML.
    #[error("{place}: {problem}; hint: write dumps with -o json or -o yaml")]
    Syntax {
        /// Where it fails.
        place: Place,
        /// What is wrong.
        problem: String,
    },
    /// There is nothing that a plan could be about.
    #[error(
        "no node and no pod in {files}; hint: kubectl get nodes,pods -A -o json > dump.json; docs/nomad.md says what to save of Nomad"
    )]
    Nothing {
        /// The files read.
        files: String,
    },
}
