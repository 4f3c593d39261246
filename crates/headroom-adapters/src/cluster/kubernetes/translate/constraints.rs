//! What pods ask of nodes and of other pods.

use std::sync::Arc;

use headroom_core::snapshot::{
    Expression, LabelSelector, NodeTerm, Operator, PodPreference, PodTerm, Preference, Spread, Toleration,
};

use super::node::effect;
use super::texts;
use crate::cluster::kubernetes::object::{self, Requirement};

/// The terms of a required node affinity, of a pod or of a volume. One without terms holds for no node.
pub(super) fn node_selector(
    object: Option<&object::NodeSelector<'_>>,
    place: &str,
    warnings: &mut Vec<String>,
) -> Vec<NodeTerm> {
    let Some(object) = object else { return Vec::new() };
    if object.node_selector_terms.is_empty() {
        return vec![NodeTerm::default()];
    }
    object.node_selector_terms.iter().map(|term| node_term(term, place, warnings)).collect()
}

/// The preferred terms of a node affinity.
pub(super) fn preferences(object: &object::NodeAffinity<'_>, warnings: &mut Vec<String>) -> Vec<Preference> {
    let preference = |object: &object::PreferredNodeTerm<'_>| Preference {
        weight: object.weight.unwrap_or(0),
        term: node_term(&object.preference, "preferred node affinity", warnings),
    };
    object.preferred.iter().map(preference).collect()
}

/// Required terms of affinity to other pods. A term that nobody understands is near no pod.
pub(super) fn pod_affinity(object: &object::PodAffinity<'_>, warnings: &mut Vec<String>) -> Vec<PodTerm> {
    let term = |object: &object::PodAffinityTerm<'_>| {
        let (term, odd) = pod_term(object);
        if odd.is_empty() {
            return term;
        }
        warnings.push(format!("pod affinity: {} selects no pod", odd.join(", ")));
        PodTerm { selector: None, ..term }
    };
    object.required.iter().map(term).collect()
}

/// Required terms of anti-affinity. What nobody understands of a term is left out: it is about more pods then.
pub(super) fn pod_anti_affinity(object: &object::PodAffinity<'_>, warnings: &mut Vec<String>) -> Vec<PodTerm> {
    let term = |object: &object::PodAffinityTerm<'_>| {
        let (term, odd) = pod_term(object);
        if !odd.is_empty() {
            warnings.push(format!("pod anti-affinity: {} is left out", odd.join(", ")));
        }
        term
    };
    object.required.iter().map(term).collect()
}

/// Preferred terms of affinity or anti-affinity, `kind`. One that nobody understands is left out.
pub(super) fn pod_preferences(
    object: &object::PodAffinity<'_>,
    kind: &str,
    warnings: &mut Vec<String>,
) -> Vec<PodPreference> {
    let preference = |object: &object::PreferredPodTerm<'_>| {
        let (term, odd) = pod_term(&object.pod_affinity_term);
        if odd.is_empty() {
            return Some(PodPreference { weight: object.weight.unwrap_or(0), term });
        }
        warnings.push(format!("preferred pod {kind}: {}: the term is left out", odd.join(", ")));
        None
    };
    object.preferred.iter().filter_map(preference).collect()
}

/// Topology spread constraints: those that keep a pod waiting, and those that do not. Of these, one that nobody
/// understands is left out.
pub(super) fn spreads(
    objects: &[object::TopologySpreadConstraint<'_>],
    warnings: &mut Vec<String>,
) -> (Vec<Spread>, Vec<Spread>) {
    let (mut required, mut preferred) = (Vec::new(), Vec::new());
    for object in objects {
        let anyway = &*object.when_unsatisfiable == "ScheduleAnyway";
        let list = if anyway { &mut preferred } else { &mut required };
        list.extend(spread(object, anyway, warnings));
    }
    (required, preferred)
}

fn spread(object: &object::TopologySpreadConstraint<'_>, anyway: bool, warnings: &mut Vec<String>) -> Option<Spread> {
    let mut warn = |what: &str| warnings.push(format!("topology spread over {}: {what}", &*object.topology_key));
    match &*object.when_unsatisfiable {
        "" | "DoNotSchedule" | "ScheduleAnyway" => {}
        other => warn(&format!("unknown whenUnsatisfiable {other:?} counts as DoNotSchedule")),
    }
    let mut is = |field: &str, policy: &str, wanted: &str, default: &str| {
        if policy != wanted && !policy.is_empty() && policy != default {
            warn(&format!("unknown {field} {policy:?} counts as {default}"));
        }
        policy == wanted
    };
    let ignore_node_affinity = is("nodeAffinityPolicy", &object.node_affinity_policy, "Ignore", "Honor");
    let honor_node_taints = is("nodeTaintsPolicy", &object.node_taints_policy, "Honor", "Ignore");
    let (selector, odd) = label_selector(object.label_selector.as_ref());
    // No node has a label without a name, and without the label of its domain no node will do.
    let topology_key = match odd.join(", ") {
        odd if odd.is_empty() => Box::from(&*object.topology_key),
        odd if anyway => {
            warn(&format!("{odd}: the constraint is left out"));
            return None;
        }
        odd => {
            warn(&format!("{odd}: no node will do"));
            Box::default()
        }
    };
    Some(Spread {
        topology_key,
        max_skew: whole(object.max_skew),
        min_domains: whole(object.min_domains),
        selector,
        match_label_keys: texts(&object.match_label_keys),
        ignore_node_affinity,
        honor_node_taints,
    })
}

/// None for a toleration that nobody understands: the pod is taken to bear less then.
pub(super) fn toleration(object: &object::Toleration<'_>, warnings: &mut Vec<String>) -> Option<Toleration> {
    let exists = match &*object.operator {
        "" | "Equal" => Some(false),
        "Exists" => Some(true),
        _ => None,
    };
    let effect = if object.effect.is_empty() { Some(None) } else { effect(&object.effect).map(Some) };
    let (Some(exists), Some(effect)) = (exists, effect) else {
        let object::Toleration { key, operator, effect, .. } = object;
        let (operator, effect) = (&**operator, &**effect);
        warnings.push(format!("toleration {}: operator {operator:?} with effect {effect:?} is left out", &**key));
        return None;
    };
    Some(Toleration { key: Box::from(&*object.key), exists, value: Box::from(&*object.value), effect })
}

/// A selector without the expressions that nobody understands, and those, for people.
pub(super) fn label_selector(object: Option<&object::LabelSelector<'_>>) -> (Option<LabelSelector>, Vec<String>) {
    let Some(object) = object else { return (None, Vec::new()) };
    let labels = object.match_labels.iter();
    let mut expressions: Vec<Expression> = labels.map(|(key, value)| one_of(key, vec![Box::from(&**value)])).collect();
    let mut odd = Vec::new();
    for requirement in &object.match_expressions {
        match label_operator(requirement) {
            Some(operator) => expressions.push(expression(requirement, operator)),
            None => odd.push(describe(requirement)),
        }
    }
    (Some(LabelSelector(expressions)), odd)
}

/// A selector that selects nothing.
pub(super) fn nothing() -> LabelSelector {
    LabelSelector(vec![one_of("", Vec::new())])
}

fn pod_term(object: &object::PodAffinityTerm<'_>) -> (PodTerm, Vec<String>) {
    let (selector, mut odd) = label_selector(object.label_selector.as_ref());
    let (namespace_selector, odd_namespaces) = label_selector(object.namespace_selector.as_ref());
    odd.extend(odd_namespaces);
    let term = PodTerm {
        topology_key: Box::from(&*object.topology_key),
        selector,
        namespaces: object.namespaces.iter().map(|name| Arc::from(&**name)).collect(),
        namespace_selector,
        match_label_keys: texts(&object.match_label_keys),
        mismatch_label_keys: texts(&object.mismatch_label_keys),
    };
    (term, odd)
}

fn node_term(object: &object::NodeSelectorTerm<'_>, place: &str, warnings: &mut Vec<String>) -> NodeTerm {
    let mut list = |requirements: &[Requirement<'_>]| {
        let read = |requirement: &Requirement<'_>| match node_operator(requirement) {
            Some(operator) => expression(requirement, operator),
            None => {
                warnings.push(format!("{place}: {} holds for no node", describe(requirement)));
                one_of(&requirement.key, Vec::new())
            }
        };
        requirements.iter().map(read).collect()
    };
    NodeTerm { labels: list(&object.match_expressions), fields: list(&object.match_fields) }
}

/// The operator, if it can be understood together with its values.
fn node_operator(requirement: &Requirement<'_>) -> Option<Operator> {
    let number = || matches!(&*requirement.values, [only] if only.parse::<i64>().is_ok());
    match &*requirement.operator {
        "Gt" if number() => Some(Operator::Gt),
        "Lt" if number() => Some(Operator::Lt),
        _ => label_operator(requirement),
    }
}

/// The same for selectors, which do not compare numbers.
fn label_operator(requirement: &Requirement<'_>) -> Option<Operator> {
    let values = !requirement.values.is_empty();
    match &*requirement.operator {
        "In" if values => Some(Operator::In),
        "NotIn" if values => Some(Operator::NotIn),
        "Exists" if !values => Some(Operator::Exists),
        "DoesNotExist" if !values => Some(Operator::DoesNotExist),
        _ => None,
    }
}

fn expression(requirement: &Requirement<'_>, operator: Operator) -> Expression {
    Expression { key: Box::from(&*requirement.key), operator, values: texts(&requirement.values) }
}

/// Without values it holds for nothing.
fn one_of(key: &str, values: Vec<Box<str>>) -> Expression {
    Expression { key: Box::from(key), operator: Operator::In, values }
}

/// `zone Near [a, b]`
fn describe(requirement: &Requirement<'_>) -> String {
    format!("{} {} {:?}", &*requirement.key, &*requirement.operator, requirement.values)
}

/// A number of pods or domains; one where nothing is said.
fn whole(number: Option<i64>) -> u32 {
    number.map_or(1, |number| u32::try_from(number.max(0)).unwrap_or(u32::MAX))
}
