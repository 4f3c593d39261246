//! Machines that were asked for and never came: written off when it is certain, and never otherwise.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;
use headroom_core::plan::{Action, Reason};
use headroom_core::{Invariant, Violation, check as check_plan};

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_listed_machine_is_deleted_alone_and_its_group_backs_off() {
    check(
        "group web pending min=1 max=9 target=3 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h
         instance a in=web age=1h
         instance b in=web state=creating age=14m
         instance c in=web state=creating age=15m
         round
         after 1m
         round
         after 1m
         round",
        expect![[r#"
            web 3 -> 2, wants -1, 1 in service, 1 upcoming, 1 never came
              web: write off test://c because 1 machine did not come within 15m
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came

            web 2 -> 1, wants -1, 1 in service, 1 never came
              web: write off test://b because 1 machine did not come within 15m
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came

            web 1, wants +0, 1 in service
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came
        "#]],
    );
}

#[test]
fn at_the_minimum_the_cloud_makes_another() {
    check(
        "group web pending min=2 max=9 target=2 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h
         instance a in=web age=1h
         instance b in=web state=creating age=20m
         round
         round",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 never came
              web: write off test://b and get another because 1 machine did not come within 15m
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came

            web 2, wants +0, 1 in service, 1 upcoming
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came
        "#]],
    );
}

#[test]
fn what_the_cloud_owes_and_does_not_list_is_taken_off_the_target() {
    check(
        "group web pending min=1 max=9 target=4 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h
         instance a in=web age=1h
         instance b in=web age=16m state=creating
         round
         after 15m
         round
         round",
        expect![[r#"
            web 4 -> 3, wants -1, 1 in service, 2 upcoming, 1 never came
              web: write off test://b because 1 machine did not come within 15m
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came

            web 3 -> 1, wants -2, 1 in service, 2 never came
              web: resize 3 -> 1 because 2 machines did not come within 15m
              not: group web: left alone until 2026-01-01T00:25:00Z: machines never came

            web 1, wants +0, 1 in service
              not: group web: left alone until 2026-01-01T00:25:00Z: machines never came
        "#]],
    );
}

#[test]
fn provider_ids_in_another_format_delete_nothing() {
    check(
        "group web pending min=0 max=9 target=2 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h id=aws:///1a/i-0a
         node b in=web cpu=2 memory=8Gi age=1h id=aws:///1a/i-0b
         instance a in=web age=1h id=i-0a
         instance b in=web age=1h id=i-0b
         round",
        expect![[r#"
            web 2, wants +0, 2 in service, 2 never came
              not: group web: 2 machines in the cloud came to no node in time, 0 did, 2 nodes have no machine there: too unclear to write off
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came
        "#]],
    );
}

#[test]
fn machines_of_a_group_without_a_single_node_are_left_alone_unless_headroom_asked_for_them() {
    check(
        "group web pending min=0 max=9 target=1 template=2/8Gi
         instance a in=web age=1h
         round
         group own pending min=0 max=9 target=0 template=4/8Gi
         pod p cpu=3 memory=1Gi
         round
         instance b in=own
         round
         after 15m
         round",
        expect![[r#"
            web 1, wants +0, 1 never came
              not: group web: 1 machine in the cloud came to no node in time, 0 did, 0 nodes have no machine there: too unclear to write off
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came

            web 1, wants +0, 1 never came
            own 0 -> 1, wants +1
              own: resize 0 -> 1 because pod default/p waits
              option: own +1: waste 1.125
              not: group web: 1 machine in the cloud came to no node in time, 0 did, 0 nodes have no machine there: too unclear to write off
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came

            web 1, wants +0, 1 never came
            own 1, wants +0, 1 upcoming
              not: group web: 1 machine in the cloud came to no node in time, 0 did, 0 nodes have no machine there: too unclear to write off
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came

            web 1, wants +0, 1 never came
            own 1 -> 0, wants -1, 1 never came
              own: write off test://b because 1 machine did not come within 15m
              not: group web: 1 machine in the cloud came to no node in time, 0 did, 0 nodes have no machine there: too unclear to write off
              not: group own: left alone until 2026-01-01T00:20:00Z: machines never came
              not: pod default/p: would fit on a new node of own, which may not grow now
        "#]],
    );
}

#[test]
fn a_host_name_or_an_address_is_enough_to_know_a_machine_by() {
    check(
        "group web pending min=0 max=9 target=2 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h id=other://a address=10.0.0.1
         node b in=web cpu=2 memory=8Gi age=1h id=other://b
         instance a in=web age=1h address=10.0.0.1
         instance b in=web age=1h address=b
         round",
        expect![[r#"
            web 2, wants +0, 2 in service
        "#]],
    );
}

#[test]
fn a_machine_that_is_a_node_outside_of_its_group_is_waited_for_and_never_deleted() {
    check(
        "group web pending min=0 max=9 target=2 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h
         node b cpu=2 memory=8Gi age=1m
         instance a in=web age=1h
         instance b in=web age=2m
         round
         after 20m
         round",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 upcoming

            web 2, wants +0, 1 in service
        "#]],
    );
}

#[test]
fn without_a_list_of_machines_nobody_knows_which_one_to_delete() {
    check(
        "group web pending min=0 max=9 target=2 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h
         round
         after 15m
         round",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 upcoming

            web 2, wants +0, 1 in service, 1 never came
              not: group web: 1 machines that were asked for did not come within 15m; the cloud's target is 2 already
              not: group web: left alone until 2026-01-01T00:20:00Z: machines never came
        "#]],
    );
}

#[test]
fn with_nodes_half_known_or_grow_only_nothing_is_deleted() {
    check(
        "group web pending min=0 max=9 target=2 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h
         instance a in=web age=1h
         instance b in=web age=1h
         coverage nodes=partial
         look
         coverage nodes=complete
         group web pending min=0 max=9 mode=growOnly template=2/8Gi
         look
         group web pending min=0 max=9 mode=dryRun template=2/8Gi
         look",
        expect![[r#"
            web 2, wants +0, 1 in service, 1 never came
              not: cluster: not all nodes are known, so nothing is removed
              not: cluster: not all nodes are known, so it is not judged
              not: group web: not all nodes are known, so nothing is removed
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came

            web 2, wants +0, 1 in service, 1 never came
              not: group web: mode is growOnly, nothing is removed
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came

            web 2 -> 1, wants -1, 1 in service, 1 never came
              web: write off test://b (dry run) because 1 machine did not come within 15m
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came
        "#]],
    );
}

#[test]
fn a_stock_out_takes_the_next_best_group_in_the_same_round() {
    check(
        "group cheap pending min=0 max=9 price=0.05 template=2/8Gi label=type=m target=0
         group dear pending min=0 max=9 price=0.5 template=2/8Gi label=type=n target=0
         pod p{1..3} cpu=2 memory=1Gi
         instance x in=cheap state=deleting age=1h
         round
         after 10s
         failed cheap error=outOfStock says=InsufficientInstanceCapacity
         round
         after 10s
         round
         after 5m
         gone pod p{1..3}
         pod q cpu=2 memory=1Gi
         round",
        expect![[r#"
            cheap 0 -> 3, wants +3
            dear 0, wants +0
              cheap: resize 0 -> 3 because 3 pods wait, default/p1 among them; best by price 1.3587, next best dear with price 12.3692
              option: cheap +3: price 1.3587 = 1.8675 * ($0.15 + $0.0166) / ($0.2124 + $0.0166): 3 x $0.05 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 0.875
              option: dear +3: price 12.3692 = 1.8675 * ($1.50 + $0.0166) / ($0.2124 + $0.0166): 3 x $0.50 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 0.875

            cheap 3 -> 0, wants -3, 3 never came
            dear 0 -> 3, wants +3
              cheap: resize 3 -> 0 because 3 machines could not be made: the cloud is out of stock (InsufficientInstanceCapacity)
              dear: resize 0 -> 3 because 3 pods wait, default/p1 among them
              option: dear +3: price 12.3692 = 1.8675 * ($1.50 + $0.0166) / ($0.2124 + $0.0166): 3 x $0.50 (config) with 2 cpu, preferred 1 cpu, unfitness 2; waste 0.875
              not: group cheap: left alone until 2026-01-01T00:05:10Z: the cloud is out of stock

            cheap 0, wants +0
            dear 3, wants +0, 3 upcoming
              not: group cheap: left alone until 2026-01-01T00:05:10Z: the cloud is out of stock

            cheap 0, wants +0
            dear 3, wants +0, 3 upcoming
        "#]],
    );
}

#[test]
fn a_machine_that_the_cloud_itself_gives_up_is_deleted_at_once() {
    check(
        "group spot pending min=0 max=9 template=2/8Gi target=1
         group other pending min=0 max=9 template=3/8Gi target=0
         pod p cpu=2 memory=1Gi
         instance a in=spot state=failed
         failed spot error=refused says=quota
         round
         round",
        expect![[r#"
            spot 1 -> 0, wants -1, 1 never came
            other 0 -> 1, wants +1
              spot: write off test://a because 1 machine could not be made: the cloud refused (quota)
              other: resize 0 -> 1 because pod default/p waits
              option: other +1: waste 1.2083
              not: group spot: left alone until 2026-01-01T00:05:00Z: the cloud refused

            spot 0, wants +0
            other 1, wants +0, 1 upcoming
              not: group spot: left alone until 2026-01-01T00:05:00Z: the cloud refused
        "#]],
    );
}

#[test]
fn a_node_that_never_becomes_ready_is_not_waited_for_for_ever() {
    check(
        "group web pending min=0 max=9 boot=10m template=2/8Gi target=1
         node a in=web cpu=2 memory=8Gi age=1m notReady taint=node.kubernetes.io/not-ready:NoSchedule
         pod p cpu=1 memory=1Gi
         round
         after 9m
         round
         after 5m
         round",
        expect![[r#"
            web 1, wants +0, 1 upcoming

            web 1, wants +0, 1 not ready
              not: group web: left alone until 2026-01-01T00:14:00Z: machines never came
              not: pod default/p: would fit on a new node of web, which may not grow now

            web 1 -> 2, wants +1, 1 not ready
              web: resize 1 -> 2 because pod default/p waits
              option: web +1: waste 1.375
        "#]],
    );
}

#[test]
fn gpus_that_come_late_do_not_buy_a_second_machine() {
    check(
        "group gpu pending min=0 max=9 target=2
         node old in=gpu cpu=8 memory=32Gi ext=nvidia.com/gpu:1 age=2h
         pod busy on=old running cpu=1 memory=1Gi ext=nvidia.com/gpu:1
         pod p cpu=1 memory=1Gi ext=nvidia.com/gpu:1
         round
         node new in=gpu cpu=8 memory=32Gi age=0s
         round
         node new in=gpu cpu=8 memory=32Gi age=10s taint=node.kubernetes.io/not-ready:NoSchedule
         round",
        expect![[r#"
            gpu 2, wants +0, 1 in service, 1 upcoming

            gpu 2, wants +0, 1 in service, 1 upcoming

            gpu 2, wants +0, 1 in service, 1 upcoming
        "#]],
    );
}

#[test]
fn a_whole_that_has_not_come_is_given_up_and_a_part_of_one_is_replaced() {
    check(
        "group slice pending allOrNothing min=0 max=3 target=3 template=2/8Gi
         node a in=slice cpu=2 memory=8Gi age=20m
         instance a in=slice age=20m
         instance b in=slice age=20m
         instance c in=slice state=failed age=20m
         look
         gone node a
         gone instance a
         failed slice error=outOfStock
         memory fresh
         round",
        expect![[r#"
            slice 3, wants +0, 1 in service, 2 never came
              slice: write off test://b and get another because 1 machine did not come within 15m
              slice: write off test://c and get another because 1 machine could not be made: the cloud failed
              not: group slice: left alone until 2026-01-01T00:05:00Z: the cloud refused

            slice 3, wants +0, 3 never came
              slice: write off test://c and get another because 1 machine could not be made: the cloud is out of stock
              not: group slice: 2 machines in the cloud came to no node in time, 0 did, 0 nodes have no machine there: too unclear to write off
              not: group slice: left alone until 2026-01-01T00:05:00Z: the cloud is out of stock
        "#]],
    );
}

#[test]
fn a_changed_template_counts_from_the_change_on() {
    check(
        "group web pending min=0 max=9 cloudTemplate=2/8Gi target=1
         node a in=web cpu=2 memory=8Gi age=1h
         pod b on=a running cpu=2 memory=1Gi
         pod p cpu=2 memory=1Gi
         look
         round
         group web pending min=0 max=9 cloudTemplate=4/16Gi target=1
         after 1m
         pod q cpu=4 memory=1Gi
         round",
        expect![[r#"
            web 1 -> 2, wants +1, 1 in service
              web: resize 1 -> 2 because pod default/p waits
              option: web +1: waste 0.875

            web 1 -> 2, wants +1, 1 in service
              web: resize 1 -> 2 because pod default/p waits
              option: web +1: waste 0.875

            web 1 -> 3, wants +2, 1 in service
              web: resize 1 -> 3 because 2 pods wait, default/q among them
              option: web +2: waste 1.1875
        "#]],
    );
}

#[test]
fn a_node_on_its_way_out_stays_where_what_never_came_leaves_the_minimum() {
    check(
        "scaleDown
         group web pending min=2 max=9 target=4 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h
         node b in=web cpu=2 memory=8Gi age=1h
         instance a in=web age=1h
         instance b in=web age=1h
         round
         after 15m
         look",
        expect![[r#"
            web 4, wants +0, 2 in service, 2 upcoming
              web: taint a ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule because not needed for 1h, 10m is enough: cpu 0% (0 of 2)
              not: node b: not needed; of the group 1 may be on their way out at once, and 1 are

            web 4 -> 2, wants -2, 1 in service, 1 tainted, 2 never came
              web: resize 4 -> 2 because 2 machines did not come within 15m
              web: untaint a (ToBeDeletedByClusterAutoscaler) because it stays after all: not needed; the group keeps 2 and has 2
              not: group web: left alone until 2026-01-01T00:20:00Z: machines never came
              not: node b: not needed; the group keeps 2 and has 2
        "#]],
    );
    check(
        "scaleDown
         group web pending min=2 max=9 target=3 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h
         node b in=web cpu=2 memory=8Gi age=1h taint=ToBeDeletedByClusterAutoscaler=1767225590:NoSchedule
         instance a in=web age=1h
         instance b in=web age=1h
         instance c in=web state=creating age=16m
         look",
        expect![[r#"
            web 3 -> 2, wants -1, 1 in service, 1 tainted, 1 never came
              web: write off test://c because 1 machine did not come within 15m
              web: untaint b (ToBeDeletedByClusterAutoscaler) because it stays after all: not needed; the group keeps 2 and has 2
              not: group web: left alone until 2026-01-01T00:05:00Z: machines never came
              not: node a: not needed; the group keeps 2 and has 2
        "#]],
    );
}

#[test]
fn a_plan_that_lowers_a_size_and_then_removes_below_the_minimum_breaks_an_invariant() {
    let fixture = Fixture::read(
        "scaleDown
         group web pending min=2 max=9 target=4 template=2/8Gi
         node a in=web cpu=2 memory=8Gi age=1h
         node b in=web cpu=2 memory=8Gi age=1h
         instance a in=web age=1h
         instance b in=web age=1h
         round
         after 15m
         look",
    )
    .unwrap();
    let snapshot = fixture.builder.snapshot();
    let mut plan = fixture.plans.last().unwrap().clone();
    assert_eq!(check_plan(snapshot, &fixture.policy, &plan), vec![]);
    let removal = plan.actions.iter_mut().find(|planned| planned.action.node() == Some("a")).unwrap();
    removal.action = Action::Remove { node: "a".into(), provider_id: None, pods: vec![] };
    removal.reason = Reason::Drained { marked_for: jiff::SignedDuration::from_mins(15) };
    let broken = Violation { action: 1, invariant: Invariant::BelowMin { size: 1, min: 2 } };
    assert_eq!(check_plan(snapshot, &fixture.policy, &plan), vec![broken]);
}
