//! Spare room is kept for pods to come, text in and text out. The names of requirements are those of
//! `seeds/resource-slack.md`.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// The seed's own example has no rate in its formula; with it, three nodes of 2000m want 600m, in two placeholders of 400m.
#[test]
fn the_rate_is_applied() {
    check(
        "slack rate=10 basis=capacity
         group web pending min=0 max=10 target=3
         node n{1..3} in=web cpu=2 memory=8Gi
         round
         round",
        expect![[r#"
            web 3, wants +0, 3 in service
              slack: 10% of the 6 cpu and 24Gi memory of the nodes
              slack: 2 x rate (400m cpu, 1.6Gi memory): 2 placed

            web 3, wants +0, 3 in service
              slack: 10% of the 6 cpu and 24Gi memory of the nodes
              slack: 2 x rate (400m cpu, 1.6Gi memory): 2 kept
        "#]],
    );
}

#[test]
fn r2_more_than_the_rate_is_kept_when_a_marked_pod_is_larger() {
    check(
        "slack rate=10 marked
         group web pending min=0 max=10 target=3
         node n{1..3} in=web cpu=2 memory=8Gi
         pod small-{1..8} on=n1 cpu=100m memory=100Mi running controller=ReplicaSet/small
         pod big on=n2 cpu=1200m memory=1Gi running controller=ReplicaSet/big spareCopies=1
         round",
        expect![[r#"
            web 3, wants +0, 3 in service
              slack: 10% of the requested 2 cpu and 1.78Gi memory
              slack: 1 x spare copy of default/ReplicaSet/big (1200m cpu, 1Gi memory): 1 placed
        "#]],
    );
}
