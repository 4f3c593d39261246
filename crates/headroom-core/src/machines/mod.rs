//! Which machines of a group are on their way, and which never came (the design's round order, step 2).

mod identities;
mod shape;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

pub use identities::{Identities, Listed, is_node};
pub use shape::{expected, has_started, learn, shape, usable};

use crate::memory::{Awaited, GroupMemory};
use crate::policy::Group;
use crate::snapshot::{CloudGroup, Instance, InstanceState, LaunchFailure, Node, NodeView};
use crate::wake::Wake;

/// What there is to see of one group's machines.
pub struct Observed<'a, 's> {
    /// The group.
    pub group: &'a Group,
    /// The group as its cloud sees it, when a cloud was asked.
    pub cloud: Option<&'a CloudGroup>,
    /// The group's nodes.
    pub nodes: &'a [NodeView<'a>],
    /// Nodes that are in other groups too: its machines, although it does not act on them.
    pub disputed: &'a [NodeView<'a>],
    /// The nodes of the whole cluster.
    pub everywhere: &'a Identities<'s>,
}

/// What is on its way for one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machines {
    /// Nodes that have registered and have never been usable.
    pub booting: BTreeSet<Arc<str>>,
    /// Nodes that have registered and whose time to become usable has run out since the last round.
    pub never_ready: u32,
    /// Machines without a node of the group that may still come.
    pub unregistered: u32,
    /// Machines that the cloud lists, that are no node anywhere in the cluster, and whose time is over.
    pub lost: Vec<Lost>,
    /// Machines that the cloud owes and does not list, and whose time is over.
    pub missing: u32,
    /// Since when the first of those has been waited for.
    pub missing_since: Option<Timestamp>,
    /// Machines that the cloud lists and that are nodes of the group.
    pub matched: u32,
    /// Nodes of the group that run and are no machine that the cloud lists. Counted only when some machine is lost or
    /// missing.
    pub strangers: u32,
}

/// A machine that the cloud lists and that never became a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// How the cloud names it.
    pub provider_id: Box<str>,
    /// Since when it has been waited for.
    pub since: Timestamp,
    /// The cloud itself says that it could not make it.
    pub failed: bool,
}

impl Machines {
    /// How many machines were asked for and are past their time.
    pub fn never_came(&self) -> u32 {
        count(self.lost.iter()).saturating_add(self.missing)
    }
}

/// Works out what is on its way for a group and notes it in `memory`.
pub fn machines(observed: &Observed<'_, '_>, memory: &mut GroupMemory, now: Timestamp, wake: &mut Wake) -> Machines {
    let mut machines = Machines::default();
    sort_out_nodes(observed, memory, &mut machines, now, wake);
    let Some(cloud) = observed.cloud else {
        memory.awaited.clear();
        memory.first_seen.clear();
        return machines;
    };
    let all = || observed.nodes.iter().chain(observed.disputed).map(|view| view.node);
    let owed = match &cloud.instances {
        None => cloud.target.saturating_sub(count(all().filter(|node| !node.deleting))),
        Some(instances) => {
            sort_out_instances(observed, instances, &Identities::of(all()), memory, &mut machines, now, wake);
            let alive = instances.iter().filter(|instance| instance.state != InstanceState::Deleting);
            cloud.target.saturating_sub(count(alive))
        }
    };
    await_machines(&mut memory.awaited, owed, now);
    let asked = memory.request.map(|request| request.last);
    for awaited in &memory.awaited {
        let deadline = observed.group.deadline(awaited.since);
        if now < deadline && !strikes(cloud.failure.as_ref(), awaited.since, asked) {
            machines.unregistered = machines.unregistered.saturating_add(awaited.count);
            wake.at(deadline);
        } else {
            machines.missing = machines.missing.saturating_add(awaited.count);
            machines.missing_since = machines.missing_since.or(Some(awaited.since));
        }
    }
    if cloud.instances.is_some() && machines.never_came() > 0 {
        let listed = Listed::of(observed.cloud);
        let started = |node: &&Node| !node.deleting && has_started(observed.group, node);
        let nodes = observed.nodes.iter().map(|view| view.node).filter(started);
        machines.strangers = count(nodes.filter(|node| !listed.has(node)));
    }
    machines
}

/// Whether the cloud has said, since these machines were asked for, that it cannot make them.
fn strikes(failure: Option<&LaunchFailure>, since: Timestamp, asked: Option<Timestamp>) -> bool {
    // The request comes before the round that first sees what it left open, and the cloud may fail in between.
    let from = asked.filter(|asked| *asked <= since).unwrap_or(since);
    failure.is_some_and(|failure| failure.at >= from)
}

/// Finds the nodes that have never been usable: they are upcoming until their time is over.
fn sort_out_nodes(
    observed: &Observed<'_, '_>,
    memory: &mut GroupMemory,
    machines: &mut Machines,
    now: Timestamp,
    wake: &mut Wake,
) {
    let mut seen_usable = BTreeSet::new();
    let expected = expected(observed.group, observed.cloud, memory);
    for view in observed.nodes {
        let Some(created) = view.node.created else { continue };
        let deadline = observed.group.deadline(created);
        let usable = usable(observed.group, expected, view.node);
        let name = &view.node.name;
        if now >= deadline {
            machines.never_ready += u32::from(!usable && memory.booting.binary_search(name).is_ok());
            continue;
        }
        // A usable node is forgotten then, a booting one no longer upcoming.
        wake.at(deadline);
        if usable || memory.seen_usable.binary_search(name).is_ok() {
            seen_usable.insert(Arc::clone(name));
        } else {
            machines.booting.insert(Arc::clone(name));
        }
    }
    memory.seen_usable = seen_usable.into_iter().collect();
    memory.booting = machines.booting.iter().cloned().collect();
}

/// Finds the machines that are no node. One that is a node outside of its group (its labels may still come) is waited
/// for like one that is none, but it never counts as lost.
fn sort_out_instances(
    observed: &Observed<'_, '_>,
    instances: &[Instance],
    own: &Identities<'_>,
    memory: &mut GroupMemory,
    machines: &mut Machines,
    now: Timestamp,
    wake: &mut Wake,
) {
    let mut first_seen = BTreeMap::new();
    for instance in instances.iter().filter(|instance| instance.state != InstanceState::Deleting) {
        if own.has(instance) {
            machines.matched += 1;
            continue;
        }
        let since = instance.created.unwrap_or_else(|| {
            let seen = memory.first_seen.get(&instance.provider_id).copied().unwrap_or(now);
            first_seen.insert(instance.provider_id.clone(), seen);
            seen
        });
        let deadline = observed.group.deadline(since);
        let failed = instance.state == InstanceState::Failed;
        if now < deadline && !failed {
            machines.unregistered += 1;
            wake.at(deadline);
        } else if !observed.everywhere.has(instance) {
            machines.lost.push(Lost { provider_id: instance.provider_id.clone(), since, failed });
        }
    }
    machines.lost.sort_by(|a, b| a.provider_id.cmp(&b.provider_id));
    memory.first_seen = first_seen;
}

/// Brings the list of awaited machines to `count`: new ones are waited for from now, and those that came were the
/// oldest.
fn await_machines(awaited: &mut Vec<Awaited>, count: u32, now: Timestamp) {
    let known: u32 = awaited.iter().map(|awaited| awaited.count).sum();
    if count > known {
        awaited.push(Awaited { count: count - known, since: now });
    }
    let mut arrived = known.saturating_sub(count);
    for entry in awaited.iter_mut() {
        let taken = arrived.min(entry.count);
        entry.count -= taken;
        arrived -= taken;
    }
    awaited.retain(|entry| entry.count > 0);
}

fn count(of: impl Iterator) -> u32 {
    u32::try_from(of.count()).unwrap_or(u32::MAX)
}
