//! What the world does by itself, one thing at a time.

use headroom_core::plan::{Action, Planned, Reason};
use headroom_core::policy::Percent;
use headroom_core::quantity::Resources;
use headroom_core::snapshot::{
    Effect, Expression, HostPort, LabelSelector, Labels, Operator, PodSpec, PodTerm, SharedSpec, Spread, Taint,
};
use jiff::{SignedDuration, Timestamp};

use super::World;
use crate::scenario::*;

const GIB: i64 = 1 << 30;

/// A group `g` of two nodes for four pods each, that boot in a minute and are ready ten seconds later.
fn scenario() -> Scenario {
    let node_type = NodeType {
        name: "t".into(),
        allocatable: Resources { pods: 10, ..Resources::new(4000, 8 * GIB) },
        boot: Span::exactly(seconds(60)),
        warm_up: Span::exactly(seconds(10)),
        ..NodeType::default()
    };
    let group = NodeGroup {
        name: "g".into(),
        node_type: node_type.into(),
        nodes: 2,
        max: 10,
        lists_machines: true,
        ..NodeGroup::default()
    };
    Scenario { duration: SignedDuration::from_hours(10), groups: vec![group], ..Scenario::default() }
}

fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

fn pod(cpu: i64) -> PodSpec {
    PodSpec {
        namespace: "default".into(),
        requests: Resources { pods: 1, ..Resources::new(cpu, GIB) },
        controller: Some("Job/w".into()),
        ..PodSpec::default()
    }
}

/// Pods that come at these seconds and run for that long.
fn workload(name: &str, spec: PodSpec, bursts: &[(i64, u32)], runs_for: Option<i64>) -> Workload {
    let burst = |(at, pods): &(i64, u32)| Burst { at: When::After(seconds(*at)), pods: *pods };
    Workload {
        name: name.into(),
        shapes: vec![Shape { weight: 1, spec: SharedSpec::new(spec) }],
        demand: Demand::Bursts(bursts.iter().map(burst).collect()),
        runs_for: runs_for.map(|time| Span::exactly(seconds(time))),
        life: Life::default(),
    }
}

fn incident(at: i64, lasts: Option<i64>, mishap: Mishap) -> Incident {
    Incident { at: When::After(seconds(at)), lasts: lasts.map(seconds), mishap }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn do_it(world: &mut World, action: Action) -> Result<(), String> {
    let planned = Planned { group: "g".into(), action, reason: Reason::ForceTainted, dry_run: false };
    world.execute(&planned).map_err(|refused| refused.to_string())
}

fn resize(world: &mut World, from: u32, to: u32) -> Result<(), String> {
    do_it(world, Action::Resize { from, to })
}

fn see(world: &mut World, second: i64, expected: &[&str]) {
    world.advance(at(second));
    assert_eq!(world.sketch(), expected, "at second {second}");
    assert_eq!(world.audit(), Ok(()));
}

#[test]
fn pods_go_to_the_emptiest_node_and_end() {
    let workloads = vec![workload("w", pod(1000), &[(0, 3)], Some(100)), workload("big", pod(3000), &[(1, 1)], None)];
    let mut world = World::new(&Scenario { workloads: workloads.clone(), ..scenario() });
    see(&mut world, 1, &["g-0001: w-00001 w-00003", "g-0002: w-00002 big-00001"]);
    see(&mut world, 100, &["g-0001", "g-0002: big-00001"]);
    let most = Scenario { workloads, placement: Placement::MostAllocated, ..scenario() };
    see(&mut World::new(&most), 1, &["g-0001: w-00001 w-00002 w-00003", "g-0002: big-00001"]);
}

#[test]
fn pods_wait_until_there_is_room_in_order_of_priority() {
    let urgent = PodSpec { priority: 1, ..pod(4000) };
    let workloads = vec![
        workload("first", pod(4000), &[(0, 2)], Some(100)),
        workload("later", pod(4000), &[(10, 2)], None),
        workload("urgent", urgent, &[(20, 1)], None),
    ];
    let mut world = World::new(&Scenario { workloads, ..scenario() });
    see(
        &mut world,
        20,
        &["g-0001: first-00001", "g-0002: first-00002", "waiting: later-00001 later-00002 urgent-00001"],
    );
    see(&mut world, 100, &["g-0001: urgent-00001", "g-0002: later-00001", "waiting: later-00002"]);
}

#[test]
fn a_removed_node_takes_its_pods_with_it_and_a_new_one_boots_and_warms_up() {
    let workloads = vec![workload("w", pod(4000), &[(0, 2), (10, 1)], None)];
    let mut world = World::new(&Scenario { workloads, ..scenario() });
    see(&mut world, 10, &["g-0001: w-00001", "g-0002: w-00002", "waiting: w-00003"]);
    do_it(&mut world, Action::Remove { node: "g-0001".into(), provider_id: None, pods: vec![] }).unwrap();
    see(&mut world, 11, &["g-0002: w-00002", "waiting: w-00003 w-00004"]);
    resize(&mut world, 1, 2).unwrap();
    see(&mut world, 11 + 59, &["g-0002: w-00002", "g-0003 boots", "waiting: w-00003 w-00004"]);
    see(&mut world, 11 + 69, &["g-0002: w-00002", "g-0003 not ready", "waiting: w-00003 w-00004"]);
    see(&mut world, 11 + 70, &["g-0002: w-00002", "g-0003: w-00003", "waiting: w-00004"]);
}

#[test]
fn a_mark_that_is_taken_off_lets_pods_in_without_any_other_event() {
    let taint = Taint { key: "k".into(), value: "".into(), effect: Effect::NoSchedule };
    let mut world = World::new(&Scenario { workloads: vec![workload("w", pod(4000), &[(5, 2)], None)], ..scenario() });
    do_it(&mut world, Action::Taint { node: "g-0001".into(), taint }).unwrap();
    see(&mut world, 5, &["g-0001", "g-0002: w-00001", "waiting: w-00002"]);
    do_it(&mut world, Action::Untaint { node: "g-0001".into(), key: "k".into() }).unwrap();
    see(&mut world, 5, &["g-0001: w-00002", "g-0002: w-00001"]);
}

#[test]
fn pods_leave_a_node_that_stays_unready_or_forbids_them() {
    let bare = PodSpec { controller: None, ..pod(1000) };
    let workloads = vec![workload("w", pod(1000), &[(0, 2)], None), workload("bare", bare, &[(0, 2)], None)];
    let not_ready = Mishap::NotReady { group: "g".into(), nodes: 1 };
    let incidents = vec![incident(100, Some(1000), not_ready)];
    let mut world = World::new(&Scenario { workloads, incidents, ..scenario() });
    see(&mut world, 399, &["g-0001 not ready: w-00001 bare-00001", "g-0002: w-00002 bare-00002"]);
    see(&mut world, 400, &["g-0001 not ready", "g-0002: w-00002 bare-00002 w-00003"]);
    let taint = Taint { key: "k".into(), value: "".into(), effect: Effect::NoExecute };
    do_it(&mut world, Action::Taint { node: "g-0002".into(), taint }).unwrap();
    see(&mut world, 400, &["g-0001 not ready", "g-0002", "waiting: w-00004 w-00005"]);
    see(&mut world, 1100, &["g-0001: w-00004 w-00005", "g-0002"]);
}

#[test]
fn replicas_that_are_not_wanted_go_waiting_ones_first_and_then_the_youngest() {
    let demand = Demand::Replicas(Schedule::daily([(0, 3), (3600, 1), (7200, 2)], false));
    let replicas = Workload { demand, ..workload("web", pod(4000), &[], None) };
    let mut world = World::new(&Scenario { workloads: vec![replicas], ..scenario() });
    see(&mut world, 0, &["g-0001: web-00001", "g-0002: web-00002", "waiting: web-00003"]);
    see(&mut world, 3600, &["g-0001: web-00001", "g-0002"]);
    see(&mut world, 7200, &["g-0001: web-00001", "g-0002: web-00004"]);
}

#[test]
fn a_cloud_without_stock_makes_machines_later() {
    let mut scenario = scenario();
    scenario.incidents = vec![incident(0, Some(600), Mishap::StockOut { node_type: "t".into(), zone: None })];
    let mut world = World::new(&scenario);
    world.advance(at(1));
    resize(&mut world, 2, 4).unwrap();
    see(&mut world, 599, &["g-0001", "g-0002"]);
    see(&mut world, 600, &["g-0001", "g-0002", "g-0003 boots", "g-0004 boots"]);
}

#[test]
fn stock_is_shared_and_may_be_refused() {
    let mut scenario = scenario();
    let mut node_type = NodeType::clone(&scenario.groups[0].node_type);
    node_type.stock = Some(Schedule::constant(5));
    let node_type = std::sync::Arc::new(node_type);
    scenario.groups[0].node_type = node_type.clone();
    scenario.groups.push(NodeGroup { name: "other".into(), node_type, ..scenario.groups[0].clone() });
    let mut world = World::new(&scenario);
    resize(&mut world, 2, 4).unwrap();
    see(&mut world, 0, &["g-0001", "g-0002", "other-0001", "other-0002", "g-0003 boots"]);
    // What another group gives back is there for the one that waits.
    do_it(&mut world, Action::Remove { node: "other-0001".into(), provider_id: None, pods: vec![] }).unwrap();
    see(&mut world, 0, &["g-0001", "g-0002", "other-0002", "g-0003 boots", "g-0004 boots"]);
    let mut node_type = NodeType::clone(&scenario.groups[0].node_type);
    node_type.out_of_stock = OutOfStock::Refuse;
    scenario.groups[0].node_type = node_type.into();
    let refused = resize(&mut World::new(&scenario), 2, 4);
    assert_eq!(refused, Err("g: no t in stock".to_owned()));
}

#[test]
fn what_cannot_be_done_is_refused() {
    let mut world = World::new(&scenario());
    assert_eq!(resize(&mut world, 3, 4), Err("g has 2 machines, not 3".to_owned()));
    assert_eq!(resize(&mut world, 2, 11), Err("g may have 0 to 10 machines, not 11".to_owned()));
    let gone = Action::Remove { node: "x".into(), provider_id: None, pods: vec![] };
    assert_eq!(do_it(&mut world, gone), Err("no node x".to_owned()));
    resize(&mut world, 2, 3).unwrap();
    let booting = Action::Remove { node: "g-0003".into(), provider_id: None, pods: vec![] };
    assert_eq!(do_it(&mut world, booting), Err("no node g-0003".to_owned()));
}

#[test]
fn machines_break_and_are_replaced_and_some_never_boot() {
    let mut scenario = scenario();
    let mut node_type = NodeType::clone(&scenario.groups[0].node_type);
    node_type.boot_failures = Percent::whole(100);
    scenario.groups[0].node_type = node_type.into();
    scenario.workloads = vec![workload("w", pod(3000), &[(0, 2)], None)];
    scenario.incidents = vec![incident(10, None, Mishap::Break { group: "g".into(), nodes: 1 })];
    let mut world = World::new(&scenario);
    see(&mut world, 36_000, &["g-0002: w-00002", "g-0003 boots", "waiting: w-00003"]);
}

const ZONE: &str = "topology.kubernetes.io/zone";

/// Two groups `a` and `b` of one node, each in a zone of its name.
fn zones() -> Scenario {
    let scenario = scenario();
    let group = |zone: &str| NodeGroup {
        name: zone.into(),
        labels: Labels::from_iter([(ZONE, zone)]),
        nodes: 1,
        ..scenario.groups[0].clone()
    };
    Scenario { groups: vec![group("a"), group("b")], ..scenario }
}

fn called(app: &str, cpu: i64) -> PodSpec {
    PodSpec { labels: Labels::from_iter([("app", app)]), ..pod(cpu) }
}

fn near(app: &str, topology_key: &str) -> PodTerm {
    let values = vec![app.into()];
    let selector = Some(LabelSelector(vec![Expression { key: "app".into(), operator: Operator::In, values }]));
    PodTerm { topology_key: topology_key.into(), selector, ..PodTerm::default() }
}

#[test]
fn pods_that_spread_over_zones_wait_for_the_emptier_one() {
    let selector = near("w", ZONE).selector;
    let spread = Spread { topology_key: ZONE.into(), selector, ..Spread::default() };
    let workloads = vec![
        workload("big", PodSpec { node_selector: Labels::from_iter([(ZONE, "b")]), ..pod(4000) }, &[(0, 1)], Some(100)),
        workload("w", PodSpec { spread: vec![spread], ..called("w", 100) }, &[(1, 3)], None),
    ];
    let mut world = World::new(&Scenario { workloads, ..zones() });
    see(&mut world, 1, &["a-0001: w-00001", "b-0001: big-00001", "waiting: w-00002 w-00003"]);
    see(&mut world, 100, &["a-0001: w-00001 w-00003", "b-0001: w-00002"]);
}

#[test]
fn pods_keep_away_from_each_other_and_from_those_that_want_it() {
    let alone = PodSpec { pod_anti_affinity: vec![near("w", ZONE)], ..called("alone", 100) };
    let apart = PodSpec { host_ports: vec![HostPort { port: 80, ..HostPort::default() }], ..called("port", 100) };
    let workloads = vec![
        workload("alone", alone, &[(0, 1)], Some(100)),
        workload("w", called("w", 100), &[(1, 2)], None),
        workload("port", apart, &[(2, 3)], None),
    ];
    let mut world = World::new(&Scenario { workloads, ..zones() });
    see(&mut world, 1, &["a-0001: alone-00001", "b-0001: w-00001 w-00002"]);
    see(
        &mut world,
        2,
        &["a-0001: alone-00001 port-00001", "b-0001: w-00001 w-00002 port-00002", "waiting: port-00003"],
    );
}

#[test]
fn a_pod_that_wants_to_be_near_another_follows_it_in_the_same_turn() {
    let follower = PodSpec { priority: 1, pod_affinity: vec![near("w", ZONE)], ..called("follower", 100) };
    let workloads = vec![
        workload("follower", follower, &[(0, 2)], None),
        workload("w", PodSpec { node_selector: Labels::from_iter([(ZONE, "b")]), ..called("w", 100) }, &[(5, 1)], None),
    ];
    let mut world = World::new(&Scenario { workloads, ..zones() });
    see(&mut world, 4, &["a-0001", "b-0001", "waiting: follower-00001 follower-00002"]);
    see(&mut world, 5, &["a-0001", "b-0001: follower-00001 follower-00002 w-00001"]);
}

#[test]
fn stock_runs_out_in_one_zone_or_one_group() {
    let mut scenario = zones();
    let nowhere = |zone: &str| Mishap::StockOut { node_type: "t".into(), zone: Some(zone.into()) };
    scenario.incidents = vec![incident(0, Some(100), nowhere("a"))];
    scenario.groups[1].stock = Some(Schedule::daily([(0, 2), (200, 3)], false));
    let mut world = World::new(&scenario);
    for group in ["a", "b"] {
        let action = Action::Resize { from: 1, to: 3 };
        let planned = Planned { group: group.into(), action, reason: Reason::ForceTainted, dry_run: false };
        assert_eq!(world.execute(&planned), Ok(()));
    }
    see(&mut world, 0, &["a-0001", "b-0001", "b-0002 boots"]);
    see(&mut world, 100, &["a-0001", "b-0001", "b-0002", "a-0002 boots", "a-0003 boots"]);
    see(&mut world, 200, &["a-0001", "b-0001", "b-0002", "a-0002", "a-0003", "b-0003 boots"]);
}

#[test]
fn the_next_machines_may_never_become_nodes() {
    let fail = Mishap::FailBoots { group: "g".into(), machines: 1 };
    let mut world = World::new(&Scenario { incidents: vec![incident(0, None, fail)], ..scenario() });
    resize(&mut world, 2, 4).unwrap();
    see(&mut world, 36_000, &["g-0001", "g-0002", "g-0003 boots", "g-0004"]);
}

#[test]
fn devices_may_come_later_than_their_node() {
    let mut scenario = scenario();
    let mut node_type =
        NodeType { devices_after: Span::exactly(seconds(30)), ..(*scenario.groups[0].node_type).clone() };
    node_type.allocatable.set_extended("gpu", 1);
    scenario.groups[0].node_type = node_type.into();
    let mut asks = pod(100);
    asks.requests.set_extended("gpu", 1);
    scenario.workloads = vec![workload("w", asks, &[(0, 3)], None)];
    let mut world = World::new(&scenario);
    resize(&mut world, 2, 3).unwrap();
    see(&mut world, 99, &["g-0001: w-00001", "g-0002: w-00002", "g-0003", "waiting: w-00003"]);
    see(&mut world, 100, &["g-0001: w-00001", "g-0002: w-00002", "g-0003: w-00003"]);
}
