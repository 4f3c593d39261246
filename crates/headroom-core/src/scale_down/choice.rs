//! Which of the nodes that could go do go now: those that have waited long enough, as far as sizes, pauses and budgets
//! allow.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::budgets::{Budgets, Going};
use super::look::{Candidate, Shrinking};
use crate::guard::Limits;
use crate::memory::GroupMemory;
use crate::plan::{BudgetUse, Event, Kept, Resource};
use crate::policy::{AtLeast, Removal, ScaleDownPolicy};
use crate::quantity::Totals;
use crate::round::Round;
use crate::snapshot::NodeView;

/// What limits the number of nodes that go.
pub(super) struct Chooser<'a> {
    groups: Vec<GroupState<'a>>,
    total: (Budgets<'a>, Going),
    at_least: &'a AtLeast,
    /// What the cluster will have without the nodes that are on their way out.
    nodes: u32,
    capacity: Totals,
}

struct GroupState<'a> {
    /// It goes as a whole or not at all.
    whole: bool,
    /// Without what this plan writes off: a machine that never came keeps no minimum.
    size: u32,
    min: Option<u32>,
    hold: Option<Kept>,
    budgets: Budgets<'a>,
    going: Going,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(
        round: &mut Round<'_>,
        policy: &'a ScaleDownPolicy,
        groups: &[Shrinking<'a>],
        memories: &[GroupMemory],
    ) -> Self {
        let mut states = Vec::new();
        let mut lowered = BTreeMap::<&str, u32>::new();
        for planned in &round.actions {
            let by = lowered.entry(&planned.group).or_default();
            *by = by.saturating_add(planned.action.lowers_by());
        }
        let lowered: Vec<u32> =
            groups.iter().map(|shrinking| lowered.get(&*shrinking.group.name).copied().unwrap_or(0)).collect();
        for (shrinking, lowered) in groups.iter().zip(lowered) {
            let cloud = round.snapshot.group(&shrinking.group.name);
            let memory = memories.get(shrinking.at).cloned().unwrap_or_default();
            states.push(GroupState {
                whole: shrinking.whole,
                size: cloud.map_or(shrinking.nodes, |cloud| cloud.target).saturating_sub(lowered),
                min: Limits::of(shrinking.group, cloud).ok().map(|limits| limits.min),
                hold: hold(round, shrinking, &memory),
                budgets: Budgets::new(
                    &shrinking.settings.budgets,
                    shrinking.started,
                    false,
                    round.now,
                    &mut round.wake,
                ),
                going: Going::default(),
            });
        }
        let all = groups.iter().map(|shrinking| shrinking.started).sum();
        let total = Budgets::new(&policy.budgets, all, true, round.now, &mut round.wake);
        let mut capacity = Totals::default();
        round.snapshot.nodes().for_each(|view| capacity += &view.node.capacity);
        let nodes = u32::try_from(round.snapshot.node_count()).unwrap_or(u32::MAX);
        Chooser { groups: states, total: (total, Going::default()), at_least: &policy.at_least, nodes, capacity }
    }

    /// How many nodes of a group are on their way out.
    pub(super) fn going(&self, group: usize) -> u32 {
        self.groups.get(group).map_or(0, |state| state.going.all())
    }

    /// Counts a node of a group as on its way out.
    pub(super) fn goes(&mut self, group: usize, view: &NodeView<'_>, reason: Removal) {
        if let Some(state) = self.groups.get_mut(group) {
            state.going.add(reason);
        }
        self.total.1.add(reason);
        self.nodes = self.nodes.saturating_sub(1);
        self.capacity -= &view.node.capacity;
    }

    /// Whether nodes of one group may go now, all of them together.
    pub(super) fn may_go(
        &self,
        round: &mut Round<'_>,
        groups: &[Shrinking<'_>],
        nodes: &[&Candidate<'_>],
    ) -> Result<(), Kept> {
        let Some(group) = nodes.first().map(|candidate| candidate.group) else { return Ok(()) };
        let (Some(state), Some(shrinking)) = (self.groups.get(group), groups.get(group)) else {
            return Err(Kept::NotNow);
        };
        round.may_remove(shrinking.group).map_err(|_| Kept::NotNow)?;
        for candidate in nodes {
            long_enough(round, shrinking, candidate)?;
        }
        if let Some(hold) = &state.hold {
            return Err(hold.clone());
        }
        self.keeps_min(group, u32::try_from(nodes.len()).unwrap_or(u32::MAX))?;
        self.leaves_enough(nodes)?;
        let reasons: Vec<Removal> = nodes.iter().map(|candidate| candidate.reason()).collect();
        let beyond = state.whole && !self.another_whole_group_goes(group);
        state.budgets.allow(&state.going, &reasons, beyond)?;
        self.total.0.allow(&self.total.1, &reasons, beyond)
    }

    fn another_whole_group_goes(&self, group: usize) -> bool {
        let others = self.groups.iter().enumerate().filter(|(at, state)| *at != group && state.whole);
        others.into_iter().any(|(_, state)| state.going.all() > 0)
    }

    /// Whether the group keeps its minimum when so many more nodes go.
    pub(super) fn keeps_min(&self, group: usize, more: u32) -> Result<(), Kept> {
        let state = self.groups.get(group).ok_or(Kept::NotNow)?;
        let min = state.min.ok_or(Kept::NotNow)?;
        let size = state.size.saturating_sub(state.going.all());
        if size < min.saturating_add(more) { Err(Kept::AtMin { size, min }) } else { Ok(()) }
    }

    /// How much of each budget is used.
    pub(super) fn budget_uses(&self, groups: &[Shrinking<'_>]) -> Vec<BudgetUse> {
        let (total, going) = &self.total;
        let mut uses: Vec<BudgetUse> = total.uses(None, going).collect();
        for (state, shrinking) in self.groups.iter().zip(groups) {
            uses.extend(state.budgets.uses(Some(&shrinking.group.name), &state.going));
        }
        uses
    }

    /// Whether the cluster keeps what it keeps in any case.
    fn leaves_enough(&self, nodes: &[&Candidate<'_>]) -> Result<(), Kept> {
        if *self.at_least == AtLeast::default() {
            return Ok(());
        }
        let mut goes = Totals::default();
        nodes.iter().for_each(|candidate| goes += &candidate.view.node.capacity);
        let nodes = i128::from(self.nodes) - nodes.len() as i128;
        let AtLeast { nodes: least_nodes, cpu, memory, extended } = self.at_least;
        let named = [
            (Resource::Nodes, nodes, least_nodes.map(i64::from)),
            (Resource::Cpu, self.capacity.cpu - goes.cpu, cpu.map(|cpu| cpu.0)),
            (Resource::Memory, self.capacity.memory - goes.memory, memory.map(|memory| memory.0)),
        ];
        let extended = extended.iter().map(|(name, least)| {
            let left = self.capacity.extended(name) - goes.extended(name);
            (Resource::Extended(Arc::clone(name)), left, Some(*least))
        });
        for (resource, left, least) in named.into_iter().chain(extended) {
            if let Some(least) = least.filter(|least| left < i128::from(*least)) {
                return Err(Kept::AtLeast { resource, left, least });
            }
        }
        Ok(())
    }
}

/// Whether a node has been idle for long enough.
fn long_enough(round: &Round<'_>, shrinking: &Shrinking<'_>, candidate: &Candidate<'_>) -> Result<(), Kept> {
    let until = candidate.idle_since.saturating_add(enough(shrinking, candidate)).unwrap_or(Timestamp::MAX);
    if round.now >= until {
        return Ok(());
    }
    Err(Kept::Young { idle_for: round.now.duration_since(candidate.idle_since), until })
}

/// For how long a node must have been idle; one that is too old has been for long enough.
pub(super) fn enough(shrinking: &Shrinking<'_>, candidate: &Candidate<'_>) -> SignedDuration {
    let settings = shrinking.settings;
    if candidate.old {
        return SignedDuration::ZERO;
    }
    if candidate.unready() { settings.unready_for.unwrap_or(settings.unneeded_for) } else { settings.unneeded_for }
}

/// Why the group is left alone after what has happened to it.
fn hold(round: &Round<'_>, shrinking: &Shrinking<'_>, memory: &GroupMemory) -> Option<Kept> {
    let settings = shrinking.settings;
    let pauses = [
        (Event::Grown, memory.lock.map(|lock| lock.at), settings.after_add),
        (Event::Removed, memory.last_step, settings.after_delete),
        (Event::GivenUp, memory.given_up.values().max().copied(), settings.after_failure),
    ];
    for (after, event, pause) in pauses {
        if event.is_none() && after != Event::Grown {
            continue;
        }
        if let Err(until) = round.memory.elapsed(event, pause, round.now) {
            return Some(Kept::Cooling { after, until });
        }
    }
    None
}
