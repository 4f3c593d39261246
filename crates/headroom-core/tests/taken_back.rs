//! Nodes on their way out that pods need again stay, and nothing is bought.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_pod_that_fits_a_node_on_its_way_out_takes_it_back() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=3
         node n1 in=web cpu=4 memory=8Gi age=1h
         node n{2..3} in=web cpu=4 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         pod a on=n1 cpu=3 memory=1Gi controller=ReplicaSet/a running
         pod b cpu=2 memory=1Gi
         round
         after 10s
         round",
        expect![[r#"
            web 3 -> 2, wants +0, 1 in service, 2 tainted
              web: untaint n2 (ToBeDeletedByClusterAutoscaler) because it stays after all: is expected to take 1 waiting pod
              web: remove n3 because marked for 10s and empty
              not: node n1: cpu 75% (3 of 4) is above 50%

            web 2, wants +0, 2 in service
              not: node n1: cpu 75% (3 of 4) is above 50%
              not: node n2: is expected to take 1 waiting pod
        "#]],
    );
}

#[test]
fn room_that_is_there_or_on_its_way_comes_before_nodes_that_go() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=3
         node n1 in=web cpu=4 memory=8Gi age=1h
         node n2 in=web cpu=4 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         pod a on=n1 cpu=2 memory=1Gi controller=ReplicaSet/a running
         pod b cpu=2 memory=1Gi
         pod c cpu=3 memory=1Gi
         look",
        expect![[r#"
            web 3 -> 2, wants +0, 1 in service, 1 upcoming, 1 tainted
              web: remove n2 because marked for 10s and empty
              not: node n1: is expected to take 1 waiting pod
        "#]],
    );
}

#[test]
fn what_no_node_on_its_way_out_holds_is_bought() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=2 template=4/8Gi
         node n1 in=web cpu=4 memory=8Gi age=1h
         node n2 in=web cpu=2 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         pod a on=n1 cpu=3 memory=1Gi controller=ReplicaSet/a running
         pod b{1..2} cpu=2 memory=1Gi controller=ReplicaSet/b
         pod c cpu=4 memory=1Gi
         look",
        expect![[r#"
            web 2 -> 3, wants +1, 1 in service, 1 tainted
              web: resize 2 -> 3 because pod default/b1 waits
              web: untaint n2 (ToBeDeletedByClusterAutoscaler) because it stays after all: is expected to take 1 waiting pod
              option: web +1: waste 0.875
              not: node n1: cpu 75% (3 of 4) is above 50%
              not: pod default/c: fits on no new node; closest is web: needs 4 cpu, at most 2 free
        "#]],
    );
}

/// A node that does not work, that somebody cordoned, or whose machine goes already is no help.
#[test]
fn nodes_that_cannot_come_back() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=4
         instance n1 in=web
         instance n2 in=web
         instance n3 in=web state=deleting
         node n1 in=web cpu=4 memory=8Gi age=1h notReady taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         node n2 in=web cpu=4 memory=8Gi age=1h cordoned taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         node n{3..4} in=web cpu=4 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         pod b cpu=2 memory=1Gi
         look",
        expect![[r#"
            web 4 -> 1, wants +0, 2 upcoming, 3 tainted, 1 cordoned
              web: remove n1 because marked for 10s and empty
              web: remove n2 because marked for 10s and empty
              web: remove n4 because marked for 10s and empty
        "#]],
    );
}

/// While nothing may be removed, nodes are taken back all the same.
#[test]
fn an_unready_cluster_takes_nodes_back_too() {
    check(
        "scaleDown okUnready=0 maxUnready=20
         group web pending min=0 max=9 target=3
         node n1 in=web cpu=4 memory=8Gi age=1h notReady
         node n{2..3} in=web cpu=4 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         pod b cpu=2 memory=1Gi
         look",
        expect![[r#"
            web 3, wants +0, 1 not ready, 2 tainted
              web: untaint n2 (ToBeDeletedByClusterAutoscaler) because it stays after all: is expected to take 1 waiting pod
              not: cluster: 1 of 3 nodes are not ready at once, so that none is removed
              not: node n1: stays while its group may not shrink
              not: node n3: stays while its group may not shrink
        "#]],
    );
}

/// The pods of a node that goes may move to one that is taken back in the same round.
#[test]
fn a_node_that_is_taken_back_has_room_for_others() {
    check(
        "scaleDown
         group web pending min=0 max=9 target=2
         group old pending min=0 max=9 target=1 budget=none
         node n1 in=web cpu=8 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         node n2 in=web cpu=8 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         node o1 in=old cpu=4 memory=8Gi age=1h
         pod a on=o1 cpu=1 memory=1Gi controller=ReplicaSet/a running
         pod b cpu=4 memory=1Gi
         look",
        expect![[r#"
            web 2 -> 1, wants +0, 2 tainted
            old 1, wants +0, 1 in service
              web: untaint n1 (ToBeDeletedByClusterAutoscaler) because it stays after all: is expected to take 1 waiting pod
              web: remove n2 because marked for 10s and empty
              old: taint o1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 25% (1 of 4), 1 pod fit elsewhere
        "#]],
    );
}

#[test]
fn spare_room_takes_a_node_back_too() {
    check(
        "slack rate=50
         scaleDown
         group web pending min=0 max=9 target=2
         node n1 in=web cpu=4 memory=8Gi age=1h
         node n2 in=web cpu=4 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         pod a{1..2} on=n1 cpu=2 memory=1Gi controller=ReplicaSet/a running
         look",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 tainted
              web: untaint n2 (ToBeDeletedByClusterAutoscaler) because it stays after all: is expected to take 3 placeholders
              slack: 50% of the requested 4 cpu and 2Gi memory
              slack: 3 x rate (800m cpu, 1Gi memory): 3 placed
              not: node n1: cpu 100% (4 of 4) is above 50%
        "#]],
    );
}
