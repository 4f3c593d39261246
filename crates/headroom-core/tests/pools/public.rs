//! Public reports about HashiCorp's Nomad Autoscaler. docs/compatibility.md names those that end differently here.

use expect_test::expect;

use super::check;

/// hashicorp/nomad-autoscaler#562 and #87: one source of data failed, or said nothing that is a number.
#[test]
fn no_server_goes_while_some_data_is_missing() {
    check(
        "group edge cpuPool min=23 max=30 target=26
         node s{1..25} in=edge busy=10 age=1h
         node s26 in=edge age=1h
         look",
        expect![[r#"
            edge 26, wants +0, 26 in service, 26 servers: how busy they are is not known
              not: group edge: how busy 1 of 26 servers are is not known, so its size stays
        "#]],
    );
}

/// hashicorp/nomad-autoscaler#910: three servers of 2 GB, and old ones that are ineligible.
#[test]
fn servers_that_take_no_work_are_no_capacity() {
    check(
        "group jobs memoryPool hardware=first:2000 margin=0 max=20 target=9
         node s{1..3} in=jobs memory=2000 label=meta.hardware=first age=1h
         node old{1..6} in=jobs memory=2000 label=meta.hardware=first ineligible age=9h
         pod a{1..3} on=s1 running memory=600
         pod b{1..3} on=s2 running memory=600
         pod c{1..3} on=s3 running memory=600
         pod d for=jobs memory=600
         look",
        expect![[r#"
            jobs 9 -> 10, wants +1, 3 in service, 6 cordoned, 4 servers: 5.27Ki used / 1.95Ki each = 3; 1 more needed for 1 waiting task
              jobs: resize 9 -> 10 because 4 servers: 5.27Ki used / 1.95Ki each = 3; 1 more needed for 1 waiting task
        "#]],
    );
}

/// hashicorp/nomad-autoscaler#1271: one server is being drained.
#[test]
fn a_drain_holds_no_growth_back() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2
         node s1 in=jobs memory=1000 label=meta.hardware=first age=1h
         node s2 in=jobs memory=1000 label=meta.hardware=first age=1h ineligible taint=nomad/draining:NoExecute
         pod a on=s1 running memory=900
         pod b on=s2 running memory=300
         look",
        expect![[r#"
            jobs 2 -> 3, wants +1, 1 in service, 1 cordoned, 2 servers: 1.17Ki used / 1000 each = 2
              jobs: resize 2 -> 3 because 2 servers: 1.17Ki used / 1000 each = 2
        "#]],
    );
}

/// hashicorp/nomad-autoscaler#387: the drain went well, and the cloud did not do its part.
#[test]
fn what_is_drained_goes_before_another_is_picked() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=1 max=9 target=3
         node s{1..3} in=jobs memory=1000 label=meta.hardware=first age=1h
         pod a on=s1 running memory=100
         pod b on=s2 running memory=100
         round
         after 15s
         look
         look",
        expect![[r#"
            jobs 3, wants -1, 3 in service, 2 servers: 200 used / 1000 each = 1, + 1 margin
              jobs: make s3 ineligible because 2 servers: 200 used / 1000 each = 1, + 1 margin

            jobs 3 -> 2, wants +0, 2 in service, 1 tainted, 2 servers: 200 used / 1000 each = 1, + 1 margin
              jobs: remove s3 because marked for 15s and empty

            jobs 3 -> 2, wants +0, 2 in service, 1 tainted, 2 servers: 200 used / 1000 each = 1, + 1 margin
              jobs: remove s3 because marked for 15s and empty
        "#]],
    );
}

/// hashicorp/nomad-autoscaler#534: a pool without servers.
#[test]
fn a_pool_may_be_empty_and_still_grow() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 min=0 max=9 target=0
         look
         pod a for=jobs memory=100
         look",
        expect![[r#"
            jobs 0, wants +0, 0 servers: 0 used / 1000 each = 0

            jobs 0 -> 1, wants +1, 1 server: 0 used / 1000 each = 0; 1 more needed for 1 waiting task
              jobs: resize 0 -> 1 because 1 server: 0 used / 1000 each = 0; 1 more needed for 1 waiting task
        "#]],
    );
}

/// hashicorp/nomad-autoscaler#584: a pool at 60 % with a target of 70 %, and work that needs more than the most that is free
/// on any server.
#[test]
fn work_that_fits_nowhere_makes_a_pool_grow_although_the_average_is_low() {
    check(
        "group web onNomad min=1 max=9 above=70 slow=20/1 fast=10/1 target=4
         node w{1..4} in=web cpu=6250m memory=9000 age=1h
         pod w1 on=w1 running cpu=3750m memory=5400
         pod w2 on=w2 running cpu=3750m memory=5400
         pod w3 on=w3 running cpu=3750m memory=5400
         pod w4 on=w4 running cpu=3750m memory=5400
         pod blocked for=web cpu=4000m memory=10
         group jobs memoryPool hardware=first:9000:6250 margin=0 max=9 target=4
         node j{1..4} in=jobs cpu=6250m memory=9000 label=meta.hardware=first age=1h
         pod j1 on=j1 running cpu=3750m memory=5400
         pod j2 on=j2 running cpu=3750m memory=5400
         pod j3 on=j3 running cpu=3750m memory=5400
         pod j4 on=j4 running cpu=3750m memory=5400
         pod waiting for=jobs cpu=4000m memory=10
         look",
        expect![[r#"
            web 4 -> 5, wants +1, 4 in service, cpu 76% (19 of 25), memory 60.03% (21.1Ki of 35.16Ki)
            jobs 4 -> 5, wants +1, 4 in service, 5 servers: 21.09Ki used / 8.79Ki each = 3; 1 more needed for 1 waiting task
              web: resize 4 -> 5 because cpu 76% (19 of 25) is above 70%: 4 + 1 nodes needed
              jobs: resize 4 -> 5 because 5 servers: 21.09Ki used / 8.79Ki each = 3; 1 more needed for 1 waiting task
        "#]],
    );
}
