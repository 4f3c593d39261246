//! What a new node of a group will be like.

use headroom_core::snapshot::{Labels, Template};

use super::aws::Group;
use super::machine::Machine;
use super::tags;

const OS: &str = "kubernetes.io/os";
const ARCH: [&str; 2] = ["kubernetes.io/arch", "beta.kubernetes.io/arch"];
const INSTANCE_TYPE: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
const REGION: [&str; 2] = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];
const ZONE: [&str; 2] = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];

/// The template of a group whose machines are so; None when nothing is known of them. And what in the tags is wrong.
pub(crate) fn template(group: &Group, region: &str, machine: Option<Machine>) -> (Option<Template>, Vec<String>) {
    let said = tags::read(&group.tags.member);
    // Of a machine that nobody knows, cpu and memory must at least be said.
    let is_said = |name: &str| said.resources.iter().any(|(resource, _)| resource == name);
    if machine.is_none() && !(is_said("cpu") && is_said("memory")) {
        return (None, said.wrong);
    }
    let machine = machine.unwrap_or_else(|| Machine::at_least(0, 0));
    let (mut capacity, mut allocatable) = (machine.capacity, machine.allocatable);
    for (resource, amount) in &said.resources {
        tags::set(&mut capacity, resource, *amount);
        tags::set(&mut allocatable, resource, *amount);
    }
    let zone = match group.availability_zones.member.as_slice() {
        [only] => Some(only.as_str()),
        _ => None,
    };
    let known =
        [(ARCH, machine.arch), (INSTANCE_TYPE, machine.instance_type.as_deref()), (REGION, Some(region)), (ZONE, zone)];
    let known = known.into_iter().filter_map(|(keys, value)| value.map(|value| keys.map(|key| (key, value))));
    let labels: Labels = [(OS, "linux")]
        .into_iter()
        .chain(known.flatten())
        .chain(said.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())))
        .collect();
    (Some(Template { allocatable, capacity, labels, taints: said.taints }), said.wrong)
}
