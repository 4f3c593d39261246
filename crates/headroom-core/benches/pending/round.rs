//! Whole decisions: from a snapshot to a plan with its report.

use divan::{Bencher, black_box};
use headroom_core::decide;
use headroom_core::limits::Limits;
use headroom_core::memory::Memory;
use headroom_core::plan::{Plan, ScaleUp, Subject, Why};
use headroom_core::policy::{Group, Pending, PendingPolicy, Policy, Selection, Size, Strategy};
use headroom_core::quantity::Money;
use headroom_core::scheduling::{HOSTNAME, Misfit};
use headroom_core::snapshot::{Builder, PodSpec, Template};
use jiff::Timestamp;

use crate::cluster::{GROUP, ZONE, add_waiting, cluster, pod, spread, template, term};
use crate::diverse;

/// Waiting pods that fit none of the nodes: (pods, nodes).
const HOPELESS: [(u32, u32); 2] = [(60_000, 200), (12_000, 1_000)];

/// 50,000 pods of 50m/100 B and 1,000 of 95m/190 B onto machines of 1000m/5000 B with 100 pods each.
#[divan::bench]
fn mixed_51000_pods(bencher: Bencher) {
    let mut builder = Builder::new();
    add_waiting(&mut builder, "small", 50_000, &pod("small", 50, 100));
    add_waiting(&mut builder, "large", 1_000, &pod("large", 95, 190));
    let policy = policy([Some(template(1_000, 5_000, 100, "z1"))]);
    time(bencher, &builder, &policy, |plan| assert_eq!((new_nodes(plan), placed(plan)), (2_595, 51_000)));
}

/// 50,000 equal pods of 200m/200 B that no controller owns onto machines of 10000m/10000 B.
#[divan::bench]
fn equal_50000_pods(bencher: Bencher) {
    let mut builder = Builder::new();
    add_waiting(&mut builder, "pod", 50_000, &pod("pod", 200, 200));
    let policy = policy([Some(template(10_000, 10_000, 110, "z1"))]);
    time(bencher, &builder, &policy, |plan| assert_eq!((new_nodes(plan), placed(plan)), (1_000, 50_000)));
}

/// Equal pods that fit on no node, old or new.
#[divan::bench(args = HOPELESS)]
fn equal_pods_fit_nowhere(bencher: Bencher, (pods, nodes): (u32, u32)) {
    let mut builder = cluster(nodes, 10, 3);
    add_waiting(&mut builder, "pod", pods, &pod("pod", 5_000, 200));
    time(bencher, &builder, &groups(3), |plan| assert_eq!(refused(plan), vec![(pods, 5_000)]));
}

/// The same, each of another size: each is refused with its own numbers.
#[divan::bench(args = HOPELESS)]
fn different_pods_fit_nowhere(bencher: Bencher, (pods, nodes): (u32, u32)) {
    let mut builder = cluster(nodes, 10, 3);
    for at in 0..pods {
        add_waiting(&mut builder, &format!("pod-{at}"), 1, &pod("pod", 5_000 + i64::from(at), 200));
    }
    let each: Vec<(u32, i64)> = (0..pods).map(|at| (1, 5_000 + i64::from(at))).collect();
    time(bencher, &builder, &groups(3), |plan| {
        let mut refused = refused(plan);
        refused.sort_unstable();
        assert_eq!(refused, each);
    });
}

/// Karpenter's diverse pods, 400 types of machines in three zones.
#[divan::bench(args = [1_000, 10_000], sample_count = 10)]
fn diverse(bencher: Bencher, pods: u32) {
    let policy = diverse::policy();
    time(bencher, &diverse::waiting(pods), &policy, |plan| {
        assert_eq!(placed(plan), u64::from(pods));
        let options = plan.report.scale_ups.iter().filter_map(|scale_up| scale_up.options.first());
        let cost =
            options.filter_map(|option| option.price).fold(Money(0), |sum, price| sum.saturating_add(price.cost));
        println!("{} nodes for {cost} an hour", new_nodes(plan));
    });
}

/// 2,000 pods with a node selector that would like to be spread over hosts and two zones, on 1,000 nodes with 40,000
/// running pods.
#[divan::bench]
fn node_selector_2000_pods_over_two_zones(bencher: Bencher) {
    let mut builder = cluster(1_000, 40, 2);
    let node_selector = [("kubernetes.io/os", "linux")].into_iter().collect();
    let preferred_spread = vec![spread("web", HOSTNAME), spread("web", ZONE)];
    add_waiting(&mut builder, "web", 2_000, &PodSpec { node_selector, preferred_spread, ..pod("web", 500, 200) });
    time(bencher, &builder, &groups(2), |plan| assert_eq!((new_nodes(plan), placed(plan)), (250, 2_000)));
}

/// 33,000 plain pods of 50 kinds, on 1,000 nodes with 40,000 running pods.
#[divan::bench]
fn plain_33000_pods_of_50_kinds(bencher: Bencher) {
    time_33000(bencher, |app, cpu| pod(app, cpu, 200));
}

/// The same pods, each kind with preferred spreads over hosts and zones.
#[divan::bench]
fn preferred_spreads_33000_pods_of_50_kinds(bencher: Bencher) {
    time_33000(bencher, |app, cpu| PodSpec {
        preferred_spread: vec![spread(app, HOSTNAME), spread(app, ZONE)],
        ..pod(app, cpu, 200)
    });
}

fn time_33000(bencher: Bencher, spec: impl Fn(&str, i64) -> PodSpec) {
    let mut builder = cluster(1_000, 40, 3);
    for kind in 0..50 {
        let app = format!("kind-{kind}");
        add_waiting(&mut builder, &app, 660, &spec(&app, 100 + 10 * kind));
    }
    time(bencher, &builder, &groups(3), |plan| {
        assert_eq!(refused(plan), vec![]);
    });
}

/// 5,000 pods of which no two may share a host, over nine groups of 1,000 nodes with 40,000 running pods.
#[divan::bench]
fn anti_affinity_5000_pods_over_nine_groups(bencher: Bencher) {
    let mut builder = cluster(1_000, 40, 9);
    let spec = PodSpec { pod_anti_affinity: vec![term("web", HOSTNAME)], ..pod("web", 100, 200) };
    add_waiting(&mut builder, "web", 5_000, &spec);
    time(bencher, &builder, &groups(9), |plan| assert_eq!((new_nodes(plan), placed(plan)), (4_000, 4_000)));
}

/// What it takes to build the snapshots from which the others are timed.
mod building {
    use super::*;

    #[divan::bench]
    fn equal_50000_pods(bencher: Bencher) {
        bencher.bench(|| {
            let mut builder = Builder::with_capacity(0, 50_000);
            add_waiting(&mut builder, "pod", 50_000, &pod("pod", 200, 200));
            builder
        });
    }

    #[divan::bench]
    fn different_60000_pods(bencher: Bencher) {
        bencher.bench(|| {
            let mut builder = Builder::with_capacity(0, 60_000);
            for at in 0..60_000 {
                add_waiting(&mut builder, &format!("pod-{at}"), 1, &pod("pod", 5_000 + i64::from(at), 200));
            }
            builder
        });
    }

    #[divan::bench]
    fn diverse_10000_pods(bencher: Bencher) {
        bencher.bench(|| diverse::waiting(10_000));
    }

    #[divan::bench]
    fn nodes_1000_with_40000_pods(bencher: Bencher) {
        bencher.bench(|| cluster(1_000, 40, 9));
    }
}

/// Checks the plan once, then times how it is made.
pub(crate) fn time(bencher: Bencher, builder: &Builder, policy: &Policy, check: impl FnOnce(&Plan)) {
    let decide = || decide(black_box(builder.snapshot()), policy, &Memory::settled(), Timestamp::UNIX_EPOCH).0;
    check(&decide());
    bencher.bench(decide);
}

/// Groups without limits whose machines are known by their nodes.
fn groups(count: u32) -> Policy {
    policy((0..count).map(|_| None))
}

/// Groups without limits, one for each kind of machine.
pub(crate) fn policy(templates: impl IntoIterator<Item = Option<Template>>) -> Policy {
    let group = |(at, template)| {
        let name = format!("group-{at}");
        let select = Selection { labels: [(GROUP, &*name)].into_iter().collect(), capacity: None };
        Group {
            size: Size { min: Some(0), max: Some(u32::MAX) },
            strategy: Strategy::Pending(Pending::default()),
            template,
            ..Group::new(name.clone(), select)
        }
    };
    let limits = Limits { nodes_per_scale_up: None, ..Limits::default() };
    let pending = PendingPolicy { limits, ..PendingPolicy::default() };
    Policy { groups: (0..).zip(templates).map(group).collect(), pending, ..Policy::default() }
}

fn new_nodes(plan: &Plan) -> u32 {
    plan.report.scale_ups.iter().flat_map(|scale_up| &scale_up.nodes).map(|(_, count)| count).sum()
}

fn placed(plan: &Plan) -> u64 {
    plan.report.scale_ups.iter().map(ScaleUp::pod_count).sum()
}

/// For each refusal of pods, how many they are and how much cpu one needs.
pub(crate) fn refused(plan: &Plan) -> Vec<(u32, i64)> {
    let of_pods = plan.report.refusals.iter().filter_map(|refusal| match (&refusal.subject, &refusal.why) {
        (Subject::Pods { count, .. }, Why::FitsNoGroup { misfit: Misfit::Resource { needs, .. }, .. }) => {
            Some((*count, *needs))
        }
        (Subject::Pods { count, .. }, _) => Some((*count, 0)),
        _ => None,
    });
    of_pods.collect()
}
