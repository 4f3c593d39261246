//! Groups and machines as objects of the API server: the one place that knows the types of Kubernetes.

use std::collections::BTreeMap;

use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Taint, Template};
use k8s_openapi::api::core::v1::{ConfigMap, Node, NodeSpec, NodeStatus, NodeSystemInfo, Taint as NodeTaint};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::core::ObjectMeta;

use super::KwokGroup;
use super::error::KwokError;
use super::state::{Group, Machine, Seen, Stored};

/// On every node and ConfigMap of a group: its name.
pub(super) const GROUP: &str = "headroom.dev/kwok-group";
/// The same, as Cluster Autoscaler's tools look for it.
const NODEGROUP: &str = "autoscaling.x-k8s.io/nodegroup";
/// By this annotation kwok knows the nodes that it pretends to be.
const KWOK: &str = "kwok.x-k8s.io/node";
const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";
/// The key in a ConfigMap under which the state of its group stands.
const STATE: &str = "state";

/// The name of the machine that goes by `provider_id`. Cluster Autoscaler writes it without the slashes.
pub(super) fn name_in(provider_id: &str) -> Option<&str> {
    let name = provider_id.strip_prefix("kwok:")?;
    Some(name.strip_prefix("//").unwrap_or(name)).filter(|name| !name.is_empty())
}

/// How the machine `name` is called by its cloud.
pub(super) fn provider_id(name: &str) -> String {
    format!("kwok://{name}")
}

/// The name of the ConfigMap with the state of a group.
pub(super) fn config_map_name(group: &str) -> String {
    format!("headroom-kwok-{group}")
}

/// What a new machine of a group is like: its template with the labels that every node of the group has.
pub(super) fn whole(group: &KwokGroup, template: &Template) -> Template {
    let zone = match group.zones.as_slice() {
        [only] => Some((ZONE, &**only)),
        _ => None,
    };
    let usual = [("kubernetes.io/os", "linux"), ("kubernetes.io/arch", "amd64")];
    let own = [(GROUP, &*group.name), (NODEGROUP, &*group.name)];
    let said = template.labels.iter().filter(|(key, _)| *key != HOSTNAME).chain(group.labels.iter());
    let labels = usual.into_iter().chain(said).chain(own).chain(zone).collect();
    Template { labels, ..template.clone() }
}

/// The node that a machine becomes. `template` is [`whole`].
pub(super) fn node(machine: &Machine, template: &Template) -> Node {
    let mut labels: BTreeMap<String, String> =
        template.labels.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    labels.insert(HOSTNAME.to_owned(), machine.name.to_string());
    labels.extend(machine.zone.as_ref().map(|zone| (ZONE.to_owned(), zone.to_string())));
    let metadata = ObjectMeta {
        name: Some(machine.name.to_string()),
        labels: Some(labels),
        annotations: Some([(KWOK.to_owned(), "fake".to_owned())].into()),
        ..ObjectMeta::default()
    };
    let spec = NodeSpec {
        provider_id: Some(provider_id(&machine.name)),
        taints: Some(template.taints.iter().map(taint).collect()),
        ..NodeSpec::default()
    };
    let status = NodeStatus {
        allocatable: Some(quantities(&template.allocatable)),
        capacity: Some(quantities(&template.capacity)),
        node_info: Some(NodeSystemInfo { kubelet_version: "fake".to_owned(), ..NodeSystemInfo::default() }),
        ..NodeStatus::default()
    };
    Node { metadata, spec: Some(spec), status: Some(status) }
}

/// A node by its metadata, with the name of its group; None if kwok does not pretend to be it.
pub(super) fn seen(metadata: &ObjectMeta) -> Option<(&str, Seen)> {
    let label = |key: &str| metadata.labels.as_ref()?.get(key).map(String::as_str);
    let annotation = metadata.annotations.as_ref()?.get(KWOK)?;
    let node = Seen {
        name: metadata.name.as_deref()?.into(),
        zone: label(ZONE).map(Box::from),
        created: metadata.creation_timestamp.as_ref().map(|time| time.0),
        deleting: metadata.deletion_timestamp.is_some(),
    };
    (annotation == "fake").then_some((label(GROUP)?, node))
}

/// The state that a ConfigMap holds, with the name of its group; None if it is of another kind.
pub(super) fn stored(config_map: &ConfigMap) -> Result<Option<(&str, Stored)>, KwokError> {
    let Some(group) = config_map.metadata.labels.as_ref().and_then(|labels| labels.get(GROUP)) else { return Ok(None) };
    let Some(text) = config_map.data.as_ref().and_then(|data| data.get(STATE)) else { return Ok(None) };
    let unreadable = |source| KwokError::State { config_map: config_map_name(group), source };
    let state = serde_json::from_str(text).map_err(unreadable)?;
    Ok(Some((group, Stored { state, version: config_map.metadata.resource_version.clone() })))
}

/// The ConfigMap that holds the state of a group, in the place of the version that it was read from.
pub(super) fn config_map(group: &Group<'_>) -> Result<ConfigMap, KwokError> {
    let name = config_map_name(&group.spec.name);
    let text = match serde_json::to_string(&group.state) {
        Ok(text) => text,
        Err(source) => return Err(KwokError::State { config_map: name, source }),
    };
    let metadata = ObjectMeta {
        name: Some(name),
        resource_version: group.version.clone(),
        labels: Some([(GROUP.to_owned(), group.spec.name.to_string())].into()),
        ..ObjectMeta::default()
    };
    Ok(ConfigMap { metadata, data: Some([(STATE.to_owned(), text)].into()), ..ConfigMap::default() })
}

fn taint(taint: &Taint) -> NodeTaint {
    NodeTaint {
        key: taint.key.to_string(),
        value: Some(taint.value.to_string()).filter(|value| !value.is_empty()),
        effect: taint.effect.to_string(),
        ..NodeTaint::default()
    }
}

fn quantities(amounts: &Resources) -> BTreeMap<String, Quantity> {
    let Resources { cpu, memory, ephemeral_storage, pods, extended } = amounts;
    let plain = [("memory", memory), ("ephemeral-storage", ephemeral_storage), ("pods", pods)];
    let others = plain.into_iter().chain(extended.iter().map(|(name, amount)| (&**name, amount)));
    let others = others.filter(|(_, amount)| **amount > 0).map(|(name, amount)| (name, amount.to_string()));
    let all = std::iter::once(("cpu", format!("{cpu}m"))).chain(others);
    all.map(|(name, amount)| (name.to_owned(), Quantity(amount))).collect()
}
