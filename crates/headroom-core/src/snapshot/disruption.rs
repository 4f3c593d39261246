//! How many pods of an application may be down at once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::LabelSelector;

/// A PodDisruptionBudget, as its controller last worked it out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DisruptionBudget {
    /// Its namespace, which is that of its pods.
    pub namespace: Arc<str>,
    /// Unique in its namespace.
    pub name: Box<str>,
    /// Which pods; one without expressions selects all of the namespace, None selects none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// How many healthy pods may be evicted now (`status.disruptionsAllowed`); 0 when the status is of an older
    /// generation than the spec.
    pub allowed: u32,
    /// Pods that are ready (`status.currentHealthy`).
    pub healthy: u32,
    /// Pods that must be ready (`status.desiredHealthy`).
    pub wanted: u32,
    /// `unhealthyPodEvictionPolicy: AlwaysAllow`: pods that are not ready may be evicted whatever the budget says.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub always_allow_unready: bool,
}

impl DisruptionBudget {
    /// Whether a pod that is not ready may be evicted without using the budget up.
    pub fn gives_up_unready(&self) -> bool {
        self.always_allow_unready || (self.healthy >= self.wanted && self.wanted > 0)
    }
}
