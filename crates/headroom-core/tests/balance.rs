//! Similar groups share new nodes, text in and text out.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn similar_groups_share_what_is_not_tied_to_one_of_them() {
    check(
        "policy expander=priority
         group a pending min=0 max=10 target=1 priority=1
         group b pending min=0 max=10 target=1
         group c pending min=0 max=10 target=1
         node a-1 in=a cpu=1 memory=1000 cordoned
         node b-1 in=b cpu=1 memory=1000 cordoned
         node c-1 in=c cpu=1 memory=1000 cordoned
         pod any{1..5} cpu=1
         pod tied{1..4} cpu=1 for=c
         round",
        expect![[r#"
            a 1 -> 4, wants +3, 1 cordoned
            b 1 -> 3, wants +2, 1 cordoned
            c 1 -> 5, wants +4, 1 cordoned
              a: resize 1 -> 4 because 9 pods wait, default/any1 among them
              b: resize 1 -> 3 because 9 pods wait, default/any1 among them
              c: resize 1 -> 5 because 9 pods wait, default/any1 among them
              option: a +9: priority 1
        "#]],
    );
}

#[test]
fn pods_that_keep_apart_by_host_are_shared_out_too() {
    check(
        "group a pending min=0 max=10 target=0 template=1/1Gi
         group b pending min=0 max=10 target=0 template=1/1Gi
         group c pending min=0 max=10 target=0 template=1/1Gi
         pod p{1..6} cpu=100m label=app=db apart=host;app=db
         round",
        expect![[r#"
            a 0 -> 2, wants +2
            b 0 -> 2, wants +2
            c 0 -> 2, wants +2
              a: resize 0 -> 2 because 6 pods wait, default/p1 among them
              b: resize 0 -> 2 because 6 pods wait, default/p1 among them
              c: resize 0 -> 2 because 6 pods wait, default/p1 among them
              option: a +6: waste 1.9
        "#]],
    );
}
