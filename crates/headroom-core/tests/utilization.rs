//! Each option and brake of the utilisation strategy, text in and text out.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_step_is_taken_once_however_many_rounds_there_are() {
    check(
        "group web min=1 max=20 fast=20/2 step=1m soft=10m target=10
         node n{1..10} in=web cpu=1 memory=1000
         round
         round
         after 30s
         round
         after 30s
         round",
        expect![[r#"
            web 10, wants -2, 10 in service, cpu 0% (0 of 10), memory 0% (0 of 9.77Ki)
              web: taint n1 atlassian.com/escalator=1767225600:NoSchedule because cpu 0% (0 of 10) is below 20%: 2 a step
              web: taint n10 atlassian.com/escalator=1767225600:NoSchedule because cpu 0% (0 of 10) is below 20%: 2 a step

            web 10, wants -2, 8 in service, 2 tainted, cpu 0% (0 of 8), memory 0% (0 of 7.81Ki)
              not: group web: would mark 2 nodes for removal, next step at 2026-01-01T00:01:00Z
              not: node n1: marked, kept until 2026-01-01T00:10:00Z
              not: node n10: marked, kept until 2026-01-01T00:10:00Z

            web 10, wants -2, 8 in service, 2 tainted, cpu 0% (0 of 8), memory 0% (0 of 7.81Ki)
              not: group web: would mark 2 nodes for removal, next step at 2026-01-01T00:01:00Z
              not: node n1: marked, kept until 2026-01-01T00:10:00Z
              not: node n10: marked, kept until 2026-01-01T00:10:00Z

            web 10, wants -2, 8 in service, 2 tainted, cpu 0% (0 of 8), memory 0% (0 of 7.81Ki)
              web: taint n2 atlassian.com/escalator=1767225660:NoSchedule because cpu 0% (0 of 8) is below 20%: 2 a step
              web: taint n3 atlassian.com/escalator=1767225660:NoSchedule because cpu 0% (0 of 8) is below 20%: 2 a step
              not: node n1: marked, kept until 2026-01-01T00:10:00Z
              not: node n10: marked, kept until 2026-01-01T00:10:00Z
        "#]],
    );
}

#[test]
fn without_memory_no_step_is_taken_before_the_interval_is_over() {
    check(
        "memory fresh
         group web min=1 max=20 fast=20/2 step=1m coolDown=2m target=10
         node n{1..10} in=web cpu=1 memory=1000
         round
         after 1m
         round
         after 1m
         round",
        expect![[r#"
            web 10, wants -2, 10 in service, cpu 0% (0 of 10), memory 0% (0 of 9.77Ki)
              not: group web: wants -2 nodes, cooling down until 2026-01-01T00:02:00Z

            web 10, wants -2, 10 in service, cpu 0% (0 of 10), memory 0% (0 of 9.77Ki)
              not: group web: wants -2 nodes, cooling down until 2026-01-01T00:02:00Z

            web 10, wants -2, 10 in service, cpu 0% (0 of 10), memory 0% (0 of 9.77Ki)
              web: taint n1 atlassian.com/escalator=1767225720:NoSchedule because cpu 0% (0 of 10) is below 20%: 2 a step
              web: taint n10 atlassian.com/escalator=1767225720:NoSchedule because cpu 0% (0 of 10) is below 20%: 2 a step
        "#]],
    );
}

#[test]
fn a_node_in_two_groups_is_touched_by_neither() {
    check(
        "group web min=1 max=20 soft=1m select=pool=web target=2
         group blue min=1 max=20 soft=1m select=colour=blue target=1
         node both cpu=1 memory=1000 label=pool=web label=colour=blue tainted=1h
         node web cpu=1 memory=1000 label=pool=web
         node blue cpu=1 memory=1000 label=colour=blue
         pod p{1..3} select=pool=web select=colour=blue cpu=1 memory=100
         pod bound on=web select=pool=web select=colour=blue cpu=600m memory=100 running
         round",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 disputed, cpu 360% (3600m of 1), memory 40% (400 of 1000)
            blue 1, wants +0, 1 in service, 1 disputed, cpu 300% (3 of 1), memory 30% (300 of 1000)
              not: node both: matches the groups web and blue, so none of them acts on it
              not: pod default/p1 and 2 like it: matches the groups web and blue, so none of them acts on it
        "#]],
    );
}

#[test]
fn partial_pods_grow_a_group_and_shrink_none() {
    check(
        "coverage pods=partial
         group web min=1 max=20 target=2
         group idle min=1 max=20 soft=1m target=3
         node w{1..2} in=web cpu=1 memory=1000
         node i{1..2} in=idle cpu=1 memory=1000
         node i3 in=idle cpu=1 memory=1000 tainted=1h
         pod p{1..4} for=web cpu=500m memory=100
         round",
        expect![[r#"
            web 2 -> 3, wants +1, 2 in service, cpu 100% (2 of 2), memory 20% (400 of 1.95Ki)
            idle 3, wants -4, 2 in service, 1 tainted, cpu 0% (0 of 2), memory 0% (0 of 1.95Ki)
              web: resize 2 -> 3 because cpu 100% (2 of 2) is above 70%: 2 + 1 nodes needed
              not: cluster: not all pods are known, so nothing is removed
              not: group idle: not all pods are known, so nothing is removed
        "#]],
    );
}

#[test]
fn absent_pods_decide_nothing() {
    check(
        "coverage pods=absent
         group web min=5 max=20 target=2
         node w{1..2} in=web cpu=1 memory=1000
         round",
        expect![[r#"
            web 2, wants +0, 2 in service
              not: cluster: pods are not known, so nothing is removed
              not: group web: pods are not known, so it is not judged
        "#]],
    );
}

#[test]
fn modes() {
    check(
        "group grow mode=growOnly min=1 max=20 soft=1m target=3
         group dry mode=dryRun min=1 max=20 target=1
         group off mode=off min=1 max=20 target=1
         node g{1..2} in=grow cpu=1 memory=1000
         node g3 in=grow cpu=1 memory=1000 tainted=1h
         node d1 in=dry cpu=1 memory=1000
         node o1 in=off cpu=1 memory=1000
         pod d{1..4} for=dry cpu=500m memory=100
         pod o{1..4} for=off cpu=500m memory=100
         round
         round",
        expect![[r#"
            grow 3, wants -4, 2 in service, 1 tainted, cpu 0% (0 of 2), memory 0% (0 of 1.95Ki)
            dry 1 -> 3, wants +2, 1 in service, cpu 200% (2 of 1), memory 40% (400 of 1000)
            off 0, wants +0
              dry: resize 1 -> 3 (dry run) because cpu 200% (2 of 1) is above 70%: 1 + 2 nodes needed
              not: group grow: mode is growOnly, nothing is removed
              not: group off: mode is off

            grow 3, wants -4, 2 in service, 1 tainted, cpu 0% (0 of 2), memory 0% (0 of 1.95Ki)
            dry 1 -> 3, wants +2, 1 in service, cpu 200% (2 of 1), memory 40% (400 of 1000)
            off 0, wants +0
              dry: resize 1 -> 3 (dry run) because cpu 200% (2 of 1) is above 70%: 1 + 2 nodes needed
              not: group grow: mode is growOnly, nothing is removed
              not: group off: mode is off
        "#]],
    );
}

#[test]
fn removal_of_marked_nodes() {
    check(
        "group web min=1 max=20 slow=0/0 fast=0/0 soft=10m hard=1h target=8
         node keep in=web cpu=8 memory=4000
         node soft in=web cpu=4 memory=4000 tainted=9m
         node empty in=web cpu=4 memory=4000 tainted=10m
         node busy in=web cpu=4 memory=4000 tainted=59m
         node hard in=web cpu=4 memory=4000 tainted=1h
         node protected in=web cpu=4 memory=4000 tainted=2h noDelete=oncall
         node unreadable in=web cpu=4 memory=4000 taintValue=yesterday
         node forced in=web cpu=4 memory=4000 force
         node forced-busy in=web cpu=4 memory=4000 force
         node cordoned in=web cpu=4 memory=4000 tainted=2h cordoned
         pod a on=busy for=web cpu=1 memory=1
         pod b on=hard for=web cpu=1 memory=1
         pod foreign on=hard select=other=yes cpu=1 memory=1
         pod ds on=empty kind=daemonSet cpu=1 memory=1
         pod mirror on=empty kind=mirror cpu=1 memory=1
         pod c on=forced-busy for=web cpu=1 memory=1
         look",
        expect![[r#"
            web 8 -> 6, wants +0, 1 in service, 6 tainted, 2 force-tainted, 1 cordoned, cpu 37.5% (3 of 8), memory 0.08% (3 of 3.91Ki)
              web: remove forced because force taint and empty
              web: evict 2 pods from hard because marked for 1h, hard grace 1h is over; 2 pods are still on it
              web: remove empty because empty and marked for 10m, soft grace 10m
              not: node forced-busy: force taint, kept until its 1 pods end
              not: node busy: marked, 1 pods on it, kept until they end or until 2026-01-01T00:01:00Z
              not: node protected: annotated no-delete (oncall)
              not: node soft: marked, kept until 2026-01-01T00:01:00Z
              not: node unreadable: the removal taint's value "yesterday" is no unix time
              warning: group web: nodes offer from 4 to 8 cpu; new ones count as 4
              warning: group web: at least 1 pods run on its nodes without asking for it; they keep their node and do not count as demand
        "#]],
    );
}

/// Under a budget that lets go of one of three pods, with one that takes its time to end.
#[test]
fn past_the_hard_grace_pods_are_evicted_and_what_is_left_is_lost() {
    check(
        "group web min=0 max=9 slow=0/0 fast=0/0 soft=10m hard=1h target=2
         node keep in=web cpu=8 memory=4000
         node hard in=web cpu=4 memory=4000 tainted=3h
         pod a{1..3} on=hard for=web cpu=1 memory=1 running label=app=a controller=ReplicaSet/a
         pod slow on=hard for=web cpu=1 memory=1 running deleting controller=ReplicaSet/b
         pdb a label=app=a allowed=1 healthy=3 wanted=2
         round
         after 1m
         pdb a label=app=a healthy=2 wanted=2
         round
         after 1m59s
         round
         after 1s
         round",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 tainted, cpu 50% (4 of 8), memory 0.1% (4 of 3.91Ki)
              web: evict default/a1 from hard because marked for 3h, hard grace 1h is over; 4 pods are still on it
              warning: group web: nodes offer from 4 to 8 cpu; new ones count as 8

            web 2, wants +0, 1 in service, 1 tainted, cpu 50% (4 of 8), memory 0.1% (4 of 3.91Ki)
              not: node hard: marked, 3 pods on it, kept until they end or until 2026-01-01T00:03:00Z
              warning: group web: nodes offer from 4 to 8 cpu; new ones count as 8

            web 2, wants +0, 1 in service, 1 tainted, cpu 50% (4 of 8), memory 0.1% (4 of 3.91Ki)
              not: node hard: marked, 3 pods on it, kept until they end or until 2026-01-01T00:03:00Z
              warning: group web: nodes offer from 4 to 8 cpu; new ones count as 8

            web 2 -> 1, wants +0, 1 in service, 1 tainted, cpu 50% (4 of 8), memory 0.1% (4 of 3.91Ki)
              web: remove hard with 3 pods because marked for 3h3m, hard grace 1h is over; 3 pods are still on it
              warning: group web: nodes offer from 4 to 8 cpu; new ones count as 8
        "#]],
    );
}

#[test]
fn past_the_hard_grace_pods_that_end_are_waited_for() {
    check(
        "group web min=0 max=9 slow=0/0 fast=0/0 soft=10m hard=1h target=2
         node keep in=web cpu=8 memory=4000
         node hard in=web cpu=4 memory=4000 tainted=3h
         pod slow on=hard for=web cpu=1 memory=1 running deleting controller=ReplicaSet/b
         round
         after 9m59s
         round
         gone pod slow
         round",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 tainted, cpu 12.5% (1 of 8), memory 0.03% (1 of 3.91Ki)
              not: node hard: marked, 1 pods on it, kept until they end or until 2026-01-01T00:10:00Z
              warning: group web: nodes offer from 4 to 8 cpu; new ones count as 8

            web 2, wants +0, 1 in service, 1 tainted, cpu 12.5% (1 of 8), memory 0.03% (1 of 3.91Ki)
              not: node hard: marked, 1 pods on it, kept until they end or until 2026-01-01T00:10:00Z
              warning: group web: nodes offer from 4 to 8 cpu; new ones count as 8

            web 2 -> 1, wants +0, 1 in service, 1 tainted, cpu 0% (0 of 8), memory 0% (0 of 3.91Ki)
              web: remove hard because empty and marked for 3h9m59s, soft grace 10m
              warning: group web: nodes offer from 4 to 8 cpu; new ones count as 8
        "#]],
    );
}

#[test]
fn daemon_sets_are_left_out_or_taken_off() {
    check(
        "group ignore min=1 max=20 slow=0/0 fast=0/0 target=2
         group subtract min=1 max=20 slow=0/0 fast=0/0 daemonSets=subtract target=2
         node i{1..2} in=ignore cpu=1 memory=1000
         node s{1..2} in=subtract cpu=1 memory=1000
         pod di1 on=i1 kind=daemonSet cpu=400m memory=100
         pod di2 on=i2 kind=daemonSet cpu=400m memory=100
         pod ds1 on=s1 kind=daemonSet cpu=400m memory=100
         pod ds2 on=s2 kind=daemonSet cpu=400m memory=100
         pod pi{1..2} for=ignore cpu=650m memory=100
         pod ps{1..2} for=subtract cpu=650m memory=100
         look",
        expect![[r#"
            ignore 2, wants +0, 2 in service, cpu 65% (1300m of 2), memory 10% (200 of 1.95Ki)
            subtract 2 -> 4, wants +2, 2 in service, cpu 108.33% (1300m of 1200m), memory 11.11% (200 of 1.76Ki)
              subtract: resize 2 -> 4 because cpu 108.33% (1300m of 1200m) is above 70%: 2 + 2 nodes needed
              warning: group ignore: DaemonSets request 40% of the cpu of i1, the threshold leaves 30%; scaleUpAbove 60 would leave enough, or set daemonSets: subtract
        "#]],
    );
}

#[test]
fn machines_on_their_way_have_a_deadline() {
    check(
        "group web min=1 max=20 boot=5m coolDown=1m slow=0/0 fast=0/0 target=1
         node n1 in=web cpu=1 memory=1000
         pod p{1..3} for=web cpu=500m memory=100
         round
         after 2m
         round
         node n2 in=web cpu=1 memory=1000 age=10s notReady
         after 1m
         round
         after 3m
         round
         pod q{1..4} for=web cpu=500m memory=100
         round",
        expect![[r#"
            web 1 -> 3, wants +2, 1 in service, cpu 150% (1500m of 1), memory 30% (300 of 1000)
              web: resize 1 -> 3 because cpu 150% (1500m of 1) is above 70%: 1 + 2 nodes needed

            web 3, wants +0, 1 in service, 2 upcoming, cpu 50% (1500m of 3), memory 10% (300 of 2.93Ki)

            web 3, wants +0, 1 in service, 2 upcoming, cpu 50% (1500m of 3), memory 10% (300 of 2.93Ki)

            web 3, wants +0, 1 in service, 2 upcoming, cpu 50% (1500m of 3), memory 10% (300 of 2.93Ki)

            web 3 -> 5, wants +2, 1 in service, 2 upcoming, cpu 116.67% (3500m of 3), memory 23.33% (700 of 2.93Ki)
              web: resize 3 -> 5 because cpu 116.67% (3500m of 3) is above 70%: 3 + 2 nodes needed
        "#]],
    );
}

#[test]
fn a_machine_of_unknown_size_is_waited_for() {
    check(
        "group web min=0 max=20 coolDown=0s target=0
         pod p{1..10} for=web cpu=500m memory=100
         round
         after 1m
         round
         node n1 in=web cpu=2 memory=1000
         round",
        expect![[r#"
            web 0 -> 1, wants +1, cpu 5 requested, no capacity, memory 1000 requested, no capacity
              web: resize 0 -> 1 because no node, cpu 5 requested, no capacity: size of a node unknown, so one to learn it

            web 1, wants +0, 1 upcoming, cpu 5 requested, no capacity, memory 1000 requested, no capacity
              not: group web: 1 machines on their way, their size unknown: waiting for the first

            web 1 -> 4, wants +3, 1 in service, cpu 250% (5 of 2), memory 100% (1000 of 1000)
              web: resize 1 -> 4 because cpu 250% (5 of 2) is above 70%: 1 + 3 nodes needed
        "#]],
    );
}

#[test]
fn booting_nodes_count_until_their_deadline_and_usable_ones_stay() {
    check(
        "group gpu min=0 max=20 boot=10m slow=0/0 fast=0/0 startup=example.com/starting cloudTemplate=4/4000 target=2
         node a in=gpu cpu=4 memory=4000 age=1m taint=example.com/starting:NoSchedule
         node b in=gpu cpu=4 memory=4000 age=1m
         pod p{1..7} for=gpu cpu=1 memory=100
         round
         node b in=gpu cpu=4 memory=4000 age=1m notReady=0s
         round",
        expect![[r#"
            gpu 2 -> 3, wants +1, 1 in service, 1 upcoming, cpu 87.5% (7 of 8), memory 8.75% (700 of 7.81Ki)
              gpu: resize 2 -> 3 because cpu 87.5% (7 of 8) is above 70%: 2 + 1 nodes needed

            gpu 3, wants +0, 1 not ready, 2 upcoming, cpu 58.33% (7 of 12), memory 5.83% (700 of 11.72Ki)
        "#]],
    );
}

#[test]
fn the_breaker_opens_when_enlargements_bring_nothing() {
    check(
        "group web min=1 max=100 boot=1m coolDown=1m breaker=2 slow=0/0 fast=0/0 target=10
         node n{1..10} in=web cpu=1 memory=1000
         pod p{1..10} for=web cpu=1 memory=10
         round
         after 2m
         pod q{1..10} for=web cpu=1 memory=10
         round
         after 2m
         pod r{1..10} for=web cpu=1 memory=10
         round
         node late in=web cpu=1 memory=1000
         after 2m
         round",
        expect![[r#"
            web 10 -> 15, wants +5, 10 in service, cpu 100% (10 of 10), memory 1% (100 of 9.77Ki)
              web: resize 10 -> 15 because cpu 100% (10 of 10) is above 70%: 10 + 5 nodes needed

            web 15 -> 29, wants +14, 10 in service, 5 upcoming, cpu 133.33% (20 of 15), memory 1.33% (200 of 14.65Ki)
              web: resize 15 -> 29 because cpu 133.33% (20 of 15) is above 70%: 15 + 14 nodes needed

            web 29, wants +19, 10 in service, 14 upcoming, 5 never came, cpu 125% (30 of 24), memory 1.25% (300 of 23.44Ki)
              not: group web: 2 enlargements in a row brought no node beyond 10: not asking for more

            web 29 -> 43, wants +32, 11 in service, 18 never came, cpu 272.73% (30 of 11), memory 2.73% (300 of 10.74Ki)
              web: resize 29 -> 43 because cpu 272.73% (30 of 11) is above 70%: 11 + 32 nodes needed
        "#]],
    );
}

#[test]
fn mixed_sizes_and_pods_without_requests_are_said() {
    check(
        "group web min=1 max=20 target=2
         node small in=web cpu=1 memory=1000 age=2h
         node large in=web cpu=4 memory=4000 age=1h
         pod p{1..9} for=web cpu=500m memory=10
         pod nothing{1..3} for=web
         pod stray on=small select=pool=other cpu=1m memory=1
         pod nowhere cpu=100m memory=1
         look",
        expect![[r#"
            web 2 -> 3, wants +1, 2 in service, cpu 90% (4500m of 5), memory 1.8% (90 of 4.88Ki)
              web: resize 2 -> 3 because cpu 90% (4500m of 5) is above 70%: 2 + 1 nodes needed
              not: pod default/nowhere: asks for no group, so no group grows for it
              warning: group web: nodes offer from 1 to 4 cpu; new ones count as 4
              warning: group web: nodes offer from 1000 to 3.91Ki memory; new ones count as 3.91Ki
              warning: group web: 3 pods request neither cpu nor memory and count as nothing
              warning: group web: at least 1 pods run on its nodes without asking for it; they keep their node and do not count as demand
        "#]],
    );
}

#[test]
fn a_starved_pod_larger_than_a_node_is_refused() {
    check(
        "group web min=1 max=20 above=200 starve slow=0/0 fast=0/0 target=2
         node n{1..2} in=web cpu=2 memory=2000
         pod p on=n1 for=web cpu=1500m memory=10 running
         pod ds on=n2 kind=daemonSet cpu=1 memory=10
         pod fits-no-node for=web cpu=1 memory=2001
         pod too-large for=web cpu=1100m memory=10
         pod big for=web cpu=1001m memory=10
         look",
        expect![[r#"
            web 2, wants +0, 2 in service, cpu 115.03% (4601m of 4), memory 50.78% (1.98Ki of 3.91Ki)
              not: pod default/fits-no-node: needs 1.95Ki memory, a new node of web offers 1.94Ki
              not: pod default/big: needs 1001m cpu, a new node of web offers 1
              not: pod default/too-large: needs 1100m cpu, a new node of web offers 1
              warning: group web: DaemonSets request 50% of the cpu of n2, the threshold leaves -100%; scaleUpAbove 50 would leave enough, or set daemonSets: subtract
        "#]],
    );
}

#[test]
fn too_many_unready_nodes_mark_none() {
    check(
        "group web min=1 max=20 slow=0/0 fast=0/0 unhealthy=10m/100/50 target=8
         node bad{1..4} in=web cpu=1 memory=1000 age=5h notReady=20m
         node good{1..4} in=web cpu=1 memory=1000 age=5h
         look",
        expect![[r#"
            web 8, wants +0, 4 in service, 4 not ready, cpu 0% (0 of 8), memory 0% (0 of 7.81Ki)
              not: group web: 4 of 8 nodes are not ready at once, so that none is removed
        "#]],
    );
}

#[test]
fn a_group_without_a_maximum_is_left_alone() {
    check(
        "group web min=1
         node n1 in=web cpu=1 memory=1000
         pod p{1..4} for=web cpu=1 memory=1000
         look",
        expect![[r#"
            web 1, wants +0, 1 in service
              not: group web: no size limits: neither the configuration nor the cloud gives them
        "#]],
    );
}

#[test]
fn an_empty_group_is_brought_to_its_minimum() {
    check(
        "group web min=3 max=5 target=0\nround\nround",
        expect![[r#"
        web 0 -> 3, wants +3, cpu 0 requested, no capacity, memory 0 requested, no capacity
          web: resize 0 -> 3 because 0 nodes, at least 3 wanted

        web 3, wants +0, 3 upcoming, cpu 0 requested, no capacity, memory 0 requested, no capacity
          not: group web: 3 machines on their way, their size unknown: waiting for the first
    "#]],
    );
}

#[test]
fn pods_that_are_gated_or_going_are_no_demand() {
    check(
        "group web min=0 max=5 slow=0/0 fast=0/0 target=1
         node n1 in=web cpu=1 memory=1000
         pod gated for=web cpu=1 memory=10 gated
         pod going for=web cpu=1 memory=10 deleting
         pod terminating on=n1 for=web cpu=500m memory=10 deleting
         look",
        expect![[r#"
            web 1, wants +0, 1 in service, cpu 50% (500m of 1), memory 1% (10 of 1000)
        "#]],
    );
}

#[test]
fn placed_pods_are_the_demand_of_where_they_run() {
    check(
        "group any pods=placed min=1 max=9 slow=0/0 fast=0/0 target=1
         node n1 in=any cpu=1 memory=1000
         pod p{1..3} on=n1 cpu=300m memory=10
         pod ds on=n1 kind=daemonSet cpu=300m memory=10
         look",
        expect![[r#"
            any 1 -> 2, wants +1, 1 in service, cpu 90% (900m of 1), memory 3% (30 of 1000)
              any: resize 1 -> 2 because cpu 90% (900m of 1) is above 70%: 1 + 1 nodes needed
        "#]],
    );
}

#[test]
fn a_step_that_would_be_taken_back_is_not_taken() {
    check(
        "group web min=1 max=9 slow=40/2 fast=10/4 target=3
         node n{1..3} in=web cpu=1 memory=1000
         pod p{1..3} on=n1 for=web cpu=300m memory=10 running
         look
         pod q on=n2 for=web cpu=270m memory=10 running
         look",
        expect![[r#"
            web 3, wants -2, 3 in service, cpu 30% (900m of 3), memory 1% (30 of 2.93Ki)
              web: taint n1 atlassian.com/escalator=1767225600:NoSchedule because cpu 30% (900m of 3) is below 40%: 2 a step
              not: group web: would mark 2 nodes for removal, 1 of them leave the rest at 70% or less

            web 3, wants -2, 3 in service, cpu 39% (1170m of 3), memory 1.33% (40 of 2.93Ki)
              web: taint n1 atlassian.com/escalator=1767225600:NoSchedule because cpu 39% (1170m of 3) is below 40%: 2 a step
              not: group web: would mark 2 nodes for removal, 1 of them leave the rest at 70% or less
        "#]],
    );
}

#[test]
fn marks_are_not_taken_off_beyond_the_maximum() {
    check(
        "group web min=1 max=2 target=3
         node n{1..3} in=web cpu=1 memory=1000
         pod p{1..2} on=n2 for=web cpu=900m memory=10 running
         round
         after 1s
         round",
        expect![[r#"
            web 3, wants -1, 3 in service, cpu 60% (1800m of 3), memory 0.67% (20 of 2.93Ki)
              web: taint n1 atlassian.com/escalator=1767225600:NoSchedule because 3 nodes, at most 2 wanted

            web 3, wants +1, 2 in service, 1 tainted, cpu 90% (1800m of 2), memory 1% (20 of 1.95Ki)
              not: group web: wants 1 more nodes, at most 0 allowed by maximum 2
              not: node n1: marked, kept until 2026-01-01T00:10:00Z
        "#]],
    );
}
