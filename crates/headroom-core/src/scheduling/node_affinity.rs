//! Node selector and required node affinity.

use super::selector::{Shown, holds};
use super::{Demand, HOSTNAME, Host, Misfit};
use crate::snapshot::{Expression, Labels, NodeTerm, Operator, PodSpec};

/// The only node field that an expression can be about.
const NAME: &str = "metadata.name";

/// The node has every label of the node selector and meets one term of the required node affinity.
pub(super) fn check(demand: &Demand<'_>, host: &Host<'_>) -> Result<(), Misfit> {
    let spec = demand.spec;
    if let Some((key, wanted)) = spec.node_selector.iter().find(|(key, wanted)| host.label(key) != Some(wanted)) {
        let found = host.label(key).filter(|found| !found.is_empty()).map(Box::from);
        return Err(Misfit::NodeSelector { key: key.into(), wanted: wanted.into(), found });
    }
    if spec.node_affinity.is_empty() || any_holds(&spec.node_affinity, host) {
        return Ok(());
    }
    Err(Misfit::NodeAffinity { wanted: describe(&spec.node_affinity) })
}

/// The same where nobody asks why not.
pub(super) fn holds_for(spec: &PodSpec, host: &Host<'_>) -> bool {
    spec.node_selector.iter().all(|(key, wanted)| host.label(key) == Some(wanted))
        && (spec.node_affinity.is_empty() || any_holds(&spec.node_affinity, host))
}

/// Whether one of the terms holds for the node.
pub(super) fn any_holds(terms: &[NodeTerm], host: &Host<'_>) -> bool {
    terms.iter().any(|term| term_holds(term, host))
}

/// Whether all expressions of a term hold. A term without expressions holds for no node.
pub(super) fn term_holds(term: &NodeTerm, host: &Host<'_>) -> bool {
    // A field that does not exist reads as an empty text, and a field is compared with exactly one value.
    let field = |expression: &Expression| if &*expression.key == NAME { host.name } else { "" };
    let comparable = |expression: &Expression| {
        matches!(expression.operator, Operator::In | Operator::NotIn) && expression.values.len() == 1
    };
    !(term.labels.is_empty() && term.fields.is_empty())
        && term.labels.iter().all(|expression| holds(expression, host.label(&expression.key)))
        && term.fields.iter().all(|expression| comparable(expression) && holds(expression, Some(field(expression))))
}

/// Whether nothing in these labels speaks against a node that has them and perhaps others.
pub(super) fn agrees(spec: &PodSpec, labels: &Labels) -> bool {
    let may_hold = |term: &NodeTerm| {
        let known = term.labels.iter().filter_map(|expression| Some((expression, labels.get(&expression.key)?)));
        known.into_iter().all(|(expression, value)| holds(expression, Some(value)))
    };
    spec.node_selector.iter().all(|(key, wanted)| labels.get(key).is_none_or(|value| value == wanted))
        && (spec.node_affinity.is_empty() || spec.node_affinity.iter().any(may_hold))
}

/// The label keys that the terms look at.
pub(super) fn keys(terms: &[NodeTerm]) -> impl Iterator<Item = &str> {
    terms.iter().flat_map(|term| &term.labels).map(|expression| &*expression.key)
}

/// Whether the terms look at what only one node has: its name or its hostname.
pub(super) fn names_nodes(terms: &[NodeTerm]) -> bool {
    terms.iter().any(|term| !term.fields.is_empty()) || keys(terms).any(|key| key == HOSTNAME)
}

/// The same for all that a pod asks of nodes, its volumes left out.
pub(super) fn spec_names_nodes(spec: &PodSpec) -> bool {
    spec.node_selector.get(HOSTNAME).is_some() || names_nodes(&spec.node_affinity)
}

/// The terms as people write them: `zone in (a,b) or pool=web`.
pub(super) fn describe(terms: &[NodeTerm]) -> String {
    let term = |term: &NodeTerm| {
        let parts = [Shown(&term.labels).to_string(), Shown(&term.fields).to_string()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
    };
    terms.iter().map(term).collect::<Vec<_>>().join(" or ")
}
