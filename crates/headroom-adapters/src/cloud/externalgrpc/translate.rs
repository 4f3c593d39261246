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

/// A node that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub(super) enum NodeError {
    #[error("the template is no Node of core/v1")]
    Bytes(#[from] prost::DecodeError),
    #[error("the template is no node")]
    Form(#[from] serde_json::Error),
    #[error("the template cannot be understood")]
    Content(#[source] Box<translate::Malformed>),
}

/// What a new machine is like, from the bytes of a Node.
pub(super) fn template(bytes: &[u8]) -> Result<Template, NodeError> {
    let node = core::Node::decode(bytes)?;
    let value = as_json(node);
    let object = object::Node::deserialize(&value)?;
    let node = translate::node(&object).map_err(|error| NodeError::Content(Box::new(error)))?.value;
    let labels = node.labels.iter().filter(|(key, _)| *key != HOSTNAME).collect();
    Ok(Template { allocatable: node.allocatable, capacity: node.capacity, labels, taints: node.taints })
}

/// The node in the form that the API server writes.
fn as_json(node: core::Node) -> Value {
    let core::Node { metadata, spec, status } = node;
    let (metadata, spec, status) = (metadata.unwrap_or_default(), spec.unwrap_or_default(), status.unwrap_or_default());
    let quantities = |amounts: HashMap<String, core::Quantity>| -> Map<String, Value> {
        let amounts = amounts.into_iter();
        amounts.map(|(name, amount)| (name, Value::String(amount.string.unwrap_or_default()))).collect()
    };
    let taint = |taint: core::Taint| {
        let text = |text: Option<String>| text.unwrap_or_default();
        json!({ "key": text(taint.key), "value": text(taint.value), "effect": text(taint.effect) })
    };
    let name = metadata.name.filter(|name| !name.is_empty()).unwrap_or_else(|| "template".to_owned());
    json!({
        "metadata": { "name": name, "labels": metadata.labels },
        "spec": { "taints": spec.taints.into_iter().map(taint).collect::<Vec<_>>() },
        "status": { "capacity": quantities(status.capacity), "allocatable": quantities(status.allocatable) },
    })
}

/// The bytes of a Node like the machines of a group.
pub(super) fn node(name: &str, template: &Template) -> Vec<u8> {
    let text = |value: &str| Some(value.to_owned());
    let taint = |taint: &headroom_core::snapshot::Taint| core::Taint {
        key: text(&taint.key),
        value: text(&taint.value),
        effect: Some(taint.effect.to_string()),
    };
    let mut labels: HashMap<String, String> =
        template.labels.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    labels.insert(HOSTNAME.to_owned(), name.to_owned());
    let ready = core::NodeCondition { r#type: text("Ready"), status: text("True") };
    let node = core::Node {
        metadata: Some(core::ObjectMeta { name: text(name), labels, ..core::ObjectMeta::default() }),
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
