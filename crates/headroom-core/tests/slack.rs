//! Spare room is kept for pods to come, text in and text out. The names of requirements (R) and specifications (S) are
//! those of `seeds/resource-slack.md`.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;
use headroom_core::memory::Memory;

fn read(fixture: &str) -> Fixture {
    Fixture::read(fixture).unwrap_or_else(|error| panic!("{error}"))
}

fn check(fixture: &str, expected: Expect) {
    expected.assert_eq(&read(fixture).to_string());
}

/// Where placeholders are after the last round.
fn places(memory: &Memory) -> String {
    let kinds = memory.placeholders.iter().map(|(kind, places)| {
        let nodes: Vec<String> = places.nodes.iter().map(|(node, count)| format!("{count} on {node}")).collect();
        format!("{kind}: {}\n", nodes.join(", "))
    });
    kinds.collect()
}

/// The seed's own example never applies its rate; with it, three nodes of 2000m want 600m, in two placeholders of 400m.
#[test]
fn the_rate_of_the_seeds_example_is_applied() {
    check(
        "slack rate=10 basis=capacity
         group web pending min=0 max=10 target=3
         node n{1..3} in=web cpu=2 memory=8Gi
         round
         round",
        expect![[r#"
            web 3, wants +0, 3 in service
              slack: 10% of the 6 cpu and 24Gi memory of the nodes
              slack: 2 x rate (400m cpu, 1.6Gi memory): 2 placed

            web 3, wants +0, 3 in service
              slack: 10% of the 6 cpu and 24Gi memory of the nodes
              slack: 2 x rate (400m cpu, 1.6Gi memory): 2 kept
        "#]],
    );
}

#[test]
fn r1_dozens_of_nodes_and_hundreds_of_pods() {
    check(
        "slack rate=10
         group web pending min=0 max=60 target=36
         node n-{1..36} in=web cpu=4 memory=16Gi
         pod a{1..200} on=n-1 cpu=1m memory=1Mi running controller=ReplicaSet/a
         pod b-{1..36} on=n-1 cpu=1 memory=1Gi controller=ReplicaSet/b running
         pod c{1..100} cpu=1 memory=4Gi controller=ReplicaSet/c
         round",
        expect![[r#"
            web 36, wants +0, 36 in service
              slack: 10% of the requested 136200m cpu and 436.2Gi memory
              slack: 18 x rate (800m cpu, 3.2Gi memory): 18 placed
        "#]],
    );
}

/// Ten thousand equal pods that fit nowhere are one refusal, and placeholders do not change that. No room is kept for a share
/// of pods that can never run.
#[test]
fn r1_1_equal_pods_are_looked_at_once() {
    check(
        "slack rate=10
         group web pending min=0 max=3 target=3
         node n{1..3} in=web cpu=2 memory=8Gi
         pod run-{1..6} on=n1 cpu=100m memory=100Mi running controller=ReplicaSet/run
         pod p{1..10000} cpu=3 memory=1Gi controller=ReplicaSet/p
         pod g{1..50} cpu=1 memory=1Gi ext=nvidia.com/gpu:1 controller=ReplicaSet/g
         round",
        expect![[r#"
            web 3, wants +0, 3 in service
              slack: 10% of the requested 600m cpu and 600Mi memory
              slack: 1 x rate (100m cpu, 100Mi memory): 1 placed
              not: pod default/p1 and 9999 like it: fits on no new node; closest is web: needs 3 cpu, at most 2 free
              not: pod default/g1 and 49 like it: fits on no new node; closest is web: needs 1 nvidia.com/gpu, at most 0 free
        "#]],
    );
}

/// Pods come and go on other nodes, and nodes join: the placeholder stays where it was.
#[test]
fn r1_2_a_placeholder_stays_on_its_node() {
    let mut fixture = read(
        "slack rate=20
         group web pending min=0 max=10 target=3
         node n{1..3} in=web cpu=2 memory=8Gi
         pod a{1..3} on=n1 cpu=500m memory=1Gi running controller=ReplicaSet/a
         pod b on=n2 cpu=1500m memory=1Gi running controller=ReplicaSet/a
         round",
    );
    expect![[r#"
        rate: 1 on n1, 1 on n2
    "#]]
    .assert_eq(&places(&fixture.memory));
    for line in
        ["gone pod a1", "node n0 in=web cpu=2 memory=8Gi", "pod c on=n3 cpu=400m memory=1Gi", "after 10s", "round"]
    {
        fixture.line(line).unwrap();
    }
    expect![[r#"
        rate: 1 on n1, 1 on n2
    "#]]
    .assert_eq(&places(&fixture.memory));
}

/// A pod above 10 % of the cluster is marked, under a rate of 10 %: more than the rate is kept.
#[test]
fn r2_more_than_the_rate_is_kept_when_a_marked_pod_is_larger() {
    check(
        "slack rate=10 marked
         group web pending min=0 max=10 target=3
         node n{1..3} in=web cpu=2 memory=8Gi
         pod small-{1..8} on=n1 cpu=100m memory=100Mi running controller=ReplicaSet/small
         pod big on=n2 cpu=1200m memory=1Gi running controller=ReplicaSet/big spareCopies=1
         round",
        expect![[r#"
            web 3, wants +0, 3 in service
              slack: 10% of the requested 2 cpu and 1.78Gi memory
              slack: 1 x spare copy of default/ReplicaSet/big (1200m cpu, 1Gi memory): 1 placed
        "#]],
    );
}

/// The placeholder on n1 fits on n2, so n1 goes; then n2 holds all spare room that there is, and stays.
#[test]
fn r3_nodes_go_when_their_placeholders_fit_elsewhere_and_only_then() {
    check(
        "scaleDown
         slack rate=50
         group web pending min=0 max=10 target=3
         node n{1..3} in=web cpu=2 memory=8Gi age=1h
         pod a on=n3 cpu=1600m memory=1Gi running controller=ReplicaSet/a
         round
         after 1m
         round",
        expect![[r#"
            web 3, wants +0, 3 in service
              web: taint n1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 2)
              slack: 50% of the requested 1600m cpu and 1Gi memory
              slack: 2 x rate (400m cpu, 1Gi memory): 2 placed
              not: node n2: 1 placeholder (rate) fits on no other node: needs 400m cpu, at most 0 free
              not: node n3: cpu 80% (1600m of 2) is above 50%

            web 3 -> 2, wants +0, 2 in service, 1 tainted
              web: remove n1 because marked for 1m and empty
              slack: 50% of the requested 1600m cpu and 1Gi memory
              slack: 2 x rate (400m cpu, 1Gi memory): 2 kept
              not: node n2: 1 placeholder (rate) fits on no other node: needs 400m cpu, at most 0 free
              not: node n3: cpu 80% (1600m of 2) is above 50%
        "#]],
    );
}

/// The rate alone is enough: everything else has a default that follows from the cluster.
#[test]
fn r4_the_rate_is_the_only_setting_that_is_needed() {
    check(
        "slack rate=10
         group web pending min=0 max=10 template=4/16Gi target=1
         node n1 in=web cpu=4 memory=16Gi
         pod a{1..8} on=n1 cpu=500m memory=1Gi running controller=ReplicaSet/a
         round",
        expect![[r#"
            web 1 -> 2, wants +1, 1 in service
              web: resize 1 -> 2 because spare room is short: 1 placeholder (rate)
              option: web +1: waste 1.8125
              slack: 10% of the requested 4 cpu and 8Gi memory
              slack: 1 x rate (500m cpu, 1Gi memory): 1 on new nodes
        "#]],
    );
}

/// A pod that is to start faster fits on a small node, so no large one is bought.
#[test]
fn r5_no_node_is_larger_than_needed() {
    check(
        "slack largest
         group large pending min=0 max=10 template=16/64Gi target=0 price=0.8
         group small pending min=0 max=10 template=2/8Gi target=1 price=0.1
         node n1 in=small cpu=2 memory=8Gi
         pod a on=n1 cpu=1500m memory=2Gi running controller=ReplicaSet/a
         pod b on=n1 cpu=100m memory=4Gi running controller=ReplicaSet/b
         round",
        expect![[r#"
            large 0, wants +0
            small 1 -> 2, wants +1, 1 in service
              small: resize 1 -> 2 because spare room is short: 2 placeholders (largest pod by cpu); best by price 2.4203, next best large with price 135.6156
              option: small +1: price 2.4203 = 2 * ($0.10 + $0.0166) / ($0.0798 + $0.0166): 1 x $0.10 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 0.45
              option: large +1: price 135.6156 = 16 * ($0.80 + $0.0166) / ($0.0798 + $0.0166): 1 x $0.80 (config) with 16 cpu, preferred 1 cpu, unfitness 16; waste 1.8062
              slack: 1 x largest pod by cpu (1500m cpu, 2Gi memory): 1 on new nodes
              slack: 1 x largest pod by memory (100m cpu, 4Gi memory): 1 on new nodes
        "#]],
    );
}

/// One more of the largest pod by cpu and of the largest by memory; the database asks for no spare copy.
#[test]
fn r6_room_for_the_largest_pods_but_not_for_the_database() {
    check(
        "slack largest
         group web pending min=0 max=10 target=3
         node n{1..3} in=web cpu=8 memory=64Gi
         pod database on=n1 cpu=6 memory=48Gi running controller=StatefulSet/database spareCopies=0
         pod web on=n2 cpu=2 memory=1Gi running controller=ReplicaSet/web
         pod cache on=n2 cpu=10m memory=10Gi running controller=ReplicaSet/cache
         pod both on=n3 cpu=1 memory=1Gi running controller=ReplicaSet/both
         round",
        expect![[r#"
            web 3, wants +0, 3 in service
              slack: 1 x largest pod by cpu (2 cpu, 1Gi memory): 1 placed
              slack: 1 x largest pod by memory (10m cpu, 10Gi memory): 1 placed
        "#]],
    );
}

#[test]
fn a_pod_that_is_the_largest_by_both_is_counted_once() {
    check(
        "slack largest
         group web pending min=0 max=10 target=2
         node n{1..2} in=web cpu=8 memory=64Gi
         pod big on=n1 cpu=2 memory=10Gi running controller=ReplicaSet/big
         pod small on=n1 cpu=1 memory=1Gi running controller=ReplicaSet/small
         round",
        expect![[r#"
            web 2, wants +0, 2 in service
              slack: 1 x largest pod by cpu (2 cpu, 10Gi memory): 1 placed
        "#]],
    );
}

/// The seed's numbers: the largest request 1000m/1G and 10m/10G. Room of 1000m/10G takes any pod between them.
#[test]
fn r7_room_for_any_pod_up_to_the_largest_of_each_resource() {
    check(
        "slack largest=combined
         group web pending min=0 max=10 template=2/12G target=1
         node n1 in=web cpu=2 memory=12G
         pod cpu on=n1 cpu=1000m memory=1G running controller=ReplicaSet/cpu
         pod memory on=n1 cpu=10m memory=10G running controller=ReplicaSet/memory
         round",
        expect![[r#"
            web 1 -> 2, wants +1, 1 in service
              web: resize 1 -> 2 because spare room is short: 1 placeholder (largest cpu with largest memory)
              option: web +1: waste 0.6667
              slack: 1 x largest cpu with largest memory (1 cpu, 9.31Gi memory): 1 on new nodes
        "#]],
    );
}

/// No machine has that much of both: it is refused with the numbers.
#[test]
fn r7_a_combination_that_no_machine_holds_is_refused() {
    check(
        "slack largest=combined
         group compute pending min=0 max=10 template=16/8Gi target=1
         group memory pending min=0 max=10 template=2/64Gi target=1
         node c1 in=compute cpu=16 memory=8Gi
         node m1 in=memory cpu=2 memory=64Gi
         pod cpu on=c1 cpu=12 memory=1Gi running controller=ReplicaSet/cpu
         pod memory on=m1 cpu=1 memory=48Gi running controller=ReplicaSet/memory
         round",
        expect![[r#"
            compute 1, wants +0, 1 in service
            memory 1, wants +0, 1 in service
              slack: 1 x largest cpu with largest memory (12 cpu, 48Gi memory): 1 without a place
              not: placeholder (largest cpu with largest memory): fits on no new node; closest is compute: needs 48Gi memory, at most 8Gi free
        "#]],
    );
}

/// No two of these pods may share a node, and neither may a spare copy with one of them.
#[test]
fn r8_anti_affinity_of_the_mirrored_pod_is_kept() {
    check(
        "slack marked
         group web pending min=0 max=10 target=2 template=4/16Gi
         node n{1..2} in=web cpu=4 memory=16Gi
         pod a{1..2} on=n1 label=app=a apart=host;app=a cpu=100m memory=100Mi running controller=ReplicaSet/a spareCopies
         gone pod a2
         pod a2 on=n2 label=app=a apart=host;app=a cpu=100m memory=100Mi running controller=ReplicaSet/a spareCopies
         round",
        expect![[r#"
            web 2 -> 4, wants +2, 2 in service
              web: resize 2 -> 4 because spare room is short: 2 placeholders (spare copy of default/ReplicaSet/a)
              option: web +2: waste 1.9689
              slack: 2 x spare copy of default/ReplicaSet/a (100m cpu, 100Mi memory): 2 on new nodes
        "#]],
    );
}

#[test]
fn r9_node_selectors_and_affinity_of_the_mirrored_pod_are_kept() {
    check(
        "slack marked
         group fast pending min=0 max=10 target=1 template=4/16Gi label=disk=ssd
         group slow pending min=0 max=10 target=1 template=4/16Gi label=disk=hdd
         node f1 in=fast cpu=4 memory=16Gi label=disk=ssd
         node s1 in=slow cpu=4 memory=16Gi label=disk=hdd
         pod a on=f1 select=disk=ssd cpu=3 memory=1Gi running controller=ReplicaSet/a spareCopies=1
         pod b on=f1 notIn=disk=hdd cpu=500m memory=1Gi running controller=ReplicaSet/b spareCopies=100%
         round",
        expect![[r#"
            fast 1 -> 2, wants +1, 1 in service
            slow 1, wants +0, 1 in service
              fast: resize 1 -> 2 because spare room is short: 1 placeholder (spare copy of default/ReplicaSet/a)
              option: fast +1: waste 1.1875
              slack: 1 x spare copy of default/ReplicaSet/a (3 cpu, 1Gi memory): 1 on new nodes
              slack: 1 x spare copy of default/ReplicaSet/b (500m cpu, 1Gi memory): 1 placed
        "#]],
    );
}

/// Equal placeholders are one kind with a number: nothing is done for each of them.
#[test]
fn s1_equal_placeholders_are_one_kind() {
    check(
        "slack rate=100
         group web pending min=0 max=1000 template=2/8Gi target=1 
         node n1 in=web cpu=2 memory=8Gi
         pod p{1..3000} cpu=100m memory=100Mi controller=ReplicaSet/p
         round",
        expect![[r#"
            web 1 -> 300, wants +299, 1 in service
              web: resize 1 -> 300 because 2980 pods wait, default/p1 among them, and spare room is short by 3000 placeholders
              option: web +149: waste 0.7559
              option: web +150: waste 0.7559
              slack: 100% of the requested 300 cpu and 292.97Gi memory
              slack: 3000 x rate (100m cpu, 100Mi memory): 3000 on new nodes
        "#]],
    );
}

/// Step by step: kept, pushed out by a real pod, re-created elsewhere, one fewer wanted.
#[test]
fn s2_only_the_placeholders_that_must_move_do() {
    let mut fixture = read(
        "slack rate=50
         group web pending min=0 max=3 target=3
         node n{1..3} in=web cpu=2 memory=8Gi
         pod a{1..4} on=n1 cpu=500m memory=1Gi running controller=ReplicaSet/a
         round",
    );
    expect![[r#"
        rate: 3 on n2
    "#]]
    .assert_eq(&places(&fixture.memory));
    let steps: [(&[&str], Expect); 3] = [
        (
            &["pod b on=n2 cpu=1500m memory=1Gi running controller=ReplicaSet/b", "round"],
            expect![[r#"
            rate: 1 on n2, 4 on n3
        "#]],
        ),
        (
            &["gone pod a1", "gone pod a2", "round"],
            expect![[r#"
            rate: 1 on n2, 3 on n3
        "#]],
        ),
        (
            &["gone pod b", "round"],
            expect![[r#"
            rate: 1 on n2, 1 on n3
        "#]],
        ),
    ];
    for (lines, expected) in steps {
        lines.iter().for_each(|line| fixture.line(line).unwrap());
        expected.assert_eq(&places(&fixture.memory));
    }
}

/// Nodes that are nothing like their average: a placeholder of a fifth of it would fit on none of them.
#[test]
fn s3_a_placeholder_fits_on_some_node() {
    check(
        "slack rate=10
         group cpu pending min=0 max=10 target=1 template=40/4Gi
         group memory pending min=0 max=10 target=1 template=2/40Gi
         node c1 in=cpu cpu=40 memory=4Gi
         node m1 in=memory cpu=2 memory=40Gi
         pod c on=c1 cpu=30 memory=3Gi running controller=ReplicaSet/c
         pod m on=m1 cpu=1500m memory=36Gi running controller=ReplicaSet/m
         round",
        expect![[r#"
            cpu 1 -> 2, wants +1, 1 in service
            memory 1, wants +0, 1 in service
              cpu: resize 1 -> 2 because spare room is short: 1 placeholder (rate)
              option: cpu +1: waste 0.895
              slack: 10% of the requested 31500m cpu and 39Gi memory
              slack: 1 x rate (4200m cpu, 4Gi memory): 1 on new nodes
        "#]],
    );
}

/// DaemonSets leave less than a fifth of the only kind of node that can be bought.
#[test]
fn s3_what_daemon_sets_take_is_left_out_of_the_size() {
    check(
        "slack rate=50
         group web pending min=0 max=10 target=1 template=2/8Gi
         daemonSet agent cpu=1800m memory=1Gi
         node n1 in=web cpu=2 memory=8Gi
         pod agent-1 on=n1 kind=daemonSet cpu=1800m memory=1Gi running controller=DaemonSet/agent
         node other cpu=2 memory=8Gi
         pod a on=other cpu=1500m memory=100Mi running controller=ReplicaSet/a
         round",
        expect![[r#"
            web 1 -> 2, wants +1, 1 in service
              web: resize 1 -> 2 because spare room is short: 1 placeholder (rate)
              option: web +1: waste 1.8878
              slack: 50% of the requested 1500m cpu and 100Mi memory
              slack: 4 x rate (200m cpu, 100Mi memory): 3 placed, 1 on new nodes
        "#]],
    );
}

#[test]
fn s4_all_placeholders_of_the_rate_are_of_one_size() {
    check(
        "slack rate=30
         group small pending min=0 max=10 target=2
         group large pending min=0 max=10 target=1
         node s{1..2} in=small cpu=2 memory=8Gi
         node l1 in=large cpu=20 memory=80Gi
         pod a{1..10} on=l1 cpu=1 memory=2Gi running controller=ReplicaSet/a
         round",
        expect![[r#"
            small 2, wants +0, 2 in service
            large 1, wants +0, 1 in service
              slack: 30% of the requested 10 cpu and 20Gi memory
              slack: 3 x rate (1 cpu, 2Gi memory): 3 placed
        "#]],
    );
}

/// Of what pods request, or of what nodes offer.
#[test]
fn s5_the_rate_is_of_the_total_requests() {
    let cluster = "group web pending min=0 max=20 target=10
         node n{1..10} in=web cpu=2 memory=8Gi
         pod a{1..4} on=n1 cpu=500m memory=1Gi running controller=ReplicaSet/a
         daemonSet agent cpu=100m memory=100Mi
         pod agent-1 on=n1 kind=daemonSet cpu=100m memory=100Mi running controller=DaemonSet/agent
         round";
    check(
        &format!("slack rate=25\n{cluster}"),
        expect![[r#"
        web 10, wants +0, 10 in service
          slack: 25% of the requested 2 cpu and 4Gi memory
          slack: 2 x rate (400m cpu, 1Gi memory): 2 placed
    "#]],
    );
    check(
        &format!("slack rate=25 basis=capacity\n{cluster}"),
        expect![[r#"
        web 10, wants +0, 10 in service
          slack: 25% of the 20 cpu and 80Gi memory of the nodes
          slack: 20 x rate (400m cpu, 1Gi memory): 20 placed
    "#]],
    );
}

#[test]
fn s6_no_placeholder_is_larger_than_the_largest_pod() {
    check(
        "slack rate=100
         group web pending min=0 max=20 target=2
         node n{1..2} in=web cpu=50 memory=200Gi
         pod a{1..3} on=n1 cpu=200m memory=3Gi running controller=ReplicaSet/a
         pod b on=n1 cpu=300m memory=10Mi running controller=ReplicaSet/b
         round",
        expect![[r#"
            web 2, wants +0, 2 in service
              slack: 100% of the requested 900m cpu and 9.01Gi memory
              slack: 4 x rate (300m cpu, 3Gi memory): 4 placed
        "#]],
    );
}

/// Every kind of workload may ask: for a number, for a percentage of its replicas, or for one by an empty value.
#[test]
fn s7_marked_workloads_are_mirrored() {
    check(
        "slack marked
         group web pending min=0 max=20 target=2
         node n{1..2} in=web cpu=16 memory=64Gi
         workload Deployment/web replicas=11 spareCopies=10% cpu=100m memory=100Mi
         workload ReplicaSet/web-1 of=Deployment/web replicas=11 spareCopies=10% cpu=100m memory=100Mi
         pod web-1-{1..11} on=n1 controller=ReplicaSet/web-1 cpu=150m memory=128Mi running
         workload ReplicaSet/alone replicas=2 spareCopies=3 cpu=100m memory=200Mi
         workload StatefulSet/queue replicas=0 spareCopies cpu=1 memory=2Gi
         workload Job/batch replicas=5 spareCopies=2 cpu=2 memory=1Gi
         workload Deployment/none replicas=5 spareCopies=0 cpu=2 memory=1Gi
         workload Deployment/wrong replicas=5 spareCopies=half cpu=2 memory=1Gi
         pod single-{1..2} on=n2 cpu=300m memory=100Mi running spareCopies=2
         pod odd on=n2 cpu=400m memory=100Mi running spareCopies=-1
         round",
        expect![[r#"
            web 2, wants +0, 2 in service
              slack: 2 x spare copy of default/Deployment/web (150m cpu, 128Mi memory): 2 placed
              slack: 2 x spare copy of default/Job/batch (2 cpu, 1Gi memory): 2 placed
              slack: 3 x spare copy of default/ReplicaSet/alone (100m cpu, 200Mi memory): 3 placed
              slack: 1 x spare copy of default/StatefulSet/queue (1 cpu, 2Gi memory): 1 placed
              slack: 4 x spare copy of default/Pod/single-1 (300m cpu, 100Mi memory): 4 placed
              warning: default/Deployment/wrong: annotation headroom.dev/spare-copies is "half" and keeps no room; write a number or a percentage
              warning: default/Pod/odd: annotation headroom.dev/spare-copies is "-1" and keeps no room; write a number or a percentage
        "#]],
    );
}

#[test]
fn r10_five_thousand_nodes_and_a_hundred_and_fifty_thousand_pods() {
    let mut text = String::from("slack rate=10\ngroup web pending min=0 max=6000 target=5000\n");
    text += "node n{1..5000} in=web cpu=32 memory=128Gi\n";
    (1..=5000).for_each(|node| {
        text += &format!("pod p-{node}-{{1..30}} on=n{node} cpu=1 memory=4Gi running controller=ReplicaSet/p\n")
    });
    text += "round\nround";
    check(
        &text,
        expect![[r#"
            web 5000 -> 5157, wants +157, 5000 in service
              web: resize 5000 -> 5157 because spare room is short: 5000 placeholders (rate)
              option: web +157: waste 0.0096
              slack: 10% of the requested 150000 cpu and 585.94Ti memory
              slack: 15000 x rate (1 cpu, 4Gi memory): 10000 placed, 5000 on new nodes

            web 5157, wants +0, 5000 in service, 157 upcoming
              slack: 10% of the requested 150000 cpu and 585.94Ti memory
              slack: 15000 x rate (1 cpu, 4Gi memory): 15000 kept
        "#]],
    );
}

/// On a machine that is on its way too: it is not bought again.
#[test]
fn placeholders_wait_for_their_machines() {
    check(
        "slack rate=50
         group web pending min=0 max=10 target=1 template=2/8Gi
         node n1 in=web cpu=2 memory=8Gi
         pod a{1..4} on=n1 cpu=500m memory=1Gi running controller=ReplicaSet/a
         round
         after 10s
         round
         node n2 in=web cpu=2 memory=8Gi notReady=1m age=1m
         after 10s
         round
         node n2 in=web cpu=2 memory=8Gi age=2m
         after 10s
         round",
        expect![[r#"
            web 1 -> 2, wants +1, 1 in service
              web: resize 1 -> 2 because spare room is short: 3 placeholders (rate)
              option: web +1: waste 1.025
              slack: 50% of the requested 2 cpu and 4Gi memory
              slack: 3 x rate (400m cpu, 1Gi memory): 3 on new nodes

            web 2, wants +0, 1 in service, 1 upcoming
              slack: 50% of the requested 2 cpu and 4Gi memory
              slack: 3 x rate (400m cpu, 1Gi memory): 3 kept

            web 2, wants +0, 1 in service, 1 upcoming
              slack: 50% of the requested 2 cpu and 4Gi memory
              slack: 3 x rate (400m cpu, 1Gi memory): 3 on machines on their way

            web 2, wants +0, 2 in service
              slack: 50% of the requested 2 cpu and 4Gi memory
              slack: 3 x rate (400m cpu, 1Gi memory): 3 kept
        "#]],
    );
}

/// Real pods go where the placeholders are when nothing else is free, and room is bought anew for these.
#[test]
fn real_pods_push_placeholders_out() {
    check(
        "slack rate=50
         group web pending min=0 max=10 target=2 template=2/8Gi
         node n{1..2} in=web cpu=2 memory=8Gi
         pod a{1..4} on=n1 cpu=500m memory=1Gi running controller=ReplicaSet/a
         round
         pod b{1..3} cpu=500m memory=1Gi controller=ReplicaSet/a
         after 10s
         round",
        expect![[r#"
            web 2, wants +0, 2 in service
              slack: 50% of the requested 2 cpu and 4Gi memory
              slack: 3 x rate (400m cpu, 1Gi memory): 3 placed

            web 2 -> 3, wants +1, 2 in service
              web: resize 2 -> 3 because spare room is short: 4 placeholders (rate)
              option: web +1: waste 0.7
              slack: 50% of the requested 3500m cpu and 7Gi memory
              slack: 5 x rate (400m cpu, 1Gi memory): 1 kept, 4 on new nodes
        "#]],
    );
}

/// Spare copies are asked for by name: they keep their places when there is no room for all, and the rate gives way.
#[test]
fn the_rate_is_pushed_out_first() {
    let mut fixture = read(
        "slack rate=50 marked
         group web pending min=0 max=2 target=2 template=2/8Gi
         node n{1..2} in=web cpu=2 memory=8Gi
         pod a{1..4} on=n1 cpu=500m memory=1Gi running controller=ReplicaSet/a
         pod b on=n1 cpu=0 memory=800Mi running controller=ReplicaSet/b spareCopies=1
         round",
    );
    expect![[r#"
        rate: 3 on n2
        spare copy of default/ReplicaSet/b: 1 on n1
    "#]]
    .assert_eq(&places(&fixture.memory));
    for line in ["pod c on=n2 cpu=100m memory=7000Mi running controller=ReplicaSet/c", "round"] {
        fixture.line(line).unwrap();
    }
    expect![[r#"
        spare copy of default/ReplicaSet/b: 1 on n1
    "#]]
    .assert_eq(&places(&fixture.memory));
}

#[test]
fn without_pods_and_without_nodes_the_size_follows_from_the_templates() {
    check(
        "slack rate=10 basis=capacity
         group web pending min=0 max=10 target=0 template=4/16Gi
         round
         slack rate=10
         pod p cpu=1 memory=1Gi
         round",
        expect![[r#"
            web 0, wants +0
              slack: 10% of the 0 cpu and 0 memory of the nodes

            web 0 -> 1, wants +1
              web: resize 0 -> 1 because pod default/p waits
              option: web +1: waste 1.6875
              slack: 10% of the requested 1 cpu and 1Gi memory
              slack: 1 x rate (800m cpu, 1Gi memory): 1 on new nodes
        "#]],
    );
}

/// Groups with taints that plain pods do not tolerate are left out of the rate: they keep room of their own.
#[test]
fn tainted_groups_keep_room_of_their_own() {
    check(
        "slack rate=10
         group web pending min=0 max=10 target=1
         group gpu pending min=0 max=10 target=1 spareNodes=1 taint=gpu=yes:NoSchedule template=8/64Gi
         group batch pending min=0 max=10 target=1 sparePods=2 sparePod=500m/1Gi template=4/16Gi taint=batch:NoSchedule
         node w1 in=web cpu=4 memory=16Gi
         node g1 in=gpu cpu=8 memory=64Gi taint=gpu=yes:NoSchedule
         node b1 in=batch cpu=4 memory=16Gi taint=batch:NoSchedule
         pod w on=w1 cpu=2 memory=4Gi running controller=ReplicaSet/w
         pod g on=g1 cpu=2 memory=50Gi tolerates=gpu=yes running controller=ReplicaSet/g
         pod waits cpu=4 memory=50Gi tolerates=gpu=yes controller=ReplicaSet/g
         round",
        expect![[r#"
            web 1, wants +0, 1 in service
            gpu 1 -> 3, wants +2, 1 in service
            batch 1, wants +0, 1 in service
              gpu: resize 1 -> 3 because pod default/waits waits, and spare room is short by 1 placeholder
              option: gpu +1: waste 0.7188
              option: gpu +1: waste 0
              slack: 10% of the requested 2 cpu and 4Gi memory
              slack: 1 x spare node of gpu (8 cpu, 64Gi memory): 1 on new nodes
              slack: 2 x spare pod of batch (500m cpu, 1Gi memory): 2 placed
              slack: 1 x rate (800m cpu, 3.2Gi memory): 1 placed
        "#]],
    );
}

#[test]
fn capacity_buffers() {
    check(
        "slack buffers
         group web pending min=0 max=10 target=2
         node n{1..2} in=web cpu=16 memory=64Gi
         workload PodTemplate/chunk cpu=2 memory=4Gi
         workload Deployment/web replicas=10 cpu=500m memory=1Gi
         buffer fixed template=chunk replicas=2
         buffer limited template=chunk replicas=9 cpu=7
         buffer by-limits template=chunk cpu=5 memory=100Gi
         buffer share scalable=Deployment/web percent=25
         buffer larger scalable=Deployment/web percent=10 replicas=2
         buffer elsewhere template=chunk replicas=2 strategy=buffer.gke.io/standby-capacity
         buffer unknown template=gone replicas=2
         buffer nothing template=chunk
         buffer percent template=chunk percent=10
         buffer both template=chunk scalable=Deployment/web replicas=2
         round",
        expect![[r#"
            web 2, wants +0, 2 in service
              slack: 2 x buffer default/by-limits (2 cpu, 4Gi memory): 2 placed
              slack: 2 x buffer default/fixed (2 cpu, 4Gi memory): 2 placed
              slack: 2 x buffer default/larger (500m cpu, 1Gi memory): 2 placed
              slack: 3 x buffer default/limited (2 cpu, 4Gi memory): 3 placed
              slack: 3 x buffer default/share (500m cpu, 1Gi memory): 3 placed
              warning: capacity buffer default/both keeps no room: set one of podTemplateRef and scalableRef
              warning: capacity buffer default/nothing keeps no room: set replicas, limits, or percentage with scalableRef
              warning: capacity buffer default/percent keeps no room: set replicas, limits, or percentage with scalableRef
              warning: capacity buffer default/unknown keeps no room: PodTemplate/gone is not known
        "#]],
    );
}
