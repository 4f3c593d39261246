//! Nodes that are not needed go, text in and text out.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;

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

            web 3, wants +0, 3 in service
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

            web 2, wants +0, 2 in service
              web: evict default/b from n2 because marked for 10s, 1 pod to move
              not: node n1: is expected to take 1 pod of nodes that go

            web 2, wants +0, 2 in service
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
              not: node booting: has not been usable yet, waited for until 2026-01-01T00:14:00Z
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
              not: node booting: has not been usable yet, waited for until 2026-01-01T00:14:00Z
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
