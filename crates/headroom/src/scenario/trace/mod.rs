//! Recorded traces as scenarios: Alibaba's cluster-trace-gpu-v2023 ("openb").

mod by_pods;
mod by_utilization;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use headroom_core::policy::{Policy, ScaleDownPolicy};
use headroom_core::pricing::UnitPrices;
use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Labels, PodSpec, SharedSpec, Taint};
use headroom_sim::scenario::{Arrival, Demand, NodeGroup, NodeType, Placement, Scenario, Span, Workload};
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

const POD_COLUMNS: &str =
    "name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, creation_time, deletion_time, scheduled_time";
const NODE_COLUMNS: &str = "cpu_milli, memory_mib, gpu, model";
const MIB: i64 = 1 << 20;

/// The trace counts from zero; any start does.
const START: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// A round every minute.
const ROUND: SignedDuration = SignedDuration::from_secs(60);

/// What is read of a row of the list of pods. Times are in seconds since the start of the trace.
#[derive(Debug, Deserialize)]
struct PodRow {
    name: Box<str>,
    cpu_milli: u32,
    memory_mib: u32,
    num_gpu: u32,
    /// Of each of its GPUs it has so many thousandths.
    gpu_milli: u32,
    /// The models of GPU that will do, with `|` between them; empty for any.
    gpu_spec: Box<str>,
    creation_time: u32,
    deletion_time: u32,
    scheduled_time: Option<u32>,
}

/// What is read of a row of the list of nodes.
#[derive(Debug, Deserialize)]
struct NodeRow {
    cpu_milli: u32,
    memory_mib: u32,
    gpu: u32,
    /// The model of its GPUs.
    model: Box<str>,
}

/// How the groups of a trace's cluster are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Scaling {
    /// A group for each kind of node that the trace has, grown for the pods that wait.
    #[default]
    Pending,
    /// Two groups, one of them with GPUs, by their utilisation.
    Utilization,
}

/// The trace as a scenario. A group may have as many nodes as the trace's cluster has of its kind.
///
/// A pod runs as long as it did in the trace, counted from when it gets its node here. One that never ran leaves when
/// it did in the trace.
pub fn openb(pods: &Path, nodes: &Path, scaling: Scaling) -> Result<Scenario, TraceError> {
    let name = |path: &Path| path.display().to_string();
    let pod_rows: Vec<PodRow> = rows(&name(pods), open(pods)?, POD_COLUMNS)?;
    let node_rows: Vec<NodeRow> = rows(&name(nodes), open(nodes)?, NODE_COLUMNS)?;
    let Some(last) = pod_rows.iter().map(|row| row.deletion_time).max() else {
        return Err(TraceError::NoPod { file: name(pods) });
    };
    let (groups, arrivals) = match scaling {
        Scaling::Pending => by_pods::scenario(&pod_rows, &node_rows),
        Scaling::Utilization => by_utilization::scenario(&pod_rows, &node_rows),
    };
    let (policies, machines) = groups.into_iter().unzip();
    Ok(Scenario {
        policy: Policy { groups: policies, scale_down: Some(ScaleDownPolicy::default()), ..Policy::default() },
        start: START,
        // Until the last pod has gone and its node after it.
        duration: SignedDuration::from_secs(i64::from(last)) + SignedDuration::from_hours(1),
        interval: ROUND,
        debounce: ROUND,
        every_round: false,
        seed: 1,
        placement: Placement::LeastAllocated,
        groups: machines,
        daemon_sets: Vec::new(),
        workloads: vec![Workload {
            name: "openb".into(),
            shapes: Vec::new(),
            demand: Demand::Recorded(arrivals),
            runs_for: None,
            life: Default::default(),
        }],
        incidents: Vec::new(),
    })
}

/// The machines of a group, of one kind.
fn machines(name: &str, allocatable: &Resources, labels: Labels, taints: Vec<Taint>, max: u32) -> NodeGroup {
    let node_type = NodeType {
        name: name.into(),
        allocatable: allocatable.clone(),
        capacity: allocatable.clone(),
        // The trace has no prices: these are what such machines cost on an average cloud.
        price: UnitPrices::default().price_of_one(allocatable),
        boot: Span { min: SignedDuration::from_secs(60), max: SignedDuration::from_secs(180) },
        warm_up: Span::exactly(SignedDuration::from_secs(10)),
        ..NodeType::default()
    };
    NodeGroup {
        name: name.into(),
        node_type: Arc::new(node_type),
        labels,
        taints,
        max,
        lists_machines: true,
        knows_template: true,
        ..NodeGroup::default()
    }
}

impl PodRow {
    /// The pod as it comes, with what it asks for.
    fn arrival(&self, spec: PodSpec) -> Arrival {
        let since_start = |seconds: u32| START + SignedDuration::from_secs(i64::from(seconds));
        let ran = self.scheduled_time.map(|scheduled| self.deletion_time.saturating_sub(scheduled));
        let controller = Some("Job/openb".into());
        Arrival {
            name: self.name.clone(),
            at: since_start(self.creation_time),
            spec: SharedSpec::new(PodSpec { namespace: "openb".into(), controller, ..spec }),
            runs_for: ran.map(|seconds| SignedDuration::from_secs(i64::from(seconds))),
            leaves_at: if ran.is_none() { Some(since_start(self.deletion_time)) } else { None },
        }
    }

    /// Its cpu and memory.
    fn requests(&self) -> Resources {
        let memory = i64::from(self.memory_mib) * MIB;
        Resources { pods: 1, ..Resources::new(i64::from(self.cpu_milli), memory) }
    }
}

fn open(path: &Path) -> Result<File, TraceError> {
    File::open(path).map_err(|error| TraceError::Open { file: path.display().to_string(), error })
}

fn rows<T: DeserializeOwned>(file: &str, input: impl Read, columns: &'static str) -> Result<Vec<T>, TraceError> {
    let rows = csv::Reader::from_reader(input).into_deserialize().collect();
    let rows: Result<Vec<T>, csv::Error> = rows;
    rows.map_err(|error| TraceError::Row { file: file.to_owned(), error, columns })
}
