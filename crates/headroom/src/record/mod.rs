//! Recordings: what every round saw and decided, one JSON object on each line.
//!
//! The first line is a [`Header`]; every other one is a round: its number, its instant, what had changed since the
//! round before, and the plan. What is remembered between rounds is written only where it does not follow from the
//! round before: at the start, and when a program goes on after a restart. So every round can be decided again.

mod read;
mod replay;
mod write;

use headroom_core::policy::Policy;
use serde::{Deserialize, Serialize};

pub use read::RecordingError;
pub use replay::{Difference, Replayed, replay};
pub use write::Recorder;

/// Goes up when the lines change their meaning.
const VERSION: u32 = 1;

/// The first line of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The version of the format.
    pub recording: u32,
    /// The version of the program that wrote it.
    pub headroom: String,
    /// What decided.
    pub policy: Policy,
}

impl Header {
    fn new(policy: &Policy) -> Self {
        Header { recording: VERSION, headroom: env!("CARGO_PKG_VERSION").to_owned(), policy: policy.clone() }
    }
}
