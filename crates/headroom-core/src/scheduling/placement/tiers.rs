//! The shapes of each tier, to find the next one on whose nodes a pod may have room without looking at each.

use super::rooms::Rooms;
use super::shape::{Shape, Tier};
use super::table::Table;

/// The shapes of each tier in the order of their numbers, and the most of each resource that is free on nodes of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Tiers(Table<Row>);

#[derive(Clone, Debug, Default)]
struct Row {
    shapes: Vec<u32>,
    rooms: Rooms,
    /// What a shape without nodes has free.
    nothing: Vec<i64>,
}

impl Tiers {
    /// The tiers in the order in which pods go to them.
    pub(super) const ALL: [Tier; 4] = [Tier::Present, Tier::Idle, Tier::Upcoming, Tier::New];

    /// No shape yet; `width` is the number of resource columns.
    pub(super) fn new(width: usize) -> Self {
        let mut tiers = Tiers::default();
        for _ in Self::ALL {
            tiers.0.push(Row { shapes: Vec::new(), rooms: Rooms::new(width), nothing: vec![i64::MIN; width] });
        }
        tiers
    }

    /// Adds a shape without nodes, and gives its position in its tier.
    pub(super) fn push(&mut self, tier: Tier, shape: u32) -> u32 {
        let row = self.0.at_mut(tier as u32);
        row.shapes.push(shape);
        row.rooms.push(&row.nothing)
    }

    /// Takes in what is free on the nodes of a shape.
    pub(super) fn set(&mut self, shape: &Shape) {
        self.0.at_mut(shape.tier as u32).rooms.set(shape.place(), shape.rooms.most());
    }

    /// The first shape of a tier at or behind position `from` on whose nodes a pod with these needs may have room, with its
    /// position.
    pub(super) fn next(&self, tier: Tier, from: u32, need: &[i64]) -> Option<(u32, u32)> {
        let row = self.0.at(tier as u32);
        let at = row.rooms.next(from, need)?;
        Some((at, row.shapes.get(at as usize).copied()?))
    }
}
