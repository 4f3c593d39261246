//! How large a node should be in a cluster of a certain size.

use serde::{Deserialize, Serialize};

use crate::quantity::MilliCpu;

/// The cpu that a node should have, by the number of nodes in the cluster.
///
/// The default is the table of the proposal. Where its ranges overlap, at 20, 80 and 300 nodes, the smaller machine is
/// taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreferredCpu {
    /// In ascending order of nodes.
    pub steps: Vec<Step>,
    /// For clusters larger than the last step.
    pub above: MilliCpu,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Clusters of at most so many nodes.
    pub up_to_nodes: u32,
    /// What a node should have.
    pub cpu: MilliCpu,
}

impl Default for PreferredCpu {
    fn default() -> Self {
        let steps: [(u32, i64); 5] = [(2, 1), (6, 2), (20, 4), (80, 8), (300, 16)];
        let step = |(up_to_nodes, cores)| Step { up_to_nodes, cpu: MilliCpu(cores * 1_000) };
        PreferredCpu { steps: steps.map(step).to_vec(), above: MilliCpu(32_000) }
    }
}

impl PreferredCpu {
    /// What a node should have in a cluster of `nodes` nodes.
    pub fn at(&self, nodes: u32) -> MilliCpu {
        self.steps.iter().find(|step| nodes <= step.up_to_nodes).map_or(self.above, |step| step.cpu)
    }
}
