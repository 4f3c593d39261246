//! Nodes and machines in the words of the protocol, and in Headroom's own.

use std::collections::HashMap;

use headroom_core::quantity::{Money, Resources};
use headroom_core::snapshot::{Instance, InstanceState, LaunchError, Template};
use prost::Message as _;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::protocol::core;
use super::protocol::provider::{self, instance_status};
use crate::cluster::kubernetes::object;
use crate::cluster::kubernetes::translate;

/// The class of an error that means that the cloud is out of machines.
pub(super) const OUT_OF_RESOURCES: i32 = 1;
/// And the class of all others.
pub(super) const OTHER: i32 = 99;

/// The annotation of a node that is thought of, which says the id of its group.
pub(super) const GROUP: &str = "headroom.dev/node-group";

const HOSTNAME: &str = "kubernetes.io/hostname";

/// What a machine could not be made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LaunchTrouble {
    pub(super) error: LaunchError,
    pub(super) message: String,
}

/// A machine, and what is wrong with it.
pub(super) fn instance(told: provider::Instance) -> (Instance, Option<LaunchTrouble>) {
    use instance_status::InstanceState as State;
    let status = told.status.unwrap_or_default();
    let error = status.error_info.clone().filter(|error| !error.error_code.is_empty());
    let (state, error) = match (status.instance_state(), error) {
        // Cluster Autoscaler looks at errors of machines that are being made only, and so do those who write providers.
        (State::InstanceCreating, Some(error)) => (InstanceState::Failed, Some(trouble(&error))),
        (State::InstanceCreating, None) => (InstanceState::Creating, None),
        (State::InstanceDeleting, _) => (InstanceState::Deleting, None),
        // Nothing said means that nothing is wrong.
        (State::InstanceRunning | State::Unspecified, _) => (InstanceState::Running, None),
    };
    (Instance { provider_id: told.id.into(), state, ..Instance::default() }, error)
}

fn trouble(error: &provider::InstanceErrorInfo) -> LaunchTrouble {
    let out = error.instance_error_class == OUT_OF_RESOURCES;
    let provider::InstanceErrorInfo { error_code, error_message, .. } = error;
    let message = if error_message.is_empty() { error_code.clone() } else { format!("{error_code}: {error_message}") };
    LaunchTrouble { error: if out { LaunchError::OutOfStock } else { LaunchError::Refused }, message }
}

/// A node or a pod that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub(super) enum ObjectError {
    #[error("what was sent is no {0} of core/v1")]
    Bytes(&'static str, #[source] prost::DecodeError),
    #[error("what was sent is no {0}")]
    Form(&'static str, #[source] serde_json::Error),
    #[error("the {0} cannot be understood")]
    Content(&'static str, #[source] Box<translate::Malformed>),
}

/// What a new machine is like, from the bytes of a Node.
pub(super) fn template(bytes: &[u8]) -> Result<Template, ObjectError> {
    const WHAT: &str = "template";
    let node = core::Node::decode(bytes).map_err(|error| ObjectError::Bytes("Node", error))?;
    let value = node_as_json(node);
    let object = object::Node::deserialize(&value).map_err(|error| ObjectError::Form(WHAT, error))?;
    let node = translate::node(&object).map_err(|error| ObjectError::Content(WHAT, Box::new(error)))?.value;
    let labels = node.labels.iter().filter(|(key, _)| *key != HOSTNAME).collect();
    Ok(Template { allocatable: node.allocatable, capacity: node.capacity, labels, taints: node.taints })
}

/// The node in the form that the API server writes.
fn node_as_json(node: core::Node) -> Value {
    let core::Node { metadata, spec, status } = node;
    let (metadata, spec, status) = (metadata.unwrap_or_default(), spec.unwrap_or_default(), status.unwrap_or_default());
    let taint = |taint: core::Taint| {
        let text = |text: Option<String>| text.unwrap_or_default();
        json!({ "key": text(taint.key), "value": text(taint.value), "effect": text(taint.effect) })
    };
    let name = metadata.name.filter(|name| !name.is_empty()).unwrap_or_else(|| "template".to_owned());
    json!({
        "metadata": { "name": name, "labels": metadata.labels },
        "spec": { "taints": spec.taints.into_iter().map(taint).collect::<Vec<_>>() },
        "status": { "capacity": amounts_as_json(status.capacity), "allocatable": amounts_as_json(status.allocatable) },
    })
}

fn amounts_as_json(amounts: HashMap<String, core::Quantity>) -> Map<String, Value> {
    let amounts = amounts.into_iter();
    amounts.map(|(name, amount)| (name, Value::String(amount.string.unwrap_or_default()))).collect()
}

/// What a pod requests, from the bytes of a Pod.
pub(super) fn pod_requests(bytes: &[u8]) -> Result<Resources, ObjectError> {
    const WHAT: &str = "pod";
    let pod = core::Pod::decode(bytes).map_err(|error| ObjectError::Bytes("Pod", error))?;
    let value = pod_as_json(pod);
    let object = object::Pod::deserialize(&value).map_err(|error| ObjectError::Form(WHAT, error))?;
    let requests = translate::requests(&object, &mut Vec::new());
    requests.map_err(|error| ObjectError::Content(WHAT, Box::new(error)))
}

/// As much of a pod as says what it requests, in the form that the API server writes.
fn pod_as_json(pod: core::Pod) -> Value {
    let resources = |resources: Option<core::ResourceRequirements>| {
        let core::ResourceRequirements { limits, requests } = resources.unwrap_or_default();
        json!({ "limits": amounts_as_json(limits), "requests": amounts_as_json(requests) })
    };
    let containers = |containers: Vec<core::Container>| -> Vec<Value> {
        let container = |container: core::Container| {
            let core::Container { name, resources: asked, restart_policy } = container;
            let (name, restart_policy) = (name.unwrap_or_default(), restart_policy.unwrap_or_default());
            json!({ "name": name, "resources": resources(asked), "restartPolicy": restart_policy })
        };
        containers.into_iter().map(container).collect()
    };
    let core::PodSpec { containers: running, init_containers: starting, overhead, resources: of_pod } =
        pod.spec.unwrap_or_default();
    json!({
        "spec": {
            "containers": containers(running),
            "initContainers": containers(starting),
            "overhead": amounts_as_json(overhead),
            "resources": resources(of_pod),
        },
    })
}

/// The name of a node that is thought of as one of the group with this id.
pub(super) fn name_of(id: &str) -> String {
    format!("template-{id}")
}

/// The bytes of a Node like the machines of the group with this id.
pub(super) fn node(id: &str, template: &Template) -> Vec<u8> {
    let name = &*name_of(id);
    let text = |value: &str| Some(value.to_owned());
    let taint = |taint: &headroom_core::snapshot::Taint| core::Taint {
        key: text(&taint.key),
        value: text(&taint.value),
        effect: Some(taint.effect.to_string()),
    };
    let mut labels: HashMap<String, String> =
        template.labels.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    labels.insert(HOSTNAME.to_owned(), name.to_owned());
    // Cluster Autoscaler changes the name, and sends the annotations when it asks what such a node costs.
    let annotations = HashMap::from([(GROUP.to_owned(), id.to_owned())]);
    let ready = core::NodeCondition { r#type: text("Ready"), status: text("True") };
    let node = core::Node {
        metadata: Some(core::ObjectMeta { name: text(name), labels, annotations }),
        spec: Some(core::NodeSpec { taints: template.taints.iter().map(taint).collect(), ..core::NodeSpec::default() }),
        status: Some(core::NodeStatus {
            capacity: quantities(&template.capacity),
            allocatable: quantities(&template.allocatable),
            conditions: vec![ready],
        }),
    };
    node.encode_to_vec()
}

fn quantities(amounts: &Resources) -> HashMap<String, core::Quantity> {
    let Resources { cpu, memory, ephemeral_storage, pods, extended } = amounts;
    let plain = [("memory", memory), ("ephemeral-storage", ephemeral_storage), ("pods", pods)];
    let others = plain.into_iter().chain(extended.iter().map(|(name, amount)| (&**name, amount)));
    let others = others.filter(|(_, amount)| **amount > 0).map(|(name, amount)| (name, amount.to_string()));
    let all = std::iter::once(("cpu", format!("{cpu}m"))).chain(others);
    all.map(|(name, amount)| (name.to_owned(), core::Quantity { string: Some(amount) })).collect()
}

/// A machine as the protocol names it.
pub(super) fn named(provider_id: &str, name: Option<&str>) -> provider::ExternalGrpcNode {
    // Cluster Autoscaler too calls a machine that is no node by its id.
    let name = name.unwrap_or(provider_id).to_owned();
    provider::ExternalGrpcNode { provider_id: provider_id.to_owned(), name, ..Default::default() }
}

/// Dollars as the protocol writes them; None when it is no price.
pub(super) fn dollars(price: f64) -> Option<Money> {
    const NANOS: f64 = 1e9;
    // Far beyond any machine, and far within the integers of money.
    let is_price = price.is_finite() && (0.0..1e6).contains(&price);
    #[allow(clippy::cast_possible_truncation, reason = "the range was looked at")]
    is_price.then(|| Money((price * NANOS).round() as i64))
}
