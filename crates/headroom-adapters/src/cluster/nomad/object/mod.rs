//! Nomad's objects as its HTTP API writes them, as far as Headroom reads them. A field that is missing or null has its empty
//! value.

mod allocation;
mod evaluation;
mod job;
mod node;
mod stats;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

pub use allocation::{AllocatedResources, AllocatedTask, Allocation};
pub use evaluation::Evaluation;
pub use job::{Constraint, Job, JobSummary, Lifecycle, Task, TaskGroup, TaskResources};
pub use node::{Node, NodeEvent, NodeResources};
pub use stats::{ClientStats, Core};

/// What an object is. Nomad's objects do not say it; some fields do that no other kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of `/v1/nodes` or `/v1/node/ID`.
    Node,
    /// Of `/v1/allocations`, `/v1/node/ID/allocations` and the like.
    Allocation,
    /// Of `/v1/jobs` or `/v1/job/ID`.
    Job,
    /// Of `/v1/job/ID/summary`.
    JobSummary,
    /// Of `/v1/evaluations` and the like.
    Evaluation,
    /// Of `/v1/client/stats`, with the ID of the node.
    ClientStats,
}

impl Kind {
    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Node => "node",
            Kind::Allocation => "allocation",
            Kind::Job => "job",
            Kind::JobSummary => "job summary",
            Kind::Evaluation => "evaluation",
            Kind::ClientStats => "client's stats",
        }
    }
}

/// The fields by which the kind of an object is told, and what it is called.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Header {
    #[serde(rename = "ID")]
    id: Option<String>,
    #[serde(rename = "JobID")]
    job_id: Option<String>,
    scheduling_eligibility: Option<IgnoredAny>,
    client_status: Option<IgnoredAny>,
    triggered_by: Option<IgnoredAny>,
    task_groups: Option<IgnoredAny>,
    job_summary: Option<IgnoredAny>,
    summary: Option<IgnoredAny>,
    #[serde(rename = "NodeID")]
    node_id: Option<String>,
    #[serde(rename = "CPUTicksConsumed")]
    cpu_ticks_consumed: Option<IgnoredAny>,
}

impl Header {
    /// The kind; None when it is no object of Nomad.
    pub fn kind(&self) -> Option<Kind> {
        let kinds = [
            (self.scheduling_eligibility.is_some(), Kind::Node),
            (self.client_status.is_some(), Kind::Allocation),
            (self.triggered_by.is_some(), Kind::Evaluation),
            (self.task_groups.is_some() || self.job_summary.is_some(), Kind::Job),
            (self.summary.is_some() && self.job_id.is_some(), Kind::JobSummary),
            (self.cpu_ticks_consumed.is_some(), Kind::ClientStats),
        ];
        kinds.into_iter().find(|(is, _)| *is).map(|(_, kind)| kind)
    }

    /// Its id, or that of its job or node; empty when it has none.
    pub fn id(&self) -> &str {
        self.id.as_deref().or(self.job_id.as_deref()).or(self.node_id.as_deref()).unwrap_or_default()
    }
}

/// Nomad writes null for what is empty.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
