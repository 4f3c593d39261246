//! Several nodes make way for one cheaper machine: fixtures in, plans out.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;

fn run(lines: &str, expected: Expect) {
    match Fixture::read(lines) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// Two nodes whose pods do not fit on one of them, but on one machine of the group `small`.
fn two_large(policy: &str, price: &str, small: &str) -> String {
    format!(
        "scaleDown {policy}
         group large pending min=0 max=9 target=2 {price} idleBelow=80 budget=none
         group small pending min=0 max=9 target=0 template=4000m/16000 {small} afterAdd=0s budget=none
         node l{{1..2}} in=large cpu=8000m memory=8000 age=2h
         pod a{{1..2}} on=l1 controller=ReplicaSet/a cpu=500m memory=3000 running
         pod b{{1..2}} on=l2 controller=ReplicaSet/b cpu=500m memory=3000 running
         "
    )
}

#[test]
fn a_cheaper_machine_comes_first_and_then_the_old_nodes_go() {
    run(
        &(two_large("consolidate=1h", "price=0.40", "price=0.30")
            + "memory fresh
               round
               after 10m
               round
               after 30s
               round
               node s1 in=small cpu=4000m memory=16000 created=2026-01-01T00:11:00Z
               after 1m
               round
               after 10s
               round
               pod a{1..2} on=s1 controller=ReplicaSet/a cpu=500m memory=3000 running
               pod b{1..2} on=s1 controller=ReplicaSet/b cpu=500m memory=3000 running
               after 10s
               round
               after 20m
               round"),
        expect![[r#"
            large 2, wants +0, 2 in service
            small 0, wants +0
              not: node l1: could be replaced: small gets one machine of $0.30 for 2 nodes of $0.80 an hour (l1, l2): saves 62.5% of what all nodes cost for 100% of the disruption of moving every pod; waits until 2026-01-01T00:10:00Z
              not: node l2: could be replaced: small gets one machine of $0.30 for 2 nodes of $0.80 an hour (l1, l2): saves 62.5% of what all nodes cost for 100% of the disruption of moving every pod; waits until 2026-01-01T00:10:00Z

            large 2, wants +0, 2 in service
            small 0 -> 1, wants +1
              small: resize 0 -> 1 because one machine of $0.30 for 2 nodes of $0.80 an hour (l1, l2): saves 62.5% of what all nodes cost for 100% of the disruption of moving every pod
              not: node l1: is to be replaced by a machine of small
              not: node l2: is to be replaced by a machine of small

            large 2, wants +0, 2 in service
            small 1, wants +0, 1 upcoming
              not: node l1: is to be replaced by a machine of small
              not: node l2: is to be replaced by a machine of small

            large 2, wants +0, 2 in service
            small 1, wants +0, 1 in service
              large: taint l1 ToBeDeletedByClusterAutoscaler=1767226290:NoSchedule because not needed for 11m30s, 10m is enough: memory 75% (5.86Ki of 7.81Ki), 2 pods fit elsewhere
              large: taint l2 ToBeDeletedByClusterAutoscaler=1767226290:NoSchedule because not needed for 11m30s, 10m is enough: memory 75% (5.86Ki of 7.81Ki), 2 pods fit elsewhere
              not: node s1: takes the place of l1, l2, waits for their pods until 2026-01-01T01:10:00Z

            large 2, wants +0, 2 tainted
            small 1, wants +0, 1 in service
              large: evict 2 pods from l1 because marked for 10s, 2 pods to move
              large: evict 2 pods from l2 because marked for 10s, 2 pods to move
              not: node s1: takes the place of l1, l2, waits for their pods until 2026-01-01T01:10:00Z

            large 2 -> 0, wants +0, 2 tainted
            small 1, wants +0, 1 in service
              large: remove l1 because marked for 20s and empty
              large: remove l2 because marked for 20s and empty
              not: node s1: takes the place of l1, l2, waits for their pods until 2026-01-01T01:10:00Z

            large 0, wants +0
            small 1, wants +0, 1 in service
              not: node s1: memory 75% (11.72Ki of 15.63Ki) is above 50%
        "#]],
    );
}

#[test]
fn without_the_option_nothing_is_bought() {
    run(
        &(two_large("", "price=0.40", "price=0.30") + "round"),
        expect![[r#"
        large 2, wants +0, 2 in service
        small 0, wants +0
          not: node l1: pod default/a1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
          not: node l2: pod default/b1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
    "#]],
    );
}

#[test]
fn nothing_is_bought_that_saves_nothing() {
    run(
        &(two_large("consolidate=1h", "price=0.15", "price=0.30") + "round"),
        expect![[r#"
        large 2, wants +0, 2 in service
        small 0, wants +0
          not: node l1: pod default/a1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
          not: node l2: pod default/b1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
    "#]],
    );
}

#[test]
fn nothing_is_bought_for_a_saving_that_is_small_beside_the_disruption() {
    // 0.36 an hour less 0.30 is a sixth of the bill, and every pod would have to move.
    run(
        &(two_large("consolidate=1h", "price=0.18", "price=0.30") + "round"),
        expect![[r#"
        large 2, wants +0, 2 in service
        small 0, wants +0
          not: node l1: pod default/a1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
          not: node l2: pod default/b1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
    "#]],
    );
    // A half is enough.
    run(
        &(two_large("consolidate=1h", "price=0.30", "price=0.30") + "round"),
        expect![[r#"
            large 2, wants +0, 2 in service
            small 0 -> 1, wants +1
              small: resize 0 -> 1 because one machine of $0.30 for 2 nodes of $0.60 an hour (l1, l2): saves 50% of what all nodes cost for 100% of the disruption of moving every pod
              not: node l1: is to be replaced by a machine of small
              not: node l2: is to be replaced by a machine of small
        "#]],
    );
}

#[test]
fn unknown_prices_are_named() {
    run(
        &(two_large("consolidate=1h", "", "price=0.30") + "round"),
        expect![[r#"
        large 2, wants +0, 2 in service
        small 0, wants +0
          not: cluster: nothing is consolidated: the prices of 2 nodes are not known, the first is l1
          not: node l1: pod default/a1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
          not: node l2: pod default/b1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
    "#]],
    );
}

#[test]
fn a_machine_on_its_way_or_a_limit_is_respected() {
    run(
        &(two_large("consolidate=1h", "price=0.40", "price=0.30")
            + "policy nodes=2
               round"),
        expect![[r#"
            large 2, wants +0, 2 in service
            small 0, wants +0
              not: node l1: pod default/a1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
              not: node l2: pod default/b1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
        "#]],
    );
    run(
        &(two_large("consolidate=1h", "price=0.40 cloudMin=2", "price=0.30") + "round"),
        expect![[r#"
        large 2, wants +0, 2 in service
        small 0, wants +0
          not: node l1: pod default/a1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
          not: node l2: pod default/b1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
    "#]],
    );
}

#[test]
fn a_replacement_that_never_comes_is_given_up_and_not_asked_for_again_at_once() {
    run(
        &(two_large("consolidate=20m", "price=0.40 boot=5m", "price=0.30 boot=5m")
            + "round
               after 6m
               round
               after 15m
               round
               after 20m
               round"),
        expect![[r#"
            large 2, wants +0, 2 in service
            small 0 -> 1, wants +1
              small: resize 0 -> 1 because one machine of $0.30 for 2 nodes of $0.80 an hour (l1, l2): saves 62.5% of what all nodes cost for 100% of the disruption of moving every pod
              not: node l1: is to be replaced by a machine of small
              not: node l2: is to be replaced by a machine of small

            large 2, wants +0, 2 in service
            small 1, wants +0, 1 upcoming
              not: node l1: is to be replaced by a machine of small
              not: node l2: is to be replaced by a machine of small

            large 2, wants +0, 2 in service
            small 1, wants +0, 1 never came
              not: group small: 1 machines that were asked for did not come within 5m; the cloud's target is 1 already
              not: group small: left alone until 2026-01-01T00:26:00Z: machines never came
              not: node l1: pod default/a1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free
              not: node l2: pod default/b1 and 1 like it fit on no other node: needs 2.93Ki memory, at most 1.95Ki free

            large 2, wants +0, 2 in service
            small 1, wants +0, 1 never came
              not: group small: 1 machines that were asked for did not come within 5m; the cloud's target is 1 already
              not: node l1: could be replaced: small gets one machine of $0.30 for 2 nodes of $0.80 an hour (l1, l2): saves 62.5% of what all nodes cost for 100% of the disruption of moving every pod; waits until 2026-01-01T00:51:00Z
              not: node l2: could be replaced: small gets one machine of $0.30 for 2 nodes of $0.80 an hour (l1, l2): saves 62.5% of what all nodes cost for 100% of the disruption of moving every pod; waits until 2026-01-01T00:51:00Z
        "#]],
    );
}

#[test]
fn a_replacement_whose_nodes_stay_goes_again() {
    run(
        &(two_large("consolidate=20m", "price=0.40", "price=0.30 unneeded=10m")
            + "round
               after 1m
               node s1 in=small cpu=4000m memory=16000 created=2026-01-01T00:01:00Z
               node l{1..2} in=large cpu=8000m memory=8000 age=2h keep
               round
               after 20m
               round
               after 10m
               round"),
        expect![[r#"
            large 2, wants +0, 2 in service
            small 0 -> 1, wants +1
              small: resize 0 -> 1 because one machine of $0.30 for 2 nodes of $0.80 an hour (l1, l2): saves 62.5% of what all nodes cost for 100% of the disruption of moving every pod
              not: node l1: is to be replaced by a machine of small
              not: node l2: is to be replaced by a machine of small

            large 2, wants +0, 2 in service
            small 1, wants +0, 1 in service
              not: node l1: stays as annotated (scale-down-disabled)
              not: node l2: stays as annotated (scale-down-disabled)
              not: node s1: takes the place of l1, l2, waits for their pods until 2026-01-01T00:20:00Z

            large 2, wants +0, 2 in service
            small 1, wants +0, 1 in service
              not: node l1: stays as annotated (scale-down-disabled)
              not: node l2: stays as annotated (scale-down-disabled)
              not: node s1: not needed for 0s, goes at 2026-01-01T00:31:00Z

            large 2, wants +0, 2 in service
            small 1, wants +0, 1 in service
              small: taint s1 ToBeDeletedByClusterAutoscaler=1767227460:NoSchedule because not needed for 10m, 10m is enough: cpu 0% (0 of 4)
              not: node l1: stays as annotated (scale-down-disabled)
              not: node l2: stays as annotated (scale-down-disabled)
        "#]],
    );
}
