//! What is known of one group besides its nodes, and how it changes. Nothing here talks to the API server.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::snapshot::{LaunchError, LaunchFailure};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::KwokGroup;

/// What the nodes of a group do not tell: kept in a ConfigMap, so that it survives Headroom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct State {
    /// How many machines the group shall have.
    pub(super) target: u32,
    /// The number of the youngest machine.
    pub(super) made: u32,
    /// Machines that are no nodes yet, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) machines: Vec<Machine>,
    /// Nodes that are to go. They count in `target` no more.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) leaving: BTreeSet<Box<str>>,
    /// The last time that a machine could not be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<LaunchFailure>,
}

/// The state of a group as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    pub(super) state: State,
    /// Of the ConfigMap.
    pub(super) version: Option<String>,
}

/// A machine that is no node yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Machine {
    /// Of the node that it becomes.
    pub(super) name: Box<str>,
    /// Of the zones of its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) zone: Option<Box<str>>,
    /// When it was asked for.
    pub(super) asked: Timestamp,
    /// What becomes of it.
    #[serde(default)]
    pub(super) fate: Fate,
}

/// What becomes of a machine. It is settled when the machine is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Fate {
    /// A node.
    #[default]
    Boots,
    /// It looks as if it were starting, for ever.
    NeverRegisters,
    /// It could not be made.
    Failed,
}

/// A node of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) name: Box<str>,
    pub(super) zone: Option<Box<str>>,
    pub(super) created: Option<Timestamp>,
    /// The object is being deleted.
    pub(super) deleting: bool,
}

/// A group as it is.
#[derive(Clone, Debug)]
pub(super) struct Group<'a> {
    pub(super) spec: &'a KwokGroup,
    pub(super) state: State,
    /// Of the ConfigMap that the state was read from; None if there is none yet.
    pub(super) version: Option<String>,
    /// By name.
    pub(super) nodes: BTreeMap<Box<str>, Seen>,
}

impl<'a> Group<'a> {
    /// Puts together what was stored and the nodes that there are. Nodes that somebody else added are taken in, since
    /// nothing may go for want of knowledge.
    pub(super) fn new(spec: &'a KwokGroup, stored: Option<Stored>, nodes: impl IntoIterator<Item = Seen>) -> Self {
        let nodes: BTreeMap<Box<str>, Seen> = nodes.into_iter().map(|node| (node.name.clone(), node)).collect();
        let Stored { mut state, version } = stored.unwrap_or_default();
        state.machines.retain(|machine| !nodes.contains_key(&machine.name));
        state.leaving.retain(|name| nodes.contains_key(name));
        let numbers = nodes.keys().filter_map(|name| spec.number_of(name));
        state.made = numbers.fold(state.made, u32::max);
        let mut group = Group { spec, state, version, nodes };
        group.state.target = group.state.target.max(group.size());
        group
    }

    /// Nodes that stay.
    pub(super) fn staying(&self) -> impl Iterator<Item = &Seen> {
        self.nodes.values().filter(|node| !self.is_leaving(node))
    }

    /// Whether this node is on its way out.
    pub(super) fn is_leaving(&self, node: &Seen) -> bool {
        node.deleting || self.state.leaving.contains(&node.name)
    }

    /// How many machines there are, whatever becomes of them.
    fn size(&self) -> u32 {
        count(self.staying()).saturating_add(count(&self.state.machines))
    }

    /// Whether nothing remains to be done, now or later.
    pub(super) fn is_settled(&self) -> bool {
        self.state.leaving.is_empty() && self.size() >= self.state.target && self.booting().next().is_none()
    }

    /// Sets the size. What is too much goes: machines that are no nodes first, then the youngest nodes.
    pub(super) fn resize(&mut self, target: u32, now: Timestamp) {
        self.state.target = target;
        let surplus = self.size().saturating_sub(target) as usize;
        let kept = self.state.machines.len().saturating_sub(surplus);
        let dropped = self.state.machines.split_off(kept).len();
        // Those that are none of the group's own making count as oldest.
        let age = |node: &Seen| (self.spec.number_of(&node.name), node.name.clone());
        let mut staying: Vec<(Option<u32>, Box<str>)> = self.staying().map(age).collect();
        staying.sort_unstable_by(|a, b| b.cmp(a));
        self.state.leaving.extend(staying.into_iter().take(surplus - dropped).map(|(_, name)| name));
        self.refill(now);
    }

    /// Asks for the machines that are missing and says whether there were any.
    pub(super) fn refill(&mut self, now: Timestamp) -> bool {
        let missing = self.state.target.saturating_sub(self.size());
        (0..missing).for_each(|_| self.ask(now));
        missing > 0
    }

    /// Whether machine `name` is one of the group and not on its way out.
    pub(super) fn has(&self, name: &str) -> bool {
        let becomes_a_node = self.state.machines.iter().any(|machine| *machine.name == *name);
        becomes_a_node || self.nodes.get(name).is_some_and(|node| !self.is_leaving(node))
    }

    /// Lets go of machine `name`, which the group [has](Group::has).
    pub(super) fn let_go(&mut self, name: &str) {
        let before = self.state.machines.len();
        self.state.machines.retain(|machine| *machine.name != *name);
        if self.state.machines.len() == before {
            self.state.leaving.insert(name.into());
        }
    }

    /// Notes that a machine has become a node.
    pub(super) fn booted(&mut self, name: &str, now: Timestamp) {
        let (booted, others): (Vec<_>, Vec<_>) =
            self.state.machines.drain(..).partition(|machine| *machine.name == *name);
        self.state.machines = others;
        for Machine { name, zone, .. } in booted {
            self.nodes.insert(name.clone(), Seen { name, zone, created: Some(now), deleting: false });
        }
    }

    /// Notes that a machine could not be made.
    pub(super) fn fail(&mut self, name: &str, failure: LaunchFailure) {
        for machine in self.state.machines.iter_mut().filter(|machine| *machine.name == *name) {
            machine.fate = Fate::Failed;
        }
        self.state.failure = Some(failure);
    }

    /// Machines that can be nodes by `now`.
    pub(super) fn due(&self, now: Timestamp) -> impl Iterator<Item = &Machine> {
        self.booting().filter(move |machine| self.spec.boots_at(machine) <= now)
    }

    /// When the next machine can be a node.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.booting().map(|machine| self.spec.boots_at(machine)).min()
    }

    fn booting(&self) -> impl Iterator<Item = &Machine> {
        self.state.machines.iter().filter(|machine| machine.fate == Fate::Boots)
    }

    fn ask(&mut self, now: Timestamp) {
        self.state.made = self.state.made.saturating_add(1);
        let name = self.spec.name_of(self.state.made);
        let fate = if self.spec.stock.is_some_and(|stock| self.in_use() >= stock) {
            let message = format!("all {} machines are in use", self.in_use()).into();
            self.state.failure = Some(LaunchFailure { at: now, error: LaunchError::OutOfStock, message });
            Fate::Failed
        } else if self.spec.fails_to_boot(self.state.made) {
            Fate::NeverRegisters
        } else {
            Fate::Boots
        };
        let zone = self.emptiest_zone();
        self.state.machines.push(Machine { name, zone, asked: now, fate });
    }

    /// How much of the stock is used up. A node on its way out still has its machine.
    fn in_use(&self) -> u32 {
        let made = self.state.machines.iter().filter(|machine| machine.fate != Fate::Failed);
        count(&self.nodes).saturating_add(count(made))
    }

    /// The zone with the fewest machines, the first of them.
    fn emptiest_zone(&self) -> Option<Box<str>> {
        let used = |zone: &str| {
            let nodes = self.staying().filter(|node| node.zone.as_deref() == Some(zone)).count();
            nodes + self.state.machines.iter().filter(|machine| machine.zone.as_deref() == Some(zone)).count()
        };
        self.spec.zones.iter().min_by_key(|zone| used(zone)).cloned()
    }
}

fn count<T>(of: impl IntoIterator<Item = T>) -> u32 {
    u32::try_from(of.into_iter().count()).unwrap_or(u32::MAX)
}
