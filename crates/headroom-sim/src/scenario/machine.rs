//! Machines that the simulated cloud can make.

use std::sync::Arc;

use headroom_core::policy::Percent;
use headroom_core::quantity::{Money, Resources};
use headroom_core::snapshot::{Labels, Taint};
use jiff::SignedDuration;

use super::Schedule;

/// A kind of machine.
#[derive(Clone, Debug, Default)]
pub struct NodeType {
    /// Unique; groups with the same node type share its stock.
    pub name: Arc<str>,
    /// What pods may use.
    pub allocatable: Resources,
    /// What the machine has.
    pub capacity: Resources,
    /// For one hour.
    pub price: Money,
    /// From the launch until its node registers.
    pub boot: Span,
    /// From the registration of its node until the node is ready.
    pub warm_up: Span,
    /// From then until the node has its extended resources: a device plugin that starts late.
    pub devices_after: Span,
    /// The share of machines that never register.
    pub boot_failures: Percent,
    /// Nodes that turn NotReady now and then.
    pub flaky: Option<Flaky>,
    /// The most machines of this kind that the cloud has over the day; None is no limit.
    pub stock: Option<Schedule>,
    /// What the cloud does when it has no more.
    pub out_of_stock: OutOfStock,
}

/// A range of times, ends included, from which one is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The shortest.
    pub min: SignedDuration,
    /// The longest.
    pub max: SignedDuration,
}

impl Span {
    /// Always the same time.
    pub const fn exactly(time: SignedDuration) -> Self {
        Span { min: time, max: time }
    }
}

/// Nodes that turn NotReady and recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaky {
    /// How likely that is for one node in one hour.
    pub an_hour: Percent,
    /// For how long.
    pub lasts: Span,
}

/// What the cloud does with a request that it has no machines for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfStock {
    /// Takes it, says nothing, and makes the machines once it has them.
    #[default]
    Wait,
    /// Takes it, says that it could not make all of the machines, and makes them once it has them.
    Tell,
    /// Refuses it as a whole.
    Refuse,
}

/// A group of equal machines whose number the cloud keeps at a target.
#[derive(Clone, Debug, Default)]
pub struct NodeGroup {
    /// The group's name in the policy.
    pub name: Arc<str>,
    /// Its machines.
    pub node_type: Arc<NodeType>,
    /// Labels of its nodes.
    pub labels: Labels,
    /// The kinds of machines that it gets instead while there is none of those before.
    pub failovers: Vec<Failover>,
    /// Taints of its nodes.
    pub taints: Vec<Taint>,
    /// How many nodes it has at the start, ready and as old as the scenario.
    pub nodes: u32,
    /// The most machines of this group that the cloud has over the day, besides what it has of the node type; None is no
    /// limit.
    pub stock: Option<Schedule>,
    /// The cloud's own lower limit.
    pub min: u32,
    /// The cloud's own upper limit.
    pub max: u32,
    /// Whether the cloud lists its machines, or only says how many it wants.
    pub lists_machines: bool,
    /// Whether the cloud says what a new machine will be like.
    pub knows_template: bool,
    /// Whether its nodes say how busy their cpus are: as much of each as its pods request.
    pub measures_cpu: bool,
}

/// Another kind of machines for a group.
#[derive(Clone, Debug, Default)]
pub struct Failover {
    /// The kind.
    pub node_type: Arc<NodeType>,
    /// Labels of such nodes.
    pub labels: Labels,
}

impl NodeGroup {
    /// The kinds of machines that it may have, the best first, with the labels of their nodes.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&Arc<NodeType>, &Labels)> {
        let failovers = self.failovers.iter().map(|failover| (&failover.node_type, &failover.labels));
        std::iter::once((&self.node_type, &self.labels)).chain(failovers)
    }

    /// One of them.
    pub(crate) fn kind(&self, at: usize) -> (&Arc<NodeType>, &Labels) {
        self.kinds().nth(at).unwrap_or((&self.node_type, &self.labels))
    }
}
