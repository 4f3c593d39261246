//! Which nodes could go at all (`spec/cluster-autoscaler.md` 4.3): what keeps a node whatever the other nodes are like.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use rustc_hash::FxBuildHasher;

use super::consolidate::active_replacement;
use super::drain_rules::stuck;
use super::idle::IdleBefore;
use super::load::{Judge, Load};
use super::score::Score;
use super::taints::{DELETION_TAINT, marked_at};
use super::utilization::{Ignored, ignorable, utilization};
use crate::machines::{expected, is_node, usable};
use crate::membership::Membership;
use crate::memory::GroupMemory;
use crate::plan::{Kept, Usage};
use crate::policy::{Group, Mode, Policy, Removal, ScaleDown, Strategy};
use crate::pricing::{NodePrice, Offering, Quote, on_one_scale};
use crate::quantity::{Money, Resources};
use crate::round::Round;
use crate::snapshot::{
    CloudGroup, Coverage, Instance, InstanceState, Kind, Node, NodeView, OfNodes, Readiness, Snapshot,
};

/// What is known of the nodes of all groups that may shrink, before anything is placed.
pub(crate) struct Look<'a> {
    pub(super) judge: Judge<'a>,
    pub(super) before: IdleBefore<'a>,
    pub(super) groups: Vec<Shrinking<'a>>,
    /// Idle nodes in the order in which they are tried.
    pub(super) candidates: Vec<Candidate<'a>>,
    /// Nodes on their way out, those that were marked first before others.
    pub(super) marked: Vec<Marked<'a>>,
    pub(super) kept: Vec<(NodeView<'a>, Kept)>,
    /// When the next node becomes too old.
    pub(super) next_expiry: Option<Timestamp>,
}

/// A group that may shrink.
pub(super) struct Shrinking<'a> {
    /// Its position in the policy.
    pub(super) at: usize,
    pub(super) group: &'a Group,
    pub(super) settings: &'a ScaleDown,
    /// It shrinks as a whole or not at all.
    pub(super) whole: bool,
    /// Its nodes that are not being deleted, nor their machines.
    pub(super) nodes: u32,
    /// Those of them that are not starting still, of which budgets take their shares.
    pub(super) started: u32,
    cloud: Option<&'a CloudGroup>,
    memory: Option<&'a GroupMemory>,
}

/// An idle node.
pub(super) struct Candidate<'a> {
    pub(super) view: NodeView<'a>,
    /// Its position among the groups that may shrink.
    pub(super) group: usize,
    pub(super) usage: Usage,
    pub(super) load: Load,
    pub(super) idle_since: Timestamp,
    /// It has become too old.
    pub(super) old: bool,
}

impl Candidate<'_> {
    pub(super) fn unready(&self) -> bool {
        self.view.node.readiness != Readiness::Ready
    }

    /// Why it goes, for budgets.
    pub(super) fn reason(&self) -> Removal {
        removal(&self.view, self.load.is_empty(), self.old)
    }
}

/// Why a node goes, for budgets.
pub(super) fn removal(view: &NodeView<'_>, empty: bool, old: bool) -> Removal {
    match view.node.readiness {
        Readiness::NotReady { .. } => Removal::Unready,
        Readiness::Ready if empty => Removal::Empty,
        Readiness::Ready if old => Removal::Old,
        Readiness::Ready => Removal::Underutilized,
    }
}

/// A node on its way out.
pub(super) struct Marked<'a> {
    pub(super) view: NodeView<'a>,
    /// Its position among the groups that may shrink.
    pub(super) group: usize,
    /// When it was marked; None when the mark does not say.
    pub(super) at: Option<Timestamp>,
    /// Why it stays after all, as far as the node alone tells.
    pub(super) stays: Option<Kept>,
}

impl<'a> Look<'a> {
    /// Looks at every node; None when scale-down is off.
    pub(crate) fn new(round: &Round<'a>, membership: &Membership<'a>) -> Option<Self> {
        let (snapshot, policy): (&'a Snapshot, &'a Policy) = (round.snapshot, round.policy);
        let judge = Judge::new(snapshot, policy, &round.actions, round.now)?;
        let expendable_below = policy.pending.expendable_below;
        let mut look = Look {
            judge,
            before: IdleBefore::new(round.memory),
            groups: Vec::new(),
            candidates: Vec::with_capacity(snapshot.node_count() / 4),
            marked: Vec::new(),
            kept: Vec::with_capacity(snapshot.node_count()),
            next_expiry: None,
        };
        let classes = ignorable(snapshot, expendable_below);
        for (at, group) in policy.groups.iter().enumerate() {
            let Strategy::Pending(settings) = &group.strategy else { continue };
            if group.mode == Mode::Off {
                continue;
            }
            let nodes = membership.nodes.get(at).map_or(&[][..], Vec::as_slice);
            let cloud = snapshot.group(&group.name);
            let machines = cloud.and_then(|cloud| cloud.instances.as_ref());
            let goes = |machine: &&Instance| machine.state == InstanceState::Deleting;
            let going: Vec<&Instance> = machines.into_iter().flatten().filter(goes).collect();
            let goes = |node: &Node| node.deleting || going.iter().any(|machine| is_node(machine, node));
            let present = nodes.iter().filter(|view| !goes(view.node));
            let (whole, settings) = (settings.all_or_nothing, &settings.scale_down);
            let count = u32::try_from(present.clone().count()).unwrap_or(u32::MAX);
            let memory = round.memory.groups.get(&group.name);
            look.groups.push(Shrinking { at, group, settings, whole, nodes: count, started: 0, cloud, memory });
            let ignored = Ignored { settings, expendable_below, classes: &classes };
            for view in present {
                look.node(round, *view, &ignored);
            }
        }
        look.sort(round);
        Some(look)
    }

    /// Says of nodes that are kept why they are, where there is more to say than was known first.
    pub(super) fn note_kept(&mut self, why: &BTreeMap<Arc<str>, Kept>) {
        for (view, kept) in &mut self.kept {
            why.get(&view.node.name).into_iter().for_each(|why| kept.clone_from(why));
        }
    }

    /// The order in which pods go to idle nodes when they fit on no other: to those last that are tried first.
    pub(crate) fn ranks(&self, snapshot: &Snapshot) -> OfNodes<u32> {
        let last_first = self.candidates.iter().rev();
        OfNodes::new(snapshot, last_first.zip(0..).map(|(candidate, rank)| (candidate.view, rank)))
    }

    /// Nodes on their way out that would stay if pods came to them: they work, and their machines are there still.
    pub(crate) fn may_return(&self, snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
        let works = |marked: &&Marked<'_>| {
            let node = marked.view.node;
            let Some(group) = self.groups.get(marked.group).map(|shrinking| shrinking.group) else { return false };
            let machines = snapshot.group(&group.name).and_then(|cloud| cloud.instances.as_ref());
            let there = machines.is_none_or(|machines| machines.iter().any(|machine| is_node(machine, node)));
            there && node.readiness == Readiness::Ready && !node.unschedulable && group.mode != Mode::DryRun
        };
        self.marked.iter().filter(works).map(|marked| Arc::clone(&marked.view.node.name)).collect()
    }

    fn node(&mut self, round: &Round<'a>, view: NodeView<'a>, ignored: &Ignored<'_>) {
        let at = self.groups.len().saturating_sub(1);
        let Some(shrinking) = self.groups.get_mut(at) else { return };
        let of_node = stays(round, shrinking, &view);
        shrinking.started += u32::from(!matches!(of_node, Err(Kept::Starting { .. })));
        if view.node.taint(DELETION_TAINT).is_some() {
            self.marked.push(Marked { view, group: at, at: marked_at(view.node), stays: of_node.err() });
            return;
        }
        let now = round.now;
        let expires = expires(shrinking.settings, &view);
        let old = expires.is_some_and(|at| at <= now);
        self.next_expiry = self.next_expiry.into_iter().chain(expires.filter(|_| !old)).min();
        let found = of_node.and_then(|()| {
            let (usage, threshold) =
                utilization(&view, ignored, &round.policy.pending.price.settings().unit_prices, |pod| stuck(pod, now))?;
            if !old && crate::strategy::utilization::compare(&usage, threshold).is_gt() {
                return Err(Kept::Busy { usage: Box::new(usage), threshold });
            }
            let load = self.judge.load(&view)?;
            let kind = Kind::PodDisruptionBudgets;
            let coverage = round.snapshot.coverage(kind);
            if load.evictions > 0 && coverage != Coverage::Complete {
                return Err(Kept::NotKnown { kind, coverage });
            }
            Ok((usage, load))
        });
        match found {
            Ok((usage, load)) => {
                let idle_since = self.before.since(&view, expires, now);
                self.candidates.push(Candidate { view, group: at, usage, load, idle_since, old });
            }
            Err(kept) => self.kept.push((view, kept)),
        }
    }

    fn sort(&mut self, round: &Round<'_>) {
        self.marked.sort_by(|a, b| (a.at, &a.view.node.name).cmp(&(b.at, &b.view.node.name)));
        // What a node costs depends on its kind, its size and its group.
        let mut sorts: IndexMap<(usize, u32, &Resources), Option<Quote>, FxBuildHasher> = IndexMap::default();
        let mut sort = |candidate: &Candidate<'a>| {
            let entry = sorts.entry((candidate.group, candidate.view.kind, &candidate.view.node.capacity));
            let at = entry.index();
            entry.or_insert_with(|| {
                let own = self.groups.get(candidate.group).and_then(|shrinking| shrinking.group.price);
                round.policy.pending.prices.quote(own, &Offering::of(&candidate.view.node.labels), None)
            });
            at
        };
        let of: Vec<usize> = self.candidates.iter().map(&mut sort).collect();
        let quotes = sorts.iter().map(|((.., capacity), quote)| (*capacity, *quote));
        let prices = on_one_scale(quotes, &round.policy.pending.price.settings().unit_prices);
        let price = |sort: &usize| prices.get(*sort).map_or(Money(0), NodePrice::amount);
        let score = |(candidate, price): (&Candidate<'_>, Money)| Score {
            young: !candidate.old,
            has_pods: !candidate.load.is_empty(),
            is_new: !self.before.knows(&candidate.view),
            used: candidate.usage.percent,
            disruption: candidate.load.cost,
            price: Reverse(price),
            created: candidate.view.node.created,
            name: Arc::clone(&candidate.view.node.name),
        };
        let mut order: Vec<(Score, usize)> =
            self.candidates.iter().zip(of.iter().map(price)).map(score).zip(0..).collect();
        order.sort_unstable();
        let mut candidates: Vec<Option<Candidate<'_>>> = self.candidates.drain(..).map(Some).collect();
        self.candidates.extend(order.iter().filter_map(|(_, at)| candidates.get_mut(*at).and_then(Option::take)));
    }
}

/// What keeps a node, whatever is on it.
fn stays(round: &Round<'_>, shrinking: &Shrinking<'_>, view: &NodeView<'_>) -> Result<(), Kept> {
    let node = view.node;
    let Shrinking { cloud, memory, .. } = *shrinking;
    if let Some(value) = &node.no_delete {
        return Err(Kept::Annotated { value: value.clone() });
    }
    if node.scale_down_disabled {
        return Err(Kept::Annotated { value: "scale-down-disabled".into() });
    }
    if let Some((replacement, until)) = active_replacement(round)
        && replacement.made(&shrinking.group.name, view)
    {
        return Err(Kept::Replacement { nodes: replacement.nodes.clone(), until });
    }
    let deadline = node.created.and_then(|created| created.saturating_add(shrinking.group.boot_timeout).ok());
    if let Some(until) = deadline.filter(|deadline| round.now < *deadline) {
        let nothing = GroupMemory::default();
        let memory = memory.unwrap_or(&nothing);
        let seen = memory.seen_usable.binary_search(&node.name).is_ok();
        if !seen && !usable(shrinking.group, expected(shrinking.group, cloud, memory), node) {
            return Err(Kept::Starting { until });
        }
    }
    if node.readiness != Readiness::Ready && shrinking.settings.unready_for.is_none() {
        return Err(Kept::Unready);
    }
    let until = memory.and_then(|memory| memory.given_up.get(&node.name)).and_then(|at| {
        let retry_after = round.policy.scale_down.as_ref()?.retry_after;
        at.saturating_add(retry_after).ok()
    });
    match until {
        Some(until) if round.now < until => Err(Kept::GivenUp { until }),
        _ => Ok(()),
    }
}

/// When the node is too old for its group, if age matters there.
pub(super) fn expires(settings: &ScaleDown, view: &NodeView<'_>) -> Option<Timestamp> {
    view.node.created?.saturating_add(settings.expire_after?).ok()
}
