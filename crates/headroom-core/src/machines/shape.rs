//! What the nodes of a group are like, and what a new one will be like.

use std::sync::Arc;

use crate::memory::{GroupMemory, Learnt};
use crate::policy::Group;
use crate::quantity::Resources;
use crate::snapshot::{CloudGroup, Node, NodeView, Readiness};

/// Taints that Kubernetes itself puts on nodes which are not ready for pods yet.
const NOT_USABLE_YET: [&str; 2] = ["node.kubernetes.io/not-ready", "node.cloudprovider.kubernetes.io/uninitialized"];

/// Whether pods can run on the node: it has started, and lacks nothing of what a node of the group is `expected` to have.
pub fn usable(group: &Group, expected: Option<&Resources>, node: &Node) -> bool {
    let lacks = |expected: &Resources| expected.extended.iter().any(|(name, _)| node.allocatable.extended(name) == 0);
    has_started(group, node) && !expected.is_some_and(lacks)
}

/// Whether the node is ready and carries nothing of what a starting one does.
pub fn has_started(group: &Group, node: &Node) -> bool {
    let starting =
        |key: &str| NOT_USABLE_YET.contains(&key) || group.startup_taints.iter().any(|known| **known == *key);
    node.readiness == Readiness::Ready && !node.taints.iter().any(|taint| starting(&taint.key))
}

/// What a node of the group must have before it counts as usable: as configured, or as the cloud says, or as nodes
/// before it had. GPUs and other devices appear on a node a while after it is ready.
pub fn expected<'a>(group: &'a Group, cloud: Option<&'a CloudGroup>, memory: &'a GroupMemory) -> Option<&'a Resources> {
    let stated = group.template.as_ref().or_else(|| cloud.and_then(|cloud| cloud.template.as_ref()));
    let known = stated.or(memory.template.as_ref()).map(|template| &template.allocatable);
    known.or_else(|| memory.learnt.as_ref().map(|learnt| &learnt.allocatable))
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
    let expected = expected(group, cloud, memory);
    let rank =
        |view: &NodeView<'_>| (usable(group, expected, view.node), view.node.created, Arc::clone(&view.node.name));
    let Some(newest) = nodes.iter().filter(reports).max_by_key(|view| rank(view)) else { return };
    let allocatable = newest.node.allocatable.clone();
    let daemon_sets = allocatable.saturating_sub(&newest.sums.daemon_sets.left_of(&allocatable));
    memory.learnt = Some(Learnt { allocatable, daemon_sets });
}
