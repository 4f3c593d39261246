//! Waiting pods and placeholders find their places: on what is there, on what is on its way, and on what is bought for the
//! rest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::buy::{buy, cut_rooms};
use super::coming::Coming;
use super::open::Open;
use super::options::Choice;
use super::placeholders::Placeholders;
use super::settle::{count, settle};
use super::stranded::{self, Left};
use super::waiting::Names;
use crate::limits::Present;
use crate::memory::{Growth, Places};
use crate::plan::{EqualPlaceholders, EqualPods, ScaleUp, Subject, Waiting, Why};
use crate::round::Round;
use crate::scale_down::DELETION_TAINT;
use crate::scheduling::{Mark, NewNode, NodeId, Placement, Setup, Standing, TemplateId};
use crate::slack::Wanted;
use crate::snapshot::{ClassId, ClassView, Kind, NodeView, Readiness, SharedSpec};

/// The cluster with the waiting pods and the placeholders in their places.
pub(crate) struct Placed {
    pub(crate) placement: Placement,
    /// Before any of them was placed.
    pub(crate) start: Mark,
    /// Before anything was bought.
    pub(super) bought: Mark,
    pub(crate) placeholders: Placeholders,
    /// What is remembered of the last growth.
    pub(crate) growth: Option<Growth>,
}

impl Placed {
    /// The same where there is nothing to place.
    pub(super) fn nothing(round: &Round<'_>, open: &[Open<'_>]) -> Self {
        let placement = placement(round, open, &[], &[]);
        let mark = placement.mark();
        Placed { placement, start: mark, bought: mark, placeholders: Placeholders::default(), growth: None }
    }

    /// Where placeholders are by now, for the next round.
    pub(crate) fn places(&self) -> BTreeMap<Arc<str>, Places> {
        self.placeholders.places(&self.placement)
    }
}

/// Places the waiting pods on what is there and on its way, and buys machines for the rest; then the same for placeholders.
pub(super) fn place(
    round: &mut Round<'_>,
    open: &mut [Open<'_>],
    coming: &[Coming],
    waiting: &[ClassView<'_>],
    slack: Vec<Wanted>,
    sums: &mut Waiting,
    present: &mut Present,
) -> Placed {
    let names = Names::new(waiting);
    let specs: Vec<SharedSpec> = slack.iter().map(|wanted| wanted.spec.clone()).collect();
    let mut placement = placement(round, open, coming, &specs);
    let groups = open.iter().map(|open| Arc::clone(&open.group.name)).collect();
    let mut placeholders = Placeholders::new(slack, &placement, groups, round.memory);
    let start = placement.mark();
    let unknown: BTreeSet<Kind> = waiting.iter().filter_map(|class| placement.unknown(class.id)).collect();
    sums.unknown = unknown.into_iter().collect();
    let pods: Vec<(ClassId, u32)> = waiting
        .iter()
        .map(|class| (class.id, class.pending().saturating_sub(placement.nominated(class.id))))
        .filter(|(_, count)| *count > 0)
        .collect();
    sums.nominated = waiting.iter().map(|class| u64::from(class.pending())).sum::<u64>() - count(&pods);
    let mut left = settle(&mut placement, &mut placeholders, &pods, open);
    let waits = count(&pods);
    let mut leaving: Vec<NodeId> = round.leaving.iter().filter_map(|name| placement.node(name)).collect();
    take_back(&mut placement, &mut leaving, &mut left);
    let bought = placement.mark();
    let on_upcoming = placement.on_upcoming(start);
    let on_upcoming = on_upcoming.iter().filter(|(class, _)| !placement.is_extra(*class));
    sums.on_upcoming = on_upcoming.map(|(_, count)| u64::from(*count)).sum();
    sums.on_nodes = count(&pods).saturating_sub(count(&left)).saturating_sub(sums.on_upcoming);
    let (verdict, mut growth) = stranded::judge(round, open, waits, count(&left));
    let held = match verdict {
        Left::Buy => None,
        Left::Stranded(until) => Some((until, std::mem::take(&mut left))),
    };
    let choices = buy(round, open, &mut placement, &mut left, present);
    if left.is_empty() && !choices.is_empty() {
        growth = stranded::grown(round, open, waits);
    }
    for choice in choices {
        sums.on_new += choice.estimate.placed_count();
        let pods = names.pods(&choice.estimate.placed);
        round.report.scale_ups.push(scale_up(open, choice, pods, Vec::new()));
    }
    for (class, count) in left {
        sums.refused += u64::from(count);
        let subject = Subject::Pods { first: names.first(class), count };
        refuse(round, &mut placement, open, subject, class);
    }
    if let Some((until, pods)) = held {
        round.wake.at(until);
        for (class, count) in pods {
            sums.refused += u64::from(count);
            round.refuse(Subject::Pods { first: names.first(class), count }, Why::Stranded { until });
        }
    }
    let mut left = placeholders.settle(&mut placement);
    take_back(&mut placement, &mut leaving, &mut left);
    for choice in buy(round, open, &mut placement, &mut left, present) {
        let equal = placeholders.equal(&choice.estimate.placed);
        round.report.scale_ups.push(scale_up(open, choice, Vec::new(), equal));
    }
    for (class, count) in left {
        let Some(of) = placeholders.of(class).cloned() else { continue };
        refuse(round, &mut placement, open, Subject::Placeholders { of, count }, class);
    }
    if let Some(slack) = &mut round.report.slack {
        slack.placeholders = placeholders.report(&placement);
    }
    cut_rooms(open, round, present);
    Placed { placement, start, bought, placeholders, growth }
}

/// Places pods for which there is no other room on nodes that are on their way out, so that these stay: that costs nothing
/// and takes no time. Nodes to which none comes go on leaving, and pods that find no place are left.
fn take_back(placement: &mut Placement, leaving: &mut Vec<NodeId>, left: &mut Vec<(ClassId, u32)>) {
    if left.is_empty() || leaving.is_empty() {
        return;
    }
    let start = placement.mark();
    leaving.iter().for_each(|node| placement.reopen(*node));
    *left = placement.fill_there(left).left().collect();
    let taken: BTreeSet<NodeId> = placement.placed_since(start).into_iter().map(|(node, ..)| node).collect();
    leaving.retain(|node| !taken.contains(node));
    leaving.iter().for_each(|node| placement.close(*node));
}

fn scale_up(open: &[Open<'_>], choice: Choice, pods: Vec<EqualPods>, placeholders: Vec<EqualPlaceholders>) -> ScaleUp {
    let named = |(at, count): &(usize, u32)| Some((Arc::clone(&open.get(*at)?.group.name), *count));
    let nodes = choice.nodes.iter().filter_map(named).collect();
    ScaleUp { pods, placeholders, nodes, options: choice.ranking }
}

/// The cluster as it is, with the machines that are on their way and those that minima ask for.
fn placement(round: &Round<'_>, open: &[Open<'_>], coming: &[Coming], extra: &[SharedSpec]) -> Placement {
    let machines = open.iter().map(|open| &open.machine).chain(coming.iter().map(|coming| &coming.machine));
    let templates: Vec<NewNode<'_>> = machines
        .map(|machine| NewNode {
            template: &machine.template,
            daemon_sets: &machine.daemon_sets,
            attach_limits: &machine.attach_limits,
        })
        .collect();
    let own = open.iter().map(|open| open.machines.booting.iter().collect::<Vec<_>>());
    let booting = own.chain(coming.iter().map(|coming| coming.booting.iter().collect()));
    let booting = (0..).zip(booting).flat_map(|(at, names)| names.into_iter().map(move |name| (name, at)));
    let booting: FxHashMap<&Arc<str>, u32> = booting.collect();
    let standing = |view: &NodeView<'_>| match booting.get(&view.node.name) {
        Some(at) => Standing::Upcoming(TemplateId(*at)),
        None if view.node.deleting => Standing::Absent,
        None if round.leaving.contains(&view.node.name) => Standing::Leaving { mark: DELETION_TAINT },
        None => round.idle.get(view).map_or(Standing::Present, |rank| Standing::Idle { rank: *rank }),
    };
    let expendable_below = Some(round.policy.pending.expendable_below);
    // Pods leave nodes that may go, and nodes that do.
    let moves = |view: &NodeView<'_>| round.idle.get(view).is_some() || view.node.taint(DELETION_TAINT).is_some();
    let setup = Setup { templates: &templates, extra, expendable_below, standing: &standing, moves: Some(&moves) };
    let mut placement = Placement::new(round.snapshot, &setup);
    // Kubernetes taints them too, but a moment later, and not in every test cluster.
    for view in round.snapshot.nodes().filter(|view| view.node.readiness != Readiness::Ready) {
        let is_booting = booting.contains_key(&view.node.name);
        if let (false, Some(node)) = (is_booting, placement.node(&view.node.name)) {
            placement.close(node);
        }
    }
    let own = open.iter().map(|open| open.machines.unregistered.saturating_add(open.for_min));
    for (at, expected) in (0..).zip(own.chain(coming.iter().map(|coming| coming.unregistered))) {
        placement.expect(TemplateId(at), expected);
    }
    placement
}

/// What counts against the limits of the cluster so far.
pub(super) fn present(round: &Round<'_>, open: &[Open<'_>]) -> Present {
    let mut present =
        Present { nodes: u32::try_from(round.snapshot.node_count()).unwrap_or(u32::MAX), ..Present::default() };
    for view in round.snapshot.nodes() {
        present.capacity += &view.node.capacity;
    }
    for open in open {
        let bought = open.planned.saturating_sub(open.size);
        let coming = open.machines.unregistered.saturating_add(bought);
        present.nodes = present.nodes.saturating_add(coming);
        present.added = present.added.saturating_add(bought);
        present.capacity.add_times(&open.machine.template.capacity, i128::from(coming));
    }
    present
}

fn refuse(round: &mut Round<'_>, placement: &mut Placement, open: &[Open<'_>], subject: Subject, class: ClassId) {
    // The group that comes closest: one that would hold the pod if it could grow, or else the mildest misfit.
    let mut closest: Option<(usize, crate::scheduling::Misfit)> = None;
    for (at, candidate) in open.iter().enumerate() {
        match placement.fits_new(class, TemplateId(u32::try_from(at).unwrap_or(u32::MAX))) {
            Ok(()) if candidate.room == 0 => {
                let (group, bound) = (Arc::clone(&candidate.group.name), candidate.bound.clone());
                round.refuse(subject, Why::GroupCannotGrow { group, bound });
                return;
            }
            Ok(()) => {}
            Err(misfit) => {
                if closest.as_ref().is_none_or(|(_, known)| misfit > *known) {
                    closest = Some((at, misfit));
                }
            }
        }
    }
    let why = match closest {
        Some((at, misfit)) => {
            let group = open.get(at).map(|open| Arc::clone(&open.group.name)).unwrap_or_default();
            Why::FitsNoGroup { group, misfit }
        }
        None => Why::NoGroupGrows,
    };
    round.refuse(subject, why);
}
