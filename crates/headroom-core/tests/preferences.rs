//! What pods would rather have decides where they go and never whether, text in and text out.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;
use headroom_core::inquire;

/// The plan, and where the pods of each class go that wait at the end of `fixture`.
fn check(fixture: &str, expected: Expect) {
    let mut fixture = Fixture::read(fixture).unwrap();
    let mut text = String::new();
    let snapshot = fixture.builder.snapshot();
    let mut inquiry = inquire(snapshot, &fixture.policy, &fixture.memory, fixture.now).unwrap();
    for class in snapshot.classes().filter(|class| class.pending() > 0) {
        let fate = inquiry.pods(&class).fate;
        let mut places: Vec<String> = fate.nodes.iter().map(|(node, count)| format!("{count} on {node}")).collect();
        let others = [("upcoming", fate.upcoming), ("new", fate.new), ("left", fate.left)];
        places.extend(others.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{count} {name}")));
        text += &format!("{}: {}\n", class.first_pending().unwrap().full_name(), places.join(", "));
    }
    fixture.round(false);
    expected.assert_eq(&(text + &fixture.to_string()));
}

const ZONES: &str = "group a pending min=0 max=9 zone=a
    group b pending min=0 max=9 zone=b
    node a-{1..2} in=a cpu=2 memory=8Gi zone=a
    node b-{1..2} in=b cpu=2 memory=8Gi zone=b
";

fn in_zones(pods: &str, expected: Expect) {
    check(&format!("{ZONES}{pods}"), expected);
}

#[test]
fn near_and_far_from_pods_that_are_there() {
    in_zones(
        "pod db on=b-2 label=app=db running
         pod other on=a-1 label=app=db ns=other running
         pod near{1..3} cpu=1 near=zone;app=db;weight=10
         pod beside cpu=100m near=host;app=db;weight=10
         pod far cpu=150m apart=zone;app=db;weight=10
         pod wide cpu=120m apart=zone;app=db;weight=1;nsIn=kubernetes.io/metadata.name=other",
        expect![[r#"
            default/beside: 1 on b-2
            default/wide: 1 on b-2
            default/far: 1 on a-1
            default/near1: 2 on b-1, 1 on b-2
            a 2, wants +0, 2 in service
            b 2, wants +0, 2 in service
        "#]],
    );
}

#[test]
fn spread_that_keeps_nobody_waiting() {
    in_zones(
        "pod w0 on=a-1 label=app=web running
         pod w{1..6} cpu=500m label=app=web spread=zone;app=web;anyway spread=host;app=web;anyway",
        expect![[r#"
            default/w1: 1 on a-1, 2 on a-2, 2 on b-1, 1 on b-2
            a 2, wants +0, 2 in service
            b 2, wants +0, 2 in service
        "#]],
    );
    // Where the emptier zone has no room, the others take the pods.
    in_zones(
        "pod full-{1..2} on=b-1 cpu=1 running
         pod full-{3..4} on=b-2 cpu=1 running
         pod w{1..4} cpu=1 label=app=web spread=zone;app=web;anyway",
        expect![[r#"
            default/w1: 2 on a-1, 2 on a-2
            a 2, wants +0, 2 in service
            b 2, wants +0, 2 in service
        "#]],
    );
}

#[test]
fn a_node_by_its_name() {
    in_zones(
        "pod p{1..3} cpu=1 prefer=5:host=b-2",
        expect![[r#"
        default/p1: 1 on a-1, 2 on b-2
        a 2, wants +0, 2 in service
        b 2, wants +0, 2 in service
    "#]],
    );
}

/// Two small pods that keep apart would leave no node for the large one.
#[test]
fn no_wish_is_worth_a_machine() {
    in_zones(
        "pod full-{1..2} on=b-1 cpu=1 running
         pod full-{3..4} on=b-2 cpu=1 running
         pod small{1..2} cpu=500m priority=1 label=app=web apart=host;app=web;weight=100
         pod large cpu=1600m",
        expect![[r#"
            default/large: 1 on a-2
            default/small1: 2 on a-1
            a 2, wants +0, 2 in service
            b 2, wants +0, 2 in service
        "#]],
    );
    // With room for all of them, they keep apart.
    in_zones(
        "pod small{1..2} cpu=500m priority=1 label=app=web apart=host;app=web;weight=100
         pod large cpu=1600m",
        expect![[r#"
            default/large: 1 on b-1
            default/small1: 1 on a-1, 1 on a-2
            a 2, wants +0, 2 in service
            b 2, wants +0, 2 in service
        "#]],
    );
}

#[test]
fn new_machines_are_bought_where_pods_would_rather_be() {
    let groups = "group a pending min=0 max=9 template=2/8Gi zone=a target=0
        group b pending min=0 max=9 template=2/8Gi zone=b target=0
        group c pending min=0 max=9 template=2/8Gi zone=c target=0
        node old cpu=1 memory=1Gi zone=a
        pod db on=old label=app=web running
        ";
    check(
        &format!("{groups}pod p{{1..5}} cpu=2 label=app=web spread=zone;app=web;anyway"),
        expect![[r#"
        default/p1: 5 new
        a 0 -> 1, wants +1
        b 0 -> 2, wants +2
        c 0 -> 2, wants +2
          a: resize 0 -> 1 because 5 pods wait, default/p1 among them
          b: resize 0 -> 2 because 5 pods wait, default/p1 among them
          c: resize 0 -> 2 because 5 pods wait, default/p1 among them
          option: a +5: waste 1
    "#]],
    );
    check(
        &format!("{groups}pod p{{1..3}} cpu=2 near=zone;app=web;weight=1"),
        expect![[r#"
        default/p1: 3 new
        a 0 -> 3, wants +3
        b 0, wants +0
        c 0, wants +0
          a: resize 0 -> 3 because 3 pods wait, default/p1 among them
          option: a +3: waste 1
    "#]],
    );
    check(
        &format!("{groups}pod p{{1..3}} cpu=2 prefer=1:zone=c"),
        expect![[r#"
        default/p1: 3 new
        a 0, wants +0
        b 0, wants +0
        c 0 -> 3, wants +3
          c: resize 0 -> 3 because 3 pods wait, default/p1 among them
          option: a +3: waste 1
    "#]],
    );
    check(
        &format!("policy balance=off\n{groups}pod p{{1..3}} cpu=2 prefer=1:zone=c"),
        expect![[r#"
        default/p1: 3 new
        a 0, wants +0
        b 0, wants +0
        c 0 -> 3, wants +3
          c: resize 0 -> 3 because 3 pods wait, default/p1 among them; best by liking 3, next best a with liking 0
          option: c +3: waste 1; liking 3
          option: a +3: waste 1; liking 0
          option: b +3: waste 1; liking 0
    "#]],
    );
    // A group that is full cannot have them.
    check(
        "group a pending min=0 max=1 template=2/8Gi zone=a target=0
         group b pending min=0 max=9 template=2/8Gi zone=b target=0
         pod p{1..3} cpu=2 prefer=100:zone=a",
        expect![[r#"
            default/p1: 3 new
            a 0 -> 1, wants +1
            b 0 -> 2, wants +2
              a: resize 0 -> 1 because 3 pods wait, default/p1 among them
              b: resize 0 -> 2 because 3 pods wait, default/p1 among them
              option: a +3: waste 1
        "#]],
    );
    // What all have in common ties them to nothing.
    check(
        &format!("{groups}pod p{{1..3}} cpu=2 label=app=web spread=host;app=web;anyway apart=os;app=web;weight=3"),
        expect![[r#"
            default/p1: 3 new
            a 0 -> 1, wants +1
            b 0 -> 1, wants +1
            c 0 -> 1, wants +1
              a: resize 0 -> 1 because 3 pods wait, default/p1 among them
              b: resize 0 -> 1 because 3 pods wait, default/p1 among them
              c: resize 0 -> 1 because 3 pods wait, default/p1 among them
              option: a +3: waste 1
        "#]],
    );
}
