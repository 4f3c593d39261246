//! The trace on the kinds of nodes that its cluster has, each a group that grows for waiting pods.
//!
//! GPUs are counted in thousandths, by a resource that says so (`headroom_core::scheduling::parts_of_device`): a pod with a
//! share of a GPU needs one GPU with so much free, one with several GPUs as many unused ones. GPU nodes are tainted, as is
//! usual, so that no other pod takes their cores away.

use std::collections::BTreeMap;

use headroom_core::policy::{Group, Pending, Selection, Size, Strategy};
use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Effect, Expression, Labels, NodeTerm, Operator, PodSpec, Taint, Toleration};
use headroom_sim::scenario::{Arrival, NodeGroup};

use super::{MIB, NodeRow, PodRow, machines};

const GPU_MILLI: &str = "alibabacloud.com/gpu-milli";

/// The label that names the model of a node's GPUs.
const MODEL: &str = "alibabacloud.com/gpu-card-model";

/// The taint of nodes with GPUs.
const GPU_TAINT: &str = "gpu";

/// The groups, and the pods as they come.
pub(super) fn scenario(pods: &[PodRow], nodes: &[NodeRow]) -> (Vec<(Group, NodeGroup)>, Vec<Arrival>) {
    let mut kinds: BTreeMap<String, (&NodeRow, u32)> = BTreeMap::new();
    for row in nodes {
        kinds.entry(name(row)).or_insert((row, 0)).1 += 1;
    }
    let groups = kinds.into_iter().map(|(name, (row, count))| group(&name, row, count)).collect();
    (groups, pods.iter().map(arrival).collect())
}

/// What a kind is called: `cpu-32c-256Gi`, `8xG2-96c-384Gi`.
fn name(row: &NodeRow) -> String {
    let NodeRow { cpu_milli, memory_mib, gpu, model } = row;
    let gpus = if *gpu > 0 { format!("{gpu}x{model}") } else { "cpu".to_owned() };
    format!("{gpus}-{}c-{}Gi", cpu_milli / 1000, memory_mib / 1024)
}

fn group(name: &str, row: &NodeRow, max: u32) -> (Group, NodeGroup) {
    let mut allocatable =
        Resources { pods: 110, ..Resources::new(i64::from(row.cpu_milli), i64::from(row.memory_mib) * MIB) };
    allocatable.set_extended(GPU_MILLI, i64::from(row.gpu) * 1_000);
    let pool = Labels::from_iter([("pool", name)]);
    let model = (row.gpu > 0).then_some((MODEL, &*row.model));
    let labels = pool.iter().chain(model).collect();
    let taint = Taint { key: GPU_TAINT.into(), value: "".into(), effect: Effect::NoSchedule };
    let taints = if row.gpu > 0 { vec![taint] } else { Vec::new() };
    let machines = machines(name, &allocatable, labels, taints, max);
    let group = Group {
        size: Size { min: Some(0), max: Some(max) },
        strategy: Strategy::Pending(Pending::default()),
        price: Some(machines.node_type.price),
        ..Group::new(name, Selection { labels: pool, capacity: None })
    };
    (group, machines)
}

fn arrival(row: &PodRow) -> Arrival {
    let mut requests = row.requests();
    requests.set_extended(GPU_MILLI, i64::from(row.num_gpu) * i64::from(row.gpu_milli));
    let models = row.gpu_spec.split('|').filter(|model| !model.is_empty()).map(Box::from).collect::<Vec<_>>();
    let one_of = Expression { key: MODEL.into(), operator: Operator::In, values: models };
    let node_affinity = match one_of.values.is_empty() {
        true => Vec::new(),
        false => vec![NodeTerm { labels: vec![one_of], fields: Vec::new() }],
    };
    let tolerates = Toleration { key: GPU_TAINT.into(), exists: true, ..Toleration::default() };
    row.arrival(PodSpec {
        requests,
        has_affinity: !node_affinity.is_empty(),
        node_affinity,
        tolerations: if row.num_gpu > 0 { vec![tolerates] } else { Vec::new() },
        ..PodSpec::default()
    })
}
