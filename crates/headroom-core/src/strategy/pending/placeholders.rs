//! Placeholders find their places: where they were, and for the rest where there is room.
//!
//! A placeholder stays on its node until a real pod needs the room or fewer are wanted, so that neither growth nor removal
//! sees another cluster in each round (R1-2, S2 of the seed).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::memory::Memory;
use crate::plan::{EqualPlaceholders, Placeholder, Placeholders as Report};
use crate::scheduling::{NodeId, Placement};
use crate::slack::Wanted;
use crate::snapshot::ClassId;

/// The placeholders of a round, in the order in which they get their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placeholders {
    lots: Vec<Lot>,
}

/// Equal placeholders.
#[derive(Clone, Debug)]
struct Lot {
    wanted: Wanted,
    class: ClassId,
    /// Where they were.
    before: Vec<(NodeId, u32)>,
    /// Where they are again.
    kept: Vec<(NodeId, u32)>,
}

impl Placeholders {
    /// `wanted` are the extra pods of the placement, in its order.
    pub(super) fn new(wanted: Vec<Wanted>, placement: &Placement, memory: &Memory) -> Self {
        let lots = wanted.into_iter().enumerate().filter_map(|(at, wanted)| {
            let remembered = memory.places_of(&wanted.of);
            let before = remembered.filter_map(|(node, count)| Some((placement.node(node)?, count))).collect();
            Some(Lot { class: placement.extra(at)?, wanted, before, kept: Vec::new() })
        });
        Placeholders { lots: lots.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lots.is_empty()
    }

    /// Puts them back where they were, as far as there is still room and as many are wanted: the first ones by kind, and of
    /// one kind by node, so that the last ones are pushed out first.
    pub(super) fn keep(&mut self, placement: &mut Placement) {
        for lot in &mut self.lots {
            lot.kept.clear();
            let mut left = lot.wanted.count;
            for (node, count) in &lot.before {
                let kept = placement.pour_on(lot.class, *node, (*count).min(left));
                if kept > 0 {
                    lot.kept.push((*node, kept));
                }
                left -= kept;
            }
        }
    }

    /// Takes them off again, for real pods that found no room beside them.
    pub(super) fn step_aside(&mut self, placement: &mut Placement) {
        for lot in &mut self.lots {
            for (node, count) in lot.kept.drain(..) {
                placement.take_off(lot.class, node, count);
            }
        }
    }

    /// Those that are not where they were, or are new.
    pub(super) fn without_place(&self) -> Vec<(ClassId, u32)> {
        let left = self.lots.iter().map(|lot| (lot.class, lot.wanted.count.saturating_sub(lot.kept())));
        left.filter(|(_, count)| *count > 0).collect()
    }

    /// What the pods of a class stand for.
    pub(crate) fn of(&self, class: ClassId) -> Option<&Placeholder> {
        self.lots.iter().find(|lot| lot.class == class).map(|lot| &lot.wanted.of)
    }

    /// Some of them, by kind.
    pub(super) fn equal(&self, placed: &[(ClassId, u32)]) -> Vec<EqualPlaceholders> {
        let some = placed.iter().filter(|(_, count)| *count > 0);
        some.filter_map(|(class, count)| Some(EqualPlaceholders { of: self.of(*class)?.clone(), count: *count }))
            .collect()
    }

    /// What became of each kind.
    pub(super) fn report(&self, placement: &Placement) -> Vec<Report> {
        let counts = placement.extra_counts();
        let lots = self.lots.iter().map(|lot| {
            let counts = counts.get(&lot.class).copied().unwrap_or_default();
            let on_upcoming = |(node, _): &&(NodeId, u32)| placement.is_upcoming(*node);
            let kept_upcoming: u32 = lot.kept.iter().filter(on_upcoming).map(|(_, count)| count).sum();
            let kept = lot.kept();
            let placed = counts.on_nodes.saturating_add(counts.on_upcoming).saturating_add(counts.on_new);
            Report {
                of: lot.wanted.of.clone(),
                requests: lot.wanted.spec.requests.clone(),
                wanted: lot.wanted.count,
                kept,
                placed: counts.on_nodes.saturating_sub(kept - kept_upcoming),
                on_upcoming: counts.on_upcoming.saturating_sub(kept_upcoming),
                on_new: counts.on_new,
                refused: lot.wanted.count.saturating_sub(placed),
            }
        });
        lots.collect()
    }

    /// Where they are now, on nodes that have a name: what the next round puts back.
    pub(crate) fn places(&self, placement: &Placement) -> BTreeMap<Arc<str>, BTreeMap<Arc<str>, u32>> {
        let mut places: BTreeMap<Arc<str>, BTreeMap<Arc<str>, u32>> = BTreeMap::new();
        for (node, class, count) in placement.extra_places() {
            let Some(lot) = self.lots.iter().find(|lot| lot.class == class) else { continue };
            places.entry(lot.wanted.name()).or_default().insert(Arc::from(placement.name(node)), count);
        }
        places
    }
}

impl Lot {
    fn kept(&self) -> u32 {
        self.kept.iter().map(|(_, count)| count).sum()
    }
}
