//! Nodes of Nomad whose machines were removed. A node stays until somebody purges it, and its cloud does not say any more
//! which machine it was: whoever removed it may have ended in between.

use std::sync::Arc;

use crate::memory::GroupMemory;
use crate::plan::{Action, Planned};
use crate::snapshot::{CloudGroup, Node};

/// The machine of a node, if Headroom remembers that it removed it and the cloud lists it no more. The node is to go too, once
/// it is down.
pub(super) fn machine_gone(memory: &GroupMemory, cloud: Option<&CloudGroup>, node: &Node) -> Option<Box<str>> {
    let machine = memory.removed.get(&node.name)?;
    let listed = cloud?.instances.as_ref()?;
    let is_gone = listed.iter().all(|known| known.provider_id != *machine);
    is_gone.then(|| machine.clone())
}

/// Remembers which machines go with their nodes by these actions.
pub(super) fn remember(memory: &mut GroupMemory, actions: &[Planned]) {
    for planned in actions {
        if let Action::Remove { node, provider_id: Some(id), .. } = &planned.action {
            memory.removed.insert(Arc::clone(node), id.clone());
        }
    }
}
