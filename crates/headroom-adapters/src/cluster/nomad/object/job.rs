//! Jobs.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::or_default;

/// A job, whole or as lists have it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Job {
    /// Unique in its namespace.
    #[serde(rename = "ID", deserialize_with = "or_default")]
    pub id: String,
    /// Lists of Nomad 1.0 leave it out; their summaries have it.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// `service`, `batch`, `system` or `sysbatch`.
    #[serde(rename = "Type", deserialize_with = "or_default")]
    pub kind: String,
    /// `pending`, `running` or `dead`.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    /// It is to end.
    #[serde(deserialize_with = "or_default")]
    pub stop: bool,
    /// Where it may run; may hold patterns.
    #[serde(deserialize_with = "or_default")]
    pub datacenters: Vec<String>,
    /// In which node pool, from Nomad 1.6 on.
    #[serde(deserialize_with = "or_default")]
    pub node_pool: String,
    /// For all groups.
    #[serde(deserialize_with = "or_default")]
    pub constraints: Vec<Constraint>,
    /// Lists leave them out.
    pub task_groups: Option<Vec<TaskGroup>>,
    /// Only lists have it.
    pub job_summary: Option<JobSummary>,
    /// Grows with every change of what it asks for.
    #[serde(deserialize_with = "or_default")]
    pub job_modify_index: u64,
}

/// How many allocations each group of a job has.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobSummary {
    /// The job.
    #[serde(rename = "JobID", deserialize_with = "or_default")]
    pub job_id: String,
    /// Its namespace.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// By group.
    #[serde(deserialize_with = "or_default")]
    pub summary: BTreeMap<String, GroupSummary>,
}

/// How many allocations a group has.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct GroupSummary {
    /// Wait for a node.
    #[serde(deserialize_with = "or_default")]
    pub queued: u32,
    /// Run.
    #[serde(deserialize_with = "or_default")]
    pub running: u32,
    /// Have a node and do not run yet.
    #[serde(deserialize_with = "or_default")]
    pub starting: u32,
}

/// Tasks that run together.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskGroup {
    /// Unique in its job.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// For all of its tasks.
    #[serde(deserialize_with = "or_default")]
    pub constraints: Vec<Constraint>,
    /// The tasks.
    #[serde(deserialize_with = "or_default")]
    pub tasks: Vec<Task>,
    /// Their disk.
    #[serde(deserialize_with = "or_default")]
    pub ephemeral_disk: EphemeralDisk,
}

/// The disk of a group.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct EphemeralDisk {
    /// In MiB.
    #[serde(rename = "SizeMB", deserialize_with = "or_default")]
    pub size_mb: i64,
}

/// One task.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Task {
    /// Its own.
    #[serde(deserialize_with = "or_default")]
    pub constraints: Vec<Constraint>,
    /// What it asks for.
    #[serde(deserialize_with = "or_default")]
    pub resources: TaskResources,
    /// When it runs; None all the time.
    pub lifecycle: Option<Lifecycle>,
}

/// What a task asks for.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TaskResources {
    /// In MHz.
    #[serde(rename = "CPU", deserialize_with = "or_default")]
    pub cpu: i64,
    /// In MiB.
    #[serde(rename = "MemoryMB", deserialize_with = "or_default")]
    pub memory_mb: i64,
}

/// When a task runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Lifecycle {
    /// `prestart`, `poststart` or `poststop`.
    #[serde(deserialize_with = "or_default")]
    pub hook: String,
    /// It goes on beside the main tasks.
    #[serde(deserialize_with = "or_default")]
    pub sidecar: bool,
}

/// What a job asks of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Constraint {
    /// For example `${node.class}`.
    #[serde(rename = "LTarget", deserialize_with = "or_default")]
    pub left: String,
    /// What it is compared with.
    #[serde(rename = "RTarget", deserialize_with = "or_default")]
    pub right: String,
    /// How; empty is `=`.
    #[serde(rename = "Operand", deserialize_with = "or_default")]
    pub operand: String,
}
