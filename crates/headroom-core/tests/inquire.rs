//! What a round says of one pod or one group when it is asked, text in and text out.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;
use headroom_core::inquire;
use headroom_core::strategy::pending::{Fate, GroupAnswer, PodAnswer};

/// The answer about every class of pods without a node and about every group, on the cluster that `fixture` ends with.
fn check(fixture: &str, expected: Expect) {
    let fixture = Fixture::read(fixture).unwrap();
    let snapshot = fixture.builder.snapshot();
    let mut inquiry = inquire(snapshot, &fixture.policy, &fixture.memory, fixture.now).unwrap();
    let mut text = String::new();
    for class in snapshot.classes().filter(|class| class.pending() > 0) {
        let PodAnswer { aside, fate, node, groups } = inquiry.pods(&class);
        let Fate { nodes, upcoming, new, nominated, left } = fate;
        text += &format!("{}: {nodes:?}, {upcoming} upcoming, {new} new", class.first_pending().unwrap().full_name());
        text += &format!(", {nominated} nominated, {left} left\n");
        text += &aside.map(|aside| format!("  {aside:?}\n")).unwrap_or_default();
        if let Some((node, fits)) = node {
            text += &format!("  node {node}: {}\n", fits.map_or_else(|misfit| misfit.to_string(), |()| "fits".into()));
        }
        for fit in groups {
            let fits = fit.fits.map_or_else(|misfit| misfit.to_string(), |()| "fits".into());
            text += &format!("  group {}: {fits}; {} more, {:?}\n", fit.group, fit.room, fit.bound);
        }
    }
    for group in &fixture.policy.groups {
        let Some(GroupAnswer { source, daemon_sets, free, room, .. }) = inquiry.group(&group.name) else { continue };
        let (cpu, daemon_sets) = (free.cpu, daemon_sets.len());
        text += &format!("{}: {source:?}, {cpu}m free beside {daemon_sets} DaemonSets, room for {room}\n", group.name);
    }
    expected.assert_eq(&text);
}

#[test]
fn pods_go_to_nodes_to_machines_on_their_way_and_to_new_ones() {
    check(
        "group web pending min=0 max=4 target=2
         node n1 in=web cpu=2 memory=8Gi
         pod agent on=n1 cpu=500m memory=1Mi kind=daemonSet
         pod p{1..6} cpu=700m memory=1Mi",
        expect![[r#"
            default/p1: [("n1", 2)], 2 upcoming, 2 new, 0 nominated, 0 left
              node n1: fits
              group web: fits; 1 more, Some(GroupMax { max: 4, size: 3 })
            web: Node("n1"), 1500m free beside 1 DaemonSets, room for 1
        "#]],
    );
}

#[test]
fn what_is_left_says_why() {
    check(
        "policy nodes=3
         group web pending min=0 max=4 template=2/8Gi target=0
         group gpu pending min=0 max=4 template=4/8Gi taint=gpu:NoSchedule target=0
         node other cpu=1 memory=1Gi
         pod p{1..6} cpu=1 memory=1Mi
         pod big cpu=3 memory=1Mi",
        expect![[r#"
            default/p1: [("other", 1)], 0 upcoming, 4 new, 0 nominated, 1 left
              node other: fits
              group web: fits; 0 more, Some(Nodes { limit: 3, present: 3 })
              group gpu: does not tolerate gpu:NoSchedule; 0 more, Some(Nodes { limit: 3, present: 3 })
            default/big: [], 0 upcoming, 0 new, 0 nominated, 1 left
              node other: needs 3 cpu, at most 0 free
              group web: needs 3 cpu, at most 2 free; 0 more, Some(Nodes { limit: 3, present: 3 })
              group gpu: does not tolerate gpu:NoSchedule; 0 more, Some(Nodes { limit: 3, present: 3 })
            web: Config, 2000m free beside 0 DaemonSets, room for 0
            gpu: Config, 4000m free beside 0 DaemonSets, room for 0
        "#]],
    );
}

#[test]
fn pods_for_which_nothing_is_bought() {
    check(
        "policy cutoff=1
         group own min=0 max=2 slow=0/0 fast=0/0 target=1
         group web pending min=0 max=4 template=2/8Gi target=0
         node n1 in=own cpu=1 memory=1000Mi
         pod low cpu=1 memory=1Mi",
        expect![[r#"
            default/low: [], 0 upcoming, 0 new, 0 nominated, 0 left
              LowPriority { priority: 0, least: 1 }
              node n1: fits
              group web: fits; 4 more, Some(GroupMax { max: 4, size: 0 })
            web: Config, 2000m free beside 0 DaemonSets, room for 4
        "#]],
    );
    check(
        "group own min=0 max=2 slow=0/0 fast=0/0 target=1
         group web pending min=0 max=4 template=2/8Gi target=0
         node n1 in=own cpu=1 memory=1000Mi
         pod p for=own cpu=200m memory=1Mi
         pod q cpu=500m memory=2Mi nominated=n1",
        expect![[r#"
            default/p: [], 0 upcoming, 0 new, 0 nominated, 0 left
              CountedBy { group: "own" }
              node n1: fits
              group web: wants a node with pool=own, not web; 4 more, Some(GroupMax { max: 4, size: 0 })
            default/q: [], 0 upcoming, 0 new, 1 nominated, 0 left
              node n1: fits
              group web: fits; 4 more, Some(GroupMax { max: 4, size: 0 })
            web: Config, 2000m free beside 0 DaemonSets, room for 4
        "#]],
    );
}
