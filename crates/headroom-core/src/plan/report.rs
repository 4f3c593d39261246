//! Everything that a round found and weighed.

use std::sync::Arc;

use serde::Serialize;

use super::{Refusal, Usage, Warning};
use crate::expander::Ranked;

/// What the round saw, wanted and refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// One for each group, in the order of the configuration.
    pub groups: Vec<GroupReport>,
    /// Enlargements for waiting pods, in the order in which they were decided, each with every option.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scale_ups: Vec<ScaleUp>,
    /// What was not done, the cluster first, then by group, node and pod.
    pub refusals: Vec<Refusal>,
    /// What the numbers rest on that may not hold: mixed sizes, pods without requests and the like.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// The report of the group called `name`.
    pub fn group(&self, name: &str) -> Option<&GroupReport> {
        self.groups.iter().find(|group| &*group.name == name)
    }
}

/// One enlargement for waiting pods: the best of some options.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScaleUp {
    /// The first of the pods (`namespace/name`).
    pub first: String,
    /// How many find a place by it.
    pub pods: u64,
    /// The new nodes of each group that gets some.
    pub nodes: Vec<(Arc<str>, u32)>,
    /// Every option with its scores and, where prices count, every term of the price; the best first.
    pub options: Vec<Ranked>,
}

/// What a round found out about one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupReport {
    /// The group.
    pub name: Arc<str>,
    /// The word for its strategy.
    pub strategy: &'static str,
    /// Its nodes.
    pub nodes: Counts,
    /// The cloud's target, or the number of nodes when no cloud was asked.
    pub size: u32,
    /// The size after this plan.
    pub planned: u32,
    /// The limits that hold: the configuration's, or else the cloud's.
    pub min: Option<u32>,
    /// See `min`.
    pub max: Option<u32>,
    /// Pods that count as its demand.
    pub pods: u64,
    /// Demand against capacity, for each resource that counts.
    pub usage: Vec<Usage>,
    /// Nodes that the strategy wants to add (or, negative, to mark for removal) before limits and brakes.
    pub wanted: i64,
}

/// The nodes of a group by what they are good for. Each node is in one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// In service: neither cordoned nor marked.
    pub in_service: u32,
    /// Machines on their way: asked for, or booting.
    pub upcoming: u32,
    /// Marked for removal.
    pub tainted: u32,
    /// Marked with the force taint.
    pub force_tainted: u32,
    /// Cordoned by somebody.
    pub cordoned: u32,
    /// Asked for, past their time.
    pub never_came: u32,
    /// In several groups, so that none of them acts on it.
    pub disputed: u32,
}
