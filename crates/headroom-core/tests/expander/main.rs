//! The choice of a group against facts about Cluster Autoscaler and the cost-ranking proposal, as data.
//!
//! A case that Headroom decides otherwise on purpose says so (`differs`) and what Cluster Autoscaler does (`theirs`); one
//! that has no meaning here says why (`notApplicable`). docs/compatibility-expander.md counts them, and a test compares.

mod backoff;
mod balance;
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

/// A row of the table in the documentation.
fn row<T: DeserializeOwned>(name: &str, json: &str) -> String {
    let cases: Vec<Case<T>> = read(json);
    let different = cases.iter().filter(|case| case.differs.is_some()).count();
    let not_applicable = cases.iter().filter(|case| case.not_applicable.is_some()).count();
    let same = cases.len() - different - not_applicable;
    format!("| {name} | {} | {same} | {different} | {not_applicable} |", cases.len())
}

#[test]
fn the_documentation_counts_every_case() {
    let document = include_str!("../../../../docs/compatibility-expander.md");
    let rows = [
        row::<price::Input>("price expander", price::CASES),
        row::<expander::Input>("other expanders", expander::CASES),
        row::<balance::Shares>("balancing", balance::SHARES),
        row::<balance::Alike>("similarity of nodes", balance::ALIKE),
        row::<balance::Partners>("groups that share", balance::PARTNERS),
        row::<backoff::Input>("back-off", backoff::CASES),
    ];
    for row in rows {
        assert!(document.contains(&row), "docs/compatibility-expander.md lacks the row\n{row}");
    }
}
