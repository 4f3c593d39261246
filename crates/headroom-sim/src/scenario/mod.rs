//! What is simulated: machines, pods, faults, and the policy that has to cope with them.

mod demand;
mod life;
mod machine;
mod mishap;
mod schedule;

use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

use headroom_core::policy::Policy;
use headroom_core::snapshot::SharedSpec;

pub use demand::{Arrival, Burst, Demand, Shape, Workload};
pub use life::{Life, PodBudget, PodShare};
pub use machine::{Failover, Flaky, NodeGroup, NodeType, OutOfStock, Span};
pub use mishap::{Incident, Mishap};
pub use schedule::{Schedule, When};

/// A simulated world and what happens in it. The same value gives the same run on every platform.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// What decides about the groups.
    pub policy: Policy,
    /// When it starts.
    pub start: Timestamp,
    /// How long it lasts.
    pub duration: SignedDuration,
    /// The longest time between two rounds.
    pub interval: SignedDuration,
    /// The shortest time between two rounds: rounds come at multiples of it after the start, and what changes in
    /// between is gathered.
    pub debounce: SignedDuration,
    /// Decide also in rounds that provably change nothing.
    pub every_round: bool,
    /// Fixes every random draw.
    pub seed: u64,
    /// How the scheduler chooses among nodes that fit.
    pub placement: Placement,
    /// The cloud's node groups. One that the policy does not name keeps its size.
    pub groups: Vec<NodeGroup>,
    /// Pods that run on every node that they fit.
    pub daemon_sets: Vec<DaemonSet>,
    /// Where pods come from.
    pub workloads: Vec<Workload>,
    /// What goes wrong, or is done to the cluster by somebody else.
    pub incidents: Vec<Incident>,
}

impl Scenario {
    /// When it ends.
    pub fn end(&self) -> Timestamp {
        self.start.saturating_add(self.duration).unwrap_or(Timestamp::MAX)
    }
}

/// How the scheduler chooses among the nodes that a pod fits. Ties go to the first by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The emptiest node, as kube-scheduler does by default.
    #[default]
    LeastAllocated,
    /// The fullest node.
    MostAllocated,
}

/// One pod on every node that it fits.
#[derive(Clone, Debug)]
pub struct DaemonSet {
    /// The start of its pods' names.
    pub name: Arc<str>,
    /// What its pods are like.
    pub spec: SharedSpec,
}
