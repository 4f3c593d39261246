//! Allocations.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::node::{Cpu, Disk, Memory};
use super::{Job, Lifecycle, or_default};

/// An allocation: one instance of a task group, and the node that it was given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Allocation {
    /// Unique.
    #[serde(rename = "ID", deserialize_with = "or_default")]
    pub id: String,
    /// `JOB.GROUP[INDEX]`: the same for one that takes another one's place.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// Of its job.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// Its node.
    #[serde(rename = "NodeID", deserialize_with = "or_default")]
    pub node_id: String,
    /// Its job.
    #[serde(rename = "JobID", deserialize_with = "or_default")]
    pub job_id: String,
    /// `service`, `batch`, `system` or `sysbatch`; only lists say it.
    pub job_type: Option<String>,
    /// Only a whole allocation has it.
    pub job: Option<Job>,
    /// Its group in the job.
    #[serde(deserialize_with = "or_default")]
    pub task_group: String,
    /// `run`, `stop` or `evict`.
    #[serde(deserialize_with = "or_default")]
    pub desired_status: String,
    /// `pending`, `running`, `complete`, `failed`, `lost` or `unknown`.
    #[serde(deserialize_with = "or_default")]
    pub client_status: String,
    /// What it holds; lists leave it out unless asked with `resources=true`.
    pub allocated_resources: Option<AllocatedResources>,
    /// In nanoseconds.
    #[serde(deserialize_with = "or_default")]
    pub create_time: i64,
    /// In nanoseconds.
    #[serde(deserialize_with = "or_default")]
    pub modify_time: i64,
}

/// What an allocation holds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocatedResources {
    /// By name.
    #[serde(deserialize_with = "or_default")]
    pub tasks: BTreeMap<String, AllocatedTask>,
    /// By name: when each task runs, null for one that runs all the time.
    #[serde(deserialize_with = "or_default")]
    pub task_lifecycles: BTreeMap<String, Option<Lifecycle>>,
    /// What the tasks share.
    #[serde(deserialize_with = "or_default")]
    pub shared: Disk,
}

/// What one task holds.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocatedTask {
    /// Cpu.
    #[serde(deserialize_with = "or_default")]
    pub cpu: Cpu,
    /// Memory.
    #[serde(deserialize_with = "or_default")]
    pub memory: Memory,
}
