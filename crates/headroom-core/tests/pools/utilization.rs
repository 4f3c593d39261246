//! The strategy `utilization` on a Nomad cluster.

use expect_test::expect;

use super::check;

/// hashicorp/nomad-autoscaler#1286, and a node that is not ready.
#[test]
fn only_ready_and_eligible_nodes_count_with_what_is_on_them() {
    check(
        "group web onNomad min=1 max=9 above=70 slow=9/1 fast=5/1 target=3
         node a in=web cpu=200m memory=192 age=1h
         node b in=web cpu=1000m memory=1000 ineligible age=1h
         node c in=web cpu=1000m memory=1000 notReady age=1h
         pod on-a on=a running cpu=20m memory=15
         pod on-b on=b running cpu=500m memory=500
         pod on-c on=c running cpu=500m memory=500
         look",
        expect![[r#"
            web 3, wants +0, 1 in service, 1 not ready, 1 cordoned, cpu 10% (20m of 200m), memory 7.81% (15 of 192)
              warning: group web: nodes offer from 200m to 1 cpu; new ones count as 1
              warning: group web: nodes offer from 192 to 1000 memory; new ones count as 1000
        "#]],
    );
}

#[test]
fn a_marked_node_is_ineligible_and_its_time_is_remembered() {
    check(
        "group web onNomad min=1 max=9 above=70 slow=40/1 fast=20/1 step=1m soft=2m hard=5m coolDown=0s target=3
         node n{1..3} in=web cpu=1000m memory=1000 age=1h
         pod a on=n1 running cpu=100m memory=10
         pod b on=n2 running cpu=600m memory=10
         round
         after 1m
         round
         # The soft grace period of n1 is over, and it is not empty.
         after 1m
         round
         # So is the hard one: it is drained, by a drain that goes on by itself.
         after 3m
         round
         node n1 in=web cpu=1000m memory=1000 age=1h ineligible taint=nomad/draining:NoExecute
         pod a on=n1 running cpu=100m memory=10 deleting
         after 15s
         round
         # Its deadline ends its tasks, however long they take for it.
         after 1h
         round
         node n1 in=web cpu=1000m memory=1000 age=1h ineligible
         gone pod a
         after 15s
         round",
        expect![[r#"
            web 3, wants -1, 3 in service, cpu 23.33% (700m of 3), memory 0.67% (20 of 2.93Ki)
              web: make n1 ineligible because cpu 23.33% (700m of 3) is below 40%: 1 a step

            web 3, wants -1, 2 in service, 1 tainted, cpu 35% (700m of 2), memory 1% (20 of 1.95Ki)
              web: make n2 ineligible because cpu 35% (700m of 2) is below 40%: 1 a step
              not: node n1: marked, kept until 2026-01-01T00:02:00Z

            web 3, wants +0, 1 in service, 2 tainted, cpu 70% (700m of 1), memory 2% (20 of 1000)
              not: node n1: marked, 1 pods on it, kept until they end or until 2026-01-01T00:05:00Z
              not: node n2: marked, kept until 2026-01-01T00:03:00Z

            web 3, wants +0, 1 in service, 2 tainted, cpu 70% (700m of 1), memory 2% (20 of 1000)
              web: evict default/a from n1 because marked for 5m, hard grace 5m is over; 1 pods are still on it
              not: node n2: marked, 1 pods on it, kept until they end or until 2026-01-01T00:06:00Z

            web 3, wants +0, 1 in service, 2 tainted, cpu 60% (600m of 1), memory 1% (10 of 1000)
              not: node n2: marked, 1 pods on it, kept until they end or until 2026-01-01T00:06:00Z
              not: node n1: marked, 1 pods on it, kept until they end or until 2026-01-01T00:15:15Z

            web 3, wants +0, 1 in service, 2 tainted, cpu 60% (600m of 1), memory 1% (10 of 1000)
              web: evict default/b from n2 because marked for 1h4m15s, hard grace 5m is over; 1 pods are still on it
              not: node n1: drained, 1 task not ended, told to stop at 2026-01-01T00:15:15Z

            web 3, wants -1, 1 in service, 2 tainted, cpu 0% (0 of 1), memory 0% (0 of 1000)
              not: group web: cpu fell from 700m to 0 at once, so nothing is removed before 2026-01-01T01:06:15Z
        "#]],
    );
}

#[test]
fn a_mark_comes_off_when_there_is_work_and_strangers_stay() {
    check(
        "group web onNomad min=1 max=9 above=70 slow=40/1 fast=20/1 step=1m soft=2m hard=5m coolDown=0s target=3
         node n{1..2} in=web cpu=1000m memory=1000 age=1h
         node n3 in=web cpu=1000m memory=1000 age=1h ineligible
         round
         after 1m
         pod a on=n2 running cpu=900m memory=10
         round
         round",
        expect![[r#"
            web 3, wants -1, 2 in service, 1 cordoned, cpu 0% (0 of 2), memory 0% (0 of 1.95Ki)
              web: make n1 ineligible because cpu 0% (0 of 2) is below 20%: 1 a step

            web 3, wants +1, 1 in service, 1 tainted, 1 cordoned, cpu 90% (900m of 1), memory 1% (10 of 1000)
              web: make n1 eligible because cpu 90% (900m of 1) is above 70%: 1 + 1 nodes needed

            web 3, wants +0, 2 in service, 1 cordoned, cpu 45% (900m of 2), memory 0.5% (10 of 1.95Ki)
        "#]],
    );
}

#[test]
fn waiting_work_counts_where_it_could_run() {
    check(
        "group web onNomad min=0 max=9 above=70 target=1
         node n1 in=web cpu=1000m memory=1000 age=1h
         pod a{1..3} in=node.class=x|y cpu=400m memory=10
         look",
        expect![[r#"
            web 1 -> 2, wants +1, 1 in service, cpu 120% (1200m of 1), memory 3% (30 of 1000)
              web: resize 1 -> 2 because cpu 120% (1200m of 1) is above 70%: 1 + 1 nodes needed
        "#]],
    );
}

/// As in pools of servers: whoever removed the machine ended before the node was purged.
#[test]
fn a_node_whose_machine_was_removed_goes_once_it_is_down() {
    check(
        "group web onNomad min=1 max=9 above=70 slow=40/1 fast=20/1 step=1m soft=2m hard=5m coolDown=0s target=2
         node n{1..2} in=web cpu=1000m memory=1000 age=1h
         instance n{1..2} in=web age=1h
         pod a on=n2 running cpu=500m memory=10
         round
         after 2m
         round
         gone instance n1
         group web onNomad min=1 max=9 above=70 slow=40/1 fast=20/1 step=1m soft=2m hard=5m coolDown=0s target=1
         instance n2 in=web age=1h
         node n1 in=web cpu=1000m memory=1000 age=1h id=none ineligible
         after 15s
         round
         node n1 in=web cpu=1000m memory=1000 age=1h id=none ineligible notReady=1s
         after 15s
         round",
        expect![[r#"
            web 2, wants -1, 2 in service, cpu 25% (500m of 2), memory 0.5% (10 of 1.95Ki)
              web: make n1 ineligible because cpu 25% (500m of 2) is below 40%: 1 a step

            web 2 -> 1, wants +0, 1 in service, 1 tainted, cpu 50% (500m of 1), memory 1% (10 of 1000)
              web: remove n1 because empty and marked for 2m, soft grace 2m

            web 1, wants +0, 1 in service, 1 tainted, cpu 50% (500m of 1), memory 1% (10 of 1000)
              not: node n1: its machine was removed, and it goes once it is down and empty

            web 1, wants +0, 1 in service, 1 tainted, cpu 50% (500m of 1), memory 1% (10 of 1000)
              web: remove n1 because empty and marked for 2m30s, soft grace 2m
        "#]],
    );
}

/// What shows the tasks may be at fault, here as in pools of servers.
#[test]
fn nothing_is_marked_and_nothing_goes_when_what_runs_falls_by_more_than_half_at_once() {
    check(
        "group web onNomad min=0 max=9 above=90 slow=40/1 fast=20/1 step=15s soft=0s hard=5m coolDown=0s target=3
         node n{1..3} in=web cpu=1000m memory=1000 age=1h
         pod a on=n1 running cpu=10m memory=10
         pod b on=n2 running cpu=500m memory=10
         pod c on=n3 running cpu=500m memory=10
         round
         gone pod b
         gone pod c
         after 15s
         round
         after 45s
         round",
        expect![[r#"
            web 3, wants -1, 3 in service, cpu 33.67% (1010m of 3), memory 1% (30 of 2.93Ki)
              web: make n1 ineligible because cpu 33.67% (1010m of 3) is below 40%: 1 a step

            web 3, wants -1, 2 in service, 1 tainted, cpu 0.5% (10m of 2), memory 0.5% (10 of 1.95Ki)
              not: group web: cpu fell from 1010m to 10m at once, so nothing is removed before 2026-01-01T00:01:00Z
              not: node n1: marked, 1 pods on it, kept until they end or until 2026-01-01T00:05:00Z

            web 3, wants -1, 2 in service, 1 tainted, cpu 0.5% (10m of 2), memory 0.5% (10 of 1.95Ki)
              web: make n2 ineligible because cpu 0.5% (10m of 2) is below 20%: 1 a step
              not: node n1: marked, 1 pods on it, kept until they end or until 2026-01-01T00:05:00Z
        "#]],
    );
}

/// A task that is stopping on a node that is drained has been replaced: to count both would take the node back.
#[test]
fn a_task_that_is_being_replaced_counts_once() {
    check(
        "group web onNomad min=1 max=9 above=70 slow=40/1 fast=20/1 step=1m soft=0s hard=1m coolDown=0s target=2
         node n{1..2} in=web cpu=1000m memory=1000 age=1h
         pod a on=n1 running cpu=300m memory=10 controller=Job/a
         pod b on=n2 running cpu=300m memory=10 controller=Job/b
         pod c on=n2 running cpu=50m memory=10 controller=Job/c
         round
         after 1m
         round
         node n1 in=web cpu=1000m memory=1000 age=1h ineligible taint=nomad/draining:NoExecute
         pod a on=n1 running cpu=300m memory=10 deleting
         pod a2 on=n2 running cpu=300m memory=10 controller=Job/a
         after 15s
         round",
        expect![[r#"
            web 2, wants -1, 2 in service, cpu 32.5% (650m of 2), memory 1.5% (30 of 1.95Ki)
              web: make n1 ineligible because cpu 32.5% (650m of 2) is below 40%: 1 a step

            web 2, wants +0, 1 in service, 1 tainted, cpu 65% (650m of 1), memory 3% (30 of 1000)
              web: evict default/a from n1 because marked for 1m, hard grace 1m is over; 1 pods are still on it

            web 2, wants +0, 1 in service, 1 tainted, cpu 65% (650m of 1), memory 3% (30 of 1000)
              not: node n1: marked, 1 pods on it, kept until they end or until 2026-01-01T00:11:15Z
        "#]],
    );
}

#[test]
fn a_node_that_is_no_machine_of_the_cloud_is_not_marked() {
    check(
        "group web onNomad min=1 max=9 above=70 slow=40/1 fast=20/1 step=1m soft=0s hard=1m coolDown=0s target=2
         node static in=web cpu=1000m memory=1000 age=3h id=none
         node n{1..2} in=web cpu=1000m memory=1000 age=1h
         instance n{1..2} in=web age=1h
         pod a on=n2 running cpu=300m memory=10 controller=Job/a
         round
         after 15s
         round",
        expect![[r#"
            web 2, wants -1, 3 in service, cpu 10% (300m of 3), memory 0.33% (10 of 2.93Ki)
              web: make n1 ineligible because cpu 10% (300m of 3) is below 20%: 1 a step
              not: node static: kept, which machine of its cloud it is is not known

            web 2 -> 1, wants -1, 2 in service, 1 tainted, cpu 15% (300m of 2), memory 0.5% (10 of 1.95Ki)
              web: remove n1 because empty and marked for 15s, soft grace 0s
              not: group web: would mark 1 nodes for removal, next step at 2026-01-01T00:01:00Z
              not: node static: kept, which machine of its cloud it is is not known
        "#]],
    );
}
