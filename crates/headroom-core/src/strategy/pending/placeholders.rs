//! Placeholders find their places: where they were, and for the rest where there is room.
//!
//! A placeholder stays on its node until a real pod needs the room or fewer are wanted, so that neither growth nor removal
//! sees another cluster in each round (R1-2, S2 of the seed).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::memory::{Memory, Places};
use crate::plan::{EqualPlaceholders, Placeholder, Placeholders as Report};
use crate::scheduling::{NodeId, Place, Placement, TemplateId};
use crate::slack::Wanted;
use crate::snapshot::ClassId;

/// The placeholders of a round, in the order in which they get their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placeholders {
    lots: Vec<Lot>,
    /// The groups of the templates, in the order of these.
    groups: Vec<Arc<str>>,
}

/// Equal placeholders.
#[derive(Clone, Debug)]
struct Lot {
    wanted: Wanted,
    class: ClassId,
    /// Where they were.
    before: Vec<(NodeId, u32)>,
    /// Where they are again; None while they have not been put back.
    kept: Option<Vec<(NodeId, u32)>>,
    /// How many have found another place on what is there and on its way.
    settled: u32,
}

impl Placeholders {
    /// `wanted` are the extra pods of the placement, and `groups` its templates, in its order.
    pub(super) fn new(wanted: Vec<Wanted>, placement: &Placement, groups: Vec<Arc<str>>, memory: &Memory) -> Self {
        let lots = wanted.into_iter().enumerate().filter_map(|(at, wanted)| {
            let places = memory.places_of(&wanted.of);
            let nodes = places.nodes.iter().filter_map(|(node, count)| Some((placement.node(node)?, *count)));
            let machines = places.upcoming.iter().flat_map(|(group, counts)| {
                let template = groups.iter().position(|known| known == group).and_then(|at| u32::try_from(at).ok());
                let machines = template.map(|at| placement.expected_of(TemplateId(at))).unwrap_or_default();
                machines.into_iter().zip(counts.iter().copied())
            });
            let before = nodes.chain(machines).collect();
            Some(Lot { class: placement.extra(at)?, wanted, before, kept: None, settled: 0 })
        });
        let lots = lots.collect();
        Placeholders { lots, groups }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lots.is_empty()
    }

    /// Puts them back where they were, as far as there is still room and as many are wanted: the first ones by kind, and of
    /// one kind by node, so that the last ones are pushed out first.
    pub(super) fn keep(&mut self, placement: &mut Placement) {
        for lot in self.lots.iter_mut().filter(|lot| lot.kept.is_none()) {
            let mut kept = Vec::new();
            let mut left = lot.wanted.count;
            for (node, count) in &lot.before {
                let here = placement.pour_on(lot.class, *node, (*count).min(left));
                if here > 0 {
                    kept.push((*node, here));
                }
                left -= here;
            }
            lot.kept = Some(kept);
        }
    }

    /// Their places were undone.
    pub(super) fn forget_places(&mut self) {
        self.lots.iter_mut().for_each(|lot| (lot.kept, lot.settled) = (None, 0));
    }

    /// Puts those back that are not yet where they were, and places the rest on what is there and on its way; the answer is
    /// what finds no place.
    pub(super) fn settle(&mut self, placement: &mut Placement) -> Vec<(ClassId, u32)> {
        self.keep(placement);
        let mut left = Vec::new();
        for lot in &mut self.lots {
            let rest = lot.wanted.count.saturating_sub(lot.kept_count()).saturating_sub(lot.settled);
            let filled = placement.fill_there(&[(lot.class, rest)]);
            lot.settled += rest.saturating_sub(filled.left().map(|(_, count)| count).sum());
            left.extend(filled.left());
        }
        left
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
            let kept_upcoming: u32 = lot.kept.iter().flatten().filter(on_upcoming).map(|(_, count)| count).sum();
            let kept = lot.kept_count();
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

    /// Where they are now: what the next round puts back.
    pub(crate) fn places(&self, placement: &Placement) -> BTreeMap<Arc<str>, Places> {
        let mut all: BTreeMap<Arc<str>, Places> = BTreeMap::new();
        if self.is_empty() {
            return all;
        }
        let places = placement.extra_places();
        for lot in &self.lots {
            let of_lot = || places.iter().filter(|(_, class, _)| *class == lot.class);
            if of_lot().next().is_none() {
                continue;
            }
            let known = all.entry(lot.wanted.name()).or_default();
            known.nodes.append(&mut of_lot().filter_map(on_node).collect());
            for (place, _, count) in of_lot() {
                let Place::Machine(template, number) = place else { continue };
                let Some(group) = self.groups.get(template.0 as usize) else { continue };
                let counts = known.upcoming.entry(Arc::clone(group)).or_default();
                counts.resize(*number, 0);
                counts.push(*count);
            }
        }
        all
    }
}

fn on_node((place, _, count): &(Place<'_>, ClassId, u32)) -> Option<(Arc<str>, u32)> {
    match place {
        Place::Node(node) => Some((Arc::clone(node), *count)),
        Place::Machine(..) => None,
    }
}

impl Lot {
    fn kept_count(&self) -> u32 {
        self.kept.iter().flatten().map(|(_, count)| count).sum()
    }
}
