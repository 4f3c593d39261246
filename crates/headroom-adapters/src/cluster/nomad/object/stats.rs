//! What a client says of its machine.

use serde::Deserialize;

/// The answer of `/v1/client/stats`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ClientStats {
    /// Of which node it is. Nomad does not say it; who saves the answer adds it.
    #[serde(rename = "NodeID")]
    pub node_id: Option<String>,
    /// Of each core.
    #[serde(rename = "CPU")]
    pub cpu: Option<Vec<Core>>,
    /// In nanoseconds.
    pub timestamp: i64,
}

/// How busy a core is, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Core {
    /// The share of time in which it did nothing.
    pub idle: Option<f64>,
}
