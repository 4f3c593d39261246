//! Nodes that are not needed go (`spec/cluster-autoscaler.md` 4): the last step of a round, when everything that grows has
//! been decided.
//!
//! A node could go when little of it is in use, when all pods on it may be moved, and when all of them have a place on the
//! other nodes. That is tried node by node, each on what the ones before left, so that all nodes that could go could go
//! together. One that could go for long enough is marked with a taint; in later rounds, seen with fresh eyes each time, its
//! pods are evicted and, when it is empty, it is removed. Whatever turns out not to be true any more takes the mark off.
//!
//! What lies between two of these steps is in the cluster itself: the mark and its time. Memory adds since when each node
//! could have gone; when it is lost, that begins anew.

mod budgets;
mod choice;
mod consolidate;
mod cron;
mod disruptions;
mod drain_rules;
mod draining;
mod guards;
mod idle;
mod load;
mod look;
mod score;
mod simulation;
mod soft_taints;
mod taints;
mod taken_back;
mod utilization;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use disruptions::Disruptions;
pub use drain_rules::lost_with_its_node;
pub(crate) use drain_rules::stuck;
pub(crate) use guards::{doubt_fall, many_unready};
pub use load::unmovable;
pub(crate) use look::Look;
pub use taints::{CANDIDATE_TAINT, DELETION_TAINT, marked_at};

use indexmap::IndexMap;
use jiff::Timestamp;

use crate::membership::Membership;
use crate::memory::{GroupMemory, Level, Lock, Replacement, Watch};
use crate::plan::{Action, Kept, Reason, Subject, Why};
use crate::round::Round;
use crate::snapshot::{NodeView, OfNodes};
use crate::strategy::pending::{OnOffer, Placed};
use choice::{Chooser, enough};
use consolidate::{Consolidated, active_replacement, consolidate, underway};
use draining::Step;
use look::{Candidate, Shrinking, expires, removal};
use simulation::{Homeless, Refused, Simulation};

/// Decides which nodes go, once everything else is decided and every pod that waits, and every placeholder, has its place.
/// The answer is what to remember.
pub(crate) fn pass(
    round: &mut Round<'_>,
    mut look: Look<'_>,
    membership: &Membership<'_>,
    placed: &mut Placed,
    on_offer: &[OnOffer<'_>],
    memories: &mut [GroupMemory],
) -> Watch {
    let mut replacement = underway(round);
    taken_back::untaint(round, &mut look, placed, memories);
    look.next_expiry.into_iter().for_each(|at| round.wake.at(at));
    let policy = look.judge.policy;
    let grown = note_growth(round, &look, memories);
    let before = round.memory.scale_down.as_ref().map(|watch| &watch.level);
    let (level, drop) = guards::sudden_drop(round.snapshot, before, policy.doubt, round.now);
    let unready = guards::many_unready(round.snapshot, policy, round.now);
    if let Some(Why::SuddenDrop { until, .. }) = &drop {
        round.wake.at(*until);
    }
    for why in [drop, unready].into_iter().flatten() {
        round.refuse(Subject::Cluster, why.clone());
        round.holds_removal.get_or_insert(why);
    }
    if let Some(why) = &round.holds_removal {
        // A doubt that passes is no sign that a node was needed meanwhile.
        let idle = match why {
            Why::SuddenDrop { .. } => still_idle(round, &look),
            _ => BTreeMap::new(),
        };
        keep_all(round, look);
        return Watch { idle, level, replacement };
    }
    for shrinking in &look.groups {
        if let Err(why) = round.may_remove(shrinking.group) {
            round.refuse_group(shrinking.group, why);
        }
    }
    let mut run = Run {
        simulation: Simulation::new(round.snapshot, placed),
        chooser: Chooser::new(round, policy, &look.groups, memories),
        idle: BTreeMap::new(),
    };
    let quiet = look.marked.is_empty() && !round.actions.iter().any(|planned| planned.action.changes_size());
    run.go_on(round, &mut look, memories, &grown);
    let Tried { removable, full } = run.try_all(&mut look);
    let quiet = quiet && removable.is_empty() && policy.consolidation.is_some();
    run.choose(round, &mut look, removable);
    if let Some((replacement, _)) = active_replacement(round) {
        run.await_replacement(&mut look, &full, replacement);
    } else if quiet && replacement.is_none() {
        let done = run.consolidate(round, &look, membership, on_offer, memories, &full);
        look.note_kept(&done.kept);
        replacement = done.replacement;
    }
    soft_taints::set(round, &look, membership, &run.idle);
    round.report.budgets = run.chooser.budget_uses(&look.groups);
    report(round, &look);
    refuse_kept(round, std::mem::take(&mut look.kept));
    forget_the_past(round, &look, memories);
    // What goes by this plan has not fallen when it is gone.
    let removals = round.actions.iter().filter(|planned| matches!(planned.action, Action::Remove { .. })).count();
    let nodes = level.nodes.saturating_sub(u32::try_from(removals).unwrap_or(u32::MAX));
    Watch { idle: run.idle, level: Level { nodes, ..level }, replacement }
}

/// The nodes that could have gone before and still look as if they could, and since when.
fn still_idle(round: &Round<'_>, look: &Look<'_>) -> BTreeMap<Arc<str>, Timestamp> {
    let before = round.memory.scale_down.as_ref().map(|watch| &watch.idle);
    let nodes = look.candidates.iter().map(|candidate| &candidate.view.node.name);
    let nodes = nodes.chain(look.marked.iter().map(|marked| &marked.view.node.name));
    nodes.filter_map(|name| Some((Arc::clone(name), *before?.get(name)?))).collect()
}

/// What came of trying to empty idle nodes.
struct Tried {
    /// Those that can be, by their positions among the candidates; groups that go as a whole together.
    removable: Vec<Vec<usize>>,
    /// Those whose pods have no place.
    full: Vec<usize>,
}

struct Run<'a> {
    simulation: Simulation<'a>,
    chooser: Chooser<'a>,
    /// Nodes that could go, and since when.
    idle: BTreeMap<Arc<str>, Timestamp>,
}

impl Run<'_> {
    /// Goes on with the nodes that are on their way out, before any other takes their pods' places.
    fn go_on(&mut self, round: &mut Round<'_>, look: &mut Look<'_>, memories: &mut [GroupMemory], grown: &[usize]) {
        let marked = std::mem::take(&mut look.marked);
        marked.iter().for_each(|marked| self.simulation.close(&marked.view.node.name));
        for marked in &marked {
            let Some(shrinking) = look.groups.get(marked.group) else { continue };
            let (group, name) = (shrinking.group, Arc::clone(&marked.view.node.name));
            let expires = expires(shrinking.settings, &marked.view);
            let since = look.before.since(&marked.view, expires, round.now);
            let stays = draining::stays(round, shrinking, marked, since)
                .or_else(|| self.chooser.keeps_min(marked.group, 1).err())
                .or_else(|| self.has_no_place(look, marked));
            let Some(memory) = memories.get_mut(shrinking.at) else { continue };
            if let Some(why) = stays {
                memory.drains.remove(&name);
                round.act(group, draining::untaint(marked), Reason::Stays { why: Box::new(why) });
                continue;
            }
            let grows = grown.contains(&shrinking.at);
            match draining::step(round, &mut look.judge, marked, memory, grows) {
                Step::Act(action, reason) => {
                    let untaints = matches!(action, Action::Untaint { .. });
                    if matches!(action, Action::Remove { .. }) {
                        memory.last_step = Some(round.now);
                    }
                    round.act(group, action, reason);
                    if untaints {
                        continue;
                    }
                }
                Step::Wait(kept) => look.kept.push((marked.view, kept)),
            }
            let old = expires.is_some_and(|at| at <= round.now);
            let removal = removal(&marked.view, marked.view.sums.blocking == 0, old);
            self.chooser.goes(marked.group, &marked.view, removal);
            self.idle.insert(name, since);
        }
    }

    /// Why the pods of a marked node have nowhere to go, if so.
    fn has_no_place(&mut self, look: &Look<'_>, marked: &look::Marked<'_>) -> Option<Kept> {
        let load = match look.judge.drain_load(&marked.view) {
            Ok(load) => load,
            Err(kept) => return Some(kept),
        };
        let (_, refused) = self.simulation.empty(&[(&*marked.view.node.name, &load)]).err()?;
        Some(reason(&marked.view, refused))
    }

    /// Tries every idle node, or every group that goes as a whole, and gives those that could go.
    fn try_all(&mut self, look: &mut Look<'_>) -> Tried {
        let (mut removable, mut full) = (Vec::new(), Vec::new());
        for unit in self.units(look) {
            let nodes: Vec<&Candidate<'_>> = unit.iter().filter_map(|at| look.candidates.get(*at)).collect();
            let loads: Vec<(&str, &load::Load)> =
                nodes.iter().map(|candidate| (&*candidate.view.node.name, &candidate.load)).collect();
            match self.simulation.empty(&loads) {
                Ok(()) => {
                    let idle =
                        |candidate: &&Candidate<'_>| (Arc::clone(&candidate.view.node.name), candidate.idle_since);
                    self.idle.extend(nodes.iter().map(idle));
                    removable.push(unit);
                }
                Err((at, refused)) => {
                    if let ([one], Refused::Homeless(_)) = (&*unit, &refused) {
                        full.push(*one);
                    }
                    let whole = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
                    let mut kept = Vec::new();
                    for (position, candidate) in nodes.iter().enumerate().filter(|(position, _)| *position != at) {
                        let why = Kept::NotWhole { ready: whole - 1, nodes: whole };
                        kept.push((position, candidate.view, why));
                    }
                    if let Some(candidate) = nodes.get(at) {
                        kept.push((at, candidate.view, reason(&candidate.view, refused)));
                    }
                    kept.sort_by_key(|(position, ..)| *position);
                    look.kept.extend(kept.into_iter().map(|(_, view, why)| (view, why)));
                }
            }
        }
        Tried { removable, full }
    }

    /// Nodes that a machine on its way is to replace have nothing to wait for once it is there.
    fn await_replacement(&mut self, look: &mut Look<'_>, full: &[usize], replacement: &Replacement) {
        let old = full.iter().filter_map(|at| look.candidates.get(*at));
        let old = old.filter(|candidate| replacement.nodes.contains(&candidate.view.node.name));
        let kept = old.map(|candidate| {
            let name = &candidate.view.node.name;
            self.idle.insert(Arc::clone(name), candidate.idle_since);
            (Arc::clone(name), Kept::AwaitsReplacement { group: Arc::clone(&replacement.group) })
        });
        let kept = kept.collect();
        look.note_kept(&kept);
    }

    /// Buys a machine for idle nodes whose pods have no place, where that pays. They begin to wait when that is found.
    fn consolidate(
        &mut self,
        round: &mut Round<'_>,
        look: &Look<'_>,
        membership: &Membership<'_>,
        on_offer: &[OnOffer<'_>],
        memories: &mut [GroupMemory],
        full: &[usize],
    ) -> Consolidated {
        let done = consolidate(round, look, membership, &mut self.simulation, &self.chooser, on_offer, memories, full);
        let waiting = full.iter().filter_map(|at| look.candidates.get(*at));
        for candidate in waiting.filter(|candidate| done.kept.contains_key(&candidate.view.node.name)) {
            self.idle.insert(Arc::clone(&candidate.view.node.name), candidate.idle_since);
        }
        done
    }

    /// Idle nodes that are tried together: one by one, but a group that goes as a whole at once and before others, the
    /// group of the first idle node first.
    fn units(&self, look: &mut Look<'_>) -> Vec<Vec<usize>> {
        let (mut whole, mut single) = (IndexMap::<usize, Vec<usize>>::new(), Vec::new());
        for (at, candidate) in look.candidates.iter().enumerate() {
            match look.groups.get(candidate.group) {
                Some(shrinking) if shrinking.whole => whole.entry(candidate.group).or_default().push(at),
                _ => single.push(vec![at]),
            }
        }
        let mut units = Vec::new();
        for (group, unit) in whole {
            let nodes = look.groups.get(group).map_or(0, |shrinking| shrinking.nodes);
            let ready = u32::try_from(unit.len()).unwrap_or(u32::MAX).saturating_add(self.chooser.going(group));
            if ready == nodes {
                units.push(unit);
                continue;
            }
            let views = unit.iter().filter_map(|at| look.candidates.get(*at)).map(|candidate| candidate.view);
            look.kept.extend(views.map(|view| (view, Kept::NotWhole { ready, nodes })));
        }
        units.append(&mut single);
        units
    }

    /// Marks those that may go now. Nodes whose pods use up more of a disruption budget than is left come last: they are
    /// emptied one pod after the other.
    fn choose<'l>(&mut self, round: &mut Round<'_>, look: &mut Look<'l>, removable: Vec<Vec<usize>>) {
        let mut slow = Vec::new();
        let mut later: Vec<(NodeView<'l>, Kept)> = Vec::new();
        for unit in removable {
            let nodes: Vec<&Candidate<'_>> = unit.iter().filter_map(|at| look.candidates.get(*at)).collect();
            let parallel = nodes.iter().all(|candidate| look.judge.disruptions.covers(&candidate.load.budgets));
            if parallel { self.mark(round, look, &unit, &mut later) } else { slow.push(unit) }
        }
        for unit in slow {
            self.mark(round, look, &unit, &mut later);
        }
        look.kept.append(&mut later);
    }

    fn mark<'l>(
        &mut self,
        round: &mut Round<'_>,
        look: &mut Look<'l>,
        unit: &[usize],
        kept: &mut Vec<(NodeView<'l>, Kept)>,
    ) {
        let nodes: Vec<&Candidate<'_>> = unit.iter().filter_map(|at| look.candidates.get(*at)).collect();
        let used_up = nodes.iter().find_map(|candidate| {
            let (number, because) = look.judge.disruptions.first_used_up(&candidate.load.budgets)?;
            Some(Kept::Pod { pod: look.judge.first_under(&candidate.view, number), because })
        });
        let verdict = self.chooser.may_go(round, &look.groups, &nodes).and_then(|()| used_up.map_or(Ok(()), Err));
        if let Err(why) = verdict {
            kept.extend(nodes.iter().map(|candidate| (candidate.view, why.clone())));
            return;
        }
        for candidate in unit.iter().filter_map(|at| look.candidates.get(*at)) {
            let Some(shrinking) = look.groups.get(candidate.group) else { continue };
            let reason = why_it_goes(shrinking, candidate, round.now);
            let (node, taint) = (Arc::clone(&candidate.view.node.name), taints::deletion_taint(round.now));
            round.act(shrinking.group, Action::Taint { node, taint }, reason);
            look.judge.disruptions.use_up(&candidate.load.budgets);
            self.chooser.goes(candidate.group, &candidate.view, candidate.reason());
        }
    }
}

fn why_it_goes(shrinking: &Shrinking<'_>, candidate: &Candidate<'_>, now: jiff::Timestamp) -> Reason {
    let (usage, pods) = (candidate.usage.clone(), candidate.load.evictions);
    match (candidate.view.node.created, shrinking.settings.expire_after) {
        (Some(created), Some(expire_after)) if candidate.old => {
            Reason::Expired { age: now.duration_since(created), expire_after, usage, pods }
        }
        _ => Reason::Idle {
            idle_for: now.duration_since(candidate.idle_since),
            enough: enough(shrinking, candidate),
            usage,
            pods,
            unready: candidate.unready(),
        },
    }
}

/// The groups that grow in this round; the time of it is remembered.
fn note_growth(round: &Round<'_>, look: &Look<'_>, memories: &mut [GroupMemory]) -> Vec<usize> {
    let mut grown = Vec::new();
    for planned in &round.actions {
        let Action::Resize { from, to } = planned.action else { continue };
        if to <= from {
            continue;
        }
        let Some(shrinking) = look.groups.iter().find(|shrinking| shrinking.group.name == planned.group) else {
            continue;
        };
        if let Some(memory) = memories.get_mut(shrinking.at) {
            memory.lock = Some(Lock { at: round.now, requested: to.saturating_sub(from) });
        }
        grown.push(shrinking.at);
    }
    grown
}

fn reason(view: &NodeView<'_>, refused: Refused) -> Kept {
    match refused {
        Refused::Kept(kept) => kept,
        Refused::Homeless(Homeless { placeholder: Some(of), count, misfit, .. }) => {
            Kept::HoldsSlack { of, count, misfit }
        }
        Refused::Homeless(Homeless { class, namespace, count, misfit, .. }) => {
            let names = view.pods_where(|of, _| of == class).map(|pod| pod.name);
            let pod = format!("{namespace}/{}", names.min().unwrap_or_default());
            Kept::NoPlace { pod, count, misfit }
        }
    }
}

/// What the sizes become.
fn report(round: &mut Round<'_>, look: &Look<'_>) {
    for shrinking in &look.groups {
        let name = &shrinking.group.name;
        let removed = round.actions.iter().filter(|planned| matches!(planned.action, Action::Remove { .. }));
        let removed = removed.filter(|planned| planned.group == *name).count();
        let Some(report) = round.report.groups.iter_mut().find(|report| report.name == *name) else { continue };
        report.planned = report.planned.saturating_sub(u32::try_from(removed).unwrap_or(u32::MAX));
    }
}

fn keep_all(round: &mut Round<'_>, look: Look<'_>) {
    let idle = look.candidates.iter().map(|candidate| (candidate.view, Kept::NotNow));
    let marked = look.marked.iter().map(|marked| (marked.view, Kept::NotNow));
    let all = look.kept.iter().cloned().chain(idle).chain(marked).collect();
    refuse_kept(round, all);
}

/// Says why each node stays, by name, which is the order of the snapshot.
fn refuse_kept(round: &mut Round<'_>, kept: Vec<(NodeView<'_>, Kept)>) {
    round.report.refusals.reserve(kept.len());
    let mut kept = OfNodes::new(round.snapshot, kept.into_iter());
    for view in round.snapshot.nodes() {
        let Some(why) = kept.take(&view) else { continue };
        why.until().into_iter().for_each(|until| round.wake.at(until));
        round.refuse(Subject::Node(Arc::clone(&view.node.name)), Why::Kept { why: Box::new(why) });
    }
}

/// Drops what is remembered of nodes that are gone, or that may be tried again.
fn forget_the_past(round: &Round<'_>, look: &Look<'_>, memories: &mut [GroupMemory]) {
    for shrinking in &look.groups {
        let Some(memory) = memories.get_mut(shrinking.at) else { continue };
        let keep_for = look.judge.policy.retry_after.max(shrinking.settings.after_failure);
        memory.given_up.retain(|_, at| round.now.duration_since(*at) < keep_for);
        memory.drains.retain(|name, _| round.snapshot.node(name).is_some());
    }
}
