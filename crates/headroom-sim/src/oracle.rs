//! Watches over the world: what Headroom must never do, judged by what is true in the simulated cluster and not by
//! what Headroom was told.

use std::sync::Arc;

use headroom_core::plan::{Action, Planned, Reason};
use headroom_core::policy::{Group, Policy, Strategy};
use jiff::Timestamp;
use thiserror::Error;

use crate::world::{NodeState, World};

/// Why a run is stopped: Headroom did what it must never do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("round {round} at {at}: {action} of group {group}: {broken}")]
pub struct Fault {
    /// The number of the round.
    pub round: u64,
    /// Its instant.
    pub at: Timestamp,
    /// The group.
    pub group: Arc<str>,
    /// What was to be done.
    pub action: String,
    /// What it would have broken.
    pub broken: String,
}

/// Whether the world allows what is about to be done; otherwise what it would break.
pub(crate) fn judge(world: &World, policy: &Policy, planned: &Planned) -> Result<(), String> {
    let Some(group) = policy.group(&planned.group) else { return Err("there is no such group".to_owned()) };
    let Some(state) = world.group_state(&planned.group) else { return Ok(()) };
    let min = group.size.min.unwrap_or(0).max(state.min);
    let max = group.size.max.unwrap_or(u32::MAX).min(state.max);
    match &planned.action {
        Action::Untaint { .. } => Ok(()),
        Action::Resize { to, .. } if *to > max => Err(format!("the maximum is {max}")),
        Action::Resize { to, .. } if *to < state.machines => Err(format!("it has {} machines", state.machines)),
        Action::Resize { .. } => Ok(()),
        // Nodes that do not work are no help to the minimum.
        Action::Taint { .. } if matches!(planned.reason, Reason::Unhealthy { .. }) => Ok(()),
        Action::Taint { .. } if state.in_service <= min => {
            Err(format!("{} nodes are in service, the minimum is {min}", state.in_service))
        }
        Action::Taint { .. } => Ok(()),
        Action::Remove { .. } if state.target <= min => Err(format!("the minimum is {min}")),
        Action::Remove { node, .. } => judge_removal(world, group, node),
    }
}

fn judge_removal(world: &World, group: &Group, node: &Arc<str>) -> Result<(), String> {
    let Some(NodeState { pods, marked, forced }) = world.node_state(node) else { return Ok(()) };
    if forced && pods == 0 {
        return Ok(());
    }
    let Some(marked) = marked else { return Err(format!("Headroom did not mark it, and it has {pods} pods")) };
    let Strategy::Utilization(settings) = &group.strategy else {
        return Err(format!("groups with the strategy {} lose no node", group.strategy.name()));
    };
    let marked_for = world.now().duration_since(marked);
    // Marks hold whole seconds, so that up to one second of the time since then may be missing.
    let grace = if pods == 0 { settings.soft_grace } else { settings.hard_grace };
    if marked_for.as_secs() < grace.as_secs() {
        return Err(format!("it has {pods} pods and was marked {}s ago", marked_for.as_secs()));
    }
    Ok(())
}
