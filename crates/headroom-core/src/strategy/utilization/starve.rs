//! A waiting pod that fits on no node although the group as a whole has room (`spec/escalator.md` 2.8).

use crate::plan::{Reason, Resource};
use crate::quantity::Resources;
use crate::snapshot::ClassView;

/// What one node is short of for a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The resource.
    pub resource: Resource,
    /// What the pod needs.
    pub needs: i64,
    /// What is free.
    pub free: i64,
}

/// The first resource of which `free` is less than `needs`. A node that reports no limit for pods has none.
pub fn shortage(needs: &Resources, free: &Resources, has_pod_limit: bool) -> Option<Shortage> {
    let short = |resource, needs: i64, free: i64| (needs > free).then_some(Shortage { resource, needs, free });
    short(Resource::Cpu, needs.cpu, free.cpu)
        .or_else(|| short(Resource::Memory, needs.memory, free.memory))
        .or_else(|| short(Resource::EphemeralStorage, needs.ephemeral_storage, free.ephemeral_storage))
        .or_else(|| if has_pod_limit { short(Resource::Pods, needs.pods, free.pods) } else { None })
        .or_else(|| {
            let mut extended = needs.extended.iter();
            extended.find_map(|(name, amount)| short(Resource::Extended(name.clone()), *amount, free.extended(name)))
        })
}

/// What a node has free, and whether it limits the number of pods.
#[derive(Clone, Debug)]
pub(super) struct Free {
    /// Free of each resource.
    pub resources: Resources,
    /// Whether the node says how many pods it takes.
    pub has_pod_limit: bool,
}

/// What the rule found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Starved {
    /// The first starved class, as the reason to add a node.
    pub reason: Option<Reason>,
    /// Classes that no new node could take either: the first pod, how many, and what a new node is short of.
    pub hopeless: Vec<(String, u32, Shortage)>,
}

/// Looks for waiting pods that fit on none of the nodes with `free` room. `new_node` is what a new node offers, None
/// when unknown.
///
/// Escalator compares only its largest pending pods, with each resource on a different node, takes bound pods that
/// still pull their image for starving, ignores DaemonSets, and grows to the maximum for a pod that no node can hold.
/// Here each waiting pod is tried on each node with what is really free, and one that fits no new node is refused.
pub(super) fn starved(waiting: &[ClassView<'_>], free: &[Free], new_node: Option<&Free>) -> Starved {
    let mut found = Starved::default();
    for class in waiting {
        let needs = &class.spec.requests;
        let short_on = |free: &Free| shortage(needs, &free.resources, free.has_pod_limit);
        if free.iter().any(|free| short_on(free).is_none()) {
            continue;
        }
        let Some(first) = class.first_pending() else { continue };
        let pod = first.full_name();
        if let Some(short) = new_node.and_then(short_on) {
            found.hopeless.push((pod, class.pending(), short));
        } else if found.reason.is_none() {
            // The node that comes closest: the least short of what it is short of.
            let closest = free.iter().filter_map(short_on).min_by_key(|short| short.needs - short.free);
            let short = closest.unwrap_or(Shortage { resource: Resource::Cpu, needs: needs.cpu, free: 0 });
            let Shortage { resource, needs, free } = short;
            found.reason = Some(Reason::Starved { pod, resource, needs: needs.into(), free: free.into() });
        }
    }
    found
}
