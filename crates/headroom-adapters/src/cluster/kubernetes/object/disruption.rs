//! Disruption budgets.

use serde::Deserialize;

use super::{LabelSelector, Metadata, Text, or_default};

/// A PodDisruptionBudget.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodDisruptionBudget<'a> {
    /// Name, namespace and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What is wanted.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: PodDisruptionBudgetSpec<'a>,
    /// What its controller last worked out.
    #[serde(deserialize_with = "or_default")]
    pub status: PodDisruptionBudgetStatus,
}

/// `spec` of a PodDisruptionBudget. How many pods it asks for is in the status already.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudgetSpec<'a> {
    /// Which pods; none without it.
    #[serde(borrow)]
    pub selector: Option<LabelSelector<'a>>,
    /// `IfHealthyBudget` (also when empty) or `AlwaysAllow`.
    #[serde(borrow)]
    pub unhealthy_pod_eviction_policy: Text<'a>,
}

/// `status` of a PodDisruptionBudget.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudgetStatus {
    /// The generation of the spec that it was worked out for.
    pub observed_generation: Option<i64>,
    /// How many pods may be evicted now.
    pub disruptions_allowed: Option<i64>,
    /// How many are ready.
    pub current_healthy: Option<i64>,
    /// How many must be.
    pub desired_healthy: Option<i64>,
}
