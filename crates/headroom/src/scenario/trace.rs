//! Recorded traces as scenarios: Alibaba's cluster-trace-gpu-v2023 ("openb").

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use headroom_core::policy::{Group, Policy, Selection, Size, Strategy, Utilization};
use headroom_core::pricing::UnitPrices;
use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Labels, PodSpec, SharedSpec};
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

const POD_COLUMNS: &str = "name, cpu_milli, memory_mib, num_gpu, creation_time, deletion_time, scheduled_time";
const NODE_COLUMNS: &str = "gpu";
const GPU: &str = "nvidia.com/gpu";
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
    let name = |path: &Path| path.display().to_string();
    read_openb(&name(pods), open(pods)?, &name(nodes), open(nodes)?)
}

fn read_openb(pods: &str, pod_rows: impl Read, nodes: &str, node_rows: impl Read) -> Result<Scenario, TraceError> {
    let pod_rows: Vec<PodRow> = rows(pods, pod_rows, POD_COLUMNS)?;
    let node_rows: Vec<NodeRow> = rows(nodes, node_rows, NODE_COLUMNS)?;
    let Some(last) = pod_rows.iter().map(|row| row.deletion_time).max() else {
        return Err(TraceError::NoPod { file: pods.to_owned() });
    };
    let sorts = [Sort::new("cpu", 64_000, 262_144 * MIB, 0), Sort::new("gpu", 96_000, 393_216 * MIB, 8)];
    let limit = |sort: &Sort| {
        let nodes = node_rows.iter().filter(|row| (row.gpu > 0) == (sort.gpus > 0)).count();
        u32::try_from(nodes).unwrap_or(u32::MAX)
    };
    Ok(Scenario {
        policy: Policy { groups: sorts.iter().map(|sort| sort.policy(limit(sort))).collect(), ..Policy::default() },
        start: START,
        // Until the last pod has gone and its node after it.
        duration: SignedDuration::from_secs(i64::from(last)) + SignedDuration::from_hours(1),
        interval: ROUND,
        debounce: ROUND,
        every_round: false,
        seed: 1,
        placement: Placement::LeastAllocated,
        groups: sorts.iter().map(|sort| sort.machines(limit(sort))).collect(),
        daemon_sets: Vec::new(),
        workloads: vec![Workload {
            name: "openb".into(),
            shapes: Vec::new(),
            demand: Demand::Recorded(pod_rows.into_iter().map(|row| arrival(row, &sorts)).collect()),
            runs_for: None,
        }],
        incidents: Vec::new(),
    })
}

/// One of the two sorts of machines that the trace's pods run on here.
struct Sort {
    name: &'static str,
    allocatable: Resources,
    gpus: i64,
}

impl Sort {
    fn new(name: &'static str, cpu: i64, memory: i64, gpus: i64) -> Self {
        let mut allocatable = Resources { pods: 110, ..Resources::new(cpu, memory) };
        allocatable.set_extended(GPU, gpus);
        Sort { name, allocatable, gpus }
    }

    fn labels(&self) -> Labels {
        Labels::from_iter([("pool", self.name)])
    }

    fn policy(&self, max: u32) -> Group {
        let select = Selection { labels: self.labels(), capacity: None };
        let utilization = Utilization {
            // A pod may lack a GPU on nodes whose cpu and memory are hardly used.
            scale_on_starve: true,
            // Some of the trace's pods run for days, and each that is cut off runs again from its start.
            hard_grace: SignedDuration::from_hours(7 * 24),
            ..Utilization::default()
        };
        Group {
            size: Size { min: Some(0), max: Some(max) },
            strategy: Strategy::Utilization(utilization),
            ..Group::new(self.name, select)
        }
    }

    fn machines(&self, max: u32) -> NodeGroup {
        let node_type = NodeType {
            name: self.name.into(),
            allocatable: self.allocatable.clone(),
            capacity: self.allocatable.clone(),
            // The trace has no prices: these are what such machines cost on an average cloud.
            price: UnitPrices::default().price_of_one(&self.allocatable),
            boot: Span { min: SignedDuration::from_secs(60), max: SignedDuration::from_secs(180) },
            warm_up: Span::exactly(SignedDuration::from_secs(10)),
            ..NodeType::default()
        };
        NodeGroup {
            name: self.name.into(),
            node_type: Arc::new(node_type),
            labels: self.labels(),
            max,
            lists_machines: true,
            knows_template: true,
            ..NodeGroup::default()
        }
    }
}

fn arrival(row: PodRow, sorts: &[Sort; 2]) -> Arrival {
    let [cpu, gpu] = sorts;
    let sort = if row.num_gpu > 0 { gpu } else { cpu };
    let memory = i64::from(row.memory_mib) * MIB;
    let mut requests = Resources { pods: 1, ..Resources::new(i64::from(row.cpu_milli), memory) };
    requests.set_extended(GPU, i64::from(row.num_gpu));
    let spec = PodSpec {
        namespace: "openb".into(),
        requests,
        node_selector: sort.labels(),
        controller: Some("Job/openb".into()),
        ..PodSpec::default()
    };
    let since_start = |seconds: u32| START + SignedDuration::from_secs(i64::from(seconds));
    let ran = row.scheduled_time.map(|scheduled| row.deletion_time.saturating_sub(scheduled));
    Arrival {
        name: row.name,
        at: since_start(row.creation_time),
        spec: SharedSpec::new(spec),
        runs_for: ran.map(|seconds| SignedDuration::from_secs(i64::from(seconds))),
        leaves_at: if ran.is_none() { Some(since_start(row.deletion_time)) } else { None },
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
