//! A pool whose cloud has no servers left is left alone for a while.

use expect_test::expect;

use super::check;

#[test]
fn a_cloud_that_is_sold_out_is_not_asked_in_every_round() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=2 max=9 target=0
         round
         # The order came to nothing, and the size is that of the servers.
         group jobs memoryPool hardware=first:1000 margin=2 max=9 target=0
         failed jobs error=outOfStock
         after 15s
         round
         # It is asked again when the back-off is over, and the next one is longer.
         after 5m
         round
         group jobs memoryPool hardware=first:1000 margin=2 max=9 target=0
         failed jobs error=outOfStock
         after 6m
         round
         # A server that comes ends it.
         group jobs memoryPool hardware=first:1000 margin=2 max=9 target=1
         node s1 in=jobs memory=1000 label=meta.hardware=first age=0s
         after 15s
         round",
        expect![[r#"
            jobs 0 -> 2, wants +2, 2 servers: 0 used / 1000 each = 0, + 2 margin
              jobs: resize 0 -> 2 because 2 servers: 0 used / 1000 each = 0, + 2 margin

            jobs 0, wants +2, 2 servers: 0 used / 1000 each = 0, + 2 margin
              not: group jobs: left alone until 2026-01-01T00:05:00Z: the cloud is out of stock

            jobs 0 -> 2, wants +2, 2 servers: 0 used / 1000 each = 0, + 2 margin
              jobs: resize 0 -> 2 because 2 servers: 0 used / 1000 each = 0, + 2 margin

            jobs 0, wants +2, 2 servers: 0 used / 1000 each = 0, + 2 margin
              not: group jobs: left alone until 2026-01-01T00:15:15Z: the cloud is out of stock

            jobs 1 -> 2, wants +1, 1 in service, 2 servers: 0 used / 1000 each = 0, + 2 margin
              jobs: resize 1 -> 2 because 2 servers: 0 used / 1000 each = 0, + 2 margin
        "#]],
    );
}

/// What is on its way out and there already comes back meanwhile.
#[test]
fn servers_that_are_there_come_back_while_the_cloud_is_sold_out() {
    check(
        "group jobs memoryPool hardware=first:1000 margin=0 min=1 max=9 target=2
         node s1 in=jobs memory=1000 label=meta.hardware=first age=2h
         node s2 in=jobs memory=1000 label=meta.hardware=first age=1h
         pod a on=s1 running memory=500
         round
         failed jobs error=outOfStock
         pod b on=s1 running memory=500
         pod c for=jobs memory=700
         pod d for=jobs memory=900
         after 15s
         round",
        expect![[r#"
            jobs 2, wants -1, 2 in service, 1 server: 500 used / 1000 each = 1
              jobs: make s2 ineligible because 1 server: 500 used / 1000 each = 1

            jobs 2, wants +2, 1 in service, 1 tainted, 3 servers: 1000 used / 1000 each = 1; 2 more needed for 2 waiting tasks
              jobs: make s2 eligible because 3 servers: 1000 used / 1000 each = 1; 2 more needed for 2 waiting tasks
              not: group jobs: left alone until 2026-01-01T00:05:00Z: the cloud is out of stock
        "#]],
    );
}
