//! Nodes.

use std::sync::Arc;

use headroom_core::quantity::Round;
use headroom_core::snapshot::{AttachLimits, Change, Effect, Node, Readiness, Taint};
use jiff::Timestamp;

use super::amounts::amounts;
use super::{Malformed, Translated, labels, name_of, text, timestamp};
use crate::cluster::kubernetes::object::{self, Map};

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
        name: Arc::from(name_of(metadata)?),
        title: None,
        provider_id: text(spec.provider_id.as_ref()),
        labels: labels(&metadata.labels),
        taints: spec.taints.iter().map(|object| taint(object, &mut warnings)).collect(),
        unschedulable: spec.unschedulable == Some(true) && !cordoned_with_a_taint(object),
        readiness: readiness(&status.conditions, created, &mut warnings),
        created,
        allocatable,
        capacity,
        deleting: metadata.deletion_timestamp.is_some(),
        addresses: addresses(&status.addresses),
        no_delete: no_delete.filter(|value| !value.is_empty()).map(Box::from),
        scale_down_disabled: metadata.annotations.scale_down_disabled.as_deref() == Some("true"),
        busy: None,
    };
    Ok(Translated { value, warnings })
}

/// Whether the cordon is Headroom's own and goes with a taint that is there: then the taint says all that there is to say.
fn cordoned_with_a_taint(object: &object::Node<'_>) -> bool {
    let key = object.metadata.annotations.cordoned.as_deref();
    key.is_some_and(|key| object.spec.taints.iter().any(|taint| &*taint.key == key))
}

/// Translates what storage drivers say about a node. A driver that names no count has no limit.
pub fn attach_limits(object: &object::CsiNode<'_>) -> Result<Translated<Change>, Malformed> {
    let mut warnings = Vec::new();
    let mut limits = Vec::new();
    for driver in &object.spec.drivers {
        let Some(count) = driver.allocatable.count else { continue };
        if count < 0 {
            warnings.push(format!("driver {}: count {count} is below zero and counts as 0", &*driver.name));
        }
        limits.push((Arc::from(&*driver.name), u32::try_from(count.max(0)).unwrap_or(u32::MAX)));
    }
    let value = Change::AttachLimits(AttachLimits { node: Arc::from(name_of(&object.metadata)?), limits });
    Ok(Translated { value, warnings })
}

/// The effect of this name.
pub(super) fn effect(text: &str) -> Option<Effect> {
    match text {
        "NoSchedule" => Some(Effect::NoSchedule),
        "PreferNoSchedule" => Some(Effect::PreferNoSchedule),
        "NoExecute" => Some(Effect::NoExecute),
        _ => None,
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

/// The names by which a cloud may know the machine. External addresses are left out: they move from machine to machine.
fn addresses(objects: &[object::Address<'_>]) -> Vec<Box<str>> {
    let kinds = ["InternalIP", "Hostname", "InternalDNS"];
    let own = objects.iter().filter(|object| kinds.contains(&&*object.kind) && !object.address.is_empty());
    own.map(|object| Box::from(&*object.address)).collect()
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
