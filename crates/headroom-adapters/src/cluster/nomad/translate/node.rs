//! Nodes.

use std::sync::Arc;

use headroom_core::keys::{DRAINING, INELIGIBLE, META, NODE_CLASS, NODE_DATACENTER, NODE_POOL, SERVER_ID};
use headroom_core::snapshot::{Effect, Labels, Node, Readiness, Taint};
use jiff::Timestamp;

use super::{Malformed, resources};
use crate::cluster::nomad::object;

/// Attributes that name a machine: clouds know it by one of them.
const NAMES: [&str; 5] = [
    "unique.hostname",
    "unique.network.ip-address",
    "unique.platform.aws.instance-id",
    "unique.platform.azure.name",
    "unique.platform.gce.hostname",
];

/// What an event says when a node has registered.
pub(in crate::cluster::nomad) const REGISTERED: &str = "Node registered";

/// Whether an attribute names a machine.
pub(in crate::cluster::nomad) fn names_a_machine(attribute: &str) -> bool {
    NAMES.contains(&attribute)
}

/// Translates a node. Its name is its ID, since several may be called the same.
pub fn node(object: &object::Node) -> Result<Node, Malformed> {
    if object.id.is_empty() {
        return Err(Malformed::NoId);
    }
    let capacity = object.node_resources.as_ref().map(resources::of_node).transpose()?.unwrap_or_default();
    let reserved = resources::of_node(&object.reserved_resources)?;
    let names = NAMES.into_iter().filter_map(|name| object.attributes.get(name));
    let server_id = object.meta.iter().filter_map(|meta| meta.get(SERVER_ID));
    let names = server_id.chain(std::iter::once(&object.name)).chain(names);
    let mut addresses: Vec<Box<str>> = names.map(|name| (**name).into()).collect();
    addresses.retain(|address| !address.is_empty());
    addresses.dedup();
    Ok(Node {
        name: Arc::from(&*object.id),
        title: Some(&*object.name).filter(|name| !name.is_empty()).map(Box::from),
        labels: labels(object),
        taints: taints(object),
        readiness: match &*object.status {
            "ready" => Readiness::Ready,
            _ => Readiness::NotReady { since: seconds(object.status_updated_at) },
        },
        created: registered(object),
        allocatable: capacity.saturating_sub(&reserved),
        capacity,
        addresses,
        ..Node::default()
    })
}

fn labels(object: &object::Node) -> Labels {
    let named =
        [(NODE_DATACENTER, &object.datacenter), (NODE_CLASS, &object.node_class), (NODE_POOL, &object.node_pool)];
    let named = named.into_iter().filter(|(_, value)| !value.is_empty());
    let named = named.map(|(key, value)| (Box::<str>::from(key), Box::<str>::from(&**value)));
    let meta = object.meta.iter().flatten();
    let meta = meta.map(|(key, value)| (format!("{META}{key}").into(), Box::from(&**value)));
    named.chain(meta).collect()
}

fn taints(object: &object::Node) -> Vec<Taint> {
    let taint = |key: &str, effect| Taint { key: key.into(), value: "".into(), effect };
    let ineligible = object.drain || object.scheduling_eligibility != "eligible";
    let ineligible = ineligible.then(|| taint(INELIGIBLE, Effect::NoSchedule));
    ineligible.into_iter().chain(object.drain.then(|| taint(DRAINING, Effect::NoExecute))).collect()
}

/// When it registered, as long as its latest events tell.
fn registered(object: &object::Node) -> Option<Timestamp> {
    let registered = object.events.iter().filter(|event| event.message == REGISTERED);
    registered.filter_map(|event| event.timestamp.parse().ok()).min()
}

fn seconds(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_second(seconds).ok().filter(|_| seconds > 0)
}
