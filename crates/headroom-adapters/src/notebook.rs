//! The port to where Headroom keeps what must survive a restart.

pub mod folder;
mod pauses;

use std::collections::BTreeMap;

use async_trait::async_trait;
use headroom_core::memory::Memory;
use jiff::Timestamp;

use crate::cluster::ClusterError;

/// Keeps the state between rounds, and what its users told the running program.
#[async_trait]
pub trait Notebook: Send + Sync {
    /// What was remembered last; None when nothing ever was.
    async fn load(&self) -> Result<Option<Memory>, NotebookError>;

    /// Remembers, before what depends on it is carried out. Nothing is written when nothing changed.
    async fn save(&self, memory: &Memory) -> Result<(), NotebookError>;

    /// What users have paused.
    async fn pauses(&self) -> Result<Pauses, NotebookError>;
}

/// What is decided and shown, and not carried out, because a user said so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// Everything.
    pub all: Option<Pause>,
    /// By the name of a group.
    pub groups: BTreeMap<String, Pause>,
}

/// How long something is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Until somebody resumes it.
    Open,
    /// Until an instant.
    Until(Timestamp),
}

impl Pause {
    /// Whether it still holds.
    pub fn holds(self, now: Timestamp) -> bool {
        match self {
            Pause::Open => true,
            Pause::Until(until) => now < until,
        }
    }
}

/// Why something was not kept or is not known.
#[derive(Debug, thiserror::Error)]
pub enum NotebookError {
    /// What was kept cannot be understood. It counts as lost, which is safe, and the next save replaces it.
    #[error(transparent)]
    Lost(Box<dyn std::error::Error + Send + Sync>),
    /// It was not kept, or cannot be read now.
    #[error(transparent)]
    NotKept(Box<dyn std::error::Error + Send + Sync>),
    /// What users have paused is written in a way that nobody understands.
    #[error("{place} is no JSON object of instants: {reason}; hint: headroom resume --all clears it")]
    Pauses {
        /// Where it stands.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The cluster does not do it.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}
