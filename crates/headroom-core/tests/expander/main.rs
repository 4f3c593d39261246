//! The choice of a group against facts about Cluster Autoscaler and the cost-ranking proposal, as data.
//!
//! A case that Headroom decides otherwise on purpose says so (`differs`) and what Cluster Autoscaler does (`theirs`); one
//! that has no meaning here says why (`notApplicable`). docs/compatibility-expander.md counts them, and a test compares.

mod expander;
mod price;
mod properties;
mod seed;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// One case of a fixture file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case<T> {
    case: String,
    differs: Option<String>,
    not_applicable: Option<String>,
    #[serde(flatten)]
    input: T,
}

fn read<T: DeserializeOwned>(json: &str) -> Vec<T> {
    serde_json::from_str(json).expect("a fixture is valid JSON of its form")
}
