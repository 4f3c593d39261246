//! How fast pods are placed and machines are counted, with the workloads of the public benchmarks.
//!
//! Each is timed from a snapshot: making the placement, then the estimate. `snapshot` and `placement` are timed apart.

use std::sync::Arc;

use divan::{Bencher, black_box};
use headroom_core::estimator::{Order, estimate};
use headroom_core::quantity::Resources;
use headroom_core::scheduling::{HOSTNAME, NewNode, Offer, Placement, Setup, Supply, TemplateId};
use headroom_core::snapshot::{
    Builder, Change, ClassId, Expression, LabelSelector, Node, Operator, Phase, Pod, PodSpec, PodTerm, SharedSpec,
    Snapshot, Spread, Template,
};

const ZONE: &str = "topology.kubernetes.io/zone";
const MIB: i64 = 1 << 20;

fn main() {
    divan::main();
}

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
    let mut builder = cluster(nodes, 10);
    add_waiting(&mut builder, "pod", pods, &pod("pod", 5_000, 200));
    bencher.bench(|| assert_eq!(nowhere(builder.snapshot()), (1, pods)));
}

#[divan::bench(args = HOPELESS)]
fn different_pods_fit_nowhere(bencher: Bencher, (pods, nodes): (u32, u32)) {
    let mut builder = cluster(nodes, 10);
    for at in 0..pods {
        add_waiting(&mut builder, &format!("pod-{at}"), 1, &pod("pod", 5_000 + i64::from(at), 200));
    }
    bencher.bench(|| assert_eq!(nowhere(builder.snapshot()), (pods as usize, pods)));
}

/// Five equal kinds of pods of many sizes, 10,000 in all, onto large machines in three zones.
#[divan::bench]
fn diverse_10000_pods(bencher: Bencher) {
    let mut builder = Builder::new();
    let mut random = 42_u64;
    let mut pick = |list: &[i64]| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        list[(random >> 33) as usize % list.len()]
    };
    for at in 0..10_000 {
        let cpu = pick(&[100, 250, 500, 1_000, 1_500]);
        let memory = pick(&[100, 256, 512, 1_024, 2_048, 4_096]) * MIB;
        let label = ["a", "b", "c", "d", "e", "f", "g"][pick(&[0, 1, 2, 3, 4, 5, 6]) as usize];
        let mut spec = pod(label, cpu, memory);
        let own = || Some(selector(label));
        let spread = |key: &str| Spread { topology_key: key.into(), selector: own(), ..Spread::default() };
        let term = |key: &str| PodTerm { topology_key: key.into(), selector: own(), ..PodTerm::default() };
        let kind = ["plain", "zone-spread", "host-spread", "zone-affinity", "host-anti-affinity"][at % 5];
        match at % 5 {
            1 => spec.spread = vec![spread(ZONE)],
            2 => spec.spread = vec![spread(HOSTNAME)],
            3 => spec.pod_affinity = vec![term(ZONE)],
            4 => spec.pod_anti_affinity = vec![term(HOSTNAME)],
            _ => {}
        }
        // As in the original, a kind's rules are about pods of that kind only.
        spec.namespace = kind.into();
        add_waiting(&mut builder, &format!("pod-{at}"), 1, &spec);
    }
    let machines: Vec<Template> = ["z1", "z2", "z3"].map(|zone| template(64_000, 256 << 30, 110, zone)).into();
    bencher.bench(|| {
        let (nodes, placed) = grow(builder.snapshot(), &machines);
        assert_eq!(placed, 10_000);
        black_box(nodes)
    });
}

/// 33,000 plain pods of 50 kinds, on 1,000 nodes with 40,000 running pods.
#[divan::bench]
fn plain_33000_pods_of_50_kinds(bencher: Bencher) {
    let mut builder = cluster(1_000, 40);
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
    let mut builder = cluster(1_000, 40);
    for kind in 0..9 {
        let name = format!("kind-{kind}");
        let term = PodTerm { topology_key: HOSTNAME.into(), selector: Some(selector(&name)), ..PodTerm::default() };
        let spec = PodSpec { pod_anti_affinity: vec![term], ..pod(&name, 100, 200) };
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

/// Nodes of 4000m with so many running pods each, of 50 kinds.
fn cluster(nodes: u32, pods: u32) -> Builder {
    let mut builder = Builder::with_capacity(nodes as usize, (nodes * pods) as usize);
    let specs: Vec<SharedSpec> =
        (0..50).map(|kind| SharedSpec::new(pod(&format!("running-{kind}"), 90, 200))).collect();
    for at in 0..nodes {
        let name = format!("node-{at:05}");
        builder.apply(node(&name, 4_000, 16_000, 110, &[(ZONE, ["z1", "z2", "z3"][at as usize % 3])]));
        for pod in 0..pods {
            let spec = &specs[(at * pods + pod) as usize % specs.len()];
            add_bound(&mut builder, &format!("{name}-{pod}"), &name, spec);
        }
    }
    builder
}

fn large_cluster() -> Builder {
    let mut builder = Builder::with_capacity(5_000, 150_000);
    let specs: Vec<SharedSpec> = (0..3_000)
        .map(|kind| {
            let name = format!("app-{kind}");
            let mut spec = pod(&name, 100, 200);
            let own = || Some(selector(&name));
            match kind % 6 {
                0 => {
                    let key = HOSTNAME.into();
                    spec.pod_anti_affinity = vec![PodTerm { topology_key: key, selector: own(), ..PodTerm::default() }];
                }
                1 => spec.spread = vec![Spread { topology_key: ZONE.into(), selector: own(), ..Spread::default() }],
                _ => {}
            }
            SharedSpec::new(spec)
        })
        .collect();
    for at in 0..5_000_u32 {
        let name = format!("node-{at:05}");
        builder.apply(node(&name, 4_000, 16_000, 110, &[(ZONE, ["z1", "z2", "z3"][at as usize % 3])]));
        for pod in 0..30 {
            let spec = &specs[(at * 30 + pod) as usize % specs.len()];
            add_bound(&mut builder, &format!("{name}-{pod}"), &name, spec);
        }
    }
    builder
}

fn node(name: &str, cpu: i64, memory: i64, pods: i64, labels: &[(&str, &str)]) -> Change {
    let labels = labels.iter().copied().chain([(HOSTNAME, name)]).collect();
    let allocatable = Resources { cpu, memory, pods, ..Resources::default() };
    Change::Node(Box::new(Node { name: name.into(), labels, allocatable, ..Node::default() }))
}

fn template(cpu: i64, memory: i64, pods: i64, zone: &str) -> Template {
    let allocatable = Resources { cpu, memory, pods, ..Resources::default() };
    Template { allocatable, labels: [(ZONE, zone)].into_iter().collect(), ..Template::default() }
}

fn pod(app: &str, cpu: i64, memory: i64) -> PodSpec {
    PodSpec {
        namespace: Arc::from("default"),
        labels: [("app", app)].into_iter().collect(),
        requests: Resources { cpu, memory, pods: 1, ..Resources::default() },
        ..PodSpec::default()
    }
}

fn selector(app: &str) -> LabelSelector {
    LabelSelector(vec![Expression { key: "app".into(), operator: Operator::In, values: vec![app.into()] }])
}

fn add_waiting(builder: &mut Builder, name: &str, count: u32, spec: &PodSpec) {
    let spec = SharedSpec::new(spec.clone());
    for at in 0..count {
        let name = format!("{name}-{at}").into();
        builder.apply(Change::Pod(Pod { name, spec: spec.clone(), ..Pod::default() }));
    }
}

fn add_bound(builder: &mut Builder, name: &str, node: &str, spec: &SharedSpec) {
    let (name, node, spec) = (name.into(), Some(node.into()), spec.clone());
    builder.apply(Change::Pod(Pod { name, spec, node, phase: Phase::Running, ..Pod::default() }));
}
