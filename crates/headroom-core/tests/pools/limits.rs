//! Limits, the scale of hardware, steps and missing data.

use expect_test::expect;

use super::check;

#[test]
fn the_size_stays_within_the_limits() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=5 min=0 max=3 target=0
         group few memoryPool hardware=first:1000 margin=0 min=2 max=3 target=0
         look",
        expect![[r#"
            jobs 0 -> 3, wants +3, 3 servers: 0 used / 1000 each = 0, + 5 margin; 5 wanted, at most 3
            few 0 -> 2, wants +2, 2 servers: 0 used / 1000 each = 0; 0 wanted, at least 2
              jobs: resize 0 -> 3 because 3 servers: 0 used / 1000 each = 0, + 5 margin; 5 wanted, at most 3
              few: resize 0 -> 2 because 2 servers: 0 used / 1000 each = 0; 0 wanted, at least 2
        "#]],
    );
}

#[test]
fn measured_memory_replaces_the_catalogue_of_hardware_that_was_seen() {
    check(
        "# 2 % less than the catalogue says, with the reserve and without a name.
         group jobs memoryPool hardware=first:1100,second:600 reserve=100 margin=1 max=9 target=2
         node s{1..2} in=jobs memory=980 age=1h
         pod a on=s1 running memory=981
         look
         # Smaller hardware comes: it is compared on the same scale.
         node s2 in=jobs memory=490 label=meta.hardware=second age=1h
         look
         # A few bytes less on one of them are no error.
         node s2 in=jobs memory=979 label=meta.hardware=first age=1h
         look",
        expect![[r#"
            jobs 2 -> 3, wants +1, 2 in service, 3 servers: 981 used / 980 each = 2, + 1 margin
              jobs: resize 2 -> 3 because 3 servers: 981 used / 980 each = 2, + 1 margin

            jobs 2 -> 4, wants +2, 2 in service, 4 servers: 981 used / 980 each = 2, + 1 for smaller hardware, + 1 margin
              jobs: resize 2 -> 4 because 4 servers: 981 used / 980 each = 2, + 1 for smaller hardware, + 1 margin

            jobs 2 -> 3, wants +1, 2 in service, 3 servers: 981 used / 979 each = 2, + 1 margin
              jobs: resize 2 -> 3 because 3 servers: 981 used / 979 each = 2, + 1 margin
        "#]],
    );
}

#[test]
fn hardware_that_was_seen_is_remembered() {
    check(
        "group jobs memoryPool hardware=first:1100 reserve=100 margin=1 max=9 target=1
         node s1 in=jobs memory=980 label=meta.hardware=first age=1h
         round
         gone node s1
         group jobs memoryPool hardware=first:1100 reserve=100 margin=1 max=9 target=0
         round",
        expect![[r#"
            jobs 1, wants +0, 1 in service, 1 server: 0 used / 980 each = 0, + 1 margin

            jobs 0 -> 1, wants +1, 1 server: 0 used / 980 each = 0, + 1 margin
              jobs: resize 0 -> 1 because 1 server: 0 used / 980 each = 0, + 1 margin
        "#]],
    );
}

#[test]
fn system_jobs_are_overhead_and_no_demand() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=1h
         pod log-1 on=s1 running memory=200 kind=daemonSet
         pod log-2 on=s2 running memory=200 kind=daemonSet
         pod a on=s1 running memory=800
         pod b on=s2 running memory=800
         look",
        expect![[r#"
            jobs 2, wants +0, 2 in service, 2 servers: 1.56Ki used / 800 each = 2
        "#]],
    );
}

#[test]
fn without_hardware_nothing_is_decided() {
    check(
        "group jobs memoryPool hardware=first:100 reserve=100 max=9 target=1
         node s1 in=jobs memory=0 label=meta.hardware=first age=1h
         look",
        expect![[r#"
            jobs 1, wants +0, 1 in service
              not: group jobs: nobody knows how much memory a server of it has
        "#]],
    );
}

#[test]
fn one_step_in_each_interval() {
    check(
        "group edge cpuPool max=9 target=2 step=15s
         node s{1..2} in=edge busy=95 age=1h
         round
         node s3 in=edge busy=95 age=0s
         after 10s
         round
         after 5s
         round",
        expect![[r#"
            edge 2 -> 3, wants +1, 2 in service, 3 servers: 190% of 200% busy, 10% free, less than 20%
              edge: resize 2 -> 3 because 3 servers: 190% of 200% busy, 10% free, less than 20%

            edge 3, wants +1, 3 in service, 4 servers: 285% of 300% busy, 15% free, less than 20%
              not: group edge: wants +1 nodes, cooling down until 2026-01-01T00:00:15Z

            edge 3 -> 4, wants +1, 3 in service, 4 servers: 285% of 300% busy, 15% free, less than 20%
              edge: resize 3 -> 4 because 4 servers: 285% of 300% busy, 15% free, less than 20%
        "#]],
    );
}

#[test]
fn the_least_busy_server_goes() {
    check(
        "group edge cpuPool max=9 target=4
         node s1 in=edge busy=60 age=1h
         node s2 in=edge busy=62.5 age=1h
         node s3 in=edge busy=63.75 age=1h
         node s4 in=edge busy=63.75 age=1h
         round
         after 15s
         round",
        expect![[r#"
            edge 4, wants -1, 4 in service, 3 servers: 250% of 400% busy, 150% free, more than 130%
              edge: make s1 ineligible because 3 servers: 250% of 400% busy, 150% free, more than 130%

            edge 4 -> 3, wants +0, 3 in service, 1 tainted, 3 servers: 250% of 300% busy, 50% free
              edge: remove s1 because marked for 15s and empty
        "#]],
    );
}

#[test]
fn no_data_is_not_no_load() {
    check(
        "group edge cpuPool min=1 max=9 target=4
         node s{1..3} in=edge busy=1 age=1h
         node s4 in=edge age=1h
         look",
        expect![[r#"
            edge 4, wants +0, 4 in service, 4 servers: how busy they are is not known
              not: group edge: how busy 1 of 4 servers are is not known, so its size stays
        "#]],
    );
}

#[test]
fn machines_that_never_came_are_no_capacity() {
    check(
        "group edge cpuPool min=1 max=9 target=3 boot=5m
         node s1 in=edge busy=85 age=1h
         instance s1 in=edge age=1h
         instance s2 in=edge state=creating age=4m
         look
         after 2m
         look",
        expect![[r#"
            edge 3, wants -1, 1 in service, 2 upcoming, 2 servers: 85% of 300% busy, 215% free, more than 130%

            edge 3 -> 2, wants +0, 1 in service, 1 upcoming, 1 never came, 2 servers: 85% of 200% busy, 115% free
              edge: write off test://s2 because 1 machine did not come within 5m
        "#]],
    );
}

#[test]
fn after_a_restart_nothing_goes_before_the_interval_is_over() {
    check(
        "memory fresh
         group edge cpuPool max=9 target=3 step=15s
         node s{1..3} in=edge busy=10 age=1h
         round
         after 15s
         round",
        expect![[r#"
            edge 3, wants -1, 3 in service, 2 servers: 30% of 300% busy, 270% free, more than 130%
              not: group edge: wants -1 nodes, cooling down until 2026-01-01T00:00:15Z

            edge 3, wants -1, 3 in service, 2 servers: 30% of 300% busy, 270% free, more than 130%
              edge: make s1 ineligible because 2 servers: 30% of 300% busy, 270% free, more than 130%
        "#]],
    );
}

/// What shows the tasks may be at fault: three looks have to agree.
#[test]
fn nothing_goes_when_what_runs_falls_by_more_than_half_at_once() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=3
         node s{1..3} in=jobs memory=1000 label=meta.hardware=first age=10h
         pod a-1 on=s1 running memory=900
         pod a-2 on=s2 running memory=900
         pod a-3 on=s3 running memory=900
         round
         gone pod a-2
         gone pod a-3
         after 15s
         round
         after 30s
         round
         after 15s
         round",
        expect![[r#"
            jobs 3, wants +0, 3 in service, 3 servers: 2.64Ki used / 1000 each = 3

            jobs 3, wants -2, 3 in service, 1 server: 900 used / 1000 each = 1
              not: group jobs: memory fell from 2.64Ki to 900 at once, so nothing is removed before 2026-01-01T00:01:00Z

            jobs 3, wants -2, 3 in service, 1 server: 900 used / 1000 each = 1
              not: group jobs: memory fell from 2.64Ki to 900 at once, so nothing is removed before 2026-01-01T00:01:00Z

            jobs 3, wants -2, 3 in service, 1 server: 900 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 900 used / 1000 each = 1
              jobs: make s3 ineligible because 1 server: 900 used / 1000 each = 1
        "#]],
    );
}

/// The same of load. Where some server does not say its own, what was known last still counts.
#[test]
fn nothing_goes_when_load_falls_by_more_than_half_at_once() {
    check(
        "group edge cpuPool max=9 target=4
         node s{1..4} in=edge busy=80 age=1h
         round
         node s4 in=edge age=1h
         after 15s
         round
         node s{1..4} in=edge busy=39 age=1h
         after 15s
         round
         after 30s
         round
         after 15s
         round",
        expect![[r#"
            edge 4, wants +0, 4 in service, 4 servers: 320% of 400% busy, 80% free

            edge 4, wants +0, 4 in service, 4 servers: how busy they are is not known
              not: group edge: how busy 1 of 4 servers are is not known, so its size stays

            edge 4, wants -1, 4 in service, 3 servers: 156% of 400% busy, 244% free, more than 130%
              not: group edge: cpu load fell from 320% to 156% at once, so nothing is removed before 2026-01-01T00:01:15Z

            edge 4, wants -1, 4 in service, 3 servers: 156% of 400% busy, 244% free, more than 130%
              not: group edge: cpu load fell from 320% to 156% at once, so nothing is removed before 2026-01-01T00:01:15Z

            edge 4, wants -1, 4 in service, 3 servers: 156% of 400% busy, 244% free, more than 130%
              edge: make s1 ineligible because 3 servers: 156% of 400% busy, 244% free, more than 130%
        "#]],
    );
}

/// A half less is believed at once.
#[test]
fn a_fall_by_half_is_believed() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 max=9 target=2
         node s{1..2} in=jobs memory=1000 label=meta.hardware=first age=10h
         pod a on=s1 running memory=800
         pod b on=s2 running memory=800
         round
         gone pod b
         after 15s
         round",
        expect![[r#"
            jobs 2, wants +0, 2 in service, 2 servers: 1.56Ki used / 1000 each = 2

            jobs 2, wants -1, 2 in service, 1 server: 800 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 800 used / 1000 each = 1
        "#]],
    );
}
