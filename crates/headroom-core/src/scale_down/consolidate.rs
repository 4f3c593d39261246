//! Several nodes make way for one cheaper machine: an option, off by default.
//!
//! It acts in steps, each of which is safe on its own. First the machine is bought, and memory keeps what it is for. Once it
//! is a node, the old ones are found to be removable by the ordinary rules, since their pods now have a place; until then,
//! and until they are gone, the new node stays although nothing is on it. Nothing is looked for while anything else grows,
//! is on its way or goes, so that there is one replacement at a time and growth and removal never fight.
//!
//! A replacement must save money, and its share of what all nodes cost must be at least half its share of the disruption
//! that moving every pod would be: Karpenter's rule (`spec/karpenter-and-users.md` 1.1, "Balanced score").

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::choice::{Chooser, enough};
use super::drain_rules::COST;
use super::look::{Candidate, Look, Shrinking};
use super::simulation::Simulation;
use crate::membership::Membership;
use crate::memory::{GroupMemory, Lock, Replacement, Request};
use crate::plan::{Action, Kept, Reason, Replaces, Subject, Why};
use crate::policy::{Consolidation, Mode};
use crate::pricing::Offering;
use crate::quantity::{Money, Ratio};
use crate::round::Round;
use crate::snapshot::{NodeView, PodKind};
use crate::strategy::pending::OnOffer;

/// At most so many nodes are replaced at once (Karpenter looks at 100).
const MOST_NODES: usize = 32;

/// So often nodes are emptied for trial in one round: each of the nodes once for each machine on offer, the cheapest first.
/// One trial takes some ten microseconds.
const MOST_TRIALS: usize = 1024;

/// What consolidation does in a round, beside its action.
#[derive(Default)]
pub(super) struct Consolidated {
    /// What is to be remembered.
    pub(super) replacement: Option<Replacement>,
    /// Nodes that could be replaced, with what keeps them until then.
    pub(super) kept: BTreeMap<Arc<str>, Kept>,
}

/// Buys a machine for nodes that could not be emptied (`full`, by their positions among the candidates), when that pays.
#[allow(clippy::too_many_arguments, reason = "each is one of the things that decide about a replacement")]
pub(super) fn consolidate(
    round: &mut Round<'_>,
    look: &Look<'_>,
    membership: &Membership<'_>,
    simulation: &mut Simulation<'_>,
    chooser: &Chooser<'_>,
    on_offer: &[OnOffer<'_>],
    memories: &mut [GroupMemory],
    full: &[usize],
) -> Consolidated {
    let mut done = Consolidated::default();
    let candidates = movable(look, chooser, full);
    if candidates.is_empty() {
        return done;
    }
    let whole = match Whole::of(round, look, membership) {
        Ok(whole) => whole,
        Err(why) => {
            round.refuse(Subject::Cluster, why);
            return done;
        }
    };
    let mut search = Search { round, look, chooser, whole, best: None };
    search.go(&candidates, on_offer, simulation);
    let Some(Found { nodes, offer, replaces }) = search.best else { return done };
    let Some(offer) = on_offer.get(offer) else { return done };
    let names: Vec<Arc<str>> = nodes.iter().map(|candidate| Arc::clone(&candidate.view.node.name)).collect();
    let until = nodes.iter().filter_map(|candidate| {
        let shrinking = look.groups.get(candidate.group)?;
        Some(candidate.idle_since.saturating_add(enough(shrinking, candidate)).unwrap_or(Timestamp::MAX))
    });
    let until = until.max().unwrap_or(Timestamp::MAX);
    let group = Arc::clone(&offer.group.name);
    if round.now < until {
        round.wake.at(until);
        let kept = Kept::Replaceable { group, replaces: Box::new(replaces), until };
        done.kept = names.into_iter().map(|name| (name, kept.clone())).collect();
        return done;
    }
    let (from, to) = (offer.planned, offer.planned.saturating_add(1));
    round.act(offer.group, Action::Resize { from, to }, Reason::Consolidates { replaces: Box::new(replaces) });
    if let Some(report) = round.report.groups.iter_mut().find(|report| report.name == group) {
        (report.planned, report.wanted) = (to, report.wanted.saturating_add(1));
    }
    if !round.policy.dry_run && offer.group.mode != Mode::DryRun {
        if let Some(memory) = memories.get_mut(offer.at) {
            let first = memory.request.map_or(round.now, |request| request.first);
            memory.request = Some(Request { first, last: round.now });
            memory.lock = Some(Lock { at: round.now, requested: 1 });
        }
        done.replacement = Some(Replacement { group: Arc::clone(&group), since: round.now, nodes: names.clone() });
    }
    let kept = |name: Arc<str>| (name, Kept::AwaitsReplacement { group: Arc::clone(&group) });
    done.kept = names.into_iter().map(kept).collect();
    done
}

impl Replacement {
    /// Until when the new node waits for the old ones to go. For as long again nothing else is replaced.
    pub(super) fn until(&self, settings: &Consolidation) -> Timestamp {
        self.since.saturating_add(settings.give_up_after).unwrap_or(Timestamp::MAX)
    }

    fn rests_until(&self, settings: &Consolidation) -> Timestamp {
        self.until(settings).saturating_add(settings.give_up_after).unwrap_or(Timestamp::MAX)
    }

    /// Whether a node may be the new one.
    pub(super) fn made(&self, group: &str, view: &NodeView<'_>) -> bool {
        *self.group == *group && view.node.created.is_some_and(|created| created >= self.since)
    }
}

/// What is remembered of a replacement as long as it goes on or was given up a short time ago.
pub(super) fn underway(round: &mut Round<'_>) -> Option<Replacement> {
    let settings = round.policy.scale_down.as_ref()?.consolidation.as_ref()?;
    let replacement = round.memory.scale_down.as_ref()?.replacement.as_ref()?;
    let (until, rests_until) = (replacement.until(settings), replacement.rests_until(settings));
    let there = replacement.nodes.iter().any(|name| round.snapshot.node(name).is_some());
    if !there || round.now >= rests_until {
        return None;
    }
    round.wake.at(until);
    round.wake.at(rests_until);
    Some(replacement.clone())
}

/// The replacement whose new node waits for the old ones to go, and until when it does.
pub(super) fn active_replacement<'a>(round: &Round<'a>) -> Option<(&'a Replacement, Timestamp)> {
    let settings = round.policy.scale_down.as_ref()?.consolidation.as_ref()?;
    let replacement = round.memory.scale_down.as_ref()?.replacement.as_ref()?;
    let until = replacement.until(settings);
    let there = || replacement.nodes.iter().any(|name| round.snapshot.node(name).is_some());
    (round.now < until && there()).then_some((replacement, until))
}

/// The nodes that may be replaced, cheapest to disrupt first, then dearest.
fn movable<'c, 'a>(look: &'c Look<'a>, chooser: &Chooser<'_>, full: &[usize]) -> Vec<&'c Candidate<'a>> {
    let candidates = full.iter().filter_map(|at| look.candidates.get(*at));
    let may_go = |candidate: &&Candidate<'_>| {
        let mode = look.groups.get(candidate.group).map(|shrinking| shrinking.group.mode);
        mode == Some(Mode::Auto) && chooser.keeps_min(candidate.group, 1).is_ok()
    };
    let mut candidates: Vec<&Candidate<'_>> = candidates.filter(may_go).collect();
    candidates.sort_by_key(|candidate| candidate.load.cost);
    candidates.truncate(MOST_NODES);
    candidates
}

/// What all nodes of groups that may shrink cost, and what it would take to move every pod.
struct Whole {
    cost: i128,
    disruption: i128,
}

impl Whole {
    /// An error when nobody says what some node costs.
    fn of(round: &Round<'_>, look: &Look<'_>, membership: &Membership<'_>) -> Result<Self, Why> {
        let (mut cost, mut nodes, mut unpriced) = (0, 0, Vec::new());
        for shrinking in &look.groups {
            for view in membership.nodes.get(shrinking.at).into_iter().flatten().filter(|view| !view.node.deleting) {
                nodes += 1;
                match price(round, shrinking, view) {
                    Some(price) => cost += i128::from(price.0),
                    None => unpriced.push(&view.node.name),
                }
            }
        }
        if let Some(first) = unpriced.first() {
            let nodes = u32::try_from(unpriced.len()).unwrap_or(u32::MAX);
            return Err(Why::PriceUnknown { node: Arc::clone(first), nodes });
        }
        let workloads = round.snapshot.classes().filter(|class| class.spec.kind == PodKind::Workload);
        let pods = workloads.map(|class| i128::from(look.judge.ruling(class.id).cost) * i128::from(class.bound));
        Ok(Whole { cost, disruption: i128::from(COST) * nodes + pods.sum::<i128>() })
    }
}

/// What a node costs, when somebody says so.
fn price(round: &Round<'_>, shrinking: &Shrinking<'_>, view: &NodeView<'_>) -> Option<Money> {
    let from_cloud = round.snapshot.group(&shrinking.group.name).and_then(|cloud| cloud.price);
    let prices = &round.policy.pending.prices;
    let quote = prices.quote(shrinking.group.price, &Offering::of(&view.node.labels), from_cloud)?;
    Some(quote.amount)
}

/// A replacement that pays.
struct Found<'c, 'a> {
    nodes: Vec<&'c Candidate<'a>>,
    /// The position of the new machine among those on offer.
    offer: usize,
    replaces: Replaces,
}

struct Search<'c, 'a, 's, 'r> {
    round: &'s Round<'r>,
    look: &'c Look<'a>,
    chooser: &'s Chooser<'s>,
    whole: Whole,
    best: Option<Found<'c, 'a>>,
}

impl<'c, 'a> Search<'c, 'a, '_, '_> {
    /// Weighs what each machine on offer could take the place of.
    fn go(&mut self, candidates: &[&'c Candidate<'a>], on_offer: &[OnOffer<'_>], simulation: &mut Simulation<'_>) {
        let loads: Vec<_> = candidates.iter().map(|candidate| (&*candidate.view.node.name, &candidate.load)).collect();
        let most_offers = MOST_TRIALS / loads.len().max(1);
        simulation.let_new_come();
        for (at, offer) in on_offer.iter().enumerate().take(most_offers) {
            let emptied = simulation.empty_with_new(offer.template, &loads);
            let nodes = emptied.into_iter().filter_map(|at| candidates.get(at).copied());
            self.weigh(nodes, at, offer.price);
        }
    }

    /// Keeps the replacement of the first so many of these nodes in mind that pays and saves the most, if it saves more
    /// than what was found before.
    fn weigh(&mut self, emptied: impl Iterator<Item = &'c Candidate<'a>>, offer: usize, price: Money) {
        let (mut nodes, mut costs, mut disruption) = (Vec::new(), Money(0), 0);
        let mut gone: BTreeMap<usize, u32> = BTreeMap::new();
        for candidate in emptied {
            let gone = gone.entry(candidate.group).or_default();
            let Some(more) =
                self.price(candidate).filter(|_| self.chooser.keeps_min(candidate.group, *gone + 1).is_ok())
            else {
                continue;
            };
            *gone += 1;
            nodes.push(candidate);
            costs = costs.saturating_add(more);
            disruption += i128::from(COST) + i128::from(candidate.load.cost);
            self.keep_better(&nodes, offer, costs, price, disruption);
        }
    }

    fn keep_better(&mut self, nodes: &[&'c Candidate<'a>], offer: usize, costs: Money, price: Money, disruption: i128) {
        let saving = i128::from(costs.0) - i128::from(price.0);
        let pays = saving > 0 && 2 * saving * self.whole.disruption >= disruption * self.whole.cost;
        let best =
            self.best.as_ref().map(|found| i128::from(found.replaces.costs.0) - i128::from(found.replaces.price.0));
        if !pays || best.is_some_and(|best| saving <= best) {
            return;
        }
        let saving_share = Ratio::percent_of(saving, self.whole.cost);
        let disruption_share = Ratio::percent_of(disruption, self.whole.disruption);
        if let (Some(saving_share), Some(disruption_share)) = (saving_share, disruption_share) {
            let names = nodes.iter().map(|candidate| Arc::clone(&candidate.view.node.name)).collect();
            let replaces = Replaces { nodes: names, costs, price, saving_share, disruption_share };
            self.best = Some(Found { nodes: nodes.to_vec(), offer, replaces });
        }
    }

    fn price(&self, candidate: &Candidate<'_>) -> Option<Money> {
        price(self.round, self.look.groups.get(candidate.group)?, &candidate.view)
    }
}
