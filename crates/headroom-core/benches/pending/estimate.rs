//! Placing pods and counting machines: the estimator alone.

use divan::{Bencher, black_box};
use headroom_core::estimator::{Order, estimate};
use headroom_core::scheduling::{HOSTNAME, NewNode, Offer, Placement, Setup, Supply, TemplateId};
use headroom_core::snapshot::{Builder, ClassId, PodSpec, SharedSpec, Snapshot, Template};

use crate::cluster::{MIB, ZONE, ZONES, add_bound, add_waiting, cluster, node, pod, spread, template, term};
use crate::diverse;

/// 50,000 pods of 50m/100 B and 1,000 of 95m/190 B onto machines of 1000m/5000 B with 100 pods each: 2,595 machines.
#[divan::bench]
fn estimate_51000_pods(bencher: Bencher) {
    let mut builder = Builder::new();
    builder.apply(node("old", 100, 100, 10, &[]));
    add_waiting(&mut builder, "small", 50_000, &pod("small", 50, 100));
    add_waiting(&mut builder, "large", 1_000, &pod("large", 95, 190));
    let machines = [template(1_000, 5_000, 100, "z1")];
    bencher.bench(|| {
        let found = grow(builder.snapshot(), &machines);
        assert_eq!(found, (2_595, 51_000));
    });
}

/// 50,000 equal pods of 200m/200 B onto machines of 10000m/10000 B: 1,000 machines.
#[divan::bench]
fn estimate_50000_equal_pods(bencher: Bencher) {
    let mut builder = Builder::new();
    add_waiting(&mut builder, "pod", 50_000, &pod("pod", 200, 200));
    let machines = [template(10_000, 10_000, 110, "z1")];
    bencher.bench(|| {
        let found = grow(builder.snapshot(), &machines);
        assert_eq!(found, (1_000, 50_000));
    });
}

/// Pods that are all different, 100m to 2100m and 100 MiB to 8 GiB, onto machines of 16 cpu and 64 GiB.
#[divan::bench(args = [1_000, 10_000, 50_000])]
fn estimate_different_pods(bencher: Bencher, pods: u32) {
    let mut builder = Builder::new();
    for at in 0..pods {
        let (cpu, memory) = (100 + i64::from(at * 7 % 2_000), (100 + i64::from(at * 13 % 8_000)) * MIB);
        add_waiting(&mut builder, &format!("pod-{at}"), 1, &pod("pod", cpu, memory + i64::from(at)));
    }
    let machines = [template(16_000, 64 << 30, 110, "z1")];
    bencher.bench(|| {
        let (nodes, placed) = grow(builder.snapshot(), &machines);
        assert_eq!(placed, u64::from(pods));
        black_box(nodes)
    });
}

/// Waiting pods that fit none of the nodes: (pods, nodes).
const HOPELESS: [(u32, u32); 2] = [(60_000, 200), (12_000, 1_000)];

#[divan::bench(args = HOPELESS)]
fn equal_pods_fit_nowhere(bencher: Bencher, (pods, nodes): (u32, u32)) {
    let mut builder = cluster(nodes, 10, 1);
    add_waiting(&mut builder, "pod", pods, &pod("pod", 5_000, 200));
    bencher.bench(|| assert_eq!(nowhere(builder.snapshot()), (1, pods)));
}

#[divan::bench(args = HOPELESS)]
fn different_pods_fit_nowhere(bencher: Bencher, (pods, nodes): (u32, u32)) {
    let mut builder = cluster(nodes, 10, 1);
    for at in 0..pods {
        add_waiting(&mut builder, &format!("pod-{at}"), 1, &pod("pod", 5_000 + i64::from(at), 200));
    }
    bencher.bench(|| assert_eq!(nowhere(builder.snapshot()), (pods as usize, pods)));
}

/// Karpenter's pods onto one kind of machine in three zones.
#[divan::bench]
fn diverse_10000_pods(bencher: Bencher) {
    let builder = diverse::waiting(10_000);
    let machines: Vec<Template> = ZONES.map(|zone| template(64_000, 256 << 30, 110, zone)).into();
    bencher.bench(|| {
        let (nodes, placed) = grow(builder.snapshot(), &machines);
        assert_eq!(placed, 10_000);
        black_box(nodes)
    });
}

/// 33,000 plain pods of 50 kinds, on 1,000 nodes with 40,000 running pods.
#[divan::bench]
fn plain_33000_pods_of_50_kinds(bencher: Bencher) {
    let mut builder = cluster(1_000, 40, 3);
    for kind in 0..50 {
        add_waiting(&mut builder, &format!("kind-{kind}"), 660, &pod(&format!("kind-{kind}"), 100 + 10 * kind, 200));
    }
    let machines = [template(4_000, 16_000, 110, "z1")];
    bencher.bench(|| {
        let (nodes, placed) = grow(builder.snapshot(), &machines);
        assert_eq!(placed, 33_000);
        black_box(nodes)
    });
}

/// 5,000 pods with anti-affinity over hosts, of one to nine groups, on 1,000 nodes with 40,000 running pods.
#[divan::bench]
fn anti_affinity_5000_pods(bencher: Bencher) {
    let mut builder = cluster(1_000, 40, 3);
    for kind in 0..9 {
        let name = format!("kind-{kind}");
        let spec = PodSpec { pod_anti_affinity: vec![term(&name, HOSTNAME)], ..pod(&name, 100, 200) };
        add_waiting(&mut builder, &name, 555 + u32::from(kind < 5), &spec);
    }
    let machines = [template(4_000, 16_000, 110, "z1")];
    bencher.bench(|| {
        let (nodes, placed) = grow(builder.snapshot(), &machines);
        assert_eq!(placed, 5_000);
        black_box(nodes)
    });
}

/// A large cluster: 5,000 nodes and 150,000 pods of 3,000 classes, a third of them with rules.
#[divan::bench]
fn placement_of_5000_nodes(bencher: Bencher) {
    let builder = large_cluster();
    bencher.bench(|| black_box(Placement::new(builder.snapshot(), &Setup::default())));
}

#[divan::bench]
fn snapshot_of_5000_nodes(bencher: Bencher) {
    bencher.bench(|| black_box(large_cluster()));
}

/// Machines and pods of an estimate for all waiting pods, from a snapshot.
fn grow(snapshot: &Snapshot, machines: &[Template]) -> (u32, u64) {
    let new: Vec<NewNode<'_>> =
        machines.iter().map(|template| NewNode { template, daemon_sets: &[], attach_limits: &[] }).collect();
    let mut placement = Placement::new(snapshot, &Setup { templates: &new, ..Setup::default() });
    let offers: Vec<Offer> =
        (0..).zip(&new).map(|(at, _)| Offer { template: TemplateId(at), limit: u32::MAX, cost: 1 }).collect();
    let found = estimate(&mut placement, &offers, &waiting(snapshot), None);
    (found.node_count(), found.placed_count())
}

/// Classes and pods that fit on no node, each with its reason.
fn nowhere(snapshot: &Snapshot) -> (usize, u32) {
    let mut placement = Placement::new(snapshot, &Setup::default());
    let mut pods = waiting(snapshot);
    Order::Priority.sort(&placement, None, &mut pods);
    let filled = placement.fill(&pods, &mut Supply::none());
    let count = filled.unplaced.iter().map(|unplaced| unplaced.count).sum();
    (filled.unplaced.len(), count)
}

fn waiting(snapshot: &Snapshot) -> Vec<(ClassId, u32)> {
    snapshot.classes().map(|class| (class.id, class.pending())).filter(|(_, count)| *count > 0).collect()
}

/// 5,000 nodes in three zones with 30 running pods each, of 3,000 kinds.
fn large_cluster() -> Builder {
    let mut builder = Builder::with_capacity(5_000, 150_000);
    let specs: Vec<SharedSpec> = (0..3_000)
        .map(|kind| {
            let name = format!("app-{kind}");
            let mut spec = pod(&name, 100, 200);
            match kind % 6 {
                0 => spec.pod_anti_affinity = vec![term(&name, HOSTNAME)],
                1 => spec.spread = vec![spread(&name, ZONE)],
                _ => {}
            }
            SharedSpec::new(spec)
        })
        .collect();
    for at in 0..5_000_u32 {
        let name = format!("node-{at:05}");
        builder.apply(node(&name, 4_000, 16_000, 110, &[(ZONE, ZONES[at as usize % 3])]));
        for pod in 0..30 {
            let spec = &specs[(at * 30 + pod) as usize % specs.len()];
            add_bound(&mut builder, &format!("{name}-{pod}"), &name, spec);
        }
    }
    builder
}
