//! Everything that a round found and weighed.

use std::sync::Arc;

use serde::Serialize;

use super::{EqualPlaceholders, Refusal, Sizing, Slack, Usage, Warning};
use crate::expander::Ranked;
use crate::policy::Removal;
use crate::snapshot::Kind;

/// What the round saw, wanted and refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// One for each group, in the order of the configuration.
    pub groups: Vec<GroupReport>,
    /// Enlargements for waiting pods and then for placeholders, in the order in which they were decided, each with every option.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scale_ups: Vec<ScaleUp>,
    /// The pods that wait for a node, where groups with the strategy `pending` could be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// The spare room that is kept, where any is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<Slack>,
    /// Budgets for nodes on their way out that are in force, those of all groups together first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<BudgetUse>,
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

/// Pods that wait for a node, by what becomes of them: each is in one of the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Have room on nodes that are there: the scheduler brings them there.
    pub on_nodes: u64,
    /// Have room on machines that are on their way.
    pub on_upcoming: u64,
    /// Get a place by the new nodes of this round.
    pub on_new: u64,
    /// Get none: each is in a refusal.
    pub refused: u64,
    /// Room is being made for them on a node by preemption.
    pub nominated: u64,
    /// Of too low a priority to grow a group.
    pub low_priority: u64,
    /// Count as demand of a utilisation group that can still grow.
    pub counted: u64,
    /// Kinds of objects on which the answers for some of them depend and of which not all are known. Where something is
    /// missing, these pods are taken to be free to go anywhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Kind>,
}

/// Equal pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EqualPods {
    /// The first of them by name (`namespace/name`).
    pub first: String,
    /// How many, the first included.
    pub count: u32,
}

/// One enlargement for waiting pods, or for placeholders: the best of some options.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScaleUp {
    /// The pods that find a place by it.
    pub pods: Vec<EqualPods>,
    /// The placeholders that do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placeholders: Vec<EqualPlaceholders>,
    /// The new nodes of each group that gets some.
    pub nodes: Vec<(Arc<str>, u32)>,
    /// Every option with its scores and, where prices count, every term of the price; the best first.
    pub options: Vec<Ranked>,
}

impl ScaleUp {
    /// How many pods find a place by it.
    pub fn pod_count(&self) -> u64 {
        self.pods.iter().map(|pods| u64::from(pods.count)).sum()
    }

    /// How many placeholders find a place by it.
    pub fn placeholder_count(&self) -> u64 {
        self.placeholders.iter().map(|equal| u64::from(equal.count)).sum()
    }
}

/// How much of a budget for nodes on their way out is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetUse {
    /// Whose budget it is; None: that of all groups together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Arc<str>>,
    /// So many nodes may be on their way out at once.
    pub nodes: u32,
    /// So many are, those that this plan marks included.
    pub going: u32,
    /// It counts nodes that go for one of these reasons; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Removal>,
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
    /// Demand against capacity, for each resource that counts; of a `pending` group what the pods on its nodes request,
    /// which decides nothing.
    pub usage: Vec<Usage>,
    /// Nodes that the strategy wants to add (or, negative, to mark for removal) before limits and brakes.
    pub wanted: i64,
    /// How the size of a pool came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizing: Option<Sizing>,
}

/// The nodes of a group by what they are good for. Each node is in one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// In service: ready, neither cordoned nor marked.
    pub in_service: u32,
    /// Neither cordoned nor marked, and not ready any more: they take no pods.
    pub not_ready: u32,
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
