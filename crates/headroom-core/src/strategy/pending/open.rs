//! The groups that may grow in a round.

use std::sync::Arc;

use super::template::NewMachine;
use crate::balance::Shape;
use crate::limits::{self, Bound, Present};
use crate::machines::Machines;
use crate::policy::{Group, Pending, Spare};
use crate::pricing::Quote;
use crate::quantity::Resources;
use crate::snapshot::{Labels, Template};

/// A group that may be enlarged in this round, with what is known of it.
pub(super) struct Open<'p> {
    /// Its position in the policy.
    pub(super) at: usize,
    pub(super) group: &'p Group,
    pub(super) settings: &'p Pending,
    pub(super) machine: NewMachine,
    /// What is free on a new node beside its DaemonSets.
    pub(super) free: Resources,
    pub(super) machines: Machines,
    pub(super) size: u32,
    /// The size that this round asks for so far.
    pub(super) planned: u32,
    /// How many of the new nodes are for the minimum, whatever pods need.
    pub(super) for_min: u32,
    pub(super) min: u32,
    pub(super) max: u32,
    /// How many nodes more the limits allow, 0 when the group may not grow.
    pub(super) room: u32,
    /// The limit that allows no more; None when something else holds the group.
    pub(super) bound: Option<Bound>,
    /// What a new node costs, when somebody says so.
    pub(super) price: Option<Quote>,
    /// The labels of a new node, without those by which the group is told apart.
    pub(super) labels: Labels,
}

impl Open<'_> {
    /// How many nodes it may still get, under its own limits and those of the cluster.
    pub(super) fn cut_room(&mut self, limits: &limits::Limits, present: &Present) {
        let room = limits.room(self.planned, self.max, &self.machine.template.capacity, present);
        let whole = !self.settings.all_or_nothing || self.planned.saturating_add(room.nodes) >= self.max;
        self.room = if whole { room.nodes } else { 0 };
        self.bound = Some(room.bound);
    }

    /// Whether machines are on their way, those that a minimum asks for included.
    pub(super) fn has_upcoming(&self) -> bool {
        self.machines.unregistered > 0 || !self.machines.booting.is_empty() || self.for_min > 0
    }

    pub(super) fn buy(&mut self, nodes: u32, present: &mut Present) {
        self.planned = self.planned.saturating_add(nodes);
        present.nodes = present.nodes.saturating_add(nodes);
        present.added = present.added.saturating_add(nodes);
        present.capacity.add_times(&self.machine.template.capacity, i128::from(nodes));
    }
}

/// Whether the group at this position of the policy may be enlarged. The groups are in the order of the policy.
pub(super) fn is_open(open: &[Open<'_>], at: usize) -> bool {
    open.binary_search_by_key(&at, |open| open.at).is_ok()
}

/// The groups that may be enlarged, by position, and what counts against the limits of the cluster.
pub(super) struct Candidates<'c>(pub(super) &'c [Open<'c>], pub(super) &'c limits::Limits, pub(super) &'c Present);

impl<'c> Candidates<'c> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn name(&self, at: usize) -> Option<&'c Arc<str>> {
        self.0.get(at).map(|open| &open.group.name)
    }

    pub(super) fn group(&self, at: usize) -> Option<&'c Group> {
        self.0.get(at).map(|open| open.group)
    }

    /// The number of its template in the placement: the position.
    pub(super) fn template(&self, at: usize) -> u32 {
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// What a new node is like.
    pub(super) fn new_node(&self, at: usize) -> Option<&'c Template> {
        self.0.get(at).map(|open| &open.machine.template)
    }

    /// What makes groups similar or not.
    pub(super) fn shape(&self, at: usize) -> Option<Shape<'c>> {
        let Open { machine, free, labels, .. } = self.0.get(at)?;
        let Template { capacity, allocatable, .. } = &machine.template;
        Some(Shape { capacity, allocatable, free, labels })
    }

    /// Whether any of them keeps room of its own.
    pub(super) fn keep_spare(&self) -> bool {
        self.0.iter().any(|open| open.settings.spare != Spare::default())
    }

    pub(super) fn size(&self, at: usize) -> u32 {
        self.0.get(at).map_or(0, |open| open.planned)
    }

    pub(super) fn room(&self, at: usize) -> u32 {
        self.0.get(at).map_or(0, |open| open.room)
    }

    /// How many nodes these groups may get together.
    pub(super) fn family_room(&self, family: &[usize]) -> u32 {
        let members = || family.iter().filter_map(|at| self.0.get(*at));
        let each = members().fold(Resources::default(), |most, open| most.max_each(&open.machine.template.capacity));
        let rooms = members().fold(0, |sum: u32, open| sum.saturating_add(open.room));
        self.1.room(0, rooms, &each, self.2).nodes
    }

    /// What a new node costs, when somebody says so.
    pub(super) fn price(&self, at: usize) -> Option<Quote> {
        self.0.get(at).and_then(|open| open.price)
    }

    /// A group that grows as a whole or not at all shares with nobody.
    pub(super) fn may_share(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(|open| !open.settings.all_or_nothing)
    }

    /// The nodes that are bought when `needed` are needed.
    pub(super) fn whole(&self, at: usize, needed: u32) -> u32 {
        if self.may_share(at) { needed } else { self.room(at) }
    }
}
