//! Properties of placeholders on random clusters.

use headroom_core::fixture::{Fixture, carry_out};
use headroom_core::memory::Memory;
use headroom_core::plan::Plan;
use headroom_core::{check, decide};
use proptest::prelude::*;
use proptest::sample::select;

/// Groups, nodes and pods that run, and pods that come later, as lines of a fixture.
fn cluster() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let slack = select(vec![
        "slack rate=10",
        "slack rate=60",
        "slack rate=30 basis=capacity granularity=2",
        "slack rate=20 largest marked",
        "slack largest=combined",
        "slack marked",
    ]);
    let spare = select(vec!["", "", "spareNodes=1", "sparePods=3", "taint=own:NoSchedule spareNodes=1"]);
    let group = (select(vec![2u32, 4, 8]), 1u32..9, spare).prop_map(|(cpu, max, spare)| {
        format!("pending min=0 max={max} template={cpu}/{}Gi price=0.{cpu} unneeded=0s {spare}", cpu * 4)
    });
    let node = (0usize..3, 0u32..100, select(vec!["", "", "cordoned", "notReady=1h"]))
        .prop_map(|(group, age, mark)| (group, format!("age={age}m {mark}")));
    let kinds = vec![
        "",
        "spareCopies",
        "spareCopies=50%",
        "spareCopies=0",
        "label=app=a apart=host;app=a spareCopies",
        "label=app=b spread=zone;app=b",
        "tolerates=own",
        "kind=daemonSet",
    ];
    let pod = move |place: bool| {
        let on = if place {
            (0u32..8).prop_map(|on| format!("on=n{on} running")).boxed()
        } else {
            Just(String::new()).boxed()
        };
        let kind = (0..kinds.len(), Just(kinds.clone())).prop_map(|(at, kinds)| (at, kinds[at]));
        (select(vec![100u32, 500, 1500, 3000]), kind, on).prop_map(|(cpu, (at, kind), on)| {
            format!("cpu={cpu}m memory={cpu}Mi {kind} controller=ReplicaSet/r{at}-{cpu} {on}")
        })
    };
    let groups = prop::collection::vec(group, 1..4);
    let nodes = prop::collection::vec(node, 0..8);
    let (running, coming) = (prop::collection::vec(pod(true), 0..20), prop::collection::vec(pod(false), 0..12));
    (slack, groups, nodes, running, coming).prop_map(|(slack, groups, nodes, running, coming)| {
        let count = groups.len();
        let mut targets = vec![0; count];
        let nodes: Vec<String> = nodes
            .into_iter()
            .enumerate()
            .map(|(at, (group, rest))| {
                let group = group % count;
                targets[group] += 1;
                let cpu: u32 = groups[group].split("template=").nth(1).unwrap()[..1].parse().unwrap();
                let taint = if groups[group].contains("taint") { "taint=own:NoSchedule" } else { "" };
                format!("node n{at} in=g{group} zone=z{} cpu={cpu} memory={}Gi {taint} {rest}", at % 2, cpu * 4)
            })
            .collect();
        let groups = groups.iter().enumerate().map(|(at, group)| format!("group g{at} target={} {group}", targets[at]));
        let lines = ["scaleDown budget=none".to_owned(), slack.to_owned()].into_iter().chain(groups).chain(nodes);
        let running = running.into_iter().enumerate().map(|(at, pod)| format!("pod p{at} {pod}"));
        let coming = coming.into_iter().enumerate().map(|(at, pod)| format!("pod w{at} {pod}"));
        (lines.chain(running).collect(), coming.collect())
    })
}

fn read(lines: &[String]) -> Fixture {
    let mut fixture = Fixture::new();
    lines.iter().for_each(|line| fixture.line(line).unwrap_or_else(|what| panic!("{line}: {what}")));
    fixture
}

fn decided(fixture: &Fixture, memory: &Memory) -> (Plan, Memory) {
    decide(fixture.builder.snapshot(), &fixture.policy, memory, fixture.now)
}

/// Each placeholder is in one of the counts, and no plan breaks an invariant.
fn is_sound(fixture: &Fixture, plan: &Plan) -> Result<(), TestCaseError> {
    prop_assert_eq!(&check(fixture.builder.snapshot(), &fixture.policy, plan), &[]);
    for of in plan.report.slack.iter().flat_map(|slack| &slack.placeholders) {
        prop_assert_eq!(of.wanted, of.kept + of.placed + of.on_upcoming + of.on_new + of.refused, "{}", of);
    }
    Ok(())
}

/// How many placeholders have a place on a node.
fn on_nodes(memory: &Memory) -> u32 {
    memory.placeholders.values().flat_map(|places| places.nodes.values()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// R1-2: when nothing has changed, every placeholder is where it was.
    #[test]
    fn placeholders_stay_while_nothing_changes((lines, _) in cluster()) {
        let fixture = read(&lines);
        let (first, memory) = decided(&fixture, &fixture.memory);
        is_sound(&fixture, &first)?;
        // A node that goes takes no placeholder along.
        if first.actions.iter().any(|planned| planned.action.node().is_some()) {
            return Ok(());
        }
        let (second, again) = decided(&fixture, &memory);
        is_sound(&fixture, &second)?;
        prop_assert_eq!(&memory.placeholders, &again.placeholders);
        let kept: u32 = second.report.slack.iter().flat_map(|slack| &slack.placeholders).map(|of| of.kept).sum();
        prop_assert_eq!(kept, on_nodes(&memory));
    }

    /// Room that was bought is not bought again while it is on its way. With pods that wait this cannot be promised: the
    /// scheduler may pack them less well on machines that are there than they were packed on the ones bought for them.
    #[test]
    fn room_is_not_bought_twice((lines, _) in cluster()) {
        let mut fixture = read(&lines);
        let (first, memory) = decided(&fixture, &fixture.memory);
        is_sound(&fixture, &first)?;
        for change in carry_out(fixture.builder.snapshot(), &first) {
            fixture.apply(change);
        }
        let (second, _) = decided(&fixture, &memory);
        is_sound(&fixture, &second)?;
        let removed = first.actions.iter().any(|planned| planned.action.node().is_some());
        let grown: Vec<_> = second.report.scale_ups.iter().collect();
        prop_assert!(removed || grown.is_empty(), "{:?}", grown);
    }

    #[test]
    fn the_order_of_changes_does_not_matter(
        (lines, shuffled) in cluster().prop_flat_map(|(lines, coming)| {
            let (policy, objects): (Vec<String>, Vec<String>) =
                lines.into_iter().chain(coming).partition(|line| !line.starts_with("node") && !line.starts_with("pod"));
            let straight = policy.iter().chain(&objects).cloned().collect::<Vec<_>>();
            let shuffled = Just(objects).prop_shuffle();
            (Just(straight), shuffled.prop_map(move |objects| policy.iter().cloned().chain(objects).collect::<Vec<_>>()))
        })
    ) {
        let (straight, shuffled) = (read(&lines), read(&shuffled));
        let (plan, memory) = decided(&straight, &straight.memory);
        prop_assert_eq!(&(plan, memory.clone()), &decided(&shuffled, &shuffled.memory));
        prop_assert_eq!(decided(&straight, &memory), decided(&shuffled, &memory));
    }

    /// Pods that come are placed, bought for and refused as if placeholders had no places yet.
    #[test]
    fn real_pods_come_first((lines, coming) in cluster()) {
        let mut fixture = read(&lines);
        let (_, memory) = decided(&fixture, &fixture.memory);
        coming.iter().for_each(|line| fixture.line(line).unwrap());
        let (with, _) = decided(&fixture, &memory);
        is_sound(&fixture, &with)?;
        let (without, _) = decided(&fixture, &Memory { placeholders: Default::default(), ..memory });
        let worse = |plan: &Plan| plan.report.waiting.as_ref().map(|waiting| (waiting.refused, waiting.on_new));
        prop_assert!(worse(&with) <= worse(&without), "{:?}, not {:?}", worse(&with), worse(&without));
    }
}
