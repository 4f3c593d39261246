//! Tasks that wait for a place.

use expect_test::expect;

use super::check;

#[test]
fn what_is_free_in_pieces_is_no_place() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=1h
         pod work-1 on=s1 running memory=600
         pod work-2 on=s2 running memory=600
         pod queued-{1..3} for=jobs memory=400
         look
         pod queued-4 for=jobs memory=600
         look
         # A machine that is on its way takes it.
         group jobs memoryPool hardware=first:1000 margin=0 max=9 target=3
         look",
        expect![[r#"
            jobs 2 -> 3, wants +1, 2 in service, 3 servers: 1.17Ki used / 1000 each = 2; 1 more needed for 3 waiting tasks
              jobs: resize 2 -> 3 because 3 servers: 1.17Ki used / 1000 each = 2; 1 more needed for 3 waiting tasks

            jobs 2 -> 3, wants +1, 2 in service, 3 servers: 1.17Ki used / 1000 each = 2; 1 more needed for 4 waiting tasks
              jobs: resize 2 -> 3 because 3 servers: 1.17Ki used / 1000 each = 2; 1 more needed for 4 waiting tasks

            jobs 3, wants -1, 2 in service, 1 upcoming, 2 servers: 1.17Ki used / 1000 each = 2
        "#]],
    );
}

/// A server that has come for a task does not go before the task has come to it.
#[test]
fn servers_stay_for_tasks_that_wait_for_them() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=3
         node s{1..3} in=jobs memory=1000 label=meta.hardware=first age=1h
         pod work-1 on=s1 running memory=600
         pod work-2 on=s2 running memory=600
         pod queued for=jobs memory=600
         look
         pod queued for=jobs memory=300
         look",
        expect![[r#"
            jobs 3, wants -1, 3 in service, 2 servers: 1.17Ki used / 1000 each = 2
              not: node s3: kept, task default/queued has no place on the rest of the pool
              not: node s1: kept, task default/work-1 has no place on the rest of the pool
              not: node s2: kept, task default/work-2 has no place on the rest of the pool

            jobs 3, wants -1, 3 in service, 2 servers: 1.17Ki used / 1000 each = 2
              jobs: make s3 ineligible because 2 servers: 1.17Ki used / 1000 each = 2
        "#]],
    );
}

#[test]
fn a_pool_starts_from_nothing() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=0
         pod queued-{1..5} for=jobs memory=400
         look",
        expect![[r#"
            jobs 0 -> 3, wants +3, 3 servers: 0 used / 1000 each = 0; 3 more needed for 5 waiting tasks
              jobs: resize 0 -> 3 because 3 servers: 0 used / 1000 each = 0; 3 more needed for 5 waiting tasks
        "#]],
    );
}

#[test]
fn work_that_no_server_could_take_is_reported_and_not_counted() {
    check(
        "group jobs memoryPool hardware=first:1000:4000 margin=0 max=9 target=1
         node s1 in=jobs memory=1000 cpu=4000m label=meta.hardware=first age=1h
         pod large for=jobs memory=1001
         pod busy for=jobs memory=10 cpu=4001m
         pod picky-{1..2} for=jobs select=meta.disk=ssd memory=10
         pod small for=jobs memory=500
         look",
        expect![[r#"
            jobs 1, wants -1, 1 in service, 0 servers: 0 used / 1000 each = 0
              not: node s1: kept, task default/small has no place on the rest of the pool
              not: pod default/large: needs 1001 memory, a new node of jobs offers 1000
              not: pod default/busy: needs 4001m cpu, a new node of jobs offers 4
              not: pod default/picky-1 and 1 like it: no server of jobs has the meta.disk that it asks for
        "#]],
    );
}

#[test]
fn a_server_that_boots_has_room_for_what_waits() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=1
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1m notReady taint=node.kubernetes.io/not-ready:NoSchedule
         pod queued for=jobs memory=600
         look",
        expect![[r#"
            jobs 1, wants -1, 1 upcoming, 0 servers: 0 used / 1000 each = 0
        "#]],
    );
}

/// The selection does not name the datacenter. Without a server, one is made to see; after that its labels are known.
#[test]
fn what_new_servers_are_like_is_learnt_from_the_last() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=0
         pod queued for=jobs in=node.datacenter=dc1 memory=100
         look
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h label=node.datacenter=dc2
         round
         gone node s1
         group jobs memoryPool hardware=first:1000 margin=0 max=9 target=0
         look
         pod queued for=jobs in=node.datacenter=dc2 memory=100
         look",
        expect![[r#"
            jobs 0 -> 1, wants +1, 1 server: 0 used / 1000 each = 0; 1 more needed for 1 waiting task
              jobs: resize 0 -> 1 because 1 server: 0 used / 1000 each = 0; 1 more needed for 1 waiting task

            jobs 0, wants -1, 1 in service, 0 servers: 0 used / 1000 each = 0
              not: group jobs: would lose 1 nodes, at most 0 allowed by minimum 0
              not: pod default/queued: no server of jobs has the node.datacenter that it asks for

            jobs 0, wants +0, 0 servers: 0 used / 1000 each = 0
              not: pod default/queued: no server of jobs has the node.datacenter that it asks for

            jobs 0 -> 1, wants +1, 1 server: 0 used / 1000 each = 0; 1 more needed for 1 waiting task
              jobs: resize 0 -> 1 because 1 server: 0 used / 1000 each = 0; 1 more needed for 1 waiting task
        "#]],
    );
}

#[test]
fn cpu_counts_for_places_too() {
    check(
        "group jobs memoryPool hardware=first:8000 margin=0 max=9 target=2
         node s{1..2} in=jobs memory=8000 cpu=5000m label=meta.hardware=first age=1h
         pod work-{1..2} on=s1 running memory=1000 cpu=1250m
         pod work-{3..4} on=s2 running memory=1000 cpu=1250m
         pod queued for=jobs memory=100 cpu=4000m
         look",
        expect![[r#"
            jobs 2 -> 3, wants +1, 2 in service, 3 servers: 3.91Ki used / 7.81Ki each = 1; 1 more needed for 1 waiting task
              jobs: resize 2 -> 3 because 3 servers: 3.91Ki used / 7.81Ki each = 1; 1 more needed for 1 waiting task
        "#]],
    );
}

#[test]
fn a_task_that_could_run_on_two_pools_grows_neither() {
    check(
        "group a memoryPool hardware=first:1000 margin=0 max=9 target=0
         group b memoryPool hardware=first:1000 margin=0 max=9 target=0
         pod anywhere memory=100
         pod here for=a memory=100
         look",
        expect![[r#"
            a 0 -> 1, wants +1, 1 server: 0 used / 1000 each = 0; 1 more needed for 1 waiting task
            b 0, wants +0, 0 servers: 0 used / 1000 each = 0
              a: resize 0 -> 1 because 1 server: 0 used / 1000 each = 0; 1 more needed for 1 waiting task
              not: pod default/anywhere: matches the groups a and b, so none of them acts on it
        "#]],
    );
}
