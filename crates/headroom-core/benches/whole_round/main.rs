//! Whole rounds of 5,000 nodes with 150,000 pods in 50 groups that grow and shrink, with 2,000 waiting pods.

mod cluster;

use cluster::{Cluster, now, policy};
use divan::{Bencher, black_box};
use headroom_core::decide;
use headroom_core::memory::Memory;
use headroom_core::plan::{Action, Plan};
use headroom_core::scale_down::{CANDIDATE_TAINT, DELETION_TAINT};
use headroom_core::snapshot::{Builder, Change};

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: usize = 5_000;
const DEPLOYMENTS: usize = 2_000;

fn main() {
    divan::main();
}

/// From nothing to a plan.
#[divan::bench(sample_count = 20)]
fn cold(bencher: Bencher<'_, '_>) {
    let (cluster, policy) = (Cluster::new(NODES, DEPLOYMENTS), policy());
    bencher.with_inputs(|| cluster.changes().collect::<Vec<Change>>()).bench_local_values(|changes| {
        let mut builder = Builder::with_capacity(NODES, cluster.pods() + cluster.waiting());
        changes.into_iter().for_each(|change| builder.apply(change));
        let plan = decide(builder.snapshot(), &policy, &Memory::settled(), now());
        (builder, plan)
    });
}

/// 1 % of the pods are replaced, then a round.
#[divan::bench(sample_count = 100)]
fn incremental(bencher: Bencher<'_, '_>) {
    let (cluster, policy) = (Cluster::new(NODES, DEPLOYMENTS), policy());
    let mut builder = built(&cluster);
    let (plan, memory) = decide(builder.snapshot(), &policy, &Memory::settled(), now());
    assert_eq!(answer(&plan), ANSWER);
    let mut turn = 0;
    bencher
        .with_inputs(|| {
            turn += 1;
            cluster.churn(turn - 1).collect::<Vec<Change>>()
        })
        .bench_local_values(|changes| {
            changes.into_iter().for_each(|change| builder.apply(change));
            decide(builder.snapshot(), &policy, &memory, now())
        });
}

/// A round in which nothing has changed.
#[divan::bench(sample_count = 100)]
fn decide_alone(bencher: Bencher<'_, '_>) {
    let (builder, policy) = (built(&Cluster::new(NODES, DEPLOYMENTS)), policy());
    let (plan, memory) = decide(builder.snapshot(), &policy, &Memory::settled(), now());
    assert_eq!(answer(&plan), ANSWER);
    bencher.bench_local(|| decide(black_box(builder.snapshot()), &policy, &memory, now()));
}

/// What the round decides, in numbers.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    marked: usize,
    /// Nodes that pods are kept off since they could go.
    soft_marked: usize,
    bought: u32,
    waiting_pods_placed: u64,
}

const ANSWER: Answer = Answer { marked: 457, soft_marked: 641, bought: 111, waiting_pods_placed: 2_000 };

fn answer(plan: &Plan) -> Answer {
    let marks = |key: &str| {
        let marks = |action: &Action| matches!(action, Action::Taint { taint, .. } if *taint.key == *key);
        plan.actions.iter().filter(|planned| marks(&planned.action)).count()
    };
    let bought = plan.report.scale_ups.iter().flat_map(|scale_up| &scale_up.nodes);
    let waiting = plan.report.waiting.clone().unwrap_or_default();
    Answer {
        marked: marks(DELETION_TAINT),
        soft_marked: marks(CANDIDATE_TAINT),
        bought: bought.map(|(_, count)| count).sum(),
        waiting_pods_placed: waiting.on_nodes + waiting.on_new,
    }
}

fn built(cluster: &Cluster) -> Builder {
    let mut builder = Builder::with_capacity(NODES, cluster.pods() + cluster.waiting());
    cluster.changes().for_each(|change| builder.apply(change));
    builder
}
