//! Pods that wait grow the right groups, text in and text out.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_cheaper_group_grows() {
    check(
        "group small pending min=0 max=20 price=0.095 template=2/8Gi target=0
         group large pending min=0 max=20 price=0.38 template=8/32Gi target=0
         pod p{1..10} cpu=500m memory=1Gi
         round",
        expect![[r#"
            small 0 -> 3, wants +3
            large 0, wants +0
              small: resize 0 -> 3 because 10 pods wait, default/p1 among them; best by price 2.482, next best large with price 13.9817
              option: small +3: price 2.482 = 1.8675 * ($0.285 + $0.0166) / ($0.2103 + $0.0166): 3 x $0.095 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 0.75
              option: large +1: price 13.9817 = 8 * ($0.38 + $0.0166) / ($0.2103 + $0.0166): 1 x $0.38 (config) with 8 cpu, preferred 1 cpu, unfitness 8; waste 1.0625
        "#]],
    );
}

/// A cloud's template may show a taint that nodes carry only while they start.
#[test]
fn start_up_taints_of_a_template_are_not_held_against_it() {
    check(
        "group web pending min=0 max=4 template=2/8Gi taint=agent:NoSchedule startup=agent target=0
         group own pending min=0 max=4 template=1/4Gi taint=agent:NoSchedule target=0
         pod p cpu=500m memory=1Gi
         round",
        expect![[r#"
            web 0 -> 1, wants +1
            own 0, wants +0
              web: resize 0 -> 1 because pod default/p waits
              option: web +1: waste 1.625
        "#]],
    );
}

#[test]
fn present_nodes_and_machines_on_their_way_come_first() {
    check(
        "group web pending min=0 max=20 target=2 boot=10m
         node n1 in=web cpu=2 memory=8Gi
         pod a on=n1 cpu=1 memory=1Gi running
         pod p{1..4} cpu=1 memory=1Gi
         round
         round
         after 11m
         round",
        expect![[r#"
            web 2 -> 3, wants +1, 1 in service, 1 upcoming
              web: resize 2 -> 3 because pod default/p1 waits
              option: web +1: waste 1.375

            web 3, wants +0, 1 in service, 2 upcoming

            web 3, wants +0, 1 in service, 2 never came
              not: group web: 2 machines that were asked for did not come within 10m; the cloud's target is 3 already
              not: group web: left alone until 2026-01-01T00:16:00Z: machines never came
              not: pod default/p1 and 2 like it: would fit on a new node of web, which may not grow now
        "#]],
    );
}

#[test]
fn a_machine_that_never_came_makes_its_group_back_off_and_the_next_best_is_taken() {
    check(
        "group cheap pending min=0 max=20 price=0.05 template=2/8Gi target=0 boot=5m
         group dear pending min=0 max=20 price=0.5 template=2/8Gi target=0 boot=5m
         pod p cpu=1 memory=1Gi
         round
         after 5m
         round
         after 5m
         round",
        expect![[r#"
            cheap 0 -> 1, wants +1
            dear 0, wants +0
              cheap: resize 0 -> 1 because pod default/p waits; best by price 2.4568, next best dear with price 19.0598
              option: cheap +1: price 2.4568 = 2 * ($0.05 + $0.0166) / ($0.0376 + $0.0166): 1 x $0.05 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 1.375
              option: dear +1: price 19.0598 = 2 * ($0.50 + $0.0166) / ($0.0376 + $0.0166): 1 x $0.50 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 1.375

            cheap 1, wants +0, 1 upcoming
            dear 0, wants +0

            cheap 1, wants +0, 1 never came
            dear 0 -> 1, wants +1
              dear: resize 0 -> 1 because pod default/p waits
              option: dear +1: price 19.0598 = 2 * ($0.50 + $0.0166) / ($0.0376 + $0.0166): 1 x $0.50 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 1.375
              not: group cheap: 1 machines that were asked for did not come within 5m; the cloud's target is 1 already
              not: group cheap: left alone until 2026-01-01T00:15:00Z: machines never came
        "#]],
    );
}

#[test]
fn selectors_taints_and_sizes_are_said_when_no_group_fits() {
    check(
        "group gpu pending min=0 max=4 template=8/32Gi ext=nvidia.com/gpu:1 taint=gpu:NoSchedule target=0
         group web pending min=0 max=4 template=2/8Gi target=0
         pod big cpu=4 memory=1Gi
         pod zone select=zone=b cpu=1 memory=1Gi
         round",
        expect![[r#"
            gpu 0, wants +0
            web 0, wants +0
              not: pod default/zone: fits on no new node; closest is web: wants a node with topology.kubernetes.io/zone=b, not one without topology.kubernetes.io/zone
              not: pod default/big: fits on no new node; closest is web: needs 4 cpu, at most 2 free
        "#]],
    );
}

#[test]
fn similar_groups_share_and_limits_cut() {
    check(
        "policy nodes=9
         group a pending min=0 max=20 template=2/8Gi label=topology.kubernetes.io/zone=a target=2
         group b pending min=0 max=20 template=2/8Gi label=topology.kubernetes.io/zone=b target=0
         group c pending min=0 max=3 template=2/8Gi label=topology.kubernetes.io/zone=c target=0
         pod p{1..20} cpu=1 memory=1Gi
         round",
        expect![[r#"
            a 2 -> 3, wants +1, 2 upcoming
            b 0 -> 3, wants +3
            c 0 -> 3, wants +3
              a: resize 2 -> 3 because 14 pods wait, default/p1 among them
              b: resize 0 -> 3 because 14 pods wait, default/p1 among them
              c: resize 0 -> 3 because 14 pods wait, default/p1 among them
              option: b +7: waste 0.75
              not: pod default/p1 and 1 like it: would fit on a new node of a, which gets no more: the cluster may have 9 and has 9
        "#]],
    );
}

#[test]
fn all_or_nothing_groups_grow_to_their_maximum() {
    check(
        "group slice pending allOrNothing min=0 max=4 template=2/8Gi target=0
         pod p{1..3} cpu=2 memory=1Gi
         round",
        expect![[r#"
            slice 0 -> 4, wants +4
              slice: resize 0 -> 4 because 3 pods wait, default/p1 among them
              option: slice +4: waste 1.1562
        "#]],
    );
}

#[test]
fn a_pod_of_a_utilisation_group_buys_nothing_elsewhere_while_that_group_can_grow() {
    check(
        "group own min=0 max=2 slow=0/0 fast=0/0 target=1
         group other pending min=0 max=9 template=4/8Gi label=pool=own target=0
         node n1 in=own cpu=1 memory=1000Mi
         pod p{1..4} for=own cpu=500m memory=1Mi
         round
         round",
        expect![[r#"
            own 1 -> 2, wants +2, 1 in service, cpu 200% (2 of 1), memory 0.4% (4Mi of 1000Mi)
            other 0, wants +0
              own: resize 1 -> 2 because cpu 200% (2 of 1) is above 70%: 1 + 2 nodes needed
              not: group own: wants 2 more nodes, at most 1 allowed by maximum 2

            own 2, wants +1, 1 in service, 1 upcoming, cpu 100% (2 of 2), memory 0.2% (4Mi of 1.95Gi)
            other 0, wants +0
              not: group own: wants +1 nodes, cooling down until 2026-01-01T00:10:00Z
        "#]],
    );
}

/// What does not fit on the full group, machines on their way included, moves over, and nothing else does.
#[test]
fn pods_move_over_once_the_utilisation_group_is_full() {
    check(
        "group own min=0 max=2 pods=unconstrained slow=0/0 fast=0/0 target=1
         group other pending min=0 max=9 template=1/8Gi target=0
         node n1 in=own cpu=1 memory=1000Mi
         pod a on=n1 cpu=500m memory=1Mi running
         pod p{1..6} cpu=500m memory=1Mi
         round
         round
         after 1m
         round",
        expect![[r#"
            own 1 -> 2, wants +4, 1 in service, cpu 350% (3500m of 1), memory 0.7% (7Mi of 1000Mi)
            other 0 -> 2, wants +2
              own: resize 1 -> 2 because cpu 350% (3500m of 1) is above 70%: 1 + 4 nodes needed
              other: resize 0 -> 2 because 3 pods wait, default/p1 among them
              option: other +2: waste 1.2498
              not: group own: wants 4 more nodes, at most 1 allowed by maximum 2

            own 2, wants +3, 1 in service, 1 upcoming, cpu 175% (3500m of 2), memory 0.35% (7Mi of 1.95Gi)
            other 2, wants +0, 2 upcoming
              not: group own: wants +3 nodes, cooling down until 2026-01-01T00:10:00Z

            own 2, wants +3, 1 in service, 1 upcoming, cpu 175% (3500m of 2), memory 0.35% (7Mi of 1.95Gi)
            other 2, wants +0, 2 upcoming
              not: group own: wants +3 nodes, cooling down until 2026-01-01T00:10:00Z
        "#]],
    );
}

#[test]
fn pods_of_low_priority_and_gated_ones_buy_nothing() {
    check(
        "policy cutoff=1
         group web pending min=0 max=9 template=4/8Gi target=0
         pod low cpu=1 memory=1Mi
         pod gated cpu=1 memory=1Mi gated
         round",
        expect![[r#"
            web 0, wants +0
        "#]],
    );
}

#[test]
fn a_group_below_its_minimum_grows_to_it_and_pods_use_the_new_machines() {
    check(
        "group web pending min=6 max=9 template=2/8Gi target=2
         node n{1..2} in=web cpu=2 memory=8Gi cordoned
         pod p{1..2} cpu=2 memory=1Gi
         round
         pod q{1..3} cpu=2 memory=1Gi
         round",
        expect![[r#"
            web 2 -> 6, wants +4, 2 cordoned
              web: resize 2 -> 6 because 2 nodes, at least 6 wanted

            web 6 -> 7, wants +1, 4 upcoming, 2 cordoned
              web: resize 6 -> 7 because pod default/p1 waits
              option: web +1: waste 0.875
        "#]],
    );
}

#[test]
fn a_minimum_is_reached_before_anybody_knows_what_a_new_node_is_like() {
    check(
        "policy nodes=3
         group web pending min=2 max=9 target=0
         group db pending min=2 max=9 target=0
         pod p cpu=2 memory=1Gi
         round",
        expect![[r#"
            web 0 -> 2, wants +2
            db 0 -> 1, wants +1
              web: resize 0 -> 2 because 0 nodes, at least 2 wanted
              db: resize 0 -> 1 because 0 nodes, at least 2 wanted
              not: group web: has no node to learn from, so nobody knows what a new one is like
              not: group db: has no node to learn from, so nobody knows what a new one is like
              not: pod default/p: fits on no node that is there, and no group may grow now
        "#]],
    );
}

#[test]
fn a_minimum_is_held_by_limits_and_back_off_and_needs_no_pods_to_be_known() {
    check(
        "policy cpu=5
         coverage pods=absent
         group web pending min=3 max=9 template=2/8Gi target=0
         group down pending min=1 max=9 template=1/8Gi target=0
         group slice pending allOrNothing min=1 max=4 template=100m/1Gi target=0
         group wide pending min=0 max=1 template=100m/1Gi target=2
         failed down
         round",
        expect![[r#"
            web 0 -> 2, wants +2
            down 0, wants +0
            slice 0 -> 4, wants +4
            wide 2, wants +0, 2 upcoming
              web: resize 0 -> 2 because 0 nodes, at least 3 wanted
              slice: resize 0 -> 4 because 0 nodes, at least 1 wanted
              not: cluster: pods are not known, so nothing is removed
              not: cluster: pods are not known, so it is not judged
              not: group down: left alone until 2026-01-01T00:05:00Z: the cloud refused
              not: group wide: has 2 nodes, at most 1 wanted; none is removed for that alone
              not: group web: wants at least 3 nodes, 2 allowed: all nodes may have 5 cpu and have 4200m, a new one has 2
        "#]],
    );
}

#[test]
fn groups_that_differ_in_price_share_no_nodes() {
    check(
        "group spot pending min=0 max=9 price=0.05 template=2/8Gi target=0
         group dear pending min=0 max=9 price=0.5 template=2/8Gi target=0
         group near pending min=0 max=9 price=0.051 template=2/8Gi target=0
         pod p{1..4} cpu=2 memory=1Gi
         round",
        expect![[r#"
            spot 0 -> 2, wants +2
            dear 0, wants +0
            near 0 -> 2, wants +2
              spot: resize 0 -> 2 because 4 pods wait, default/p1 among them; best by price 1.3024, next best dear with price 12.1267
              near: resize 0 -> 2 because 4 pods wait, default/p1 among them; best by price 1.3024, next best dear with price 12.1267
              option: spot +4: price 1.3024 = 1.8026 * ($0.20 + $0.0166) / ($0.2832 + $0.0166): 4 x $0.05 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 0.875
              option: dear +4: price 12.1267 = 1.8026 * ($2.00 + $0.0166) / ($0.2832 + $0.0166): 4 x $0.50 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 0.875
        "#]],
    );
}

#[test]
fn a_price_of_the_cloud_counts_where_nobody_else_states_one() {
    check(
        "group a pending min=0 max=9 template=4/8Gi cloudPrice=0.3 target=0
         group b pending min=0 max=9 template=2/8Gi cloudPrice=0.1 target=0
         group c pending min=0 max=9 template=3/8Gi price=0.01 cloudPrice=9 target=0
         pod p cpu=1 memory=1Gi
         round",
        expect![[r#"
            a 0, wants +0
            b 0, wants +0
            c 0 -> 1, wants +1
              c: resize 0 -> 1 because pod default/p waits; best by price 1.4714, next best b with price 4.3015
              option: c +1: price 1.4714 = 3 * ($0.01 + $0.0166) / ($0.0376 + $0.0166): 1 x $0.01 (config) with 3 cpu, preferred 1 cpu, unfitness 3; waste 1.5417
              option: b +1: price 4.3015 = 2 * ($0.10 + $0.0166) / ($0.0376 + $0.0166): 1 x $0.10 (provider) with 2 cpu, preferred 1 cpu, unfitness 2; waste 1.375
              option: a +1: price 23.3613 = 4 * ($0.30 + $0.0166) / ($0.0376 + $0.0166): 1 x $0.30 (provider) with 4 cpu, preferred 1 cpu, unfitness 4; waste 1.625
        "#]],
    );
}

#[test]
fn labels_that_the_template_does_not_state_are_those_of_the_cloud() {
    check(
        "group a pending min=0 max=9 template=4/8Gi label=disk=own cloudTemplate=1/1Gi cloudLabel=disk=ssd cloudLabel=site=b target=0
         pod zonal select=site=b cpu=2 memory=1Gi
         pod stated select=disk=own cpu=2 memory=1Gi
         pod outvoted select=disk=ssd cpu=2 memory=1Gi
         round",
        expect![[r#"
            a 0 -> 1, wants +1
              a: resize 0 -> 1 because 2 pods wait, default/stated among them
              option: a +1: waste 0.75
              not: pod default/outvoted: fits on no new node; closest is a: wants a node with disk=ssd, not own
        "#]],
    );
}

/// The scheduler puts both small pods on the node that is there first, so that one of the large ones has no place.
#[test]
fn pods_that_lost_their_places_wait_until_the_machines_are_there_and_new_ones_do_not() {
    let story = |then: &str| {
        format!(
            "group web pending min=0 max=20 template=4/8Gi target=0
             pod large{{1..2}} cpu=3
             pod small{{1..2}} cpu=1
             round
             group web pending min=0 max=20 template=4/8Gi target=2
             node n1 in=web cpu=4 memory=8Gi
             pod small{{1..2}} on=n1 cpu=1 running
             after 3s
             round
             {then}"
        )
    };
    let waits = expect![[r#"
        web 0 -> 2, wants +2
          web: resize 0 -> 2 because 4 pods wait, default/large1 among them
          option: web +2: waste 1

        web 2, wants +0, 1 in service, 1 upcoming
          not: pod default/large1: lost its place on machines on their way to others; more are bought when these are there, or 2026-01-01T00:00:13Z

        web 2, wants +0, 1 in service, 1 upcoming
          not: pod default/large1: lost its place on machines on their way to others; more are bought when these are there, or 2026-01-01T00:00:13Z

        web 2 -> 3, wants +1, 1 in service, 1 upcoming
          web: resize 2 -> 3 because pod default/large1 waits
          option: web +1: waste 1.25
    "#]];
    check(&story("after 9s\n round\n after 1s\n round"), waits);
    let new = expect![[r#"
        web 0 -> 2, wants +2
          web: resize 0 -> 2 because 4 pods wait, default/large1 among them
          option: web +2: waste 1

        web 2, wants +0, 1 in service, 1 upcoming
          not: pod default/large1: lost its place on machines on their way to others; more are bought when these are there, or 2026-01-01T00:00:13Z

        web 2 -> 5, wants +3, 1 in service, 1 upcoming
          web: resize 2 -> 5 because 3 pods wait, default/large1 among them
          option: web +3: waste 1.25
    "#]];
    check(&story("after 1s\n pod new{1..2} cpu=3\n round"), new);
    let there = expect![[r#"
        web 0 -> 2, wants +2
          web: resize 0 -> 2 because 4 pods wait, default/large1 among them
          option: web +2: waste 1

        web 2, wants +0, 1 in service, 1 upcoming
          not: pod default/large1: lost its place on machines on their way to others; more are bought when these are there, or 2026-01-01T00:00:13Z

        web 2 -> 3, wants +1, 2 in service
          web: resize 2 -> 3 because pod default/large2 waits
          option: web +1: waste 1.25
    "#]];
    check(&story("after 1s\n node n2 in=web cpu=4 memory=8Gi\n pod large1 on=n2 cpu=3 running\n round"), there);
}

#[test]
fn a_new_node_runs_the_daemon_sets_of_one_like_it_and_those_that_are_new() {
    check(
        "group web pending min=0 max=9 target=1
         node a in=web cpu=2 memory=8Gi age=1h
         daemonSet logs cpu=300m
         daemonSet gpu select=gpu=yes cpu=1
         daemonSet proxy cpu=200m
         pod proxy-a kind=daemonSet controller=DaemonSet/proxy on=a running cpu=200m
         pod full on=a running cpu=1700m
         pod fits cpu=1500m memory=1Gi
         pod big cpu=1600m memory=1Gi
         round",
        expect![[r#"
            web 1 -> 2, wants +1, 1 in service
              web: resize 1 -> 2 because pod default/fits waits
              option: web +1: waste 1.125
              not: pod default/big: fits on no new node; closest is web: needs 1600m cpu, at most 1500m free after 500m of DaemonSets
        "#]],
    );
}

#[test]
fn a_new_node_holds_as_many_volumes_as_one_like_it() {
    check(
        "group web pending min=0 max=9 target=1
         node a in=web cpu=2 memory=8Gi age=1h cordoned attach=disk:2
         class fast by=disk wait
         claim c1 class=fast
         claim c2 class=fast
         claim c3 class=fast
         pod p1 cpu=100m memory=1Gi claim=c1
         pod p2 cpu=100m memory=1Gi claim=c2
         pod p3 cpu=100m memory=1Gi claim=c3
         round",
        expect![[r#"
            web 1 -> 3, wants +2, 1 cordoned
              web: resize 1 -> 3 because 3 pods wait, default/p1 among them
              option: web +2: waste 1.7375
        "#]],
    );
}

/// `aws/karpenter-provider-aws#3199`: the pods that run ask for more than their DaemonSet says. A DaemonSet that is gone
/// asks for nothing, although one of its pods still runs.
#[test]
fn a_group_without_a_node_pays_for_what_daemon_sets_really_ask_for() {
    check(
        "group web pending min=1 max=1
         group arm pending min=0 max=4 template=16/64Gi target=0
         node n1 in=web cpu=4 memory=8Gi
         daemonSet agent ns=kube-system kind=daemonSet controller=DaemonSet/agent cpu=630m
         pod agent-1 ns=kube-system on=n1 kind=daemonSet controller=DaemonSet/agent cpu=1630m running
         pod gone-1 ns=kube-system on=n1 kind=daemonSet controller=DaemonSet/gone cpu=1 running
         pod p cpu=15 memory=1Gi
         pod q cpu=14300m memory=1Gi
         look",
        expect![[r#"
            web 1, wants +0, 1 in service
            arm 0 -> 1, wants +1
              arm: resize 0 -> 1 because pod default/q waits
              option: arm +1: waste 1.0906
              not: pod default/p: fits on no new node; closest is arm: needs 15 cpu, at most 14370m free after 1630m of DaemonSets
        "#]],
    );
}

/// What is absent is unknown, never empty: a DaemonSet with pods is one all the same.
#[test]
fn daemon_sets_that_are_not_known_are_those_that_have_pods() {
    check(
        "group web pending min=1 max=1
         group arm pending min=0 max=4 template=16/64Gi target=0
         node n1 in=web cpu=4 memory=8Gi
         pod agent-1 ns=kube-system on=n1 kind=daemonSet controller=DaemonSet/agent cpu=1630m running
         pod p cpu=15 memory=1Gi
         coverage daemonsets=absent
         look",
        expect![[r#"
            web 1, wants +0, 1 in service
            arm 0, wants +0
              not: pod default/p: fits on no new node; closest is arm: needs 15 cpu, at most 14370m free after 1630m of DaemonSets
        "#]],
    );
}

/// The newest node tells how many volumes the next one can have attached.
#[test]
fn new_machines_attach_no_more_volumes_than_those_that_are_there() {
    check(
        "group web pending min=1 max=9
         node n1 in=web cpu=8 memory=8Gi attach=disk:1
         class slow wait
         claim a class=slow
         claim b class=slow
         claim c class=slow
         pod p cpu=1 memory=1Gi claim=a
         pod q cpu=1 memory=1Gi claim=b
         pod r cpu=1 memory=1Gi claim=c
         look",
        expect![[r#"
            web 1 -> 3, wants +2, 1 in service
              web: resize 1 -> 3 because 2 pods wait, default/q among them
              option: web +2: waste 1.75
        "#]],
    );
}

/// Growing goes on without what is missing, and says so.
#[test]
fn kinds_that_are_not_known_and_on_which_waiting_pods_depend_are_named() {
    let fixture = Fixture::read(
        "group web pending min=1 max=9
         node n1 in=web cpu=1 memory=8Gi
         pod p{1..2} cpu=1 memory=1Gi claim=a
         pod q cpu=1 memory=1Gi near=host;app=db;nsIn=team=x
         coverage persistentvolumeclaims=absent namespaces=partial storageclasses=absent
         look",
    )
    .unwrap();
    let waiting = fixture.plans[0].report.waiting.as_ref().unwrap();
    let names: Vec<&str> = waiting.unknown.iter().map(|kind| kind.kubectl_name()).collect();
    assert_eq!(names, ["persistentvolumeclaims", "namespaces"]);
}

#[test]
fn machines_that_other_groups_ask_for_count_against_the_limits_of_the_cluster() {
    check(
        "policy nodes=4
         group own min=0 max=9 slow=0/0 fast=0/0 target=1
         group web pending min=0 max=9 template=2/8Gi target=0
         node a in=own cpu=1 memory=1000Mi
         pod o{1..4} for=own cpu=500m memory=1Mi
         pod p{1..3} cpu=2 memory=1Gi
         round",
        expect![[r#"
            own 1 -> 3, wants +2, 1 in service, cpu 200% (2 of 1), memory 0.4% (4Mi of 1000Mi)
            web 0 -> 1, wants +1
              own: resize 1 -> 3 because cpu 200% (2 of 1) is above 70%: 1 + 2 nodes needed
              web: resize 0 -> 1 because pod default/p1 waits
              option: web +1: waste 0.875
              not: pod default/p1 and 1 like it: would fit on a new node of web, which gets no more: the cluster may have 4 and has 4
        "#]],
    );
}

/// Options are compared by cost, but where limits cut, the pods that matter most get their machines.
#[test]
fn where_limits_cut_high_priority_goes_first() {
    let groups = "group cheap pending min=0 max=9 price=0.05 template=2/8Gi target=0
         group gpu pending min=0 max=9 price=3 template=4/8Gi ext=nvidia.com/gpu:1 taint=gpu:NoSchedule target=0
         pod low{1..4} cpu=2 memory=1Gi
         pod high{1..2} cpu=1 memory=1Gi ext=nvidia.com/gpu:1 tolerates=gpu priority=9
         pod middle cpu=500m memory=1Gi priority=5 tolerates=gpu
         round";
    check(
        &format!("policy nodes=3\n{groups}"),
        expect![[r#"
        cheap 0 -> 1, wants +1
        gpu 0 -> 2, wants +2
          cheap: resize 0 -> 1 because pod default/low1 waits
          gpu: resize 0 -> 2 because 3 pods wait, default/high1 among them
          option: gpu +2: price 15.3267 = 3.8003 * ($6.00 + $0.0166) / ($1.4752 + $0.0166): 2 x $3.00 (config) with 4 cpu, preferred 1 cpu, unfitness 4; waste 1.625
          option: cheap +1: price 1.5241 = 2 * ($0.05 + $0.0166) / ($0.0708 + $0.0166): 1 x $0.05 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 0.875
          not: pod default/low1 and 2 like it: would fit on a new node of cheap, which gets no more: the cluster may have 3 and has 3
    "#]],
    );
    check(
        &format!("policy scaleUp=1\n{groups}"),
        expect![[r#"
        cheap 0, wants +0
        gpu 0 -> 1, wants +1
          gpu: resize 0 -> 1 because 2 pods wait, default/high1 among them
          option: gpu +1: price 15.9987 = 4 * ($3.00 + $0.0166) / ($0.7376 + $0.0166): 1 x $3.00 (config) with 4 cpu, preferred 1 cpu, unfitness 4; waste 1.625
          not: pod default/high1: would fit on a new node of gpu, which gets no more: one round may add 1 and has added 1
          not: pod default/low1 and 3 like it: would fit on a new node of cheap, which gets no more: one round may add 1 and has added 1
    "#]],
    );
    // With machines for all of them it makes no difference.
    check(
        groups,
        expect![[r#"
        cheap 0 -> 5, wants +5
        gpu 0 -> 2, wants +2
          cheap: resize 0 -> 5 because 5 pods wait, default/low1 among them; best by price 1.4455, next best gpu with price 15.1136
          gpu: resize 0 -> 2 because 2 pods wait, default/high1 among them
          option: cheap +5: price 1.4455 = 1.7395 * ($0.25 + $0.0166) / ($0.3042 + $0.0166): 5 x $0.05 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 1.025
          option: gpu +2: price 15.1136 = 3.8003 * ($6.00 + $0.0166) / ($1.4963 + $0.0166): 2 x $3.00 (config) with 4 cpu, preferred 1 cpu, unfitness 4; waste 1.5
          option: gpu +2: price 15.3267 = 3.8003 * ($6.00 + $0.0166) / ($1.4752 + $0.0166): 2 x $3.00 (config) with 4 cpu, preferred 1 cpu, unfitness 4; waste 1.625
    "#]],
    );
    // A group's maximum counts too: the pods of high priority fit on no other group.
    check(
        "group small pending min=0 max=2 price=0.05 template=2/8Gi label=disk=ssd target=0
         group large pending min=0 max=9 price=9 template=4/16Gi target=0
         pod low{1..2} cpu=2 memory=1Gi
         pod high{1..2} cpu=2 memory=1Gi select=disk=ssd priority=9
         round",
        expect![[r#"
            small 0 -> 2, wants +2
            large 0 -> 1, wants +1
              small: resize 0 -> 2 because 2 pods wait, default/high1 among them; best by price 1.4251, next best large with price 228.0155
              large: resize 0 -> 1 because 2 pods wait, default/low1 among them
              option: small +2: price 1.4251 = 1.9334 * ($0.10 + $0.0166) / ($0.1416 + $0.0166): 2 x $0.05 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 0.875
              option: large +1: price 228.0155 = 4 * ($9.00 + $0.0166) / ($0.1416 + $0.0166): 1 x $9.00 (config) with 4 cpu, preferred 1 cpu, unfitness 4; waste 0.875
              option: large +1: price 228.0155 = 4 * ($9.00 + $0.0166) / ($0.1416 + $0.0166): 1 x $9.00 (config) with 4 cpu, preferred 1 cpu, unfitness 4; waste 0.875
        "#]],
    );
}
