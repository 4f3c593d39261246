//! What a round found out about one pod or one group, for those who ask: by its own rules, on the cluster as it left it.

use std::sync::Arc;

use jiff::Timestamp;

use super::buy::cut_rooms;
use super::open::Open;
use super::place::Placed;
use super::{Aside, Outcome, TemplateSource};
use crate::limits::Bound;
use crate::policy::Policy;
use crate::quantity::Resources;
use crate::round::Round;
use crate::scheduling::{Mark, Misfit, Placement, TemplateId};
use crate::snapshot::{ClassView, SharedSpec, Snapshot, Template};

/// A round of the groups with the strategy `pending`, kept to be asked about. See [`inquire`](crate::inquire).
pub struct Inquiry<'a> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    outcome: Outcome<'a>,
    /// With the waiting pods in their places.
    after: Placement,
    /// With those that have a place without anything being bought.
    before: Placement,
    start: Mark,
}

/// What is known of the pods of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodAnswer {
    /// Why nothing is bought for them; None when something may be.
    pub aside: Option<Aside>,
    /// Where those of them go that wait.
    pub fate: Fate,
    /// The node that is there and would take one more of them, or else the one that comes closest to it, with what is in
    /// the way. None when there is no node.
    pub node: Option<(Arc<str>, Result<(), Misfit>)>,
    /// Whether each group's new nodes would take one, for the groups that are judged.
    pub groups: Vec<Fit>,
}

/// Where the waiting pods of one class go: each is in one of the counts, unless nothing is bought for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// To nodes that are there, by name.
    pub nodes: Vec<(Arc<str>, u32)>,
    /// To machines on their way.
    pub upcoming: u32,
    /// To the new nodes of this round.
    pub new: u32,
    /// To the nodes on which room is being made for them.
    pub nominated: u32,
    /// Nowhere.
    pub left: u32,
}

/// Whether a new node of a group would take a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The group.
    pub group: Arc<str>,
    /// What is in the way.
    pub fits: Result<(), Misfit>,
    /// How many nodes more the group may get after this round.
    pub room: u32,
    /// The limit that allows no more than that; None when something else holds the group.
    pub bound: Option<Bound>,
}

/// What is known of one group.
#[derive(Clone, Debug)]
pub struct GroupAnswer<'i> {
    /// What a new machine will be like.
    pub template: &'i Template,
    /// Who says so.
    pub source: &'i TemplateSource,
    /// The DaemonSet pods that will run on it.
    pub daemon_sets: &'i [SharedSpec],
    /// What they leave of it.
    pub free: &'i Resources,
    /// Nodes that have registered and are not usable yet, with the time until which they count as on their way.
    pub booting: Vec<(Arc<str>, Timestamp)>,
    /// How many nodes more the group may get after this round.
    pub room: u32,
    /// The limit that allows no more than that; None when something else holds the group.
    pub bound: Option<&'i Bound>,
}

impl<'a> Inquiry<'a> {
    pub(crate) fn new(round: &Round<'a>, mut outcome: Outcome<'a>) -> Self {
        let placed = outcome.placed.take().unwrap_or_else(|| {
            cut_rooms(&mut outcome.open, round, &outcome.present);
            Placed::nothing(round, &outcome.open)
        });
        let Placed { placement: after, start, bought, .. } = placed;
        let mut before = after.clone();
        before.rollback(bought);
        Inquiry { snapshot: round.snapshot, policy: round.policy, outcome, after, before, start }
    }

    /// What is known of the pods of a class of the snapshot.
    pub fn pods(&mut self, class: &ClassView<'_>) -> PodAnswer {
        let aside = self.outcome.counted.aside(self.policy, class);
        let fate = self.fate(class, aside.is_none());
        let node = match fate.nodes.first() {
            Some((name, _)) => Some((Arc::clone(name), Ok(()))),
            None => self.closest_node(class),
        };
        // Rules among the pods themselves hold back the ones that are left, once the others have their places.
        let placement = if fate.left > 0 { &mut self.after } else { &mut self.before };
        let fit = |(at, open): (u32, &Open<'_>)| Fit {
            group: Arc::clone(&open.group.name),
            fits: placement.fits_new(class.id, TemplateId(at)),
            room: open.room,
            bound: open.bound.clone(),
        };
        let groups = (0..).zip(&self.outcome.open).map(fit).collect();
        PodAnswer { aside, fate, node, groups }
    }

    /// What is known of the group called `name`, when it is judged.
    pub fn group(&self, name: &str) -> Option<GroupAnswer<'_>> {
        let open = self.outcome.open.iter().find(|open| *open.group.name == *name)?;
        let created = |name: &Arc<str>| self.snapshot.node(name)?.node.created;
        let booting = open.machines.booting.iter();
        let booting =
            booting.filter_map(|name| Some((Arc::clone(name), open.group.deadline(created(name)?)))).collect();
        Some(GroupAnswer {
            template: &open.machine.template,
            source: &open.machine.source,
            daemon_sets: &open.machine.daemon_sets,
            free: &open.free,
            booting,
            room: open.room,
            bound: open.bound.as_ref(),
        })
    }

    fn fate(&self, class: &ClassView<'_>, offered: bool) -> Fate {
        let own = |(id, count): &(_, u32)| (*id == class.id).then_some(*count);
        let placed = self
            .after
            .placed_since(self.start)
            .into_iter()
            .filter(|(node, id, _)| *id == class.id && !self.after.is_upcoming(*node));
        let nodes: Vec<(Arc<str>, u32)> =
            placed.map(|(node, _, count)| (Arc::from(self.after.name(node)), count)).collect();
        let upcoming = self.after.on_upcoming(self.start).iter().filter_map(own).sum();
        let new = self.after.new_nodes();
        let new = new.iter().flat_map(|nodes| nodes.pods.iter().filter_map(own).map(|each| each * nodes.count)).sum();
        let nominated = self.after.nominated(class.id);
        let placed = nodes.iter().map(|(_, count)| count).sum::<u32>() + upcoming + new + nominated;
        let left = if offered { class.pending().saturating_sub(placed) } else { 0 };
        Fate { nodes, upcoming, new, nominated, left }
    }

    fn closest_node(&self, class: &ClassView<'_>) -> Option<(Arc<str>, Result<(), Misfit>)> {
        let mut closest: Option<(Arc<str>, Misfit)> = None;
        for view in self.snapshot.nodes() {
            let Some(node) = self.after.node(&view.node.name) else { continue };
            if self.after.is_upcoming(node) {
                continue;
            }
            match self.after.fits(class.id, node) {
                Ok(()) => return Some((Arc::clone(&view.node.name), Ok(()))),
                Err(misfit) if closest.as_ref().is_none_or(|(_, known)| misfit > *known) => {
                    closest = Some((Arc::clone(&view.node.name), misfit));
                }
                Err(_) => {}
            }
        }
        closest.map(|(name, misfit)| (name, Err(misfit)))
    }
}
