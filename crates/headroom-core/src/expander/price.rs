//! The option that costs least for what its pods are worth: the formula of the cost-ranking proposal.
//!
//! `score = suppress(unfitness, n) * (C + X) / (T + X)`; docs/cost-ranking.md derives it and gives the source of each
//! constant. It is the one place where a decision uses floats. Money is added up in integers, `tanh` comes from a library
//! and not from the platform, and scores are rounded before they are compared, so that a replay decides the same anywhere.

mod preferred_cpu;
mod settings;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use preferred_cpu::{PreferredCpu, Step};
pub use settings::{Settings, SettingsError};

use super::{Billionths, Candidate};
use crate::pricing::NodePrice;
use crate::quantity::{MilliCpu, Money};

/// How options are compared by price: settings that are known to be sound, so that every option has a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Settings", into = "Settings")]
pub struct Formula {
    settings: Settings,
    damper: Money,
}

/// Every term of one option's score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// n: nodes to add.
    pub nodes: u32,
    /// What one of them costs in an hour, and whether that is estimated.
    pub node_price: NodePrice,
    /// C: what they cost in an hour.
    pub cost: Money,
    /// T: what the pods would cost in an hour on machines that fit them perfectly.
    pub theoretical: Money,
    /// X: the price of the stabilization pod, which keeps the score of small pods from exploding.
    pub damper: Money,
    /// Capacity of one node.
    pub node_cpu: MilliCpu,
    /// What a node should have in a cluster of this size.
    pub preferred_cpu: MilliCpu,
    /// How many times larger or smaller than preferred the node is: at least 1.
    pub unfitness: f64,
    /// What is left of it for n nodes; or the factor for nodes whose GPUs no pod asks for.
    pub suppressed: f64,
    /// Whether the nodes have GPUs that no pod asks for.
    pub unneeded_gpu: bool,
    /// `suppressed * (cost + damper) / (theoretical + damper)`; the lowest is best.
    pub score: Billionths,
}

impl Formula {
    /// Settings, checked.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let damper = settings.check()?;
        Ok(Formula { settings, damper })
    }

    /// The settings it was made from.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Scores one option whose nodes cost `node_price` each, in a cluster of `cluster_nodes` nodes.
    pub fn terms(&self, candidate: &Candidate, node_price: NodePrice, cluster_nodes: u32) -> Terms {
        let settings = &self.settings;
        let preferred_cpu = settings.preferred_cpu.at(cluster_nodes);
        let node_cpu = MilliCpu(candidate.capacity.cpu);
        let unfitness = unfitness(preferred_cpu, node_cpu);
        let unneeded_gpu = candidate.wastes_gpu(&settings.unit_prices);
        let suppressed = if unneeded_gpu {
            settings.unneeded_gpu_factor.into()
        } else if candidate.at_best {
            // The more nodes, the less is left of the unfitness.
            1.0
        } else {
            suppress(unfitness, candidate.nodes, settings.suppress_over)
        };
        let cost = node_price.amount().saturating_mul(candidate.nodes.into());
        let theoretical = settings.unit_prices.price(&candidate.requested);
        let score = Billionths::round(suppressed * overpaid(cost, theoretical, self.damper));
        Terms {
            nodes: candidate.nodes,
            node_price,
            cost,
            theoretical,
            damper: self.damper,
            node_cpu,
            preferred_cpu,
            unfitness,
            suppressed,
            unneeded_gpu,
            score,
        }
    }
}

impl Default for Formula {
    fn default() -> Self {
        let settings = Settings::default();
        let damper = settings.damper();
        Formula { settings, damper }
    }
}

impl TryFrom<Settings> for Formula {
    type Error = SettingsError;
    fn try_from(settings: Settings) -> Result<Self, SettingsError> {
        Formula::new(settings)
    }
}

impl From<Formula> for Settings {
    fn from(formula: Formula) -> Self {
        formula.settings
    }
}

/// How many times larger or smaller than preferred a node is. Nothing counts as less than a thousandth of a core.
pub fn unfitness(preferred: MilliCpu, node: MilliCpu) -> f64 {
    let (preferred, node) = (preferred.0.max(1), node.0.max(1));
    preferred.max(node) as f64 / preferred.min(node) as f64
}

/// What remains of `unfitness` when `nodes` are added at once: all of it for one, nearly none for a few times `over`. The
/// more is bought at once, the more money counts and the less that all nodes are of one size.
pub fn suppress(unfitness: f64, nodes: u32, over: u32) -> f64 {
    let further = f64::from(nodes.saturating_sub(1)) / f64::from(over.max(1));
    (unfitness - 1.0) * (1.0 - libm::tanh(further)) + 1.0
}

/// `(C + X) / (T + X)`: how many times the theoretical cost is paid, damped so that tiny pods do not blow it up.
pub fn overpaid(cost: Money, theoretical: Money, damper: Money) -> f64 {
    // At least a nano-dollar, so that the quotient exists for every input.
    cost.saturating_add(damper).0 as f64 / theoretical.saturating_add(damper).0.max(1) as f64
}

impl fmt::Display for Terms {
    /// `2.4168 = 1.9334 * ($40.00 + $10.00) / ($30.00 + $10.00): 2 x $20.00 (config) with 1 cpu, preferred 2 cpu,
    /// unfitness 2`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Terms { nodes, node_price, cost, theoretical, damper, node_cpu, preferred_cpu, score, .. } = self;
        let (unfitness, suppressed) = (Billionths::round(self.unfitness), Billionths::round(self.suppressed));
        write!(f, "{score} = {suppressed} * ({cost} + {damper}) / ({theoretical} + {damper}): ")?;
        write!(f, "{nodes} x {node_price} with {node_cpu} cpu, preferred {preferred_cpu} cpu, ")?;
        write!(f, "unfitness {unfitness}")?;
        if self.unneeded_gpu {
            write!(f, ", replaced by {suppressed} as no pod asks for the GPUs")?;
        }
        Ok(())
    }
}
