//! One round at the size that matters: 5,000 nodes and 150,000 pods in 20 utilisation groups.

use std::sync::Arc;

use divan::{Bencher, black_box};
use headroom_core::decide;
use headroom_core::memory::Memory;
use headroom_core::policy::{Group, Policy, Selection, Size};
use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Builder, Change, Labels, Node, Phase, Pod, PodSpec, SharedSpec};
use jiff::Timestamp;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: usize = 5_000;
const PODS: usize = 150_000;
const GROUPS: usize = 20;
const CLASSES: usize = 2_000;

fn main() {
    divan::main();
}

/// The deployment that pod `at` belongs to decides its group; pods of one deployment are equal.
fn pod(specs: &[SharedSpec], at: usize, running: bool) -> Pod {
    let class = at % CLASSES;
    let node = (class % GROUPS) + GROUPS * ((at / CLASSES) * 97 % (NODES / GROUPS));
    Pod {
        name: format!("deployment-{class}-{at:06}").into(),
        spec: specs[class].clone(),
        node: running.then(|| format!("node-{node:05}").into()),
        phase: Phase::Running,
        created: Timestamp::from_second(1_700_000_000 + at as i64).ok(),
        ..Pod::default()
    }
}

fn specs() -> Vec<SharedSpec> {
    let spec = |class: usize| PodSpec {
        namespace: Arc::from(format!("team-{}", class % 50)),
        labels: [("app", format!("app-{class}"))].into_iter().collect(),
        requests: Resources { pods: 1, ..Resources::new(100 + class as i64 % 400, (128 + class as i64 % 512) << 20) },
        node_selector: [("pool", format!("pool-{}", class % GROUPS))].into_iter().collect(),
        controller: Some(format!("ReplicaSet/deployment-{class}").into()),
        ..PodSpec::default()
    };
    (0..CLASSES).map(|class| SharedSpec::new(spec(class))).collect()
}

fn node(at: usize) -> Node {
    let labels: Labels = [
        ("kubernetes.io/hostname".to_owned(), format!("node-{at:05}")),
        ("kubernetes.io/arch".to_owned(), "amd64".to_owned()),
        ("kubernetes.io/os".to_owned(), "linux".to_owned()),
        ("node.kubernetes.io/instance-type".to_owned(), "m7i.4xlarge".to_owned()),
        ("topology.kubernetes.io/zone".to_owned(), format!("eu-west-1{}", ["a", "b", "c"][at % 3])),
        ("topology.kubernetes.io/region".to_owned(), "eu-west-1".to_owned()),
        ("pool".to_owned(), format!("pool-{}", at % GROUPS)),
    ]
    .into_iter()
    .collect();
    let allocatable = Resources { pods: 110, ..Resources::new(15_890, 60 << 30) };
    Node {
        name: format!("node-{at:05}").into(),
        provider_id: Some(format!("aws:///eu-west-1a/i-{at:017x}").into()),
        labels,
        created: Timestamp::from_second(1_700_000_000 + at as i64).ok(),
        capacity: allocatable.clone(),
        allocatable,
        ..Node::default()
    }
}

fn policy() -> Policy {
    let group = |at: usize| {
        let name = format!("pool-{at}");
        let select = Selection { labels: [("pool", name.as_str())].into_iter().collect(), capacity: None };
        Group { size: Size { min: Some(1), max: Some(1_000) }, ..Group::new(name, select) }
    };
    Policy { groups: (0..GROUPS).map(group).collect(), ..Policy::default() }
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap_or_default()
}

fn changes() -> Vec<Change> {
    let specs = specs();
    let nodes = (0..NODES).map(|at| Change::Node(Box::new(node(at))));
    nodes.chain((0..PODS).map(|at| Change::Pod(pod(&specs, at, true)))).collect()
}

fn built() -> Builder {
    let mut builder = Builder::with_capacity(NODES, PODS);
    changes().into_iter().for_each(|change| builder.apply(change));
    builder
}

/// From an empty builder to a plan.
#[divan::bench(sample_count = 20)]
fn cold(bencher: Bencher<'_, '_>) {
    let policy = policy();
    bencher.with_inputs(changes).bench_local_values(|changes| {
        let mut builder = Builder::with_capacity(NODES, PODS);
        changes.into_iter().for_each(|change| builder.apply(change));
        let plan = decide(builder.snapshot(), &policy, &Memory::settled(), now());
        (builder, plan)
    });
}

/// 1 % of the pods change, then a round.
#[divan::bench(sample_count = 100)]
fn incremental(bencher: Bencher<'_, '_>) {
    let (policy, specs) = (policy(), specs());
    let mut builder = built();
    let mut turn = 0;
    bencher
        .with_inputs(|| {
            turn += 1;
            (0..PODS / 100).map(|at| Change::Pod(pod(&specs, at * 100 + turn % 100, turn % 3 != 0))).collect::<Vec<_>>()
        })
        .bench_local_values(|changes| {
            changes.into_iter().for_each(|change| builder.apply(change));
            decide(builder.snapshot(), &policy, &Memory::settled(), now())
        });
}

/// A round in which nothing has changed.
#[divan::bench(sample_count = 100)]
fn decide_alone(bencher: Bencher<'_, '_>) {
    let (policy, builder) = (policy(), built());
    bencher.bench_local(|| decide(black_box(builder.snapshot()), &policy, &Memory::settled(), now()));
}
