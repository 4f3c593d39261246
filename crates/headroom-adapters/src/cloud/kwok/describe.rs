//! A group in Headroom's own values.

use headroom_core::snapshot::{CloudGroup, Instance, InstanceState};

use super::object;
use super::provider::Provided;
use super::state::{Fate, Group, Machine, Seen};

/// The group as it is. `provided` is what is known of new machines.
pub(super) fn group(group: &Group<'_>, provided: Option<Provided>) -> CloudGroup {
    let limits = provided.as_ref().and_then(|provided| provided.limits);
    let coming = group.state.machines.iter().map(machine);
    let here = group.nodes.values().map(|seen| node(seen, group.is_leaving(seen)));
    CloudGroup {
        name: group.spec.name.clone(),
        target: group.state.target,
        min: limits.map(|(min, _)| min),
        max: limits.map(|(_, max)| max),
        instances: Some(coming.chain(here).collect()),
        failure: group.state.failure.clone(),
        template: provided.map(|provided| provided.template),
        ..CloudGroup::default()
    }
}

fn machine(machine: &Machine) -> Instance {
    let state = match machine.fate {
        Fate::Boots | Fate::NeverRegisters => InstanceState::Creating,
        Fate::Failed => InstanceState::Failed,
    };
    instance(&machine.name, state, Some(machine.asked))
}

fn node(node: &Seen, leaves: bool) -> Instance {
    instance(&node.name, if leaves { InstanceState::Deleting } else { InstanceState::Running }, node.created)
}

fn instance(name: &str, state: InstanceState, created: Option<jiff::Timestamp>) -> Instance {
    let provider_id = object::provider_id(name).into();
    // The node's own id may be in the form of Cluster Autoscaler.
    Instance { provider_id, addresses: vec![name.into()], state, created }
}
