//! Nodes that are not needed go, text in and text out.

use expect_test::{Expect, expect};
use headroom_core::check as check_plan;
use headroom_core::fixture::Fixture;
use headroom_core::plan::{Subject, Why};
use proptest::prelude::*;
use proptest::sample::select;

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn nothing_goes_unless_the_policy_says_so() {
    check(
        "group web pending min=0 max=9 target=1
         node n1 in=web cpu=4 memory=8Gi
         round",
        expect![[r#"
            web 1, wants +0, 1 in service
        "#]],
    );
}

#[test]
fn an_empty_node_is_marked_and_then_removed() {
    check(
        "scaleDown
         group web pending min=1 max=9 target=3
         node n{1..3} in=web cpu=4 memory=8Gi age=1h
         pod a on=n1 cpu=3 memory=1Gi controller=ReplicaSet/a running
         round
         after 10s
         round
         after 10s
         round",
        expect![[r#"
            web 3, wants +0, 3 in service
              web: taint n2 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              not: node n1: cpu 75% (3 of 4) is above 50%
              not: node n3: not needed; of the group 1 may be on their way out at once, and 1 are

            web 3 -> 2, wants +0, 2 in service, 1 tainted
              web: remove n2 because marked for 10s and empty
              not: node n1: cpu 75% (3 of 4) is above 50%
              not: node n3: not needed; of the group 1 may be on their way out at once, and 1 are

            web 2, wants +0, 2 in service
              web: taint n3 ToBeDeletedByClusterAutoscaler=1767225620:NoSchedule because not needed for 1h20s, 10m is enough: cpu 0% (0 of 4)
              not: node n1: cpu 75% (3 of 4) is above 50%
        "#]],
    );
}

#[test]
fn pods_are_evicted_before_their_node_goes() {
    check(
        "scaleDown
         group web pending min=1 max=9 target=2
         node n{1..2} in=web cpu=4 memory=8Gi age=1h
         pod a{1..2} on=n1 cpu=1 memory=1Gi controller=ReplicaSet/a running
         pod b on=n2 cpu=500m memory=1Gi controller=ReplicaSet/b running
         round
         after 10s
         round
         after 10s
         round
         round",
        expect![[r#"
            web 2, wants +0, 2 in service
              web: taint n2 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 12.5% (500m of 4), 1 pod fit elsewhere
              not: node n1: is expected to take 1 pod of nodes that go

            web 2, wants +0, 1 in service, 1 tainted
              web: evict default/b from n2 because marked for 10s, 1 pod to move
              not: node n1: is expected to take 1 pod of nodes that go

            web 2 -> 1, wants +0, 1 in service, 1 tainted
              web: remove n2 because marked for 20s and empty
              not: node n1: is expected to take 1 waiting pod

            web 1, wants +0, 1 in service
              not: node n1: is expected to take 1 waiting pod
        "#]],
    );
}

#[test]
fn each_kept_node_has_one_reason_with_numbers() {
    check(
        "scaleDown
         group web pending min=1 max=9 target=12 unneeded=10m
         memory fresh
         node busy in=web cpu=4 memory=8Gi age=1h
         pod busy on=busy cpu=3 memory=1Gi controller=ReplicaSet/a running
         node asked in=web cpu=4 memory=8Gi age=1h keep
         node no-delete in=web cpu=4 memory=8Gi age=1h noDelete=debugging
         node booting in=web cpu=4 memory=8Gi age=1m notReady
         node idle in=web cpu=4 memory=8Gi age=1h
         node bare in=web cpu=4 memory=8Gi age=1h
         pod bare on=bare cpu=1 memory=1Gi running
         node custom in=web cpu=4 memory=8Gi age=1h
         pod custom on=custom cpu=1 memory=1Gi controller=Rollout/c running
         node local in=web cpu=4 memory=8Gi age=1h
         pod local on=local cpu=1 memory=1Gi controller=ReplicaSet/l local=scratch running
         node system in=web cpu=4 memory=8Gi age=1h
         pod system ns=kube-system on=system cpu=1 memory=1Gi controller=ReplicaSet/dns age=20m running
         node unsafe in=web cpu=4 memory=8Gi age=1h
         pod unsafe on=unsafe cpu=1 memory=1Gi controller=ReplicaSet/u evict=unsafe running
         node job in=web cpu=4 memory=8Gi age=1h
         pod job on=job cpu=1 memory=1Gi evict=onCompletion running
         node budget in=web cpu=4 memory=8Gi age=1h
         pod budget on=budget cpu=1 memory=1Gi controller=ReplicaSet/p label=app=p running
         pdb p label=app=p healthy=1 wanted=1
         node two in=web cpu=4 memory=8Gi age=1h
         pod two on=two cpu=1 memory=1Gi controller=ReplicaSet/q label=app=q running
         pdb q1 label=app=q allowed=1
         pdb q2 label=app=q allowed=1
         node pinned in=web cpu=4 memory=8Gi age=1h label=disk=ssd
         pod pinned on=pinned cpu=1 memory=1Gi controller=ReplicaSet/s select=disk=ssd running
         round
         after 1m
         look",
        expect![[r#"
            web 12, wants +0, 13 in service, 1 upcoming
              not: group web: has 12 nodes, at most 9 wanted; none is removed for that alone
              not: node asked: stays as annotated (scale-down-disabled)
              not: node bare: pod default/bare has no controller that would start it again
              not: node booting: is starting, waited for until 2026-01-01T00:14:00Z
              not: node budget: pod default/budget may not be evicted by disruption budget p: 1 ready, 1 must be
              not: node busy: cpu 75% (3 of 4) is above 50%
              not: node custom: pod default/custom belongs to Rollout/c, no controller of Kubernetes
              not: node idle: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node job: pod default/job is annotated to end by itself
              not: node local: pod default/local keeps its volume scratch on the node
              not: node no-delete: stays as annotated (debugging)
              not: node pinned: pod default/pinned fits on no other node: wants a node with disk=ssd, not one without disk
              not: node system: pod kube-system/system is of kube-system without a disruption budget, stays until 2026-01-01T00:40:00Z
              not: node two: pod default/two has the disruption budgets q1 and q2, so the API evicts it never
              not: node unsafe: pod default/unsafe is annotated safe-to-evict=false

            web 12, wants +0, 13 in service, 1 upcoming
              not: group web: has 12 nodes, at most 9 wanted; none is removed for that alone
              not: node asked: stays as annotated (scale-down-disabled)
              not: node bare: pod default/bare has no controller that would start it again
              not: node booting: is starting, waited for until 2026-01-01T00:14:00Z
              not: node budget: pod default/budget may not be evicted by disruption budget p: 1 ready, 1 must be
              not: node busy: cpu 75% (3 of 4) is above 50%
              not: node custom: pod default/custom belongs to Rollout/c, no controller of Kubernetes
              not: node idle: not needed for 1m, goes at 2026-01-01T00:10:00Z
              not: node job: pod default/job is annotated to end by itself
              not: node local: pod default/local keeps its volume scratch on the node
              not: node no-delete: stays as annotated (debugging)
              not: node pinned: pod default/pinned fits on no other node: wants a node with disk=ssd, not one without disk
              not: node system: pod kube-system/system is of kube-system without a disruption budget, stays until 2026-01-01T00:40:00Z
              not: node two: pod default/two has the disruption budgets q1 and q2, so the API evicts it never
              not: node unsafe: pod default/unsafe is annotated safe-to-evict=false
        "#]],
    );
}

#[test]
fn pods_stay_where_they_are_while_disruption_budgets_are_not_known() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=3 budget=none
         node n{1..3} in=web cpu=4 memory=8Gi age=1h
         pod a on=n1 cpu=1 memory=1Gi controller=ReplicaSet/a running
         coverage poddisruptionbudgets=absent
         look
         coverage poddisruptionbudgets=complete pods=partial
         look",
        expect![[r#"
            web 3, wants +0, 3 in service
              web: taint n2 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              web: taint n3 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              not: node n1: not all poddisruptionbudgets are known, so its pods stay where they are

            web 3, wants +0, 3 in service
              not: cluster: not all pods are known, so nothing is removed
              not: node n1: stays while its group may not shrink
              not: node n2: stays while its group may not shrink
              not: node n3: stays while its group may not shrink
        "#]],
    );
}

#[test]
fn a_node_that_takes_the_pods_of_another_stays() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=3 budget=none
         node n{1..3} in=web cpu=4 memory=8Gi age=1h
         pod a on=n1 cpu=1 memory=1Gi controller=ReplicaSet/a running
         pod b on=n2 cpu=1500m memory=1Gi controller=ReplicaSet/a running
         pod c on=n3 cpu=2 memory=1Gi controller=ReplicaSet/a running
         look",
        expect![[r#"
            web 3, wants +0, 3 in service
              web: taint n1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 25% (1 of 4), 1 pod fit elsewhere
              not: node n2: pod default/b fits on no other node: needs 1500m cpu, at most 1 free
              not: node n3: is expected to take 1 pod of nodes that go
        "#]],
    );
}

#[test]
fn sizes_pauses_and_budgets_hold_nodes_back() {
    check(
        "scaleDown budget=3
         group small pending min=2 max=9 target=3
         group grown pending min=0 max=9 target=2
         group slow pending min=0 max=9 target=4 budget=1
         group free pending min=0 max=9 target=4 budget=none
         memory grown locked=5m/1
         node s{1..3} in=small cpu=4 memory=8Gi age=1h
         node g{1..2} in=grown cpu=4 memory=8Gi age=1h
         node w{1..4} in=slow cpu=4 memory=8Gi age=1h
         node f{1..4} in=free cpu=4 memory=8Gi age=1h
         look",
        expect![[r#"
            small 3, wants +0, 3 in service
            grown 2, wants +0, 2 in service
            slow 4, wants +0, 4 in service
            free 4, wants +0, 4 in service
              free: taint f1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              free: taint f2 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              free: taint f3 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              not: node f4: not needed; of all groups together 3 may be on their way out at once, and 3 are
              not: node g1: not needed; the group has grown, left alone until 2026-01-01T00:05:00Z
              not: node g2: not needed; the group has grown, left alone until 2026-01-01T00:05:00Z
              not: node s1: not needed; of all groups together 3 may be on their way out at once, and 3 are
              not: node s2: not needed; of all groups together 3 may be on their way out at once, and 3 are
              not: node s3: not needed; of all groups together 3 may be on their way out at once, and 3 are
              not: node w1: not needed; of all groups together 3 may be on their way out at once, and 3 are
              not: node w2: not needed; of all groups together 3 may be on their way out at once, and 3 are
              not: node w3: not needed; of all groups together 3 may be on their way out at once, and 3 are
              not: node w4: not needed; of all groups together 3 may be on their way out at once, and 3 are
        "#]],
    );
}

#[test]
fn evictions_wait_for_disruption_budgets_and_are_given_up_in_the_end() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=2 budget=none afterFailure=0s
         node n1 in=web cpu=4 memory=8Gi age=1h
         node n2 in=web cpu=4 memory=8Gi age=1h
         pod a{1..2} on=n1 cpu=500m memory=1Gi controller=ReplicaSet/a label=app=a running
         pod b on=n2 cpu=3 memory=1Gi controller=ReplicaSet/b running
         pdb a label=app=a allowed=1 healthy=2 wanted=1
         round
         after 10s
         round
         pdb a label=app=a allowed=0 healthy=1 wanted=1
         gone pod a1
         after 1m
         round
         after 2m
         round
         after 1m
         look",
        expect![[r#"
            web 2, wants +0, 2 in service
              web: taint n1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 25% (1 of 4), 2 pods fit elsewhere
              not: node n2: cpu 75% (3 of 4) is above 50%

            web 2, wants +0, 1 in service, 1 tainted
              web: evict default/a1 from n1 because marked for 10s, 2 pods to move
              not: node n2: cpu 75% (3 of 4) is above 50%

            web 2, wants +0, 1 in service, 1 tainted
              not: node n1: on its way out with 1 pod, waits until disruption budget a lets default/a2 go; given up at 2026-01-01T00:03:10Z unless one goes
              not: node n2: cpu 75% (3 of 4) is above 50%

            web 2, wants +0, 1 in service, 1 tainted
              web: untaint n1 (ToBeDeletedByClusterAutoscaler) because pod default/a2 could not be evicted for 2m under disruption budget a
              not: node n2: cpu 75% (3 of 4) is above 50%

            web 2, wants +0, 2 in service
              not: node n1: its drain was given up, not tried again before 2026-01-01T00:08:10Z
              not: node n2: cpu 75% (3 of 4) is above 50%
        "#]],
    );
}

#[test]
fn several_nodes_use_one_disruption_budget_up() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=4 budget=none
         node n{1..3} in=web cpu=4 memory=8Gi age=1h
         node full in=web cpu=4 memory=8Gi age=1h
         pod a1 on=n1 cpu=500m memory=1Gi controller=ReplicaSet/a label=app=a running
         pod a2 on=n2 cpu=500m memory=1Gi controller=ReplicaSet/a label=app=a running
         pod a3 on=n3 cpu=500m memory=1Gi controller=ReplicaSet/a label=app=a running unready
         pod b on=full cpu=2500m memory=1Gi controller=ReplicaSet/b running
         pdb a label=app=a allowed=1 healthy=2 wanted=1
         look",
        expect![[r#"
            web 4, wants +0, 4 in service
              web: taint n1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 12.5% (500m of 4), 1 pod fit elsewhere
              web: taint n3 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 12.5% (500m of 4), 1 pod fit elsewhere
              not: node full: cpu 62.5% (2500m of 4) is above 50%
              not: node n2: pod default/a2 waits for disruption budget a, whose 1 evictions other nodes use up
        "#]],
    );
}

#[test]
fn a_mark_that_memory_knows_nothing_of_is_taken_off() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=3
         memory fresh
         node n1 in=web cpu=4 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225500:NoSchedule
         node n2 in=web cpu=4 memory=8Gi age=1h taint=DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule
         node n3 in=web cpu=4 memory=8Gi age=1h
         pod a on=n3 cpu=3 memory=1Gi controller=ReplicaSet/a running
         round
         look",
        expect![[r#"
            web 3, wants +0, 2 in service, 1 tainted
              web: untaint n1 (ToBeDeletedByClusterAutoscaler) because it stays after all: not needed for 0s, goes at 2026-01-01T00:10:00Z
              web: untaint n2 (DeletionCandidateOfClusterAutoscaler) because it is needed, or may not go
              not: node n2: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n3: cpu 75% (3 of 4) is above 50%

            web 3, wants +0, 3 in service
              not: node n1: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n2: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n3: cpu 75% (3 of 4) is above 50%
        "#]],
    );
}

#[test]
fn an_unready_cluster_and_a_sudden_drop_keep_everything() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=8
         node n{1..4} in=web cpu=4 memory=8Gi age=1h notReady=10m
         node n{5..8} in=web cpu=4 memory=8Gi age=1h
         look",
        expect![[r#"
            web 8, wants +0, 4 in service, 4 not ready
              not: cluster: 4 of 8 nodes are not ready at once, so that none is removed
              not: node n1: stays while its group may not shrink
              not: node n2: stays while its group may not shrink
              not: node n3: stays while its group may not shrink
              not: node n4: stays while its group may not shrink
              not: node n5: stays while its group may not shrink
              not: node n6: stays while its group may not shrink
              not: node n7: stays while its group may not shrink
              not: node n8: stays while its group may not shrink
        "#]],
    );
    // Nodes that start are no sign that something is wrong.
    check(
        "scaleDown
         group web pending min=0 max=9 target=8
         node n{1..4} in=web cpu=4 memory=8Gi age=5m notReady
         node n{5..8} in=web cpu=4 memory=8Gi age=1h
         look",
        expect![[r#"
            web 8, wants +0, 4 in service, 4 upcoming
              web: taint n5 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              not: node n1: is starting, waited for until 2026-01-01T00:10:00Z
              not: node n2: is starting, waited for until 2026-01-01T00:10:00Z
              not: node n3: is starting, waited for until 2026-01-01T00:10:00Z
              not: node n4: is starting, waited for until 2026-01-01T00:10:00Z
              not: node n6: not needed; of the group 1 may be on their way out at once, and 1 are
              not: node n7: not needed; of the group 1 may be on their way out at once, and 1 are
              not: node n8: not needed; of the group 1 may be on their way out at once, and 1 are
        "#]],
    );
    check(
        "scaleDown
         group web pending min=0 max=9 target=8 budget=none
         node n{1..8} in=web cpu=4 memory=8Gi age=1h
         pod p{1..8} cpu=2 on=n1 memory=1Gi controller=ReplicaSet/a running
         memory fresh
         round
         gone pod p{1..7}
         after 1h
         round
         round
         after 30s
         round",
        expect![[r#"
            web 8, wants +0, 8 in service
              not: node n1: cpu 400% (16 of 4) is above 50%
              not: node n2: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n3: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n4: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n5: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n6: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n7: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n8: not needed for 0s, goes at 2026-01-01T00:10:00Z

            web 8, wants +0, 8 in service
              not: cluster: cpu fell from 16 to 2 at once, so nothing is removed before 2026-01-01T01:00:30Z
              not: node n1: stays while its group may not shrink
              not: node n2: stays while its group may not shrink
              not: node n3: stays while its group may not shrink
              not: node n4: stays while its group may not shrink
              not: node n5: stays while its group may not shrink
              not: node n6: stays while its group may not shrink
              not: node n7: stays while its group may not shrink
              not: node n8: stays while its group may not shrink

            web 8, wants +0, 8 in service
              not: cluster: cpu fell from 16 to 2 at once, so nothing is removed before 2026-01-01T01:00:30Z
              not: node n1: stays while its group may not shrink
              not: node n2: stays while its group may not shrink
              not: node n3: stays while its group may not shrink
              not: node n4: stays while its group may not shrink
              not: node n5: stays while its group may not shrink
              not: node n6: stays while its group may not shrink
              not: node n7: stays while its group may not shrink
              not: node n8: stays while its group may not shrink

            web 8, wants +0, 8 in service
              web: taint n2 ToBeDeletedByClusterAutoscaler=1767229230:NoSchedule because not needed for 1h30s, 10m is enough: cpu 0% (0 of 4)
              web: taint n3 ToBeDeletedByClusterAutoscaler=1767229230:NoSchedule because not needed for 1h30s, 10m is enough: cpu 0% (0 of 4)
              web: taint n4 ToBeDeletedByClusterAutoscaler=1767229230:NoSchedule because not needed for 1h30s, 10m is enough: cpu 0% (0 of 4)
              web: taint n5 ToBeDeletedByClusterAutoscaler=1767229230:NoSchedule because not needed for 1h30s, 10m is enough: cpu 0% (0 of 4)
              web: taint n6 ToBeDeletedByClusterAutoscaler=1767229230:NoSchedule because not needed for 1h30s, 10m is enough: cpu 0% (0 of 4)
              web: taint n7 ToBeDeletedByClusterAutoscaler=1767229230:NoSchedule because not needed for 1h30s, 10m is enough: cpu 0% (0 of 4)
              web: taint n8 ToBeDeletedByClusterAutoscaler=1767229230:NoSchedule because not needed for 1h30s, 10m is enough: cpu 0% (0 of 4)
              not: node n1: pod default/p8 fits on no other node: there is none that takes new pods
        "#]],
    );
}

#[test]
fn a_group_goes_as_a_whole_or_not_at_all() {
    check(
        "scaleDown budget=1
         group slice pending allOrNothing min=0 max=3 target=3 budget=none
         group web pending min=0 max=9 target=1
         node s{1..3} in=slice cpu=4 memory=8Gi age=1h
         node w1 in=web cpu=4 memory=8Gi age=1h
         look
         pod a on=s2 cpu=1 memory=1Gi controller=ReplicaSet/a evict=unsafe running
         look",
        expect![[r#"
            slice 3, wants +0, 3 in service
            web 1, wants +0, 1 in service
              slice: taint s1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              slice: taint s2 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              slice: taint s3 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              not: node w1: not needed; of all groups together 1 may be on their way out at once, and 3 are

            slice 3, wants +0, 3 in service
            web 1, wants +0, 1 in service
              web: taint w1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              not: node s1: the group goes as a whole, and 2 of its 3 nodes could go
              not: node s2: pod default/a is annotated safe-to-evict=false
              not: node s3: the group goes as a whole, and 2 of its 3 nodes could go
        "#]],
    );
}

#[test]
fn unready_nodes_go_later_or_never() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=2 budget=none
         group kept pending min=0 max=9 target=1 unready=keep
         node n1 in=web cpu=4 memory=8Gi age=15m notReady=15m
         node n2 in=web cpu=4 memory=8Gi age=15m
         node k1 in=kept cpu=4 memory=8Gi age=1h notReady=40m
         look",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 not ready
            kept 1, wants +0, 1 not ready
              web: taint n2 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 15m, 10m is enough: cpu 0% (0 of 4)
              not: node k1: is not ready, and such nodes stay
              not: node n1: not needed for 15m, goes at 2026-01-01T00:05:00Z
        "#]],
    );
}

#[test]
fn budgets_come_and_go_by_the_clock() {
    let budgets = "0;cron=0_9_*_*_mon-fri;lasts=8h;zone=Europe/Zurich budget=1;empty";
    for (budgets, now, expected) in [
        (budgets, "2026-01-05T07:59:59Z", "1 of 3 nodes are marked, until 2026-01-05T08:00:00Z"),
        (budgets, "2026-01-05T08:00:00Z", "0 of 3 nodes are marked, until 2026-01-05T16:00:00Z"),
        (budgets, "2026-01-05T16:00:00Z", "1 of 3 nodes are marked, until 2026-01-06T08:00:00Z"),
        (budgets, "2026-01-03T12:00:00Z", "1 of 3 nodes are marked, until 2026-01-05T08:00:00Z"),
        ("2 budget=0;underutilized", "2026-01-03T12:00:00Z", "2 of 3 nodes are marked"),
        ("50%", "2026-01-03T12:00:00Z", "2 of 3 nodes are marked"),
        ("1;cron=0_9;lasts=1h", "2026-01-03T12:00:00Z", "0 of 3 nodes are marked"),
    ] {
        let text = format!(
            "now {now}
             scaleDown
             group web pending min=0 max=9 target=3 budget={budgets}
             node n{{1..3}} in=web cpu=4 memory=8Gi age=1h
             look"
        );
        let plan = Fixture::read(&text).unwrap().plans.remove(0);
        let until = plan.wake_at.map_or(String::new(), |until| format!(", until {until}"));
        assert_eq!(format!("{} of 3 nodes are marked{until}", plan.actions.len()), expected, "{budgets} at {now}");
    }
}

#[test]
fn a_removed_node_stays_a_domain_of_topology_spread() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=3 budget=none
         node n{1..3} in=web cpu=4 memory=8Gi age=1h
         pod d1 on=n1 cpu=100m memory=1Mi controller=ReplicaSet/d label=app=d spread=host;app=d;skew=1 running
         pod d2 on=n2 cpu=100m memory=1Mi controller=ReplicaSet/d label=app=d spread=host;app=d;skew=1 running
         pod d3 on=n3 cpu=100m memory=1Mi controller=ReplicaSet/d label=app=d spread=host;app=d;skew=1 running
         pod own2 on=n2 cpu=100m memory=1Mi running
         pod own3 on=n3 cpu=100m memory=1Mi running
         look",
        expect![[r#"
            web 3, wants +0, 3 in service
              not: node n1: pod default/d1 fits on no other node: spread over kubernetes.io/hostname: n3 has 1, the emptiest 0, they may differ by 1
              not: node n2: pod default/own2 has no controller that would start it again
              not: node n3: pod default/own3 has no controller that would start it again
        "#]],
    );
}

#[test]
fn nodes_that_waiting_pods_need_stay() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=2 budget=none
         node n{1..2} in=web cpu=4 memory=8Gi age=1h
         pod p{1..2} cpu=3 memory=1Gi controller=ReplicaSet/a
         round
         look",
        expect![[r#"
            web 2, wants +0, 2 in service
              not: node n1: is expected to take 1 waiting pod
              not: node n2: is expected to take 1 waiting pod

            web 2, wants +0, 2 in service
              not: node n1: is expected to take 1 waiting pod
              not: node n2: is expected to take 1 waiting pod
        "#]],
    );
}

#[test]
fn what_the_cluster_keeps_in_any_case() {
    check(
        "scaleDown nodes=2 cpu=9
         group web pending min=0 max=9 target=4 budget=none
         node n{1..4} in=web cpu=4 memory=8Gi age=1h
         look",
        expect![[r#"
            web 4, wants +0, 4 in service
              web: taint n1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 4)
              not: node n2: not needed; the cluster keeps 9 cpu and would have 8
              not: node n3: not needed; the cluster keeps 9 cpu and would have 8
              not: node n4: not needed; the cluster keeps 9 cpu and would have 8
        "#]],
    );
}

#[test]
fn soft_marks_are_set_on_idle_nodes_and_taken_off_others() {
    check(
        "scaleDown softTaint
         group web pending min=0 max=9 target=2
         memory fresh
         node n1 in=web cpu=4 memory=8Gi age=1h
         node n2 in=web cpu=4 memory=8Gi age=1h
         pod a on=n2 cpu=3 memory=1Gi controller=ReplicaSet/a running
         round
         pod b on=n1 cpu=3 memory=1Gi controller=ReplicaSet/a running
         after 1m
         round",
        expect![[r#"
            web 2, wants +0, 2 in service
              web: taint n1 DeletionCandidateOfClusterAutoscaler=1767225600:PreferNoSchedule because not needed for 0s
              not: node n1: not needed for 0s, goes at 2026-01-01T00:10:00Z
              not: node n2: cpu 75% (3 of 4) is above 50%

            web 2, wants +0, 2 in service
              web: untaint n1 (DeletionCandidateOfClusterAutoscaler) because it is needed, or may not go
              not: node n1: cpu 75% (3 of 4) is above 50%
              not: node n2: cpu 75% (3 of 4) is above 50%
        "#]],
    );
}

/// However busy they are, as long as their pods fit elsewhere, and only as many as a budget for old nodes lets go.
#[test]
fn nodes_that_are_too_old_go() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=4 expireAfter=24h budget=1;old
         memory fresh
         node old-{1..2} in=web cpu=4 memory=8Gi age=25h
         node young in=web cpu=4 memory=8Gi age=23h30m
         node large in=web cpu=8 memory=8Gi age=1h
         pod a on=old-1 cpu=3 memory=1Gi controller=ReplicaSet/a running
         pod b on=old-2 cpu=3 memory=1Gi controller=ReplicaSet/a running
         pod c on=young cpu=3 memory=1Gi controller=ReplicaSet/a running
         pod d on=large cpu=1 memory=1Gi controller=ReplicaSet/a running
         round
         after 11m
         round
         after 10s
         round
         after 10s
         round
         after 30m
         look",
        expect![[r#"
            web 4, wants +0, 4 in service
              not: node large: is expected to take 2 pods of nodes that go
              not: node old-1: not needed; the group has grown, left alone until 2026-01-01T00:10:00Z
              not: node old-2: not needed; the group has grown, left alone until 2026-01-01T00:10:00Z
              not: node young: cpu 75% (3 of 4) is above 50%

            web 4, wants +0, 4 in service
              web: taint old-1 ToBeDeletedByClusterAutoscaler=1767226260:NoSchedule because 25h11m old, at most 24h wanted: cpu 75% (3 of 4), 1 pod fit elsewhere
              not: node large: is expected to take 2 pods of nodes that go
              not: node old-2: not needed; of the group 1 may be on their way out at once, and 1 are
              not: node young: cpu 75% (3 of 4) is above 50%

            web 4, wants +0, 3 in service, 1 tainted
              web: evict default/a from old-1 because marked for 10s, 1 pod to move
              not: node large: is expected to take 2 pods of nodes that go
              not: node old-2: not needed; of the group 1 may be on their way out at once, and 1 are
              not: node young: cpu 75% (3 of 4) is above 50%

            web 4 -> 3, wants +0, 3 in service, 1 tainted
              web: remove old-1 because marked for 20s and empty
              web: taint old-2 ToBeDeletedByClusterAutoscaler=1767226280:NoSchedule because 25h11m20s old, at most 24h wanted: cpu 75% (3 of 4), 1 pod fit elsewhere
              not: node large: is expected to take 1 waiting pod
              not: node young: cpu 75% (3 of 4) is above 50%

            web 3, wants +0, 2 in service, 1 tainted
              web: evict default/b from old-2 because marked for 30m, 1 pod to move
              not: node large: is expected to take 1 waiting pod
              not: node young: pod default/c fits on no other node: needs 3 cpu, at most 1 free
        "#]],
    );
}

#[test]
fn a_minimum_that_was_raised_takes_a_mark_off() {
    check(
        "scaleDown
         group web pending min=2 max=9 target=2
         node n1 in=web cpu=4 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         node n2 in=web cpu=4 memory=8Gi age=1h
         look",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 tainted
              web: untaint n1 (ToBeDeletedByClusterAutoscaler) because it stays after all: not needed; the group keeps 2 and has 2
              not: node n2: not needed; the group keeps 2 and has 2
        "#]],
    );
}

/// A group of some nodes with all kinds of marks and pods, as lines of a fixture.
fn cluster() -> impl Strategy<Value = String> {
    let mark = select(vec![
        "",
        "",
        "",
        "",
        "keep",
        "cordoned",
        "deleting",
        "notReady=30m",
        "taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule",
        "taint=ToBeDeletedByClusterAutoscaler=1767225000:NoSchedule",
        "taint=ToBeDeletedByClusterAutoscaler=soon:NoSchedule",
        "taint=DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule",
    ]);
    let nodes = prop::collection::vec((1u32..5, 0u32..90, mark), 1..9);
    let kind = select(vec![
        "controller=ReplicaSet/a",
        "controller=ReplicaSet/a",
        "controller=ReplicaSet/a label=app=a",
        "controller=ReplicaSet/a label=app=b unready",
        "controller=StatefulSet/s deleting",
        "controller=ReplicaSet/a deleting endsBy=2m",
        "controller=ReplicaSet/a evict=unsafe",
        "controller=ReplicaSet/a spread=host;app=c;skew=1 label=app=c",
        "controller=ReplicaSet/a apart=host;app=d label=app=d",
        "priority=-20",
        "evict=safe",
        "kind=daemonSet",
        "",
    ]);
    let place = select(vec!["", "on=n0", "on=n1", "on=n2", "on=n3", "on=n4", "on=n5"]);
    let pods = prop::collection::vec((1u32..30, place, kind), 0..20);
    let group = select(vec!["", "", "budget=none", "budget=1", "allOrNothing", "mode=growOnly", "mode=dryRun"]);
    let policy = select(vec!["", "", "softTaint", "budget=2", "nodes=3", "okUnready=0 maxUnready=20"]);
    (policy, group, 0u32..4, 0u32..2, nodes, pods).prop_map(|(policy, group, min, allowed, nodes, pods)| {
        let target = nodes.len();
        let mut lines = vec![
            format!("scaleDown {policy}"),
            format!("group g pending min={min} max=12 target={target} afterAdd=1m unneeded=2m {group}"),
            format!("pdb a label=app=a allowed={allowed} healthy=2 wanted=1"),
            "pdb b label=app=b allowed=0 healthy=1 wanted=1".to_owned(),
        ];
        for (at, (cpu, age, mark)) in nodes.iter().enumerate() {
            lines.push(format!("node n{at} in=g cpu={cpu} memory=8Gi age={age}m {mark}"));
        }
        for (at, (cpu, place, kind)) in pods.iter().enumerate() {
            lines.push(format!("pod p{at} cpu={cpu}00m memory=100Mi running {place} {kind}"));
        }
        lines.join("\n")
    })
}

proptest! {
    /// However a cluster looks, and while it changes by what is carried out: no plan has to be corrected, and each node
    /// that may be removed has an action or one reason why it stays.
    #[test]
    fn plans_are_sound_and_complete(text in cluster(), waits in prop::collection::vec(1u32..200, 1..6)) {
        let rounds: Vec<String> = waits.iter().map(|wait| format!("\nafter {wait}s\nround")).collect();
        let mut fixture = Fixture::read(&text).unwrap();
        for line in rounds.concat().lines() {
            let nodes: Vec<String> = fixture
                .builder
                .snapshot()
                .nodes()
                .filter(|view| !view.node.deleting)
                .map(|view| view.node.name.to_string())
                .collect();
            let (before, planned) = (fixture.builder.snapshot().clone(), fixture.plans.len());
            fixture.line(line).unwrap();
            let Some(plan) = fixture.plans.get(planned) else { continue };
            prop_assert_eq!(check_plan(&before, &fixture.policy, plan), vec![]);
            for refusal in &plan.report.refusals {
                prop_assert!(!matches!(refusal.why, Why::Rejected { .. }), "{refusal} in\n{text}\n{fixture}");
            }
            for node in nodes {
                let acts = plan.actions.iter().filter(|planned| planned.action.node() == Some(&*node)).count();
                let kept = plan.report.refusals.iter().filter(|refusal| {
                    matches!(refusal.why, Why::Kept { .. }) && refusal.subject == Subject::Node(node.as_str().into())
                });
                let (kept, soft) = (kept.count(), text.contains("softTaint") || text.contains("DeletionCandidate"));
                prop_assert!(acts + kept == 1 || (soft && acts <= 1 && kept <= 1), "{node}: {acts} {kept}\n{text}\n{fixture}");
            }
        }
    }
}
