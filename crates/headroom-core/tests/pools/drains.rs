//! How servers go, and come back.

use expect_test::expect;
use headroom_core::fixture::Fixture;
use headroom_core::plan::Action;

use super::check;

#[test]
fn a_server_is_made_ineligible_then_drained_then_removed() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=1 max=9 target=3 drain=10m
         node s{1..3} in=jobs memory=1000 label=meta.hardware=first age=1h
         pod a on=s1 running memory=500 controller=Job/a
         pod b on=s2 running memory=100 controller=Job/b
         pod c on=s3 running memory=300 controller=Job/c
         pod log on=s2 running memory=50 kind=daemonSet
         round
         after 15s
         round
         # The task ends elsewhere and has not been placed again yet.
         gone pod b
         pod b on=s1 running memory=100 controller=Job/b
         after 15s
         round
         after 15s
         round",
        expect![[r#"
            jobs 3, wants -1, 3 in service, 2 servers: 900 used / 950 each = 1, + 1 margin
              jobs: make s2 ineligible because 2 servers: 900 used / 950 each = 1, + 1 margin

            jobs 3, wants +0, 2 in service, 1 tainted, 2 servers: 900 used / 950 each = 1, + 1 margin
              jobs: evict default/b from s2 because marked for 15s, 1 pod to move

            jobs 3 -> 2, wants +0, 2 in service, 1 tainted, 2 servers: 900 used / 950 each = 1, + 1 margin
              jobs: remove s2 because marked for 30s and empty

            jobs 2, wants +0, 2 in service, 2 servers: 900 used / 1000 each = 1, + 1 margin
        "#]],
    );
}

#[test]
fn a_slow_drain_holds_up_nothing_else() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=3 drain=1m
         node s{1..3} in=jobs memory=1000 label=meta.hardware=first age=1h
         pod a on=s1 running memory=100
         pod b on=s2 running memory=200
         pod c on=s3 running memory=300
         round
         after 15s
         pod a on=s1 running memory=100 deleting
         round
         after 1m
         round
         # Work comes: what was on its way out is taken back, the most loaded first, before anything is made.
         pod d on=s3 running memory=700
         pod e for=jobs memory=900
         round",
        expect![[r#"
            jobs 3, wants -2, 3 in service, 1 server: 600 used / 1000 each = 1
              jobs: make s1 ineligible because 1 server: 600 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 600 used / 1000 each = 1

            jobs 3, wants +0, 1 in service, 2 tainted, 1 server: 500 used / 1000 each = 1
              jobs: evict default/b from s2 because marked for 15s, 1 pod to move
              not: node s1: drained, 1 task not ended, told to stop at 2026-01-01T00:01:00Z

            jobs 3 -> 2, wants +0, 1 in service, 2 tainted, 1 server: 300 used / 1000 each = 1
              jobs: remove s2 because marked for 1m15s and empty
              not: node s1: drained, 1 task not ended, told to stop at 2026-01-01T00:01:00Z

            jobs 2, wants +1, 1 in service, 1 tainted, 2 servers: 1000 used / 1000 each = 1; 1 more needed for 1 waiting task
              jobs: make s1 eligible because 2 servers: 1000 used / 1000 each = 1; 1 more needed for 1 waiting task
        "#]],
    );
}

/// Nodes of Nomad do not say how their cloud knows them.
#[test]
fn the_machine_that_goes_is_the_one_that_has_a_name_of_the_node() {
    let removed = |machines: &str| {
        let text = format!(
            "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2
             {machines}
             node s1 in=jobs memory=1000 label=meta.hardware=first age=1h id=none address=k7
             node s2 in=jobs memory=1000 label=meta.hardware=first age=1h id=none address=k8
             pod b on=s2 running memory=100 controller=Job/b
             round
             after 15s
             round"
        );
        let fixture = Fixture::read(&text).expect("a fixture");
        let actions = fixture.plans.into_iter().flat_map(|plan| plan.actions);
        actions
            .filter_map(|planned| match planned.action {
                Action::Remove { node, provider_id, .. } => Some((node.to_string(), provider_id)),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    let k7 = "instance one in=jobs address=k7";
    assert_eq!(removed(&format!("{k7}\ninstance two in=jobs address=k8")), [("s1".into(), Some("test://one".into()))]);
    assert_eq!(removed("instance two in=jobs address=k8"), []);
    // Two machines with one name: nobody knows which one is meant.
    assert_eq!(removed(&format!("{k7}\ninstance two in=jobs address=k7")), []);
    // A cloud that does not list its machines may know.
    assert_eq!(removed(""), [("s1".into(), None)]);
}

/// A task that is stopping on a server on its way out has been replaced: to count both would take the server back.
#[test]
fn a_task_that_is_being_replaced_counts_once() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=3
         node s{1..3} in=jobs memory=1000 label=meta.hardware=first age=1h
         pod a on=s1 running memory=900
         pod b on=s2 running memory=700
         pod c on=s3 running memory=300
         round
         pod c on=s3 running memory=300 deleting
         pod c2 on=s2 running memory=300
         after 15s
         round",
        expect![[r#"
            jobs 3, wants -1, 3 in service, 2 servers: 1.86Ki used / 1000 each = 2
              jobs: make s3 ineligible because 2 servers: 1.86Ki used / 1000 each = 2

            jobs 3, wants +0, 2 in service, 1 tainted, 2 servers: 1.86Ki used / 1000 each = 2
              not: node s3: drained, 1 task not ended, told to stop at 2026-01-01T00:59:00Z
        "#]],
    );
}

#[test]
fn a_drain_that_nomad_carries_out_is_waited_for() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=1 max=9 target=2
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=1h
         round
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h ineligible taint=nomad/draining:NoExecute
         after 15s
         round
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h ineligible
         after 15s
         round",
        expect![[r#"
            jobs 2, wants -1, 2 in service, 1 server: 0 used / 1000 each = 0, + 1 margin
              jobs: make s1 ineligible because 1 server: 0 used / 1000 each = 0, + 1 margin

            jobs 2, wants +0, 1 in service, 1 tainted, 1 server: 0 used / 1000 each = 0, + 1 margin
              not: node s1: its drain is not over, which it is at 2026-01-01T00:59:00Z

            jobs 2 -> 1, wants +0, 1 in service, 1 tainted, 1 server: 0 used / 1000 each = 0, + 1 margin
              jobs: remove s1 because marked for 30s and empty
        "#]],
    );
}

#[test]
fn a_server_stays_whose_work_has_no_place_elsewhere() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=3
         node s{1..3} in=jobs memory=1000 label=meta.hardware=first age=1h
         pod a1 on=s1 running memory=600
         pod a2 on=s2 running memory=600
         pod a3 on=s3 running memory=600
         round",
        expect![[r#"
            jobs 3, wants -1, 3 in service, 2 servers: 1.76Ki used / 1000 each = 2
              not: node s1: kept, task default/a1 has no place on the rest of the pool
              not: node s2: kept, task default/a2 has no place on the rest of the pool
              not: node s3: kept, task default/a3 has no place on the rest of the pool
        "#]],
    );
}

#[test]
fn booting_servers_never_make_one_in_service_go() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 min=1 max=9 target=4
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h
         node s2 in=jobs memory=1000 label=meta.hardware=first age=1m notReady
         pod a on=s1 running memory=600
         look",
        expect![[r#"
            jobs 4, wants -3, 1 in service, 3 upcoming, 1 server: 600 used / 1000 each = 1
        "#]],
    );
}

#[test]
fn what_somebody_else_took_out_of_service_is_left_to_them() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 min=0 max=9 target=3
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h
         node s2 in=jobs memory=1000 label=meta.hardware=first age=1h ineligible
         node s3 in=jobs memory=1000 label=meta.hardware=first age=1h taint=nomad/draining:NoExecute
         pod a on=s1 running memory=600
         pod b on=s3 running memory=600
         look",
        expect![[r#"
            jobs 3 -> 4, wants +1, 1 in service, 2 cordoned, 2 servers: 1.17Ki used / 1000 each = 2
              jobs: resize 3 -> 4 because 2 servers: 1.17Ki used / 1000 each = 2
        "#]],
    );
}

#[test]
fn a_server_that_is_gone_for_long_counts_no_more() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2 boot=5m
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h
         node s2 in=jobs memory=1000 label=meta.hardware=first age=1h notReady=4m
         pod a on=s1 running memory=900
         pod b on=s1 running memory=900
         look
         after 1m
         look",
        expect![[r#"
            jobs 2, wants +0, 1 in service, 1 not ready, 2 servers: 1.76Ki used / 1000 each = 2

            jobs 2 -> 3, wants +1, 1 in service, 1 not ready, 2 servers: 1.76Ki used / 1000 each = 2
              jobs: resize 2 -> 3 because 2 servers: 1.76Ki used / 1000 each = 2
        "#]],
    );
}

#[test]
fn nothing_goes_while_not_all_tasks_are_known() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=1h
         coverage pods=partial
         look
         coverage pods=absent
         look",
        expect![[r#"
            jobs 2, wants -2, 2 in service, 0 servers: 0 used / 1000 each = 0
              not: cluster: not all pods are known, so nothing is removed
              not: group jobs: not all pods are known, so nothing is removed

            jobs 2, wants +0, 2 in service
              not: cluster: pods are not known, so nothing is removed
              not: group jobs: pods are not known, so it is not judged
        "#]],
    );
}

#[test]
fn protected_servers_stay_and_dry_runs_do_nothing() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=1 max=9 target=3 mode=dryRun
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=1h
         node s3 in=jobs memory=1000 label=meta.hardware=first age=1m noDelete=mine
         round
         round",
        expect![[r#"
            jobs 3, wants -2, 3 in service, 1 server: 0 used / 1000 each = 0, + 1 margin
              jobs: make s1 ineligible (dry run) because 1 server: 0 used / 1000 each = 0, + 1 margin
              jobs: make s2 ineligible (dry run) because 1 server: 0 used / 1000 each = 0, + 1 margin
              not: node s3: annotated no-delete (mine)

            jobs 3, wants -2, 3 in service, 1 server: 0 used / 1000 each = 0, + 1 margin
              jobs: make s1 ineligible (dry run) because 1 server: 0 used / 1000 each = 0, + 1 margin
              jobs: make s2 ineligible (dry run) because 1 server: 0 used / 1000 each = 0, + 1 margin
              not: node s3: annotated no-delete (mine)
        "#]],
    );
}

#[test]
fn the_newest_of_equal_servers_goes() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=2 max=9 target=3
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h
         node s2 in=jobs memory=1000 label=meta.hardware=first age=10m
         node s3 in=jobs memory=1000 label=meta.hardware=first age=2h
         round",
        expect![[r#"
            jobs 3, wants -1, 3 in service, 2 servers: 0 used / 1000 each = 0, + 2 margin
              jobs: make s2 ineligible because 2 servers: 0 used / 1000 each = 0, + 2 margin
        "#]],
    );
}

/// It could not be told to go, so that its tasks would move for nothing.
#[test]
fn a_server_that_is_no_machine_of_the_cloud_stays() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2
         node static in=jobs memory=1000 label=meta.hardware=first age=1h id=none
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=1h
         instance s{1..2} in=jobs age=1h
         pod a on=s1 running memory=500
         round",
        expect![[r#"
            jobs 2, wants -2, 3 in service, 1 server: 500 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 500 used / 1000 each = 1
              jobs: make s1 ineligible because 1 server: 500 used / 1000 each = 1
              not: node static: kept, which machine of its cloud it is is not known
        "#]],
    );
}

/// Its machine went in another way: no task is moved, and nothing is asked for that fails each time.
#[test]
fn a_server_on_its_way_out_whose_machine_is_not_listed_any_more_waits() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h id=none address=k1
         node s2 in=jobs memory=1000 label=meta.hardware=first age=1h id=none address=k2
         instance s1 in=jobs age=1h address=k1
         instance s2 in=jobs age=1h address=k2
         pod a on=s1 running memory=500
         pod b on=s2 running memory=100
         round
         gone instance s2
         after 15s
         round",
        expect![[r#"
            jobs 2, wants -1, 2 in service, 1 server: 600 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 600 used / 1000 each = 1

            jobs 2, wants -1, 1 in service, 1 upcoming, 1 tainted, 1 server: 600 used / 1000 each = 1
              not: node s2: kept, which machine of its cloud it is is not known
        "#]],
    );
}

/// Somebody wants it replaced, and it could not go.
#[test]
fn a_server_to_be_replaced_that_is_no_machine_of_the_cloud_stays() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=1 max=9 target=2
         node static in=jobs memory=1000 label=meta.hardware=first label=meta.headroom_replace=true age=1h id=none
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=1h
         instance s{1..2} in=jobs age=1h
         pod a on=s1 running memory=500
         round",
        expect![[r#"
            jobs 2, wants +0, 2 in service, 1 tainted, 2 servers: 500 used / 1000 each = 1, + 1 margin
              not: node static: kept, which machine of its cloud it is is not known
        "#]],
    );
}
