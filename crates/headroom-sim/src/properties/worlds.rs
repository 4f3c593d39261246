//! Random scenarios: small, quick, and with everything that can go wrong.

mod shrinking;

use std::sync::Arc;

use headroom_core::policy::{
    CountPods, CpuPool, DaemonSets, Group, Hardware, MemoryPool, Mode, Pending, Percent, Policy, RunsOn, Selection,
    ServerLife, Size, Unhealthy, Utilization,
};
use headroom_core::quantity::{Money, Resources};
use headroom_core::snapshot::{Effect, Eviction, Labels, PodKind, PodSpec, SharedSpec, Taint, Toleration};
use headroom_core::strategy::utilization::FORCE_TAINT;
use jiff::{SignedDuration, Timestamp};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::scenario::*;

const GIB: i64 = 1 << 30;

pub(super) fn scenario() -> impl Strategy<Value = Scenario> {
    (1..=3_usize)
        .prop_flat_map(|groups| {
            let groups = (0..groups).map(group).collect::<Vec<_>>();
            let names = groups.len();
            (
                groups,
                prop::collection::vec(workload(names), 1..5),
                prop::collection::vec(incident(names), 0..5),
                option::of(daemon_set()),
                (30..240_i64, select(vec![10, 30, 60_i64]), select(vec![1, 5, 10_i64])),
                (any::<u64>(), any::<bool>()),
                shrinking::shared(),
            )
        })
        .prop_map(
            |(groups, workloads, incidents, daemon_set, (minutes, interval, debounce), (seed, most), scale_down)| {
                let (policies, groups): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
                let mut workloads = workloads;
                for (at, workload) in workloads.iter_mut().enumerate() {
                    workload.name = format!("{}{at}", workload.name).into();
                    // What tells the pods of a disruption budget from others.
                    let labels: Labels = [("app", &*workload.name)].into_iter().collect();
                    for shape in &mut workload.shapes {
                        shape.spec = SharedSpec::new(PodSpec { labels: labels.clone(), ..(*shape.spec).clone() });
                    }
                }
                Scenario {
                    policy: Policy { groups: policies, scale_down, ..Policy::default() },
                    start: Timestamp::from_second(1_767_225_600).unwrap(),
                    duration: SignedDuration::from_mins(minutes),
                    interval: seconds(interval),
                    debounce: seconds(debounce),
                    every_round: false,
                    seed,
                    placement: if most { Placement::MostAllocated } else { Placement::LeastAllocated },
                    groups,
                    daemon_sets: daemon_set.into_iter().collect(),
                    workloads,
                    incidents,
                }
            },
        )
}

fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

fn name(at: usize) -> Arc<str> {
    format!("g{at}").into()
}

fn pool(at: usize) -> Labels {
    [("pool", &*name(at))].into_iter().collect()
}

fn span(most: i64) -> impl Strategy<Value = Span> {
    (0..=most, 0..=most).prop_map(|(a, b)| Span { min: seconds(a.min(b)), max: seconds(a.max(b)) })
}

fn resources(cpu: i64, memory: i64, pods: i64) -> Resources {
    Resources { pods, ..Resources::new(cpu, memory) }
}

fn group(at: usize) -> impl Strategy<Value = (Group, NodeGroup)> {
    (policy(at), node_type(at), (0..6_u32, 0..4_u32, 0..12_u32), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        move |(policy, node_type, (nodes, min, more), lists_machines, knows_template, tainted)| {
            let taint = Taint { key: "dedicated".into(), value: "yes".into(), effect: Effect::NoSchedule };
            let group = NodeGroup {
                name: name(at),
                node_type: Arc::new(node_type),
                labels: pool(at),
                taints: if tainted { vec![taint] } else { Vec::new() },
                nodes: nodes.max(min),
                stock: None,
                min,
                max: (min + more).max(nodes),
                lists_machines,
                knows_template,
                failovers: Vec::new(),
                measures_cpu: policy.strategy.is_pool(),
            };
            (policy, group)
        },
    )
}

fn node_type(at: usize) -> impl Strategy<Value = NodeType> {
    let flaky = (0..30_u32, span(1200)).prop_map(|(an_hour, lasts)| Flaky { an_hour: Percent::whole(an_hour), lasts });
    (
        (1..9_i64, 1..17_i64, 3..30_i64),
        (span(600), span(120)),
        prop_oneof![4 => Just(0), 1 => 1..100_u32],
        option::of(flaky),
        option::of(stock()),
        select(vec![OutOfStock::Wait, OutOfStock::Tell, OutOfStock::Refuse]),
    )
        .prop_map(move |((cpu, memory, pods), (boot, warm_up), failures, flaky, stock, out_of_stock)| NodeType {
            name: format!("type{}", at / 2).into(),
            allocatable: resources(cpu * 1000, memory * GIB, pods),
            capacity: resources(cpu * 1000 + 100, memory * GIB + (GIB / 4), pods),
            price: Money(cpu * 50_000_000),
            boot,
            warm_up,
            devices_after: Span::default(),
            boot_failures: Percent::whole(failures),
            flaky,
            stock,
            out_of_stock,
        })
}

fn stock() -> impl Strategy<Value = Schedule> {
    prop::collection::vec((0..14_400_u32, 0..10_u32), 1..4).prop_map(|points| Schedule::daily(points, false))
}

fn policy(at: usize) -> impl Strategy<Value = Group> {
    (
        (option::of(0..4_u32), option::of(1..15_u32)),
        prop_oneof![8 => Just(Mode::Auto), 1 => Just(Mode::GrowOnly), 1 => Just(Mode::DryRun), 1 => Just(Mode::Off)],
        prop_oneof![
            2 => utilization().prop_map(headroom_core::policy::Strategy::Utilization),
            2 => pending().prop_map(headroom_core::policy::Strategy::Pending),
            1 => (1..9_i64, 0..3_u32, 60..3600_i64, life()).prop_map(|(gib, margin, drain, life)| {
                let hardware = vec![Hardware { name: "large".into(), memory: gib * GIB, cpu: None }];
                let drain_deadline = seconds(drain);
                let pool = MemoryPool { hardware, margin, drain_deadline, life, ..MemoryPool::default() };
                headroom_core::policy::Strategy::MemoryPool(pool)
            }),
            1 => life().prop_map(|life| {
                headroom_core::policy::Strategy::CpuPool(CpuPool { life, ..CpuPool::default() })
            }),
        ],
        60..900_i64,
    )
        .prop_map(move |((min, max), mode, strategy, boot_timeout)| Group {
            size: Size { min, max: max.map(|max| max.max(min.unwrap_or(0))) },
            mode,
            strategy,
            boot_timeout: seconds(boot_timeout),
            ..Group::new(name(at), Selection { labels: pool(at), capacity: None })
        })
}

fn life() -> impl Strategy<Value = ServerLife> {
    (60..7200_i64, any::<bool>())
        .prop_map(|(down, keep_paid_hour)| ServerLife { remove_down_after: seconds(down), keep_paid_hour })
}

fn pending() -> impl Strategy<Value = Pending> {
    (prop_oneof![4 => Just(false), 1 => Just(true)], shrinking::of_group())
        .prop_map(|(all_or_nothing, scale_down)| Pending { all_or_nothing, scale_down, ..Pending::default() })
}

fn utilization() -> impl Strategy<Value = Utilization> {
    let unhealthy = (1..900_i64, 1..=100_u32, 0..100_u32).prop_map(|(grace, newest, max)| Unhealthy {
        grace: seconds(grace),
        newest: Percent::whole(newest),
        max: Percent::whole(max),
    });
    (
        (1..40_u32, 1..30_u32, 1..60_u32),
        (1..4_u32, 0..4_u32),
        (10..300_i64, 1..900_i64, 0..600_i64, 1..1800_i64),
        select(vec![Effect::NoSchedule, Effect::NoExecute, Effect::PreferNoSchedule]),
        any::<bool>(),
        option::of(600..7200_i64),
        (
            option::of(unhealthy),
            option::of(1..4_u32),
            prop_oneof![2 => Just(RunsOn::Kubernetes), 1 => Just(RunsOn::Nomad)],
        ),
        select(vec![CountPods::Selecting, CountPods::Selecting, CountPods::Placed, CountPods::Unconstrained]),
        any::<bool>(),
    )
        .prop_map(
            |(
                (fast, slow, up),
                (slow_rate, more),
                (step, cool_down, soft, hard),
                taint_effect,
                scale_on_starve,
                age,
                (unhealthy, stop_after_failures, runs_on),
                count_pods,
                subtract,
            )| {
                Utilization {
                    // An allocation always has its node.
                    count_pods: if runs_on == RunsOn::Nomad { CountPods::Placed } else { count_pods },
                    scale_up_above: Percent::whole(fast + slow + up),
                    remove_slowly_below: Percent::whole(fast + slow),
                    remove_fast_below: Percent::whole(fast),
                    slow_rate,
                    fast_rate: slow_rate + more,
                    step_interval: seconds(step),
                    cool_down: seconds(cool_down),
                    soft_grace: seconds(soft),
                    hard_grace: seconds(soft + hard),
                    taint_effect,
                    scale_on_starve,
                    max_node_age: age.map(seconds),
                    unhealthy,
                    stop_after_failures,
                    daemon_sets: if subtract { DaemonSets::Subtract } else { DaemonSets::Ignore },
                    runs_on,
                }
            },
        )
}

fn workload(groups: usize) -> impl Strategy<Value = Workload> {
    let demand = prop_oneof![
        prop::collection::vec((0..86_400_u32, 0..12_u32), 1..4).prop_flat_map(
            |points| any::<bool>().prop_map(move |ramp| Demand::Replicas(Schedule::daily(points.clone(), ramp)))
        ),
        prop::collection::vec((0..86_400_u32, 0..60_u32), 1..4)
            .prop_map(|points| Demand::Arrivals(Schedule::daily(points, true))),
        prop::collection::vec((0..10_000_i64, 1..20_u32), 1..3).prop_map(|bursts| {
            let burst = |(at, pods)| Burst { at: When::After(seconds(at)), pods };
            Demand::Bursts(bursts.into_iter().map(burst).collect())
        }),
    ];
    let eviction = prop_oneof![8 => Just(Eviction::Unsaid), 1 => Just(Eviction::Safe), 1 => Just(Eviction::Unsafe)];
    let pods = (any::<bool>(), any::<bool>(), eviction, prop_oneof![9 => Just(None), 1 => Just(Some("scratch"))]);
    (demand, option::of(0..groups), shapes(), option::of(span(7200)), pods, shrinking::life()).prop_map(
        |(demand, target, shapes, runs_for, (owned, tolerates, eviction, disk), life)| {
            let tolerations = Toleration { key: "dedicated".into(), exists: true, ..Toleration::default() };
            let spec = |requests: Resources, priority| PodSpec {
                namespace: "default".into(),
                requests,
                node_selector: target.map(pool).unwrap_or_default(),
                tolerations: if tolerates { vec![tolerations.clone()] } else { Vec::new() },
                priority,
                controller: owned.then(|| "ReplicaSet/web".into()),
                eviction,
                local_storage: disk.map(Box::from),
                ..PodSpec::default()
            };
            let shape =
                |(weight, requests, priority)| Shape { weight, spec: SharedSpec::new(spec(requests, priority)) };
            Workload { name: "w".into(), shapes: shapes.into_iter().map(shape).collect(), demand, runs_for, life }
        },
    )
}

fn shapes() -> impl Strategy<Value = Vec<(u32, Resources, i32)>> {
    let requests = (0..4000_i64, 0..6_i64).prop_map(|(cpu, memory)| resources(cpu, memory * (GIB / 2), 1));
    prop::collection::vec((1..4_u32, requests, 0..3_i32), 1..4)
}

fn daemon_set() -> impl Strategy<Value = DaemonSet> {
    (0..500_i64, 0..2_i64).prop_map(|(cpu, memory)| DaemonSet {
        name: "agent".into(),
        spec: SharedSpec::new(PodSpec {
            namespace: "kube-system".into(),
            requests: resources(cpu, memory * (GIB / 4), 1),
            tolerations: vec![Toleration { exists: true, ..Toleration::default() }],
            kind: PodKind::DaemonSet,
            controller: Some("DaemonSet/agent".into()),
            ..PodSpec::default()
        }),
    })
}

fn incident(groups: usize) -> impl Strategy<Value = Incident> {
    let target = (0..groups, 1..4_u32);
    let mishap = (target, 0..9_u32, 0..15_u32).prop_map(|((group, nodes), kind, size)| {
        let (group, node_type) = (name(group), format!("type{}", group / 2).into());
        let force = Taint { key: FORCE_TAINT.into(), value: "1".into(), effect: Effect::NoSchedule };
        match kind {
            0 => Mishap::StockOut { node_type, zone: None },
            1 | 2 => Mishap::NotReady { group, nodes },
            3 => Mishap::Break { group, nodes },
            4 => Mishap::Cordon { group, nodes },
            5 => Mishap::Taint { group, nodes, taint: force },
            6 => Mishap::NoDelete { group, nodes, value: "keep".into() },
            7 => Mishap::Limits { group, min: None, max: Some(size) },
            _ => Mishap::Target { group, target: size },
        }
    });
    (0..10_000_i64, option::of(1..7200_i64), mishap).prop_map(|(at, lasts, mishap)| Incident {
        at: When::After(seconds(at)),
        lasts: lasts.map(seconds),
        mishap,
    })
}
