//! What AWS says, in Headroom's own values.

pub(super) mod machine;
mod options;
pub(super) mod provider_id;
mod tags;
mod template;

use std::sync::Arc;

use headroom_core::snapshot::{CloudGroup, Instance, InstanceState};

pub(super) use self::options::options;
pub(super) use self::template::template;
use super::object::{auto_scaling as aws, ec2};

/// A group as it is, without what other calls say of it.
pub(super) fn group(name: &Arc<str>, group: &aws::Group) -> CloudGroup {
    CloudGroup {
        name: Arc::clone(name),
        target: group.desired_capacity,
        min: Some(group.min_size),
        max: Some(group.max_size),
        instances: Some(group.instances.member.iter().filter_map(instance).collect()),
        ..CloudGroup::default()
    }
}

/// How many machines a group has that do not go.
pub(super) fn alive(group: &aws::Group) -> u32 {
    let alive = group.instances.member.iter().filter_map(|instance| state(&instance.lifecycle_state));
    u32::try_from(alive.filter(|state| *state != InstanceState::Deleting).count()).unwrap_or(u32::MAX)
}

/// Whether a group does not do this for now.
pub(super) fn is_suspended(group: &aws::Group, process: &str) -> bool {
    group.suspended_processes.member.iter().any(|suspended| suspended.process_name == process)
}

fn instance(instance: &aws::Instance) -> Option<Instance> {
    let state = state(&instance.lifecycle_state)?;
    let provider_id = provider_id::of(&instance.availability_zone, &instance.instance_id).into();
    // Nodes of Nomad know no more of their machine than the instance.
    let addresses = vec![instance.instance_id.as_str().into()];
    Some(Instance { provider_id, state, addresses, ..Instance::default() })
}

/// The state of a machine by its lifecycle; None when it is no machine of the group, or no more.
pub(super) fn state(lifecycle: &str) -> Option<InstanceState> {
    // Within a state a lifecycle hook may wait, which is behind a colon.
    match lifecycle.split(':').next().unwrap_or_default() {
        "Pending" => Some(InstanceState::Creating),
        "Terminating" | "Detaching" => Some(InstanceState::Deleting),
        // In a warm pool it is not counted in the desired capacity and is no node.
        "Warmed" | "Terminated" | "Detached" => None,
        // Quarantined and replaced ones run, and so do those in standby.
        _ => Some(InstanceState::Running),
    }
}
