//! Making a group smaller: nodes are marked, and marked nodes go when they may (`spec/escalator.md` 2.11).

use std::cmp::Ordering;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::Pass;
use super::last_drain::{self, Step};
use super::nodes::{oldest_first, removal_mark, tainted_at};
use super::threshold::compare;
use crate::plan::{Action, Reason, Subject, Why};
use crate::policy::RunsOn;
use crate::round::Round;
use crate::scale_down::Disruptions;
use crate::snapshot::{NodeView, Readiness};
use crate::strategy::removed::machine_gone;

impl Pass<'_, '_> {
    /// Marks `wanted` nodes for removal, oldest first. Demand below a threshold moves by steps and waits for the step
    /// interval; the `excess` of nodes above the maximum waits for nothing.
    pub(super) fn mark(&mut self, round: &mut Round<'_>, wanted: u32, excess: u32, reason: Reason) {
        if !self.may_remove(round) {
            return;
        }
        if let Some(why) = self.unhealthy_group() {
            round.refuse_group(self.group, why);
            return;
        }
        let lock = self.before.lock.map(|lock| lock.at);
        if let Err(until) = round.memory.elapsed(lock, self.settings.cool_down, round.now) {
            round.wake.at(until);
            round.refuse_group(self.group, Why::CoolingDown { wanted: -i64::from(wanted), until });
            return;
        }
        let (mut count, mut reason) = (wanted, reason);
        let mut steps = matches!(reason, Reason::BelowThreshold { .. });
        if steps && let Err(until) = round.memory.elapsed(self.before.last_step, self.settings.step_interval, round.now)
        {
            round.wake.at(until);
            round.refuse_group(self.group, Why::StepTaken { wanted, until });
            let have = self.nodes.counting().count() as u32;
            (count, steps, reason) = (excess, false, Reason::AboveMax { have, max: self.limits.max });
        }
        // Nodes that wait for their removal lower the cloud's size later, so they are off it already here.
        let waiting = (self.nodes.tainted.len() + self.nodes.force_tainted.len() + self.marked.len()) as u32;
        let mut candidates: Vec<NodeView<'_>> =
            self.nodes.in_service.iter().filter(|view| !self.marked.contains(&view.node.name)).copied().collect();
        let by_nodes = (candidates.len() as u32).saturating_sub(self.limits.min);
        let by_cloud = self.size.saturating_sub(waiting).saturating_sub(self.limits.min);
        let allowed = by_nodes.min(by_cloud);
        if count > allowed {
            round.refuse_group(self.group, Why::AtMin { wanted: count, allowed, min: self.limits.min });
            count = allowed;
        }
        self.leave_strangers(round, &mut candidates);
        oldest_first(&mut candidates);
        if steps {
            let lasting = self.lasting(&candidates, count);
            if lasting < count {
                let why = Why::WouldGrowAgain { wanted: count, allowed: lasting, above: self.settings.scale_up_above };
                round.refuse_group(self.group, why);
                count = lasting;
            }
        }
        for view in candidates.iter().take(count as usize) {
            self.put_mark(round, view, reason.clone());
            if steps {
                self.memory.last_step = Some(round.now);
            }
        }
    }

    /// How many of the first `count` candidates can be marked without the rest being so busy that the next round would take
    /// a mark off again. Escalator swings to and fro there: two nodes at 39 % are one at 78 %.
    fn lasting(&self, candidates: &[NodeView<'_>], count: u32) -> u32 {
        let [cpu, memory] = &self.keep;
        let (mut cpu, mut memory) = (cpu.clone(), memory.clone());
        let lasts = |view: &&NodeView<'_>| {
            let offered = self.offered_by(view);
            cpu.capacity -= i128::from(offered.cpu);
            memory.capacity -= i128::from(offered.memory);
            [&cpu, &memory]
                .into_iter()
                .all(|usage| usage.requests == 0 || compare(usage, self.settings.scale_up_above) != Ordering::Greater)
        };
        let lasting = candidates.iter().take(count as usize).take_while(lasts).count();
        u32::try_from(lasting).unwrap_or(u32::MAX)
    }

    /// Marks nodes that have not been ready for too long, unless so many are unready that the fault is likely to be
    /// elsewhere (Cluster Autoscaler's limits: more than 3 and more than 45 %).
    pub(super) fn mark_unhealthy(&mut self, round: &mut Round<'_>) {
        let Some(settings) = self.settings.unhealthy else { return };
        if self.unhealthy.is_empty() {
            return;
        }
        if !self.may_remove(round) {
            return;
        }
        let (unready, nodes) = (self.unhealthy.len() as u32, self.present);
        if unready > 3 && u64::from(unready) * 100 > u64::from(nodes) * 45 {
            round.refuse_group(self.group, Why::ManyUnready { unready, nodes });
            return;
        }
        let mut candidates: Vec<NodeView<'_>> = self.nodes.counting().copied().collect();
        candidates.retain(|view| self.unhealthy.contains_key(&view.node.name));
        self.leave_strangers(round, &mut candidates);
        for view in candidates {
            let Some(since) = self.unhealthy.get(&view.node.name).copied() else { continue };
            self.put_mark(round, &view, Reason::Unhealthy { since, grace: settings.grace });
        }
    }

    /// Leaves out nodes that would be marked for nothing.
    fn leave_strangers(&self, round: &mut Round<'_>, candidates: &mut Vec<NodeView<'_>>) {
        candidates.retain(|view| {
            let stays = self.listed.is_stranger(view.node);
            if stays {
                round.refuse(Subject::Node(Arc::clone(&view.node.name)), Why::NoMachine);
            }
            !stays
        });
    }

    /// Marks one node. A node of Nomad does not say when that was.
    fn put_mark(&mut self, round: &mut Round<'_>, view: &NodeView<'_>, reason: Reason) {
        let node = || Arc::clone(&view.node.name);
        if self.settings.runs_on == RunsOn::Nomad {
            self.memory.marked.insert(node(), round.now);
        }
        let taint = removal_mark(self.settings, round.now);
        round.act(self.group, Action::Taint { node: node(), taint }, reason);
        self.marked.insert(node());
    }

    /// Removes marked nodes that may go: with the force taint when empty, with the removal taint when empty after the
    /// soft grace period, or after the hard one once they have been drained. As many as the minimum allows, those marked
    /// first before others.
    ///
    /// Escalator also stops removals while its lock is held; there is no reason to pay for those nodes longer. Exactly at
    /// the end of a period counts as over (see `health`).
    pub(super) fn reap(&mut self, round: &mut Round<'_>) {
        self.memory.drains.retain(|name, _| self.nodes.tainted.iter().any(|view| view.node.name == *name));
        let mut due: Vec<(Option<Timestamp>, NodeView<'_>, Reason)> = Vec::new();
        for view in self.nodes.force_tainted.iter().chain(&self.nodes.tainted) {
            match self.may_go(round, view) {
                Ok((marked_at, reason)) => due.push((marked_at, *view, reason)),
                Err(why) => round.refuse(Subject::Node(Arc::clone(&view.node.name)), why),
            }
        }
        if due.is_empty() {
            return;
        }
        if !self.may_remove(round) {
            return;
        }
        due.sort_by(|a, b| (a.0, &a.1.node.name).cmp(&(b.0, &b.1.node.name)));
        let cloud = round.snapshot.group(&self.group.name);
        due.retain(|(_, view, reason)| {
            let node = Arc::clone(&view.node.name);
            match machine_gone(self.memory, cloud, view.node) {
                // Whoever removed it did not come to the end: the node is left, and counts for no size.
                Some(machine) if view.sums.blocking == 0 && view.node.readiness != Readiness::Ready => {
                    let action = Action::Remove { node, provider_id: Some(machine), pods: Vec::new() };
                    round.act(self.group, action, reason.clone());
                }
                Some(_) => round.refuse(Subject::Node(node), Why::MachineGone),
                None if self.listed.is_stranger(view.node) => round.refuse(Subject::Node(node), Why::NoMachine),
                None => return true,
            }
            false
        });
        let allowed = self.size.saturating_sub(self.limits.min);
        let wanted = due.len() as u32;
        if wanted > allowed {
            round.refuse_group(self.group, Why::AtMin { wanted, allowed, min: self.limits.min });
        }
        let mut disruptions = None;
        for (_, view, reason) in due.into_iter().take(allowed as usize) {
            if let Reason::HardGraceOver { .. } = reason {
                let disruptions = disruptions.get_or_insert_with(|| Disruptions::after(round.snapshot, &round.actions));
                match last_drain::step(round, disruptions, &view, self.memory) {
                    Step::Evict { pods, until } => {
                        let action = Action::Drain { node: Arc::clone(&view.node.name), pods, until };
                        round.act(self.group, action, reason);
                        continue;
                    }
                    Step::Wait { until } => {
                        let why = Why::NotEmpty { pods: view.sums.blocking, until };
                        round.refuse(Subject::Node(Arc::clone(&view.node.name)), why);
                        continue;
                    }
                    // On Nomad the deadline of the drain ends its tasks, and the node goes once they have ended.
                    Step::Over { until } if self.settings.runs_on == RunsOn::Nomad => {
                        let why = Why::NotDrained { pods: view.sums.blocking, deadline: until };
                        round.refuse(Subject::Node(Arc::clone(&view.node.name)), why);
                        continue;
                    }
                    Step::Over { .. } => {}
                }
            }
            let pods = if view.sums.blocking == 0 { Vec::new() } else { blocking_pods(&view) };
            let node = Arc::clone(&view.node.name);
            let provider_id = self.listed.provider_id(view.node);
            round.act(self.group, Action::Remove { node, provider_id, pods }, reason);
            self.planned = self.planned.saturating_sub(1);
        }
    }

    /// Whether anything may be removed; the reason against it is given once.
    fn may_remove(&mut self, round: &mut Round<'_>) -> bool {
        match self.fell.clone().map_or_else(|| round.may_remove(self.group), Err) {
            Ok(()) => true,
            Err(why) => {
                if !std::mem::replace(&mut self.said_no_removal, true) {
                    round.refuse_group(self.group, why);
                }
                false
            }
        }
    }

    /// Whether a marked node may go now, with the time at which it was marked; or why not.
    fn may_go(&self, round: &mut Round<'_>, view: &NodeView<'_>) -> Result<(Option<Timestamp>, Reason), Why> {
        let pods = view.sums.blocking;
        if let Some(value) = &view.node.no_delete {
            return Err(Why::NoDelete { value: value.clone() });
        }
        if self.nodes.force_tainted.iter().any(|forced| forced.node.name == view.node.name) {
            return if pods == 0 { Ok((None, Reason::ForceTainted)) } else { Err(Why::ForceTaintedNotEmpty { pods }) };
        }
        if let Some(why) = self.unhealthy_group()
            && !self.unhealthy.contains_key(&view.node.name)
        {
            return Err(why);
        }
        let remembered = self.memory.marked.get(&view.node.name).copied();
        let tainted = || tainted_at(view.node).map_err(|value| Why::TaintUnreadable { value });
        let at = remembered.map_or_else(tainted, |at| Ok(Some(at)))?.unwrap_or(round.now);
        let tainted_for = round.now.duration_since(at);
        let end = |grace: SignedDuration| at.saturating_add(grace).unwrap_or(Timestamp::MAX);
        let (soft_grace, hard_grace) = (self.settings.soft_grace, self.settings.hard_grace);
        if tainted_for < soft_grace {
            round.wake.at(end(soft_grace));
            return Err(Why::SoftGrace { until: end(soft_grace) });
        }
        if pods == 0 {
            return Ok((Some(at), Reason::Empty { tainted_for, soft_grace }));
        }
        if tainted_for < hard_grace {
            round.wake.at(end(hard_grace));
            return Err(Why::NotEmpty { pods, until: end(hard_grace) });
        }
        Ok((Some(at), Reason::HardGraceOver { tainted_for, hard_grace, pods }))
    }
}

/// `namespace/name` of the pods that go with the node although they would have to run somewhere.
fn blocking_pods(view: &NodeView<'_>) -> Vec<String> {
    let pods = view.pods();
    let blocking = pods.iter().filter(|pod| pod.blocks_removal());
    blocking.map(|pod| pod.full_name()).collect()
}
