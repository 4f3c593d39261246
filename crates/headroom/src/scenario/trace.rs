//! Recorded traces as scenarios: Alibaba's cluster-trace-gpu-v2023 ("openb").

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use headroom_core::policy::{Group, Policy, Selection, Size, Strategy, Utilization};
use headroom_core::quantity::{Money, Resources};
use headroom_core::snapshot::{Labels, PodSpec, SharedSpec};
use headroom_sim::scenario::{
    Arrival, Demand, NodeGroup, NodeType, OutOfStock, Placement, Scenario, Span, Workload,
};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// What is wrong with a trace.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be opened.
    #[error("cannot open {file}: {error}; hint: give the path of a CSV file of the trace")]
    Open {
        /// The file.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// A row is not as it should be.
    #[error("{file}: {error}; hint: the first line must name these columns: {columns}")]
    Row {
        /// The file.
        file: String,
        /// What is wrong and where.
        error: csv::Error,
        /// The columns that are read.
        columns: &'static str,
    },
    /// There is no pod.
    #[error("{file} has no pod; hint: give the trace's list of pods")]
    NoPod {
        /// The file.
        file: String,
    },
}

const POD_COLUMNS: &str = "name, cpu_milli, memory_mib, num_gpu, creation_time, deletion_time, scheduled_time";
const NODE_COLUMNS: &str = "gpu";
const GPU: &str = "nvidia.com/gpu";
const MIB: i64 = 1 << 20;

/// A round every minute.
const ROUND: SignedDuration = SignedDuration::from_secs(60);

/// What is read of a row of the list of pods. Times are in seconds since the start of the trace.
#[derive(Debug, Deserialize)]
struct PodRow {
    name: Box<str>,
    cpu_milli: u32,
    memory_mib: u32,
    num_gpu: u32,
    creation_time: u32,
    deletion_time: u32,
    scheduled_time: Option<u32>,
}

/// What is read of a row of the list of nodes.
#[derive(Debug, Deserialize)]
struct NodeRow {
    gpu: u32,
}

/// The trace as a scenario with two groups: pods with GPUs go to `gpu`, the others to `cpu`. A group may have as many
/// nodes as the trace's cluster has of its sort.
///
/// A pod runs as long as it did in the trace, counted from when it gets its node here. One that never ran leaves when
/// it did in the trace.
pub fn openb(pods: &Path, nodes: &Path) -> Result<Scenario, TraceError> {
    let pod_rows: Vec<PodRow> = rows(&open(pods)?, pods, POD_COLUMNS)?;
    let node_rows: Vec<NodeRow> = rows(&open(nodes)?, nodes, NODE_COLUMNS)?;
    todo!()
}
