//! DaemonSets, whose pods come with every new node, and namespaces.

use std::sync::Arc;

use headroom_core::snapshot::{Change, Effect, PodKind, PodSpec, SharedSpec, Toleration};

use super::pod::{Specs, only_on, spec};
use super::{Malformed, Translated, labels, name_of, namespace_of, text};
use crate::cluster::kubernetes::object;

/// Taints that the DaemonSet controller lets all of its pods bear, and whether only those with the node's network.
const BORNE: [(&str, Effect, bool); 7] = [
    ("node.kubernetes.io/not-ready", Effect::NoExecute, false),
    ("node.kubernetes.io/unreachable", Effect::NoExecute, false),
    ("node.kubernetes.io/disk-pressure", Effect::NoSchedule, false),
    ("node.kubernetes.io/memory-pressure", Effect::NoSchedule, false),
    ("node.kubernetes.io/pid-pressure", Effect::NoSchedule, false),
    ("node.kubernetes.io/unschedulable", Effect::NoSchedule, false),
    ("node.kubernetes.io/network-unavailable", Effect::NoSchedule, true),
];

/// Translates a DaemonSet to what its pods are like before they are given to a node.
///
/// Resource claims are left out: a pod with one is refused everywhere, and the DaemonSet would seem to need no room.
pub fn daemon_set(object: &object::DaemonSet<'_>, specs: &mut Specs) -> Result<Translated<Change>, Malformed> {
    let (name, template) = (name_of(&object.metadata)?, &object.spec.template);
    let mut warnings = Vec::new();
    let mut pods = PodSpec {
        namespace: Arc::from(namespace_of(&object.metadata)),
        kind: PodKind::DaemonSet,
        controller: Some(format!("DaemonSet/{name}").into_boxed_str()),
        resource_claims: Vec::new(),
        ..spec(template, specs, &mut warnings)?
    };
    let host_network = template.spec.host_network == Some(true);
    let borne = BORNE.iter().filter(|(.., needs_host_network)| host_network || !needs_host_network);
    pods.tolerations.extend(borne.map(|(key, effect, _)| Toleration {
        key: Box::from(*key),
        exists: true,
        value: Box::default(),
        effect: Some(*effect),
    }));
    if let Some(node) = text(template.spec.node_name.as_ref()) {
        pods.node_affinity = only_on(node);
    }
    let value = Change::DaemonSet { name: Box::from(name), spec: SharedSpec::new(pods) };
    Ok(Translated { value, warnings })
}

/// Translates a namespace.
pub fn namespace(object: &object::Namespace<'_>) -> Result<Translated<Change>, Malformed> {
    let value =
        Change::Namespace { name: Arc::from(name_of(&object.metadata)?), labels: labels(&object.metadata.labels) };
    Ok(Translated { value, warnings: Vec::new() })
}
