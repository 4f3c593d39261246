//! A placement answers as the plain filters do, whatever has been placed, and can take everything back.

use std::sync::Arc;

use headroom_core::estimator::{Order, estimate};
use headroom_core::quantity::Totals;
use headroom_core::scheduling::{NewNode, NodeId, Offer, Placement, Setup, Supply, TemplateId};
use headroom_core::snapshot::{
    AttachLimits, Builder, Change, ClassId, Coverage, Effect, Kind, NodeView, Phase, Pod, SharedSpec, Snapshot, Taint,
    Template,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::oracle::{Bound, World, in_short, new_node};
use crate::random::{self, Case};

/// The changes that make the snapshot of a world. Each class also has a waiting pod.
fn changes(world: &World, waiting: &[SharedSpec]) -> Vec<Change> {
    let pod = |name: String, spec: &SharedSpec, bound: Option<&Bound>| {
        Change::Pod(Pod {
            name: name.into(),
            spec: spec.clone(),
            node: bound.map(|bound| Box::from(&*world.nodes[bound.node].name)),
            phase: Phase::Running,
            deleting: bound.is_some_and(|bound| bound.deleting),
            ..Pod::default()
        })
    };
    let limits = |(node, driver, limit): &(String, String, u32)| {
        let limits = vec![(Arc::from(driver.as_str()), *limit)];
        Change::AttachLimits(AttachLimits { node: Arc::from(node.as_str()), limits })
    };
    let mut changes: Vec<Change> = Kind::ALL.map(|kind| Change::Coverage(kind, Coverage::Complete)).into();
    changes.extend(world.nodes.iter().map(|node| Change::Node(Box::new(node.clone()))));
    let bound = world.pods.iter().enumerate();
    changes.extend(bound.map(|(at, bound)| pod(format!("bound-{at}"), &bound.spec, Some(bound))));
    changes.extend(waiting.iter().enumerate().map(|(at, spec)| pod(format!("waiting-{at}"), spec, None)));
    let namespaces = world.namespaces.iter().cloned();
    changes.extend(namespaces.map(|(name, labels)| Change::Namespace { name, labels }));
    changes.extend(world.claims.iter().map(|claim| Change::Claim(Box::new(claim.clone()))));
    changes.extend(world.volumes.iter().map(|volume| Change::Volume(Box::new(volume.clone()))));
    changes.extend(world.classes.iter().map(|class| Change::StorageClass(class.clone())));
    changes.extend(world.limits.iter().map(limits));
    changes
}

pub(crate) fn snapshot(world: &World, waiting: &[SharedSpec]) -> Snapshot {
    built(changes(world, waiting))
}

fn built(changes: Vec<Change>) -> Snapshot {
    let mut builder = Builder::new();
    changes.into_iter().for_each(|change| builder.apply(change));
    builder.snapshot().clone()
}

pub(crate) fn classes(snapshot: &Snapshot, specs: &[SharedSpec]) -> Vec<ClassId> {
    let class = |at: usize| snapshot.pod(&specs[at].namespace, &format!("waiting-{at}")).unwrap().class;
    (0..specs.len()).map(class).collect()
}

/// What a placement says of every class and node.
fn answers(placement: &Placement, world: &World, classes: &[ClassId]) -> Vec<Vec<bool>> {
    let nodes: Vec<NodeId> = world.nodes.iter().filter_map(|node| placement.node(&node.name)).collect();
    classes.iter().map(|class| nodes.iter().map(|node| placement.fits(*class, *node).is_ok()).collect()).collect()
}

fn expected(world: &World, specs: &[SharedSpec]) -> Vec<Vec<bool>> {
    specs.iter().map(|spec| (0..world.nodes.len()).map(|node| world.fits(spec, node)).collect()).collect()
}

/// One thing to do to a placement.
#[derive(Clone, Copy, Debug)]
enum Step {
    Place(usize, usize),
    Unplace(usize),
    Close(usize),
    Reopen(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0usize..100, 0usize..100).prop_map(|(class, node)| Step::Place(class, node)),
        2 => (0usize..100).prop_map(Step::Unplace),
        1 => (0usize..100).prop_map(Step::Close),
        1 => (0usize..100).prop_map(Step::Reopen),
    ];
    vec(step, 0..14)
}

/// Does the step to both, and says whether it could be done.
fn step(step: Step, world: &mut World, placement: &mut Placement, specs: &[SharedSpec], classes: &[ClassId]) -> bool {
    let node = |placement: &Placement, world: &World, at: usize| placement.node(&world.nodes[at].name).unwrap();
    match step {
        Step::Place(class, at) => {
            let (class, at) = (class % specs.len(), at % world.nodes.len());
            placement.place(classes[class], node(placement, world, at));
            world.pods.push(Bound { spec: specs[class].clone(), node: at, deleting: false });
        }
        Step::Unplace(which) => {
            let alive: Vec<usize> = (0..world.pods.len()).filter(|pod| !world.pods[*pod].deleting).collect();
            let Some(pod) = alive.get(which % alive.len().max(1)) else { return false };
            let Bound { spec, node: at, .. } = world.pods.remove(*pod);
            let class = specs.iter().position(|known| *known == spec).unwrap();
            placement.unplace(classes[class], node(placement, world, at));
        }
        Step::Close(at) => {
            let at = at % world.nodes.len();
            placement.close(node(placement, world, at));
            world.nodes[at].taints.push(Taint { key: "gone".into(), value: "".into(), effect: Effect::NoSchedule });
        }
        Step::Reopen(at) => {
            let at = at % world.nodes.len();
            placement.reopen(node(placement, world, at));
            world.nodes[at].taints.retain(|taint| &*taint.key != "gone");
        }
    }
    true
}

proptest! {
    #[test]
    fn it_answers_as_the_filters_do(Case { world, specs } in random::case(), plan in steps()) {
        let snapshot = snapshot(&world, &specs);
        let classes = classes(&snapshot, &specs);
        let mut placement = Placement::new(&snapshot, &Setup::default());
        let mut world = world;
        // A pod that tolerates everything would tolerate the removal taint of a closed node too.
        let tolerant = |spec: &SharedSpec| spec.tolerations.iter().any(|toleration| toleration.key.is_empty());
        prop_assert_eq!(answers(&placement, &world, &classes), expected(&world, &specs));
        for next in plan {
            if matches!(next, Step::Close(_)) && specs.iter().any(tolerant) {
                continue;
            }
            step(next, &mut world, &mut placement, &specs, &classes);
            prop_assert_eq!(answers(&placement, &world, &classes), expected(&world, &specs), "after {:?}", next);
        }
    }

    #[test]
    fn a_rollback_takes_everything_back(
        Case { world, specs } in random::case(),
        before in steps(),
        after in steps(),
        templates in vec(random::template(), 0..3),
        counts in vec(0u32..30, 8),
    ) {
        let snapshot = snapshot(&world, &specs);
        let classes = classes(&snapshot, &specs);
        let new = new_nodes(&templates);
        let setup = Setup { templates: &new, ..Setup::default() };
        let mut placement = Placement::new(&snapshot, &setup);
        let mut world = world;
        for next in before {
            step(next, &mut world, &mut placement, &specs, &classes);
        }
        let mark = placement.mark();
        let there = |placement: &mut Placement| {
            let new: Vec<bool> = (0..templates.len() as u32)
                .flat_map(|template| classes.iter().map(move |class| (template, *class)))
                .map(|(template, class)| placement.fits_new(class, TemplateId(template)).is_ok())
                .collect();
            (answers(placement, &world, &classes), new, placement.new_nodes())
        };
        let as_it_was = there(&mut placement);
        let pods: Vec<(ClassId, u32)> = classes.iter().copied().zip(counts).collect();
        estimate(&mut placement, &offers(&templates, 9), &pods, Some(12));
        let mut trial = world.clone();
        for next in after {
            step(next, &mut trial, &mut placement, &specs, &classes);
        }
        placement.fill(&pods, &mut Supply::new(&offers(&templates, 9), None));
        placement.rollback(mark);
        prop_assert_eq!(there(&mut placement), as_it_was);
    }

    /// Neither the order of changes nor what was there before them shows in any answer.
    #[test]
    fn the_way_to_a_snapshot_does_not_show(
        Case { world, specs } in random::case(),
        other in random::case(),
        templates in vec(random::template(), 1..4),
        counts in vec(0u32..40, 8),
        order in Just((0..200).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let straight = changes(&world, &specs);
        let mut shuffled: Vec<(usize, Change)> = order.into_iter().zip(straight.clone()).collect();
        shuffled.sort_by_key(|(at, _)| *at);
        // Pods of another cluster come first and go again.
        let mut detour = changes(&other.world, &other.specs);
        let gone = detour.iter().filter_map(|change| match change {
            Change::Pod(pod) => Some(Change::PodGone { namespace: pod.spec.namespace.clone(), name: pod.name.clone() }),
            Change::Node(node) => Some(Change::NodeGone(node.name.clone())),
            Change::AttachLimits(limits) => Some(Change::AttachLimitsGone(limits.node.clone())),
            Change::Namespace { name, .. } => Some(Change::NamespaceGone(name.clone())),
            Change::Claim(claim) => {
                Some(Change::ClaimGone { namespace: claim.namespace.clone(), name: claim.name.clone() })
            }
            Change::Volume(volume) => Some(Change::VolumeGone(volume.name.clone())),
            Change::StorageClass(class) => Some(Change::StorageClassGone(class.name.clone())),
            _ => None,
        });
        let gone: Vec<Change> = gone.collect();
        detour.extend(gone);
        detour.extend(shuffled.into_iter().map(|(_, change)| change));

        let report = |snapshot: &Snapshot| {
            let classes = classes(snapshot, &specs);
            let new = new_nodes(&templates);
            let mut placement = Placement::new(snapshot, &Setup { templates: &new, ..Setup::default() });
            let answers = answers(&placement, &world, &classes);
            let mut pods: Vec<(ClassId, u32)> = classes.iter().copied().zip(counts.iter().copied()).collect();
            Order::Priority.sort(&placement, None, &mut pods);
            let mark = placement.mark();
            let found = estimate(&mut placement, &offers(&templates, 6), &pods, Some(9));
            let spec = |placement: &Placement, class: ClassId| placement.spec(class).clone();
            let placed: Vec<_> = found.placed.iter().map(|(class, count)| (spec(&placement, *class), *count)).collect();
            let unplaced = found.unplaced.iter().map(|left| (spec(&placement, left.class), left.count, left.why.clone()));
            let unplaced: Vec<_> = unplaced.collect();
            let on_nodes = placement.placed_since(mark).into_iter();
            let on_nodes = on_nodes.map(|(node, class, count)| {
                (placement.name(node).to_owned(), spec(&placement, class), count)
            });
            let on_nodes: Vec<_> = on_nodes.collect();
            let machines = placement.new_nodes().into_iter().map(|new| {
                let pods = new.pods.iter().map(|(class, count)| (spec(&placement, *class), *count));
                (new.template, new.count, pods.collect::<Vec<_>>())
            });
            (answers, found.nodes, placed, unplaced, on_nodes, machines.collect::<Vec<_>>())
        };
        prop_assert_eq!(report(&built(straight)), report(&built(detour)));
    }

    /// An outlook knows which pods a new machine takes, and no packing of them needs fewer machines than it says.
    #[test]
    fn an_outlook_is_right_and_never_too_dark(
        Case { world, specs } in random::case(),
        templates in vec(random::template(), 1..4),
        counts in vec(0u32..40, 8),
    ) {
        let snapshot = snapshot(&world, &specs);
        let new = new_nodes(&templates);
        let mut placement = Placement::new(&snapshot, &Setup { templates: &new, ..Setup::default() });
        let pods: Vec<(ClassId, u32)> = classes(&snapshot, &specs).into_iter().zip(counts).collect();
        let left = placement.fill(&pods, &mut Supply::none()).unplaced;
        let left: Vec<(ClassId, u32)> = left.iter().map(|left| (left.class, left.count)).collect();
        let outlook = placement.outlook(&left);
        for template in (0..templates.len() as u32).map(TemplateId) {
            let fitting = left.iter().filter(|(class, _)| placement.fits_new(*class, template).is_ok());
            let fitting: Vec<(ClassId, u32)> = fitting.copied().collect();
            let at_best = outlook.at_best(&[template]);
            prop_assert_eq!(&at_best.requested, &requested(&placement, &fitting));
            prop_assert_eq!(at_best.nodes == 0, fitting.is_empty());
            prop_assert_eq!(outlook.hosts(template).is_empty(), fitting.is_empty());
        }
        let all: Vec<TemplateId> = (0..templates.len() as u32).map(TemplateId).collect();
        let at_best = outlook.at_best(&all);
        let found = estimate(&mut placement, &offers(&templates, u32::MAX), &left, None);
        let on_new: Vec<(ClassId, u32)> = placement
            .new_nodes()
            .iter()
            .flat_map(|new| new.pods.iter().map(|(class, each)| (*class, each * new.count)))
            .collect();
        if requested(&placement, &on_new) == at_best.requested {
            prop_assert!(found.node_count() >= at_best.nodes, "{} < {}", found.node_count(), at_best.nodes);
        }
    }

    /// Pods that wait find the same places when nothing is counted that only pods look at which do not wait.
    #[test]
    fn what_nobody_asks_about_need_not_be_counted(
        Case { world, specs } in random::case(),
        templates in vec(random::template(), 0..4),
        counts in vec(0u32..40, 8),
        waiting in 1usize..8,
    ) {
        let waiting = &specs[..waiting.min(specs.len())];
        let snapshot = snapshot(&world, waiting);
        let new = new_nodes(&templates);
        let pods: Vec<(ClassId, u32)> = classes(&snapshot, waiting).into_iter().zip(counts).collect();
        let places = |moves: Option<&dyn Fn(&NodeView<'_>) -> bool>| {
            let mut placement = Placement::new(&snapshot, &Setup { templates: &new, moves, ..Setup::default() });
            let mark = placement.mark();
            let found = estimate(&mut placement, &offers(&templates, 6), &pods, Some(9));
            (found, placement.placed_since(mark), placement.new_nodes())
        };
        prop_assert_eq!(places(None), places(Some(&|_| false)));
    }

    /// Where a fill puts pods, kube-scheduler can put them too, in some order; and what a fill leaves out fits nowhere.
    #[test]
    fn a_fill_is_possible_and_leaves_nothing_out(
        Case { world, specs } in random::case(),
        templates in vec(random::template(), 0..4),
        counts in vec(0u32..40, 8),
        limit in 0u32..14,
    ) {
        let snapshot = snapshot(&world, &specs);
        let classes = classes(&snapshot, &specs);
        let new = new_nodes(&templates);
        let setup = Setup { templates: &new, ..Setup::default() };
        let mut placement = Placement::new(&snapshot, &setup);
        let offers = offers(&templates, 6);
        let pods: Vec<(ClassId, u32)> = classes.iter().copied().zip(counts).collect();
        let mark = placement.mark();
        let found = estimate(&mut placement, &offers, &pods, Some(limit));

        let spec_of = |class: &ClassId| &specs[classes.iter().position(|known| known == class).unwrap()];
        let mut world = world;
        // Pods, and where they go: the node, or the number of the machine.
        let mut wanted: Vec<(SharedSpec, Result<usize, usize>)> = Vec::new();
        for (node, class, count) in placement.placed_since(mark) {
            let at = world.nodes.iter().position(|known| *known.name == *placement.name(node)).unwrap();
            wanted.extend(std::iter::repeat_n((spec_of(&class).clone(), Ok(at)), count as usize));
        }
        let mut used = vec![0; templates.len()];
        let mut machines = Vec::new();
        // The machines of an offer come before those of the next one, as they were bought: one that takes few pods would
        // hold the others back where hosts are spread over.
        let mut bought = placement.new_nodes();
        bought.sort_by_key(|new| new.template);
        for new in bought {
            used[new.template.0 as usize] += new.count;
            prop_assert!(!new.pods.is_empty(), "an empty machine was bought: {:?}", new);
            for _ in 0..new.count {
                for (class, count) in &new.pods {
                    let pod = (spec_of(class).clone(), Err(machines.len()));
                    wanted.extend(std::iter::repeat_n(pod, *count as usize));
                }
                machines.push((new.template, None));
            }
        }
        prop_assert_eq!(&used, &found.nodes);
        prop_assert!(found.node_count() <= limit && used.iter().all(|count| *count <= 6));
        prop_assert_eq!(wanted.len() as u64, found.placed_count());
        let in_all = pods.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
        let left_out: u64 = found.unplaced.iter().map(|unplaced| u64::from(unplaced.count)).sum();
        prop_assert_eq!(found.placed_count() + left_out, in_all);

        // Class by class in the order of the fill, again and again: a class may not mind what another one, placed later,
        // makes of its neighbourhood. And machines come when they are used first, at the latest when nothing else helps.
        let turns: Vec<SharedSpec> = found.placed.iter().map(|(class, _)| spec_of(class).clone()).collect();
        let mut stuck = 0;
        for turn in turns.iter().cycle() {
            if wanted.is_empty() {
                break;
            }
            if stuck > turns.len() {
                for (template, node) in machines.iter_mut().filter(|(_, node)| node.is_none()) {
                    let (with_it, at) = with_machine(&world, &templates[template.0 as usize]);
                    (world, *node, stuck) = (with_it, Some(at), 0);
                }
            }
            let left = || wanted.iter().map(|(spec, place)| (in_short(spec), place)).collect::<Vec<_>>();
            prop_assert!(stuck <= turns.len(), "nobody can place {:?} in {world:?}", left());
            stuck += 1;
            let mut next = 0;
            while let Some((spec, place)) = wanted.get(next).filter(|_| !turns.is_empty()) {
                let machine = place.err().filter(|machine| machines[*machine].1.is_none());
                let opened = machine.map(|machine| with_machine(&world, &templates[machines[machine].0.0 as usize]));
                let node = match (&opened, place) {
                    (Some((_, node)), _) | (None, Ok(node)) => *node,
                    (None, Err(machine)) => machines[*machine].1.unwrap(),
                };
                if spec != turn || !opened.as_ref().map_or(&world, |(world, _)| world).fits(spec, node) {
                    next += 1;
                    continue;
                }
                if let Some((with_it, _)) = opened {
                    world = with_it;
                    machines[machine.unwrap()].1 = Some(node);
                }
                let (spec, _) = wanted.remove(next);
                world.pods.push(Bound { spec, node, deleting: false });
                (next, stuck) = (0, 0);
            }
        }
        for unplaced in &found.unplaced {
            let spec = &specs[classes.iter().position(|known| *known == unplaced.class).unwrap()];
            let fits = (0..world.nodes.len()).find(|node| world.fits(spec, *node));
            prop_assert_eq!(fits, None, "{:?} fits still: {:?}", unplaced, spec);
            if found.node_count() < limit {
                for (at, template) in templates.iter().enumerate().filter(|(at, _)| used[*at] < 6) {
                    let (world, node) = with_machine(&world, template);
                    prop_assert!(!world.fits(spec, node), "a machine of {at} would help {:?}: {:?}", unplaced, spec);
                }
            }
        }
    }
}

fn requested(placement: &Placement, pods: &[(ClassId, u32)]) -> Totals {
    let mut sum = Totals::default();
    pods.iter().for_each(|(class, count)| sum.add_times(&placement.spec(*class).requests, (*count).into()));
    sum
}

pub(crate) fn new_nodes(templates: &[(Template, Vec<SharedSpec>)]) -> Vec<NewNode<'_>> {
    let new = templates.iter();
    new.map(|(template, daemon_sets)| NewNode { template, daemon_sets, attach_limits: &[] }).collect()
}

/// The world with one machine more, and that machine.
fn with_machine(world: &World, (template, daemon_sets): &(Template, Vec<SharedSpec>)) -> (World, usize) {
    let mut world = world.clone();
    let node = world.nodes.len();
    world.nodes.push(new_node(&format!("new-{node}"), &template.labels, &template.taints, &template.allocatable));
    world.pods.extend(daemon_sets.iter().map(|spec| Bound { spec: spec.clone(), node, deleting: false }));
    (world, node)
}

pub(crate) fn offers(templates: &[(Template, Vec<SharedSpec>)], limit: u32) -> Vec<Offer> {
    (0..templates.len() as u32).map(|template| Offer { template: TemplateId(template), limit, cost: 1 }).collect()
}
