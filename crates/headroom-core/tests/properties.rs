//! Properties of `decide` on random clusters.

use headroom_core::fixture::{Fixture, carry_out};
use headroom_core::memory::Memory;
use headroom_core::snapshot::{Builder, Change, Coverage, Kind, Snapshot};
use headroom_core::{check, decide};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Two to four groups with random options, and nodes and pods around them, as lines of a fixture.
fn cluster() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let options = select(vec![
        "",
        "starve",
        "maxAge=1h",
        "unhealthy=5m/100/50",
        "daemonSets=subtract",
        "breaker=1",
        "mode=growOnly",
        "mode=dryRun",
        "mode=off",
        "pods=placed",
        "pods=unconstrained",
        "effect=NoExecute",
        "memoryPool hardware=large:8000,small:4000 margin=1",
        "memoryPool hardware=large:8000 reserve=500 mode=growOnly",
        "memoryPool hardware=large:8000 margin=0 down=5m paidHour",
        "cpuPool",
        "cpuPool down=12m",
        "cpuPool paidHour",
    ]);
    let group = (options, 0u32..4, 1u32..12, 0u32..14, 10u32..40, 40u32..90, 1u32..4).prop_map(
        |(option, min, more, target, fast, above, rate)| {
            let slow = fast + 5;
            if option.contains("Pool") {
                return format!("min={min} max={} step=1m boot=3m target={target} {option}", min + more);
            }
            format!(
                "min={min} max={} above={above} slow={slow}/1 fast={fast}/{rate} soft=2m hard=6m coolDown=2m boot=3m \
                 target={target} {option}",
                min + more
            )
        },
    );
    let groups = prop::collection::vec(group, 2..5).prop_map(|groups| {
        groups.into_iter().enumerate().map(|(at, group)| format!("group g{at} {group}")).collect::<Vec<_>>()
    });
    let mark = select(vec![
        "",
        "",
        "",
        "tainted=1m",
        "tainted=3m",
        "tainted=8m",
        "taintValue=soon",
        "force",
        "cordoned",
        "notReady=10m",
        "notReady",
        "noDelete=why tainted=9m",
        "deleting",
        "label=pool=g1",
        "busy=5",
        "busy=95 ineligible",
        "label=meta.hardware=small",
        "taint=nomad/draining:NoExecute",
    ]);
    let node = (0u32..3, 1u32..5, 0u32..200, mark)
        .prop_map(|(group, cpu, age, mark)| format!("in=g{group} cpu={cpu} memory={}000 age={age}m {mark}", cpu * 2));
    let place = select(vec!["", "", "on=n0", "on=n1", "on=n2", "on=n3", "on=n4 running", "on=gone"]);
    let kind = select(vec![
        "for=g0",
        "for=g0",
        "for=g1",
        "for=g2",
        "in=pool=g0|g1",
        "",
        "kind=daemonSet",
        "kind=mirror",
        "gated",
    ]);
    let pod = (kind, place, select(vec![0u32, 100, 500, 1500, 9000]))
        .prop_map(|(kind, place, cpu)| format!("cpu={cpu}m memory={cpu} {kind} {place}"));
    let nodes = prop::collection::vec(node, 0..12);
    let pods = prop::collection::vec(pod, 0..30);
    (groups, nodes, pods).prop_map(|(groups, nodes, pods)| {
        let nodes = nodes.into_iter().enumerate().map(|(at, node)| format!("node n{at} {node}"));
        let pods = pods.into_iter().enumerate().map(|(at, pod)| format!("pod p{at} {pod}"));
        let mut groups = groups;
        // Pods and nodes may name three groups.
        if groups.len() == 2 {
            groups.push("group g2 min=0 max=3 target=1".to_owned());
        }
        (groups, nodes.chain(pods).collect())
    })
}

fn read(groups: &[String], objects: &[String]) -> Fixture {
    let mut fixture = Fixture::new();
    for line in groups.iter().chain(objects) {
        fixture.line(line).unwrap_or_else(|what| panic!("{line}: {what}"));
    }
    fixture
}

/// Plan and memory as bytes.
fn decided(fixture: &Fixture, snapshot: &Snapshot, memory: &Memory) -> (String, String) {
    let (plan, memory) = decide(snapshot, &fixture.policy, memory, fixture.now);
    (serde_json::to_string(&plan).unwrap(), serde_json::to_string(&memory).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_changes_does_not_matter(
        ((groups, objects), shuffled, again, gone) in cluster().prop_flat_map(|(groups, objects)| {
            let count = objects.len();
            let shuffled = Just(objects.clone()).prop_shuffle();
            let again = subsequence(objects.clone(), 0..=count);
            let gone = subsequence((0..count).collect::<Vec<_>>(), 0..=count);
            (Just((groups, objects)), shuffled, again, gone)
        })
    ) {
        let straight = read(&groups, &objects);
        let mut detour = read(&groups, &[]);
        // Objects come twice in other places, some of them go, and then all of them come in another order.
        for line in &again {
            let elsewhere = line.replace("on=n0", "on=n2").replace("for=g0", "for=g1");
            detour.line(&elsewhere).unwrap();
        }
        for at in &gone {
            detour.line(&format!("gone pod p{at}")).unwrap();
            detour.line(&format!("gone node n{at}")).unwrap();
        }
        for line in &shuffled {
            detour.line(line).unwrap();
        }
        let expected = decided(&straight, straight.builder.snapshot(), &straight.memory);
        prop_assert_eq!(&expected, &decided(&straight, detour.builder.snapshot(), &straight.memory));
        // Nor does it matter that a recording began in the middle.
        let exported = detour.builder.snapshot().to_changes();
        let mut copied = Builder::new();
        exported.iter().cloned().for_each(|change| copied.apply(change));
        prop_assert_eq!(&expected, &decided(&straight, copied.snapshot(), &straight.memory));
        prop_assert_eq!(exported, copied.snapshot().to_changes());
        // Whatever has gone leaves nothing behind.
        for at in 0..objects.len() {
            detour.line(&format!("gone node n{at}")).unwrap();
            detour.line(&format!("gone pod p{at}")).unwrap();
        }
        let empty = read(&groups, &[]);
        prop_assert_eq!(
            decided(&empty, empty.builder.snapshot(), &empty.memory),
            decided(&empty, detour.builder.snapshot(), &empty.memory)
        );
        prop_assert_eq!(detour.builder.snapshot().classes().count(), 0);
    }

    #[test]
    fn rounds_keep_every_invariant((groups, objects) in cluster(), fresh: bool) {
        let mut fixture = read(&groups, &objects);
        if fresh {
            fixture.memory = Memory::fresh(fixture.now);
        }
        for _ in 0..12 {
            let snapshot = fixture.builder.snapshot().clone();
            let (plan, memory) = decide(&snapshot, &fixture.policy, &fixture.memory, fixture.now);
            prop_assert_eq!(check(&snapshot, &fixture.policy, &plan), vec![]);
            prop_assert!(!plan.report.refusals.iter().any(|refusal| refusal.to_string().contains("taken out of the plan")));
            // Twice is once: doing it again on what it has become changes nothing more.
            let mut once: Builder = fixture.builder.clone();
            carry_out(&snapshot, &plan).into_iter().for_each(|change| once.apply(change));
            let mut twice = once.clone();
            carry_out(twice.snapshot(), &plan).into_iter().filter(|change| !matches!(change, Change::Node(_))).for_each(|change| twice.apply(change));
            let sizes = |builder: &Builder| -> Vec<Option<u32>> {
                let groups = fixture.policy.groups.iter();
                groups.map(|group| builder.snapshot().group(&group.name).map(|group| group.target)).collect()
            };
            prop_assert_eq!(sizes(&once), sizes(&twice));
            // A plan that has been carried out moves no further step at the same instant.
            let (next, _) = decide(once.snapshot(), &fixture.policy, &memory, fixture.now);
            for group in &fixture.policy.groups {
                let steps = |plan: &headroom_core::plan::Plan| plan.to_execute().filter(|planned| {
                    planned.group == group.name && planned.reason.to_string().contains("a step")
                }).count();
                prop_assert!(steps(&plan) == 0 || steps(&next) == 0, "two steps at once");
            }
            for (group, planned) in fixture.policy.groups.iter().zip(&plan.report.groups) {
                let max = group.size.max.unwrap_or(u32::MAX);
                prop_assert!(planned.planned <= planned.size.max(max), "above the maximum");
                let min = group.size.min.unwrap_or(0);
                prop_assert!(planned.planned >= planned.size.min(min), "below the minimum");
            }
            fixture.builder = once;
            fixture.memory = memory;
            let wait = plan.wake_at.map_or(60, |at| at.duration_since(fixture.now).as_secs().clamp(1, 120));
            fixture.line(&format!("after {wait}s")).unwrap();
        }
    }

    #[test]
    fn nothing_changes_before_the_wake_up((groups, objects) in cluster(), part in 0u32..100) {
        let mut fixture = read(&groups, &objects);
        fixture.round(true);
        fixture.round(true);
        let (plan, memory) = decide(fixture.builder.snapshot(), &fixture.policy, &fixture.memory, fixture.now);
        prop_assume!(plan.to_execute().count() == 0 && memory == fixture.memory);
        let until = plan.wake_at.map_or(86_400, |at| at.duration_since(fixture.now).as_secs());
        let wait = (until.saturating_sub(1)) * i64::from(part) / 100;
        fixture.line(&format!("after {wait}s")).unwrap();
        let (later, later_memory) = decide(fixture.builder.snapshot(), &fixture.policy, &memory, fixture.now);
        prop_assert_eq!(later.to_execute().count(), 0);
        prop_assert_eq!(later_memory, memory);
    }

    #[test]
    fn incomplete_data_removes_nothing((groups, objects) in cluster(), nodes: bool, absent: bool) {
        let mut fixture = read(&groups, &objects);
        let kind = if nodes { Kind::Nodes } else { Kind::Pods };
        fixture.apply(Change::Coverage(kind, if absent { Coverage::Absent } else { Coverage::Partial }));
        fixture.round(false);
        for planned in &fixture.plans[0].actions {
            let text = planned.action.to_string();
            prop_assert!(text.starts_with("resize") || text.starts_with("untaint"), "{}", text);
        }
    }
}
