//! How whole rounds grow with the cluster: time of each part and the largest resident size of the process.
//!
//! `cargo bench -p headroom-core --bench large_round -- 5000 20000 100000` measures clusters of so many nodes, one after
//! the other, each with 30 pods a node. Without numbers it measures 5,000 nodes.

#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "what is measured reads no clock; this does")]

mod cluster;

use std::time::{Duration, Instant};

use cluster::{Cluster, now, policy};
use headroom_core::decide;
use headroom_core::memory::Memory;
use headroom_core::snapshot::Builder;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Each figure is the fastest of so many.
const RUNS: usize = 3;
/// A larger cluster has larger deployments too.
const DEPLOYMENTS: [(usize, usize); 3] = [(5_000, 2_000), (20_000, 4_000), (usize::MAX, 10_000)];

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    println!(
        "{:>7} {:>9} {:>11} {:>10} {:>10} {:>12} {:>9}",
        "nodes", "pods", "deployments", "cold", "decide", "incremental", "peak"
    );
    for nodes in if sizes.is_empty() { vec![5_000] } else { sizes } {
        measure(nodes);
    }
}

fn measure(nodes: usize) {
    let deployments = DEPLOYMENTS.iter().find(|(most, _)| nodes <= *most).map_or(1, |(_, deployments)| *deployments);
    let (cluster, policy) = (Cluster::new(nodes, deployments), policy());
    let [mut cold, mut alone, mut incremental] = [Duration::MAX; 3];
    for _ in 0..RUNS {
        // Making the changes up is not part of it, so they are made beforehand, some at a time.
        let mut builder = Builder::with_capacity(nodes, cluster.pods() + cluster.waiting());
        let mut spent = Duration::ZERO;
        let mut changes = cluster.changes().peekable();
        while changes.peek().is_some() {
            let some: Vec<_> = changes.by_ref().take(100_000).collect();
            spent += timed(|| some.into_iter().for_each(|change| builder.apply(change))).0;
        }
        let (first, (_, memory)) = timed(|| decide(builder.snapshot(), &policy, &Memory::settled(), now()));
        cold = cold.min(spent + first);
        alone = alone.min(timed(|| decide(builder.snapshot(), &policy, &memory, now())).0);
        let some: Vec<_> = cluster.churn(0).collect();
        let next = timed(|| {
            some.into_iter().for_each(|change| builder.apply(change));
            decide(builder.snapshot(), &policy, &memory, now())
        });
        incremental = incremental.min(next.0);
    }
    let pods = cluster.pods() + cluster.waiting();
    let milliseconds = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1_000.0);
    let (cold, alone, incremental) = (milliseconds(cold), milliseconds(alone), milliseconds(incremental));
    println!("{nodes:>7} {pods:>9} {deployments:>11} {cold:>10} {alone:>10} {incremental:>12} {:>9}", peak());
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let result = work();
    (begun.elapsed(), result)
}

/// The largest resident size of the process so far, where the system tells it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.map_or("unknown".to_owned(), |kibibytes| format!("{} MiB", kibibytes / 1024))
}
