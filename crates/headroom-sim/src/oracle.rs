//! Watches over the world: what Headroom must never do, judged by what is true in the simulated cluster and not by
//! what Headroom was told.

use std::sync::Arc;

use headroom_core::plan::{Action, Planned, Reason};
use headroom_core::policy::{Group, Policy, RunsOn, Strategy};
use headroom_core::scale_down::CANDIDATE_TAINT;
use jiff::Timestamp;
use thiserror::Error;

use crate::world::{NodeState, World};

/// Why a run is stopped: Headroom did what it must never do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "round {round} at {at}: {action} of group {group}: {broken}; hint: this is a fault in Headroom, please report it \
     with the scenario"
)]
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
        Action::Drain { node, pods, .. } => world.refuses_some(node, pods).map_or(Ok(()), |why| Err(why.to_string())),
        // A mark that pods avoid where they can takes nothing out of service.
        Action::Taint { taint, .. } if &*taint.key == CANDIDATE_TAINT => Ok(()),
        // What never came is given back, even where that leaves more than the maximum.
        Action::Resize { from, to } if to > from && *to > max => Err(format!("the maximum is {max}")),
        Action::Resize { to, .. } if *to < state.machines => Err(format!("it has {} machines", state.machines)),
        Action::Resize { .. } => Ok(()),
        // Nodes that do not work are no help to the minimum.
        Action::Taint { .. } if matches!(planned.reason, Reason::Unhealthy { .. }) => Ok(()),
        // The size counts there, and nodes that are on their way out do not.
        Action::Taint { .. } if matches!(group.strategy, Strategy::Pending(_)) => {
            match state.target.saturating_sub(state.marked) {
                stays if stays <= min => Err(format!("{stays} of its nodes stay, the minimum is {min}")),
                _ => Ok(()),
            }
        }
        Action::Taint { .. } if state.in_service <= min => {
            Err(format!("{} nodes are in service, the minimum is {min}", state.in_service))
        }
        Action::Taint { .. } => Ok(()),
        Action::Remove { .. } if state.target <= min => Err(format!("the minimum is {min}")),
        Action::Remove { node, .. } => judge_removal(world, group, node),
        Action::WriteOff { replace: false, .. } if state.target <= min => Err(format!("the minimum is {min}")),
        Action::WriteOff { provider_id, .. } => {
            world.node_of(provider_id).map_or(Ok(()), |node| Err(format!("the machine is the node {node}")))
        }
    }
}

fn judge_removal(world: &World, group: &Group, node: &Arc<str>) -> Result<(), String> {
    let Some(NodeState { pods, marked, forced }) = world.node_state(node) else { return Ok(()) };
    if forced && pods == 0 {
        return Ok(());
    }
    let Some(marked) = marked else { return Err(format!("Headroom did not mark it, and it has {pods} pods")) };
    if pods > 0 && group.strategy.runs_on() == RunsOn::Nomad {
        return Err(format!("it has {pods} pods"));
    }
    let Strategy::Utilization(settings) = &group.strategy else { return Ok(()) };
    let marked_for = world.now().duration_since(marked);
    // Marks hold whole seconds, so that up to one second of the time since then may be missing.
    let grace = if pods == 0 { settings.soft_grace } else { settings.hard_grace };
    if marked_for.as_secs() < grace.as_secs() {
        return Err(format!("it has {pods} pods and was marked {}s ago", marked_for.as_secs()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use headroom_core::policy::{Selection, Size, Utilization};
    use headroom_core::snapshot::{Effect, Taint};
    use jiff::SignedDuration;

    use super::*;
    use crate::scenario::{Burst, Demand, Life, NodeGroup, NodeType, Scenario, Shape, When, Workload};

    /// A group of three nodes, the first with two pods, that may have two to five.
    fn world() -> (World, Policy) {
        let utilization = Utilization {
            soft_grace: SignedDuration::from_mins(5),
            hard_grace: SignedDuration::from_mins(10),
            ..Utilization::default()
        };
        let select = Selection { labels: [("pool", "g")].into_iter().collect(), capacity: None };
        let group = Group {
            size: Size { min: Some(2), max: Some(5) },
            strategy: Strategy::Utilization(utilization),
            ..Group::new("g", select)
        };
        let workload = Workload {
            name: "w".into(),
            shapes: vec![Shape { weight: 1, spec: Default::default() }],
            demand: Demand::Bursts(vec![Burst { at: When::After(SignedDuration::ZERO), pods: 2 }]),
            runs_for: None,
            life: Life::default(),
        };
        let node_type = Arc::new(NodeType::default());
        let policy = Policy { groups: vec![group], ..Policy::default() };
        let scenario = Scenario {
            duration: SignedDuration::from_hours(1),
            groups: vec![NodeGroup { name: "g".into(), node_type, nodes: 3, max: 9, ..NodeGroup::default() }],
            workloads: vec![workload],
            policy: policy.clone(),
            ..Scenario::default()
        };
        (World::new(&scenario), policy)
    }

    fn planned(action: Action) -> Planned {
        Planned { group: "g".into(), action, reason: Reason::ForceTainted, dry_run: false }
    }

    fn mark(node: &str) -> Planned {
        let taint = Taint { key: "k".into(), value: "".into(), effect: Effect::NoSchedule };
        planned(Action::Taint { node: node.into(), taint })
    }

    fn remove(node: &str) -> Planned {
        planned(Action::Remove { node: node.into(), provider_id: None, pods: vec![] })
    }

    fn minutes(minutes: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
    }

    #[test]
    fn sizes_outside_the_limits_are_faults() {
        let (world, policy) = world();
        let judge = |to| judge(&world, &policy, &planned(Action::Resize { from: 3, to }));
        assert_eq!(judge(5), Ok(()));
        assert_eq!(judge(6), Err("the maximum is 5".to_owned()));
        assert_eq!(judge(2), Err("it has 3 machines".to_owned()));
        let given_back = super::judge(&world, &policy, &planned(Action::Resize { from: 9, to: 6 }));
        assert_eq!(given_back, Ok(()));
    }

    #[test]
    fn nodes_are_marked_down_to_the_minimum() {
        let (mut world, policy) = world();
        assert_eq!(judge(&world, &policy, &mark("g-0001")), Ok(()));
        world.execute(&mark("g-0001")).unwrap();
        let too_few = judge(&world, &policy, &mark("g-0002"));
        assert_eq!(too_few, Err("2 nodes are in service, the minimum is 2".to_owned()));
        let since = minutes(0);
        let unhealthy = Reason::Unhealthy { since, grace: SignedDuration::ZERO };
        assert_eq!(judge(&world, &policy, &Planned { reason: unhealthy, ..mark("g-0002") }), Ok(()));
    }

    #[test]
    fn nodes_go_after_their_grace_periods() {
        let (mut world, policy) = world();
        let not_marked = judge(&world, &policy, &remove("g-0003"));
        assert_eq!(not_marked, Err("Headroom did not mark it, and it has 0 pods".to_owned()));
        world.execute(&mark("g-0003")).unwrap();
        world.execute(&mark("g-0001")).unwrap();
        world.advance(minutes(5));
        assert_eq!(judge(&world, &policy, &remove("g-0003")), Ok(()));
        let early = judge(&world, &policy, &remove("g-0001"));
        assert_eq!(early, Err("it has 2 pods and was marked 300s ago".to_owned()));
        world.advance(minutes(10));
        assert_eq!(judge(&world, &policy, &remove("g-0001")), Ok(()));
        world.execute(&remove("g-0001")).unwrap();
        assert_eq!(judge(&world, &policy, &remove("g-0003")), Err("the minimum is 2".to_owned()));
    }
}
