//! What one round hands to the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::backoff::Backoffs;
use crate::plan::Placeholder;
use crate::quantity::Resources;
use crate::snapshot::Template;

/// All state between rounds. Losing it is safe: see [`Memory::fresh`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Memory {
    /// When this memory began. A timer that holds back a removal and was never set counts from here. None is a settled
    /// memory: every such timer has run out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// By group name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<Arc<str>, GroupMemory>,
    /// Groups that are left alone because machines did not come.
    #[serde(skip_serializing_if = "Backoffs::is_empty")]
    pub backoffs: Backoffs,
    /// What scale-down has seen; None before it looked for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_down: Option<Watch>,
    /// The last growth for waiting pods, while its machines are on their way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Where placeholders are, by what they stand for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub placeholders: BTreeMap<Arc<str>, Places>,
}

/// Where equal placeholders are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Places {
    /// How many on each node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<Arc<str>, u32>,
    /// How many on each machine of a group that has no node yet, in a fixed order.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub upcoming: BTreeMap<Arc<str>, Vec<u32>>,
}

/// A growth with which every waiting pod got a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    /// When it was decided.
    pub at: Timestamp,
    /// How many pods waited at any time since, at the least: when more wait, some of them are new.
    pub waiting: u64,
    /// Since when some of them have no place any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stranded: Option<Timestamp>,
}

/// What scale-down remembers of the whole cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Watch {
    /// The nodes that could go, with the time since which that has been so.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub idle: BTreeMap<Arc<str>, Timestamp>,
    /// How large the cluster was.
    pub level: Level,
    /// The machine that was bought for nodes that it costs less than.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Replacement>,
}

/// A machine that is to take the place of several nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Replacement {
    /// The group that it was bought in.
    pub group: Arc<str>,
    /// When it was asked for.
    pub since: Timestamp,
    /// The nodes whose pods it is to take, by name.
    pub nodes: Vec<Arc<str>>,
}

/// How large a cluster is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Level {
    /// Nodes.
    pub nodes: u32,
    /// Requested cpu in thousandths of a core.
    pub cpu: i128,
    /// Requested memory in bytes.
    pub memory: i128,
    /// How busy the servers of a pool are together, in hundredths of a percent of one; None where that is not known of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<u64>,
    /// Since when the cluster has been less than half as large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fell_at: Option<Timestamp>,
}

/// How far the drain of a node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drain {
    /// Pods that have to be evicted.
    pub evictions: u32,
    /// Pods on the node that must go, those on their way out included.
    pub pods: u32,
    /// Since when it has been so many.
    pub since: Timestamp,
}

impl Drain {
    /// What is on the node now, given what was there before: the time begins with the first eviction, and anew whenever one
    /// more pod has been evicted or has gone.
    pub fn next(before: Option<Drain>, evictions: u32, pods: u32, now: Timestamp) -> Drain {
        let same = before.filter(|before| evictions >= before.evictions && pods >= before.pods);
        Drain { evictions, pods, since: same.map_or(now, |before| before.since) }
    }
}

/// What is remembered of one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GroupMemory {
    /// The last enlargement, which starts the cool-down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Lock>,
    /// When removal last moved a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_step: Option<Timestamp>,
    /// What the group's newest usable node was like, for when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learnt: Option<Learnt>,
    /// Machines that the cloud owes and does not list, oldest first, with the time from which they are waited for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<Awaited>,
    /// Machines that the cloud lists without saying since when, and that are no node, with the time at which each was
    /// first seen.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub first_seen: BTreeMap<Box<str>, Timestamp>,
    /// Machines that Headroom asked for and that may not all have come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// Nodes that had not been usable yet at the last round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub booting: Vec<Arc<str>>,
    /// Young nodes that have been usable: one of them that turns NotReady is not upcoming again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seen_usable: Vec<Arc<str>>,
    /// Nodes that are not ready and do not say since when, with the time at which that was first seen.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_ready_since: BTreeMap<Arc<str>, Timestamp>,
    /// Counts enlargements that brought nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaker: Option<Breaker>,
    /// What new nodes of a `pending` group were like, for when there is none to look at; of a pool only its labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// What the user or the cloud said that new nodes are like, at the last round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated: Option<Stated>,
    /// Machines that had not come in time at the last round.
    #[serde(skip_serializing_if = "is_default")]
    pub never_came: u32,
    /// The last failure of the cloud that has been taken in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Timestamp>,
    /// The nodes that are being drained.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub drains: BTreeMap<Arc<str>, Drain>,
    /// The servers that were made ineligible, with the time of that: on Nomad a server does not say so itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub marked: BTreeMap<Arc<str>, Timestamp>,
    /// How large the pool and what runs on it were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Machines of a pool that were removed or written off, by provider id, with the time of that: as long as the cloud
    /// lists them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub destroyed: BTreeMap<Box<str>, Timestamp>,
    /// The provider ids of servers that were removed, as long as their nodes are there: the cloud lists them no more.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub removed: BTreeMap<Arc<str>, Box<str>>,
    /// What servers of each kind of hardware offered to tasks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: BTreeMap<Arc<str>, Resources>,
    /// The nodes whose drain was given up, with the time of that.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub given_up: BTreeMap<Arc<str>, Timestamp>,
}

/// Enlargements by a `pending` group whose machines are not all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The first of them.
    pub first: Timestamp,
    /// The last of them.
    pub last: Timestamp,
}

/// What was said of new nodes, as a mark by which a change is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stated {
    /// A hash of the template.
    pub hash: u64,
    /// When it was first seen to be another than before; None when it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Timestamp>,
}

/// The last enlargement of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lock {
    /// When it was decided.
    pub at: Timestamp,
    /// How many machines it asked for.
    pub requested: u32,
}

/// A node's resources, learnt from a node that was there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Learnt {
    /// What pods could use.
    pub allocatable: Resources,
    /// What DaemonSet pods used of it.
    #[serde(skip_serializing_if = "is_default")]
    pub daemon_sets: Resources,
}

/// Machines that were asked for and have no node yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Awaited {
    /// How many.
    pub count: u32,
    /// Since when.
    pub since: Timestamp,
}

/// Counts enlargements that brought nothing, for the circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Breaker {
    /// Failed enlargements in a row.
    pub failures: u32,
    /// Nodes that the group had at the last enlargement.
    pub nodes: u32,
    /// When that was.
    pub at: Timestamp,
}

impl Memory {
    /// A memory whose timers have all run out: for dumps, fixtures and tests.
    pub fn settled() -> Self {
        Memory::default()
    }

    /// The memory of an instance that has just started: everything that holds back a removal starts at `now`.
    pub fn fresh(now: Timestamp) -> Self {
        Memory { since: Some(now), ..Memory::default() }
    }

    /// What is remembered of `group`.
    pub fn group(&self, group: &str) -> GroupMemory {
        self.groups.get(group).cloned().unwrap_or_default()
    }

    /// Where placeholders of this kind are.
    pub fn places_of(&self, of: &Placeholder) -> &Places {
        static NONE: Places = Places { nodes: BTreeMap::new(), upcoming: BTreeMap::new() };
        self.placeholders.get(&*of.to_string()).unwrap_or(&NONE)
    }

    /// Whether at least `span` has passed since `event`, or since this memory began when the event is not known.
    /// Otherwise the instant at which it will have.
    pub fn elapsed(&self, event: Option<Timestamp>, span: SignedDuration, now: Timestamp) -> Result<(), Timestamp> {
        let Some(from) = event.max(self.since) else { return Ok(()) };
        let until = from.saturating_add(span).unwrap_or(Timestamp::MAX);
        if now >= until { Ok(()) } else { Err(until) }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
