//! Which machines of a group are on their way, and which never came (the design's round order, step 2).

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::memory::{Awaited, GroupMemory, Learnt};
use crate::policy::Group;
use crate::quantity::Resources;
use crate::snapshot::{CloudGroup, InstanceState, Node, NodeView, Readiness};
use crate::wake::Wake;

/// Taints that Kubernetes itself puts on nodes which are not ready for pods yet.
const NOT_USABLE_YET: [&str; 2] = ["node.kubernetes.io/not-ready", "node.cloudprovider.kubernetes.io/uninitialized"];

/// What is on its way for one group.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Machines {
    /// Nodes that have registered and have never been usable.
    pub booting: BTreeSet<Arc<str>>,
    /// Machines without a node that may still come.
    pub unregistered: u32,
    /// Machines without a node whose time is over.
    pub never_came: u32,
}

/// Works out what is on its way for `group` and notes it in `memory`. `nodes` are the group's nodes; `disputed` ones
/// are its machines too, although it does not act on them.
pub fn machines(
    group: &Group,
    cloud: Option<&CloudGroup>,
    nodes: &[NodeView<'_>],
    disputed: &[NodeView<'_>],
    memory: &mut GroupMemory,
    now: Timestamp,
    wake: &mut Wake,
) -> Machines {
    let booting = booting(group, cloud, nodes, memory, now, wake);
    let Some(cloud) = cloud else {
        memory.awaited.clear();
        return Machines { booting, ..Machines::default() };
    };
    let all = || nodes.iter().chain(disputed);
    let present = all().filter(|view| !view.node.deleting);
    let (dated, undated) = match &cloud.instances {
        None => (Vec::new(), cloud.target.saturating_sub(count(present))),
        Some(instances) => {
            let ids: BTreeSet<&str> = all().filter_map(|view| view.node.provider_id.as_deref()).collect();
            let alive = || instances.iter().filter(|instance| instance.state != InstanceState::Deleting);
            let unmatched = || alive().filter(|instance| !ids.contains(&*instance.provider_id));
            let dated: Vec<Timestamp> = unmatched().filter_map(|instance| instance.created).collect();
            let undated = count(unmatched()) - count(dated.iter()) + cloud.target.saturating_sub(count(alive()));
            (dated, undated)
        }
    };
    await_machines(&mut memory.awaited, undated, now);
    let awaited = memory.awaited.iter().map(|awaited| (awaited.count, awaited.since));
    let mut machines = Machines { booting, ..Machines::default() };
    for (count, since) in awaited.chain(dated.into_iter().map(|created| (1, created))) {
        let deadline = since.saturating_add(group.boot_timeout).unwrap_or(Timestamp::MAX);
        if now < deadline {
            machines.unregistered += count;
            wake.at(deadline);
        } else {
            machines.never_came += count;
        }
    }
    machines
}

/// Whether pods can run on the node: ready, and nothing of what a starting node carries or lacks.
pub fn usable(group: &Group, cloud: Option<&CloudGroup>, node: &Node) -> bool {
    let starting =
        |key: &str| NOT_USABLE_YET.contains(&key) || group.startup_taints.iter().any(|known| **known == *key);
    let template = group.template.as_ref().or(cloud.and_then(|cloud| cloud.template.as_ref()));
    let lacks_resource = template.is_some_and(|template| {
        template.allocatable.extended.iter().any(|(name, _)| node.allocatable.extended(name) == 0)
    });
    node.readiness == Readiness::Ready && !node.taints.iter().any(|taint| starting(&taint.key)) && !lacks_resource
}

/// What a new machine of the group offers: as configured, or else as learnt from a node, or else as the cloud says.
pub fn shape(group: &Group, cloud: Option<&CloudGroup>, memory: &GroupMemory) -> Option<Learnt> {
    let daemon_sets = memory.learnt.as_ref().map(|learnt| learnt.daemon_sets.clone()).unwrap_or_default();
    let from = |allocatable: &Resources| Learnt { allocatable: allocatable.clone(), daemon_sets: daemon_sets.clone() };
    let configured = group.template.as_ref().map(|template| from(&template.allocatable));
    let from_cloud = || cloud.and_then(|cloud| cloud.template.as_ref()).map(|template| from(&template.allocatable));
    configured.or_else(|| memory.learnt.clone()).or_else(from_cloud)
}

/// Learns what the group's nodes are like from the newest usable one, or from the newest that reports anything.
pub fn learn(group: &Group, cloud: Option<&CloudGroup>, nodes: &[NodeView<'_>], memory: &mut GroupMemory) {
    let reports = |view: &&NodeView<'_>| view.node.allocatable.cpu > 0 && view.node.allocatable.memory > 0;
    let rank = |view: &NodeView<'_>| (usable(group, cloud, view.node), view.node.created, Arc::clone(&view.node.name));
    let Some(newest) = nodes.iter().filter(reports).max_by_key(|view| rank(view)) else { return };
    let allocatable = newest.node.allocatable.clone();
    let daemon_sets = allocatable.saturating_sub(&newest.sums.daemon_sets.left_of(&allocatable));
    memory.learnt = Some(Learnt { allocatable, daemon_sets });
}

fn booting(
    group: &Group,
    cloud: Option<&CloudGroup>,
    nodes: &[NodeView<'_>],
    memory: &mut GroupMemory,
    now: Timestamp,
    wake: &mut Wake,
) -> BTreeSet<Arc<str>> {
    let mut booting = BTreeSet::new();
    let mut seen_usable = BTreeSet::new();
    for view in nodes {
        let Some(created) = view.node.created else { continue };
        let deadline = created.saturating_add(group.boot_timeout).unwrap_or(Timestamp::MAX);
        if now >= deadline {
            continue;
        }
        // A usable node is forgotten then, a booting one no longer upcoming.
        wake.at(deadline);
        let name = &view.node.name;
        let known = memory.seen_usable.binary_search(name).is_ok();
        if known || usable(group, cloud, view.node) {
            seen_usable.insert(Arc::clone(name));
        } else {
            booting.insert(Arc::clone(name));
        }
    }
    memory.seen_usable = seen_usable.into_iter().collect();
    booting
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
