//! What the tags of an Auto Scaling group say of its nodes, in the words of Cluster Autoscaler.

use headroom_core::quantity::{QuantityError, Resources, Round, parse_milli, parse_units};
use headroom_core::snapshot::{Effect, Taint};

use super::aws::Tag;

const LABEL: &str = "k8s.io/cluster-autoscaler/node-template/label/";
const TAINT: &str = "k8s.io/cluster-autoscaler/node-template/taint/";
const RESOURCE: &str = "k8s.io/cluster-autoscaler/node-template/resources/";
/// The tag by which EKS marks the groups that it manages, and the label of their nodes.
const EKS_NODE_GROUP: &str = "eks:nodegroup-name";
const EKS_LABEL: &str = "eks.amazonaws.com/nodegroup";

/// What tags say of new nodes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) taints: Vec<Taint>,
    /// By the names that Kubernetes has for them.
    pub(crate) resources: Vec<(String, i64)>,
    /// What cannot be understood, with the reason.
    pub(crate) wrong: Vec<String>,
}

/// Reads the tags of a group.
pub(crate) fn read(tags: &[Tag]) -> Said {
    let mut said = Said::default();
    for Tag { key, value } in tags {
        if let Some(label) = key.strip_prefix(LABEL) {
            said.labels.push((label.to_owned(), value.clone()));
        } else if let Some(taint) = key.strip_prefix(TAINT) {
            match taint_of(taint, value) {
                Some(taint) => said.taints.push(taint),
                None => said.wrong.push(format!("the tag {key} is {value:?}; hint: write VALUE:NoSchedule")),
            }
        } else if let Some(resource) = key.strip_prefix(RESOURCE) {
            match amount(resource, value) {
                Ok(amount) => said.resources.push((resource.to_owned(), amount)),
                Err(error) => said.wrong.push(format!("the tag {key}: {error}")),
            }
        } else if key == EKS_NODE_GROUP {
            said.labels.push((EKS_LABEL.to_owned(), value.clone()));
        }
    }
    said
}

/// Sets the amount of the resource that Kubernetes calls `name`.
pub(crate) fn set(resources: &mut Resources, name: &str, amount: i64) {
    match name {
        "cpu" => resources.cpu = amount,
        "memory" => resources.memory = amount,
        "ephemeral-storage" => resources.ephemeral_storage = amount,
        "pods" => resources.pods = amount,
        _ => resources.set_extended(name, amount),
    }
}

fn taint_of(key: &str, value: &str) -> Option<Taint> {
    let (value, effect) = value.rsplit_once(':')?;
    let effect = match effect {
        "NoSchedule" => Effect::NoSchedule,
        "PreferNoSchedule" => Effect::PreferNoSchedule,
        "NoExecute" => Effect::NoExecute,
        _ => return None,
    };
    Some(Taint { key: key.into(), value: value.into(), effect })
}

fn amount(resource: &str, value: &str) -> Result<i64, QuantityError> {
    let parse = if resource == "cpu" { parse_milli } else { parse_units };
    Ok(parse(value, Round::Down)?.value.max(0))
}
