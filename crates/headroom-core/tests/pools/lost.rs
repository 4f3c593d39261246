//! Machines that never became a server, servers that are down, and machines that should be gone.

use expect_test::expect;

use super::check;

#[test]
fn a_machine_that_never_registered_is_removed_and_another_asked_for() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=1 max=9 target=2 boot=5m
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h id=none address=k1
         instance one in=jobs age=1h address=k1
         instance two in=jobs age=4m address=k2
         pod a on=s1 running memory=500
         round
         after 1m
         round
         after 15s
         round",
        expect![[r#"
            jobs 2, wants +0, 1 in service, 1 upcoming, 2 servers: 500 used / 1000 each = 1, + 1 margin

            jobs 2 -> 1, wants +1, 1 in service, 1 never came, 2 servers: 500 used / 1000 each = 1, + 1 margin
              jobs: write off test://two because 1 machine did not come within 5m

            jobs 1, wants +1, 1 in service, 2 servers: 500 used / 1000 each = 1, + 1 margin
              not: group jobs: left alone until 2026-01-01T00:06:00Z: machines never came
        "#]],
    );
}

/// With its memory gone Headroom does not know for how long it has waited, and takes every server for what it is.
#[test]
fn without_memory_nothing_is_removed_at_once() {
    check(
        "memory fresh
         group jobs memoryPool hardware=first:1000 margin=4 max=9 target=5 boot=5m
         node s{1..4} in=jobs memory=1000 label=meta.hardware=first age=20h
         instance s{1..4} in=jobs age=20h
         instance s5 in=jobs age=20h
         pod a on=s1 running memory=500
         round
         after 4m
         round
         # It has registered meanwhile.
         node s5 in=jobs memory=1000 label=meta.hardware=first age=1m
         after 2m
         round
         after 20h
         round",
        expect![[r#"
            jobs 5, wants +1, 4 in service, 1 never came, 5 servers: 500 used / 1000 each = 1, + 4 margin
              not: group jobs: 1 machines that were asked for did not come within 5m; the cloud's target is 5 already

            jobs 5, wants +1, 4 in service, 1 never came, 5 servers: 500 used / 1000 each = 1, + 4 margin
              not: group jobs: 1 machines that were asked for did not come within 5m; the cloud's target is 5 already

            jobs 5, wants +0, 5 in service, 5 servers: 500 used / 1000 each = 1, + 4 margin

            jobs 5, wants +0, 5 in service, 5 servers: 500 used / 1000 each = 1, + 4 margin
        "#]],
    );
}

/// Nodes of the pool that are no machine of the list may be these machines under other names.
#[test]
fn a_machine_that_is_not_clear_goes_only_if_it_was_removed_before_and_is_old() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2 boot=5m
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=11h
         instance s{1..2} in=jobs age=11h
         pod a on=s1 running memory=500
         round
         after 15s
         round
         # The cloud agreed, and lists it still. The other node is known by no name of the list any more.
         instance s2 in=jobs age=11h
         gone instance s1
         node s1 in=jobs memory=1000 label=meta.hardware=first age=11h id=none
         after 30m
         round
         after 1h
         round",
        expect![[r#"
            jobs 2, wants -1, 2 in service, 1 server: 500 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 500 used / 1000 each = 1

            jobs 2 -> 1, wants +0, 1 in service, 1 tainted, 1 server: 500 used / 1000 each = 1
              jobs: remove s2 because marked for 15s and empty

            jobs 1, wants +0, 1 in service, 1 never came, 1 server: 500 used / 1000 each = 1
              not: group jobs: 1 machine in the cloud came to no node in time, 0 did, 1 node has no machine there: too unclear to write off

            jobs 1 -> 0, wants +0, 1 in service, 1 never came, 1 server: 500 used / 1000 each = 1
              jobs: write off test://s2 because removed 1h30m ago, 12h30m old, and still there
        "#]],
    );
}

/// Whoever removed the machine did not come to the end: its node is left, is down by now, and has none of the names that the
/// cloud knows. It counts for no size, so that the minimum does not keep it.
#[test]
fn a_node_whose_machine_was_removed_goes_once_it_is_down() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 min=1 max=9 target=2
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=11h
         instance s{1..2} in=jobs age=11h
         pod a on=s1 running memory=500
         round
         after 15s
         round
         gone instance s2
         group jobs memoryPool hardware=first:1000 margin=0 min=1 max=9 target=1
         instance s1 in=jobs age=11h
         node s2 in=jobs memory=1000 label=meta.hardware=first age=11h id=none taint=nomad/ineligible:NoSchedule
         after 15s
         round
         node s2 in=jobs memory=1000 label=meta.hardware=first age=11h id=none taint=nomad/ineligible:NoSchedule notReady=1s
         after 15s
         round",
        expect![[r#"
            jobs 2, wants -1, 2 in service, 1 server: 500 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 500 used / 1000 each = 1

            jobs 2 -> 1, wants +0, 1 in service, 1 tainted, 1 server: 500 used / 1000 each = 1
              jobs: remove s2 because marked for 15s and empty

            jobs 1, wants +0, 1 in service, 1 tainted, 1 server: 500 used / 1000 each = 1
              not: node s2: its machine was removed, and it goes once it is down and empty

            jobs 1, wants +0, 1 in service, 1 tainted, 1 server: 500 used / 1000 each = 1
              jobs: remove s2 because marked for 45s and empty
        "#]],
    );
}

#[test]
fn a_server_that_has_been_down_for_long_goes() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=1 max=9 target=3 boot=5m down=1h
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=20h
         node s3 in=jobs memory=1000 label=meta.hardware=first age=20h notReady=59m
         pod a on=s1 running memory=500
         round
         after 1m
         round
         after 15s
         round",
        expect![[r#"
            jobs 3, wants +0, 2 in service, 1 not ready, 2 servers: 500 used / 1000 each = 1, + 1 margin

            jobs 3, wants +0, 2 in service, 1 not ready, 2 servers: 500 used / 1000 each = 1, + 1 margin
              jobs: make s3 ineligible because not ready since 2025-12-31T23:01:00Z, for longer than 1h

            jobs 3 -> 2, wants +0, 2 in service, 1 tainted, 2 servers: 500 used / 1000 each = 1, + 1 margin
              jobs: remove s3 because marked for 15s and empty
        "#]],
    );
}

#[test]
fn when_most_are_down_at_once_none_goes() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=3 target=3 boot=5m down=1h
         node s1 in=jobs memory=1000 label=meta.hardware=first age=20h
         node s{2..3} in=jobs memory=1000 label=meta.hardware=first age=20h notReady=2h
         pod a on=s1 running memory=900
         look",
        expect![[r#"
            jobs 3, wants +0, 1 in service, 2 not ready, 1 server: 900 used / 1000 each = 1
              not: group jobs: 2 of 3 nodes are not ready at once, so that none is removed
        "#]],
    );
}

#[test]
fn a_drained_server_stays_while_it_is_paid_for_and_comes_back_first() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2 paidHour
         node s1 in=jobs memory=1000 label=meta.hardware=first age=20h
         node s2 in=jobs memory=1000 label=meta.hardware=first age=90m
         pod a on=s1 running memory=600
         round
         after 15s
         round
         pod b on=s1 running memory=401
         after 15s
         round
         gone pod b
         after 15s
         round
         # 5 minutes before the end of the second hour.
         after 24m15s
         round",
        expect![[r#"
            jobs 2, wants -1, 2 in service, 1 server: 600 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 600 used / 1000 each = 1

            jobs 2, wants +0, 1 in service, 1 tainted, 1 server: 600 used / 1000 each = 1
              not: node s2: drained, kept until 2026-01-01T00:25:00Z since its hour is paid for

            jobs 2, wants +1, 1 in service, 1 tainted, 2 servers: 1001 used / 1000 each = 2
              jobs: make s2 eligible because 2 servers: 1001 used / 1000 each = 2

            jobs 2, wants -1, 2 in service, 1 server: 600 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 600 used / 1000 each = 1

            jobs 2 -> 1, wants +0, 1 in service, 1 tainted, 1 server: 600 used / 1000 each = 1
              jobs: remove s2 because marked for 24m15s and empty
        "#]],
    );
}

#[test]
fn servers_that_are_to_be_replaced_go_one_after_the_other_once_others_have_come() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2
         node s1 in=jobs memory=1000 label=meta.hardware=first label=meta.headroom_replace=true age=20h
         node s2 in=jobs memory=1000 label=meta.hardware=first label=meta.headroom_replace=true age=20h
         pod a on=s1 running memory=600 controller=Job/a
         pod b on=s2 running memory=900 controller=Job/b
         round
         node s{3..4} in=jobs memory=1000 label=meta.hardware=first age=1m
         after 1m
         round
         after 15s
         round
         gone pod a
         pod a2 on=s3 running memory=600 controller=Job/a
         after 15s
         round
         after 15s
         round",
        expect![[r#"
            jobs 2 -> 4, wants +2, 2 tainted, 2 servers: 1.46Ki used / 1000 each = 2
              jobs: resize 2 -> 4 because 2 servers: 1.46Ki used / 1000 each = 2

            jobs 4, wants +0, 2 in service, 2 tainted, 2 servers: 1.46Ki used / 1000 each = 2
              jobs: make s1 ineligible because marked to be replaced, as 2 servers in all

            jobs 4, wants +0, 2 in service, 2 tainted, 2 servers: 1.46Ki used / 1000 each = 2
              jobs: evict default/a from s1 because marked for 15s, 1 pod to move

            jobs 4 -> 3, wants +0, 2 in service, 2 tainted, 2 servers: 1.46Ki used / 1000 each = 2
              jobs: remove s1 because marked for 30s and empty

            jobs 3, wants +0, 2 in service, 1 tainted, 2 servers: 1.46Ki used / 1000 each = 2
              jobs: make s2 ineligible because marked to be replaced, as 1 server in all
        "#]],
    );
}

#[test]
fn a_pool_that_may_not_become_larger_replaces_what_it_can_do_without() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=2 target=2
         node s1 in=jobs memory=1000 label=meta.hardware=first label=meta.headroom_replace=true age=20h
         node s2 in=jobs memory=1000 label=meta.hardware=first age=20h
         pod a on=s1 running memory=600 controller=Job/a
         pod b on=s2 running memory=500 controller=Job/b
         look
         pod a on=s1 running memory=400 controller=Job/a
         pod c on=s2 running memory=100 controller=Job/c
         look",
        expect![[r#"
            jobs 2, wants +1, 1 in service, 1 tainted, 2 servers: 1.07Ki used / 1000 each = 2
              not: group jobs: wants 1 more nodes, at most 0 allowed by maximum 2
              not: node s1: kept, task default/a has no place on the rest of the pool

            jobs 2, wants +0, 1 in service, 1 tainted, 1 server: 1000 used / 1000 each = 1
              jobs: make s1 ineligible because marked to be replaced, as 1 server in all
        "#]],
    );
}

/// What its cloud says has failed, and could not be cleaned up when it was made, is no server to come. It goes like one that
/// never came.
#[test]
fn a_machine_that_failed_is_no_server_to_come_and_goes() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=1 max=9 target=2 boot=5m
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h id=none address=k1
         instance one in=jobs age=1h address=k1
         instance two in=jobs age=1m address=k2 state=failed
         pod a on=s1 running memory=500
         round
         after 15s
         round
         after 5m
         round
         gone instance two
         group jobs memoryPool hardware=first:1000 margin=1 max=9 target=1 boot=5m
         instance one in=jobs age=1h address=k1
         after 15s
         round",
        expect![[r#"
            jobs 2 -> 1, wants +1, 1 in service, 1 never came, 2 servers: 500 used / 1000 each = 1, + 1 margin
              jobs: write off test://two because 1 machine could not be made: the cloud failed

            jobs 1, wants +1, 1 in service, 2 servers: 500 used / 1000 each = 1, + 1 margin
              not: group jobs: left alone until 2026-01-01T00:05:00Z: the cloud refused

            jobs 1 -> 2, wants +1, 1 in service, 2 servers: 500 used / 1000 each = 1, + 1 margin
              jobs: resize 1 -> 2 because 2 servers: 500 used / 1000 each = 1, + 1 margin

            jobs 1 -> 2, wants +1, 1 in service, 2 servers: 500 used / 1000 each = 1, + 1 margin
              jobs: resize 1 -> 2 because 2 servers: 500 used / 1000 each = 1, + 1 margin
        "#]],
    );
}
