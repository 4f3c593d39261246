//! Kubernetes objects become the values of `headroom_core::snapshot`. No Kubernetes type leaves this module.

use std::sync::Arc;

use headroom_core::quantity::{QuantityError, Round};
use headroom_core::snapshot::{
    Effect, Expression, Labels, Node, NodeTerm, Operator, Phase, Pod, PodKind, PodSpec, Readiness, SharedSpec, Taint,
    Toleration,
};
use indexmap::IndexSet;
use jiff::Timestamp;
use rustc_hash::FxBuildHasher;

use super::amounts::amounts;
use super::object::{self, Map, Text};
use super::requests::requests;

/// Labels that differ between the pods of one StatefulSet or Job. With them no two of its pods would be equal.
const UNIQUE_TO_EACH_POD: [&str; 3] =
    ["statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"];

/// A translated object, and what of it may not be as it was meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Translated<T> {
    /// The object in Headroom's own values.
    pub value: T,
    /// What was read in another way than it was written.
    pub warnings: Vec<String>,
}

/// Why an object cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It has no name.
    #[error("it has no metadata.name")]
    NoName,
    /// A quantity cannot be read.
    #[error("{place}: {resource}: {error}")]
    Quantity {
        /// The list that it stands in.
        place: String,
        /// Its resource.
        resource: String,
        /// What is wrong with it.
        error: QuantityError,
    },
    /// A node affinity compares in a way that nobody knows.
    #[error("node affinity: {key}: unknown operator {operator:?}")]
    Operator {
        /// The label or field.
        key: String,
        /// What stands in the place of an operator.
        operator: String,
    },
}

/// Translates a node.
pub fn node(object: &object::Node<'_>) -> Result<Translated<Node>, Malformed> {
    let object::Node { metadata, spec, status } = object;
    let mut warnings = Vec::new();
    let mut offers =
        |list: &Map<'_, _>, name: &str| amounts(list.iter(), Round::Down, || name.to_owned(), &mut warnings);
    let capacity = offers(&status.capacity, "capacity")?;
    // As in the API, a node that says nothing of allocatable offers all that it has.
    let allocatable =
        if status.allocatable.is_empty() { capacity.clone() } else { offers(&status.allocatable, "allocatable")? };
    let created = timestamp(metadata.creation_timestamp.as_ref(), "creationTimestamp", &mut warnings);
    let no_delete = metadata.annotations.no_delete.as_deref();
    let value = Node {
        name: Arc::from(name(metadata)?),
        provider_id: text(spec.provider_id.as_ref()),
        labels: labels(&metadata.labels, &[]),
        taints: spec.taints.iter().map(|object| taint(object, &mut warnings)).collect(),
        unschedulable: spec.unschedulable == Some(true),
        readiness: readiness(&status.conditions, created, &mut warnings),
        created,
        allocatable,
        capacity,
        deleting: metadata.deletion_timestamp.is_some(),
        addresses: addresses(&status.addresses),
        no_delete: no_delete.filter(|value| !value.is_empty()).map(Box::from),
        ..Node::default()
    };
    Ok(Translated { value, warnings })
}

/// What equal pods have in common, kept once for all of them.
#[derive(Clone, Debug, Default)]
pub struct Specs(IndexSet<SharedSpec, FxBuildHasher>);

impl Specs {
    fn share(&mut self, spec: PodSpec) -> SharedSpec {
        let spec = SharedSpec::new(spec);
        let (index, _) = self.0.insert_full(spec.clone());
        self.0.get_index(index).cloned().unwrap_or(spec)
    }
}

/// Translates a pod; what it has in common with equal ones is looked up in `specs`.
pub fn pod(object: &object::Pod<'_>, specs: &mut Specs) -> Result<Translated<Pod>, Malformed> {
    let object::Pod { metadata, spec, status } = object;
    let mut warnings = Vec::new();
    let node_affinity = spec.affinity.node_affinity.as_ref();
    let terms = node_affinity.iter().flat_map(|affinity| &affinity.required.node_selector_terms);
    let shared = PodSpec {
        namespace: Arc::from(namespace(metadata)),
        labels: labels(&metadata.labels, &UNIQUE_TO_EACH_POD),
        requests: requests(object, &mut warnings)?,
        node_selector: labels(&spec.node_selector, &[]),
        node_affinity: terms.map(node_term).collect::<Result<_, _>>()?,
        has_affinity: node_affinity.is_some()
            || spec.affinity.pod_affinity.is_some()
            || spec.affinity.pod_anti_affinity.is_some(),
        tolerations: spec.tolerations.iter().filter_map(|object| toleration(object, &mut warnings)).collect(),
        priority: spec.priority.unwrap_or(0),
        kind: pod_kind(metadata),
        controller: controller(metadata),
        ..PodSpec::default()
    };
    let value = Pod {
        name: Box::from(name(metadata)?),
        spec: specs.share(shared),
        node: text(spec.node_name.as_ref()),
        phase: phase(&status.phase),
        created: timestamp(metadata.creation_timestamp.as_ref(), "creationTimestamp", &mut warnings),
        deleting: metadata.deletion_timestamp.is_some(),
        gated: !spec.scheduling_gates.is_empty(),
        ..Pod::default()
    };
    Ok(Translated { value, warnings })
}

/// The namespace of an object that has one; what leaves it out means `default`.
pub fn namespace<'a>(metadata: &'a object::Metadata<'_>) -> &'a str {
    if metadata.namespace.is_empty() { "default" } else { &metadata.namespace }
}

/// The names by which a cloud may know the machine. External addresses are left out: they move from machine to machine.
fn addresses(objects: &[object::Address<'_>]) -> Vec<Box<str>> {
    let kinds = ["InternalIP", "Hostname", "InternalDNS"];
    let own = objects.iter().filter(|object| kinds.contains(&&*object.kind) && !object.address.is_empty());
    own.map(|object| Box::from(&*object.address)).collect()
}

fn name<'a>(metadata: &'a object::Metadata<'_>) -> Result<&'a str, Malformed> {
    if metadata.name.is_empty() { Err(Malformed::NoName) } else { Ok(&metadata.name) }
}

fn labels(map: &Map<'_, Text<'_>>, without: &[&str]) -> Labels {
    map.iter().filter(|(key, _)| !without.contains(key)).map(|(key, value)| (key, &**value)).collect()
}

fn text(text: Option<&Text<'_>>) -> Option<Box<str>> {
    text.filter(|text| !text.is_empty()).map(|text| Box::from(&**text))
}

fn timestamp(text: Option<&Text<'_>>, field: &str, warnings: &mut Vec<String>) -> Option<Timestamp> {
    let text = text.filter(|text| !text.is_empty())?;
    let parsed = text.parse();
    if parsed.is_err() {
        warnings.push(format!("{field} {:?} is no time and counts as unknown", &**text));
    }
    parsed.ok()
}

fn readiness(
    conditions: &[object::Condition<'_>],
    created: Option<Timestamp>,
    warnings: &mut Vec<String>,
) -> Readiness {
    match conditions.iter().find(|condition| &*condition.kind == "Ready") {
        Some(ready) if &*ready.status == "True" => Readiness::Ready,
        Some(ready) => {
            let since = timestamp(ready.last_transition_time.as_ref(), "lastTransitionTime of Ready", warnings);
            Readiness::NotReady { since }
        }
        None => Readiness::NotReady { since: created },
    }
}

fn taint(object: &object::Taint<'_>, warnings: &mut Vec<String>) -> Taint {
    let effect = effect(&object.effect).unwrap_or_else(|| {
        let object::Taint { key, effect, .. } = object;
        warnings.push(format!("taint {}: unknown effect {:?} counts as NoSchedule", &**key, &**effect));
        Effect::NoSchedule
    });
    Taint { key: Box::from(&*object.key), value: Box::from(&*object.value), effect }
}

fn effect(text: &str) -> Option<Effect> {
    match text {
        "NoSchedule" => Some(Effect::NoSchedule),
        "PreferNoSchedule" => Some(Effect::PreferNoSchedule),
        "NoExecute" => Some(Effect::NoExecute),
        _ => None,
    }
}

/// None for a toleration that is not understood: a pod is then taken to bear less than it does, never more.
fn toleration(object: &object::Toleration<'_>, warnings: &mut Vec<String>) -> Option<Toleration> {
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

fn node_term(object: &object::NodeSelectorTerm<'_>) -> Result<NodeTerm, Malformed> {
    let list = |requirements: &[object::Requirement<'_>]| requirements.iter().map(expression).collect::<Result<_, _>>();
    Ok(NodeTerm { labels: list(&object.match_expressions)?, fields: list(&object.match_fields)? })
}

fn expression(object: &object::Requirement<'_>) -> Result<Expression, Malformed> {
    let operator = match &*object.operator {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        "Gt" => Operator::Gt,
        "Lt" => Operator::Lt,
        operator => return Err(Malformed::Operator { key: object.key.to_string(), operator: operator.to_owned() }),
    };
    let values = object.values.iter().map(|value| Box::from(&**value)).collect();
    Ok(Expression { key: Box::from(&*object.key), operator, values })
}

fn pod_kind(metadata: &object::Metadata<'_>) -> PodKind {
    let annotations = &metadata.annotations;
    if metadata.owner_references.iter().any(|owner| &*owner.kind == "DaemonSet") {
        PodKind::DaemonSet
    } else if annotations.config_mirror.is_some() {
        PodKind::Mirror
    } else if annotations.config_source.as_deref() == Some("file") {
        PodKind::Static
    } else {
        PodKind::Workload
    }
}

fn controller(metadata: &object::Metadata<'_>) -> Option<Box<str>> {
    let owner = metadata.owner_references.iter().find(|owner| owner.controller == Some(true))?;
    Some(format!("{}/{}", &*owner.kind, &*owner.name).into_boxed_str())
}

/// A pod whose node has gone silent (`Unknown`) still holds its place.
fn phase(text: &str) -> Phase {
    match text {
        "Running" | "Unknown" => Phase::Running,
        "Succeeded" => Phase::Succeeded,
        "Failed" => Phase::Failed,
        _ => Phase::Pending,
    }
}
