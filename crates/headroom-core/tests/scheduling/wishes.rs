//! Pods go where they would rather be, and nothing is lost by it.

use headroom_core::scheduling::{Placement, Setup, Supply};
use headroom_core::snapshot::{ClassId, SharedSpec};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::oracle::Bound;
use crate::placement::{classes, new_nodes, offers, snapshot};
use crate::random::{self, Case};

proptest! {
    /// One by one, no node that can take the pod is liked more than the one that it goes to.
    #[test]
    fn a_pod_goes_where_it_likes_it_best(Case { world, specs } in random::case(), turns in vec(0usize..100, 1..12)) {
        let snapshot = snapshot(&world, &specs);
        let classes = classes(&snapshot, &specs);
        let mut placement = Placement::new(&snapshot, &Setup::default());
        let mut world = world;
        for turn in turns {
            let (spec, class) = (&specs[turn % specs.len()], classes[turn % specs.len()]);
            // Rules that fill spreads level, and pods that are tried one by one for their rules, come before wishes.
            if !spec.spread.is_empty() {
                continue;
            }
            let mark = placement.mark();
            placement.fill_as_liked(&[(class, 1)], &mut Supply::none());
            let Some((node, ..)) = placement.placed_since(mark).pop() else { continue };
            let at = world.nodes.iter().position(|known| *known.name == *placement.name(node)).unwrap();
            let fitting = (0..world.nodes.len()).filter(|node| world.fits(spec, *node));
            let best = fitting.max_by_key(|node| world.liking(spec, *node)).unwrap();
            prop_assert!(
                world.liking(spec, at) >= world.liking(spec, best),
                "{at} ({:?}) and not {best} ({:?}) for {spec:?} in {world:?}",
                world.liking(spec, at),
                world.liking(spec, best)
            );
            world.pods.push(Bound { spec: spec.clone(), node: at, deleting: false });
        }
    }

    /// Pods without rules end up where they would have gone one by one.
    #[test]
    fn many_at_once_go_where_they_would_go_one_by_one(Case { world, specs } in random::case(), count in 1u32..20) {
        let snapshot = snapshot(&world, &specs);
        let mut placement = Placement::new(&snapshot, &Setup::default());
        let plain = |spec: &SharedSpec| {
            spec.spread.is_empty() && spec.pod_affinity.is_empty() && spec.pod_anti_affinity.is_empty()
        };
        for (class, spec) in classes(&snapshot, &specs).into_iter().zip(&specs).filter(|(_, spec)| plain(spec)) {
            let mark = placement.mark();
            placement.fill_as_liked(&[(class, count)], &mut Supply::none());
            let at_once = placement.placed_since(mark);
            placement.rollback(mark);
            for _ in 0..count {
                placement.fill_as_liked(&[(class, 1)], &mut Supply::none());
            }
            prop_assert_eq!(placement.placed_since(mark), at_once, "{:?} in {:?}", spec, world);
            placement.rollback(mark);
        }
    }

    /// No pod is left out and no machine is bought for a wish.
    #[test]
    fn nothing_is_lost_by_wishes(
        Case { world, specs } in random::case(),
        templates in vec(random::template(), 0..4),
        counts in vec(0u32..40, 8),
        limit in 0u32..14,
    ) {
        let snapshot = snapshot(&world, &specs);
        let new = new_nodes(&templates);
        let mut placement = Placement::new(&snapshot, &Setup { templates: &new, ..Setup::default() });
        let pods: Vec<(ClassId, u32)> = classes(&snapshot, &specs).into_iter().zip(counts).collect();
        let mut needed = |liked: bool| {
            let mark = placement.mark();
            let mut supply = Supply::new(&offers(&templates, 6), Some(limit));
            let fill = if liked { Placement::fill_as_liked } else { Placement::fill };
            let left: u32 = fill(&mut placement, &pods, &mut supply).unplaced.iter().map(|left| left.count).sum();
            let bought: u32 = placement.new_nodes().iter().map(|new| new.count).sum();
            placement.rollback(mark);
            (left, bought)
        };
        let (liked, plain) = (needed(true), needed(false));
        prop_assert!(liked <= plain, "{liked:?} and not {plain:?}");
    }
}
