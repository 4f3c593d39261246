//! What clouds say of how their groups are to be treated, text in and text out.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn what_the_cloud_says_holds_unless_the_group_states_it() {
    check(
        "scaleDown
         group tags pending min=0 max=9 target=1 cloudIdleBelow=80
         group own pending min=0 max=9 target=1 cloudIdleBelow=80 idleBelow=60
         group none pending min=0 max=9 target=1
         node n1 in=tags cpu=4 memory=8Gi age=1h
         node n2 in=own cpu=4 memory=8Gi age=1h
         node n3 in=none cpu=4 memory=8Gi age=1h
         pod a on=n1 cpu=2800m memory=1Gi controller=ReplicaSet/a running for=tags
         pod b on=n2 cpu=2800m memory=1Gi controller=ReplicaSet/b running for=own
         pod c on=n3 cpu=2800m memory=1Gi controller=ReplicaSet/c running for=none
         round",
        expect![[r#"
            tags 1, wants +0, 1 in service
            own 1, wants +0, 1 in service
            none 1, wants +0, 1 in service
              not: node n1: pod default/a fits on no other node: wants a node with pool=tags, not own
              not: node n2: cpu 70% (2800m of 4) is above 60%
              not: node n3: cpu 70% (2800m of 4) is above 50%
        "#]],
    );
}

#[test]
fn a_node_has_so_long_as_its_cloud_says_unless_its_group_states_it() {
    check(
        "scaleDown
         group tags pending min=0 max=9 target=1 cloudUnneeded=5m
         group own pending min=0 max=9 target=1 cloudUnneeded=5m unneeded=20m
         group none pending min=0 max=9 target=1
         node n1 in=tags cpu=4 memory=8Gi age=1h
         node n2 in=own cpu=4 memory=8Gi age=1h
         node n3 in=none cpu=4 memory=8Gi age=1h
         memory fresh
         round",
        expect![[r#"
            tags 1, wants +0, 1 in service
            own 1, wants +0, 1 in service
            none 1, wants +0, 1 in service
              not: node n1: not needed for 0s, goes at 2026-01-01T00:05:00Z
              not: node n2: not needed for 0s, goes at 2026-01-01T00:20:00Z
              not: node n3: not needed for 0s, goes at 2026-01-01T00:10:00Z
        "#]],
    );
}

#[test]
fn a_machine_has_as_long_as_the_cloud_gives_it() {
    check(
        "group slow pending min=0 max=9 target=1 template=2/8Gi cloudBoot=30m
         group own pending min=0 max=9 target=1 template=2/8Gi cloudBoot=30m boot=10m
         instance s1 in=slow state=creating age=20m
         instance o1 in=own state=creating age=20m
         round",
        expect![[r#"
            slow 1, wants +0, 1 upcoming
            own 1, wants +0, 1 never came
              not: group own: 1 machine in the cloud came to no node in time, 0 did, 0 nodes have no machine there: too unclear to write off
              not: group own: left alone until 2026-01-01T00:05:00Z: machines never came
        "#]],
    );
}

#[test]
fn a_group_is_all_or_nothing_where_its_cloud_says_so() {
    check(
        "group slice pending min=0 max=4 template=2/8Gi target=0 cloudAllOrNothing
         pod p cpu=1 memory=1Gi
         round",
        expect![[r#"
            slice 0 -> 4, wants +4
              slice: resize 0 -> 4 because pod default/p waits
              option: slice +4: waste 1.8438
        "#]],
    );
}

#[test]
fn daemon_sets_and_gpus_count_as_the_cloud_says() {
    check(
        "scaleDown
         group gpu pending min=0 max=9 target=1 cloudIdleGpuBelow=100
         group ds pending min=0 max=9 target=1 cloudIgnoresDaemonSets
         group sick pending min=0 max=9 target=1 cloudUnready=1h
         node g1 in=gpu cpu=4 memory=8Gi ext=nvidia.com/gpu:1 age=1h
         node d1 in=ds cpu=4 memory=8Gi age=1h
         node s1 in=sick cpu=4 memory=8Gi age=2h notReady=30m
         pod a on=g1 cpu=1 memory=1Gi ext=nvidia.com/gpu:1 controller=ReplicaSet/a running for=gpu
         pod d on=d1 kind=daemonSet cpu=3 memory=1Gi running
         round",
        expect![[r#"
            gpu 1, wants +0, 1 in service
            ds 1, wants +0, 1 in service
            sick 1, wants +0, 1 not ready
              sick: taint s1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not ready and not needed for 2h, 1h is enough: cpu 0% (0 of 4)
              ds: taint d1 ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 1)
              not: node g1: pod default/a fits on no other node: wants a node with pool=gpu, not sick
        "#]],
    );
}
