//! What makes pods, and capacity buffers.

use std::sync::Arc;

use headroom_core::quantity::Round;
use headroom_core::snapshot::{BufferLimits, CapacityBuffer, Change, PodKind, PodSpec, SharedSpec, Workload};

use super::amounts::amount;
use super::pod::{Specs, controller, only_on, spec};
use super::{Malformed, Translated, name_of, namespace_of, text};
use crate::cluster::kubernetes::object;

/// Kubernetes' own groups with kinds that make pods, and the one from before there were others.
const GROUPS: [&str; 4] = ["", "apps", "batch", "extensions"];

/// The group of capacity buffers.
const BUFFER_GROUP: &str = "autoscaling.x-k8s.io";

/// Translates a Deployment, ReplicaSet, StatefulSet, ReplicationController or Job, whichever `kind` says.
///
/// A Job that is over keeps no room, whatever its annotation says.
pub fn workload(kind: &str, object: &object::Workload<'_>, specs: &mut Specs) -> Result<Translated<Change>, Malformed> {
    let object::Workload { api_version, metadata, spec: wanted, status } = object;
    is_of(api_version, &GROUPS)?;
    let mut warnings = Vec::new();
    let ended = |it: &object::Condition<'_>| matches!(&*it.kind, "Complete" | "Failed") && &*it.status == "True";
    let is_over = kind == "Job" && status.conditions.iter().any(ended);
    let replicas = if kind == "Job" {
        let left = wanted.completions.map(|all| all.saturating_sub(status.succeeded.unwrap_or(0)));
        let at_once = pods("parallelism", wanted.parallelism.unwrap_or(1), &mut warnings);
        let at_once = left.map_or(at_once, |left| at_once.min(saturated(left)));
        if is_over || wanted.suspend == Some(true) { 0 } else { at_once }
    } else {
        pods("replicas", wanted.replicas.unwrap_or(1), &mut warnings)
    };
    // A Deployment keeps ten of them. They make no pods, so what these would be like is not worth its memory.
    let is_old_revision = kind == "ReplicaSet" && replicas == 0 && controller(metadata).is_some();
    let spec = match is_old_revision {
        true => specs.share(PodSpec { namespace: Arc::from(namespace_of(metadata)), ..PodSpec::default() }),
        false => template(&wanted.template, metadata, specs, &mut warnings)?,
    };
    let workload = Workload {
        kind: Box::from(kind),
        name: Box::from(name_of(metadata)?),
        replicas,
        spec,
        controller: controller(metadata),
        spare_copies: metadata.annotations.spare_copies.as_ref().filter(|_| !is_over).map(|value| Box::from(&**value)),
        generation: None,
    };
    Ok(Translated { value: Change::Workload(Box::new(workload)), warnings })
}

/// Translates a PodTemplate, which is like something that wants no pods.
pub fn pod_template(object: &object::PodTemplate<'_>, specs: &mut Specs) -> Result<Translated<Change>, Malformed> {
    let object::PodTemplate { api_version, metadata, template: pods } = object;
    is_of(api_version, &[""])?;
    let mut warnings = Vec::new();
    let workload = Workload {
        kind: Box::from("PodTemplate"),
        name: Box::from(name_of(metadata)?),
        replicas: 0,
        spec: template(pods, metadata, specs, &mut warnings)?,
        controller: controller(metadata),
        spare_copies: None,
        generation: metadata.generation,
    };
    Ok(Translated { value: Change::Workload(Box::new(workload)), warnings })
}

/// Translates a CapacityBuffer.
pub fn capacity_buffer(object: &object::CapacityBuffer<'_>) -> Result<Translated<Change>, Malformed> {
    let object::CapacityBuffer { api_version, metadata, spec } = object;
    is_of(api_version, &["", BUFFER_GROUP])?;
    let mut warnings = Vec::new();
    let buffer = CapacityBuffer {
        namespace: Arc::from(namespace_of(metadata)),
        name: Box::from(name_of(metadata)?),
        strategy: text(Some(&spec.provisioning_strategy)).unwrap_or_default(),
        pod_template: spec.pod_template_ref.as_ref().map(|reference| Box::from(&*reference.name)),
        scalable: spec.scalable_ref.as_ref().map(reference),
        replicas: count("spec.replicas", spec.replicas)?,
        percentage: count("spec.percentage", spec.percentage)?,
        limits: limits(spec, &mut warnings)?,
    };
    Ok(Translated { value: Change::CapacityBuffer(Box::new(buffer)), warnings })
}

/// What the pods of a template are like, in the namespace of what makes them.
fn template(
    object: &object::Pod<'_>,
    metadata: &object::Metadata<'_>,
    specs: &mut Specs,
    warnings: &mut Vec<String>,
) -> Result<SharedSpec, Malformed> {
    let mut pods = PodSpec {
        namespace: Arc::from(namespace_of(metadata)),
        kind: PodKind::Workload,
        controller: None,
        ..spec(object, specs, warnings)?
    };
    if let Some(node) = text(object.spec.node_name.as_ref()) {
        pods.node_affinity = only_on(node);
    }
    Ok(specs.share(pods))
}

/// `Kind/name`. Of another group than Kubernetes' own `Kind.group/name`, since that is never one of these.
fn reference(object: &object::ScalableReference<'_>) -> Box<str> {
    let object::ScalableReference { api_group, kind, name } = object;
    let reference = match GROUPS.contains(&&**api_group) {
        true => format!("{}/{}", &**kind, &**name),
        false => format!("{}.{}/{}", &**kind, &**api_group, &**name),
    };
    reference.into_boxed_str()
}

fn limits(spec: &object::CapacityBufferSpec<'_>, warnings: &mut Vec<String>) -> Result<BufferLimits, Malformed> {
    let mut limits = BufferLimits::default();
    for (name, quantity) in spec.limits.iter() {
        let most = amount(name, quantity, Round::Down, || "limits".to_owned(), warnings)?;
        match name {
            "cpu" => limits.cpu = Some(most),
            "memory" => limits.memory = Some(most),
            "ephemeral-storage" => limits.ephemeral_storage = Some(most),
            _ => limits.extended.push((Arc::from(name), most)),
        }
    }
    limits.extended.sort_unstable();
    Ok(limits)
}

/// A number without which the object means nothing.
fn count(field: &'static str, value: Option<i64>) -> Result<Option<u32>, Malformed> {
    match value {
        Some(value) if value < 0 => Err(Malformed::BelowZero { field, value }),
        value => Ok(value.map(saturated)),
    }
}

fn pods(field: &str, value: i64, warnings: &mut Vec<String>) -> u32 {
    if value < 0 {
        warnings.push(format!("{field} {value} is below zero and counts as 0"));
    }
    saturated(value)
}

fn saturated(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}

/// Whether an object's group, the first part of `group/version`, is one of these. The core group has no name, and an
/// object that does not say where it is from is taken to be meant.
fn is_of(api_version: &str, groups: &[&str]) -> Result<(), Malformed> {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if groups.contains(&group) { Ok(()) } else { Err(Malformed::OtherGroup { group: group.to_owned() }) }
}
