//! Evaluations.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::or_default;

/// Why a group found no node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Failed {
    /// By class, how many nodes do not suit it.
    #[serde(deserialize_with = "or_default")]
    pub class_filtered: BTreeMap<String, u32>,
    /// By class, how many nodes suit it and have no room.
    #[serde(deserialize_with = "or_default")]
    pub class_exhausted: BTreeMap<String, u32>,
}

/// One look of the scheduler at a job.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Evaluation {
    /// Unique.
    #[serde(rename = "ID", deserialize_with = "or_default")]
    pub id: String,
    /// Of its job.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// The job.
    #[serde(rename = "JobID", deserialize_with = "or_default")]
    pub job_id: String,
    /// `blocked` when allocations wait for a node.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    /// The one that left allocations waiting, and says how many.
    #[serde(deserialize_with = "or_default")]
    pub previous_eval: String,
    /// By group, how many wait.
    #[serde(deserialize_with = "or_default")]
    pub queued_allocations: BTreeMap<String, u32>,
    /// By group, what was in the way.
    #[serde(rename = "FailedTGAllocs", deserialize_with = "or_default")]
    pub failed: BTreeMap<String, Failed>,
    /// Grows with every change.
    #[serde(deserialize_with = "or_default")]
    pub modify_index: u64,
}
