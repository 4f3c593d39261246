//! The node groups of a cluster for which nobody wrote a configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use headroom_core::policy::{Group, Pending, Selection, Size, Strategy};
use headroom_core::quantity::{Bytes, MilliCpu};
use headroom_core::snapshot::{Builder, Change, Labels, Node};

/// Labels whose value names the pool that a node belongs to: of managed node groups first, then of the tools that make
/// nodes, then the machine type.
const POOL_LABELS: [&str; 9] = [
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "karpenter.sh/nodepool",
    "kops.k8s.io/instancegroup",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
];

/// The groups that were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pools {
    /// By name.
    pub groups: Vec<Group>,
    /// Nodes in no group by name, and why.
    pub apart: BTreeMap<Arc<str>, Apart>,
}

/// Why a node is in no group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Apart {
    /// It runs the control plane.
    ControlPlane,
    /// It stands for a service without machines, such as Fargate.
    Virtual,
    /// What it has in common with its like is also true of nodes of another group.
    Unclear,
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Apart::ControlPlane => "part of the control plane",
            Apart::Virtual => "no machine, but a service",
            Apart::Unclear => "no label tells it from the nodes of another group",
        })
    }
}

/// One group for each pool of equal nodes, which grows for waiting pods and is limited by what it has today.
///
/// Nodes that are not to be scaled stay, since pods may find room on them; only those that a group would match are taken
/// out of the snapshot.
pub fn discover(builder: &mut Builder) -> Pools {
    let mut pools = Pools::default();
    let snapshot = builder.snapshot();
    let (fixed, scaled): (Vec<&Node>, Vec<&Node>) =
        snapshot.nodes().map(|view| view.node).partition(|node| not_scaled(node).is_some());
    let mut members: BTreeMap<Pool, Vec<Arc<str>>> = BTreeMap::new();
    for node in &scaled {
        members.entry(Pool::of(node)).or_default().push(Arc::clone(&node.name));
    }
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    for (pool, nodes) in &members {
        let select = pool.select();
        let matching = scaled.iter().filter(|node| select.matches(node)).count();
        if matching > nodes.len() {
            pools.apart.extend(nodes.iter().map(|node| (Arc::clone(node), Apart::Unclear)));
            continue;
        }
        let nth = names.entry(&pool.name).and_modify(|nth| *nth += 1).or_insert(1);
        let name = if *nth == 1 { pool.name.clone() } else { format!("{} ({nth})", pool.name) };
        pools.groups.push(group(&name, select, nodes.len()));
    }
    let is_matched = |node: &&Node| pools.groups.iter().any(|group| group.select.matches(node));
    let matched: Vec<Arc<str>> = fixed.iter().copied().filter(is_matched).map(|node| Arc::clone(&node.name)).collect();
    pools.apart.extend(fixed.iter().filter_map(|node| Some((Arc::clone(&node.name), not_scaled(node)?))));
    matched.into_iter().for_each(|name| builder.apply(Change::NodeGone(name)));
    pools
}

/// What equal nodes have in common: a label, or else their capacity in cpu and memory.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pool {
    name: String,
    labels: Labels,
    capacity: Option<(i64, i64)>,
}

impl Pool {
    fn of(node: &Node) -> Self {
        let label = POOL_LABELS.iter().find_map(|key| {
            let value = node.labels.get(key).filter(|value| !value.is_empty())?;
            Some(Pool { name: value.to_owned(), labels: [(*key, value)].into_iter().collect(), capacity: None })
        });
        label.unwrap_or_else(|| {
            let (cpu, memory) = (node.capacity.cpu, node.capacity.memory);
            let name = format!("{}cpu-{}", MilliCpu(cpu), Bytes(memory));
            Pool { name, labels: Labels::default(), capacity: Some((cpu, memory)) }
        })
    }

    fn select(&self) -> Selection {
        Selection { labels: self.labels.clone(), capacity: self.capacity }
    }
}

/// The settings that hold without a configuration. What waits is in the dump, while nothing there says which thresholds a
/// group should have or which pods are meant for it.
fn group(name: &str, select: Selection, nodes: usize) -> Group {
    let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
    let size = Size { min: Some(1), max: Some(nodes.saturating_mul(2).max(10)) };
    Group { size, strategy: Strategy::Pending(Pending::default()), ..Group::new(name, select) }
}

fn not_scaled(node: &Node) -> Option<Apart> {
    let has = |key| node.labels.get(key).is_some();
    let is = |key, value| node.labels.get(key) == Some(value);
    if has("node-role.kubernetes.io/control-plane") || has("node-role.kubernetes.io/master") {
        Some(Apart::ControlPlane)
    } else if is("eks.amazonaws.com/compute-type", "fargate") || is("type", "virtual-kubelet") {
        Some(Apart::Virtual)
    } else {
        None
    }
}
