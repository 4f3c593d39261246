//! What would help a pod that waits.

use headroom_core::plan::{Action, Subject};
use headroom_core::policy::{Group, Strategy};
use headroom_core::snapshot::{PodView, Readiness};
use headroom_core::strategy::utilization::{Shortage, shortage};

use super::pod::is_like;
use super::room::Room;
use super::standing::Standing;
use super::{refusals_about, sorted_nodes};
use crate::dump::Round;

/// What would get `pod` a node; empty for one that needs no help.
pub(super) fn help(round: &Round, pod: &PodView<'_>, standing: &Standing<'_>) -> Vec<String> {
    if pod.node.is_some() || pod.deleting {
        return Vec::new();
    }
    if !pod.pending {
        return vec!["whoever set its scheduling gates takes them off when it may run".to_owned()];
    }
    let mut lines: Vec<String> = standing.counted_by.iter().flat_map(|group| in_group(round, pod, group)).collect();
    let about = |subject: &Subject| match subject {
        Subject::Pods { first, .. } => is_like(round, first, pod),
        Subject::Group(name) => standing.counted_by.iter().any(|group| group.name == *name),
        Subject::Cluster | Subject::Node(_) | Subject::Placeholders { .. } => false,
    };
    lines.extend(refusals_about(round, about).iter().filter_map(|refusal| refusal.why.hint(round.policy.runs_on())));
    lines
}

fn in_group(round: &Round, pod: &PodView<'_>, group: &Group) -> Vec<String> {
    let name = &group.name;
    let mut nodes = sorted_nodes(round, group).in_service;
    nodes.retain(|view| view.node.readiness == Readiness::Ready);
    let room = Room::of(&pod.spec.requests, &nodes);
    let mut lines = Vec::new();
    if let Room::On(node) = &room {
        lines.push(format!("the scheduler: {node} of {name} has room for it, as far as cpu, memory and the like go"));
    }
    let growth = round.plan.actions.iter().filter(|planned| planned.group == *name);
    let growth: Vec<String> = growth
        .filter(|planned| {
            matches!(planned.action, Action::Resize { from, to } if to > from)
                || matches!(planned.action, Action::Untaint { .. })
        })
        .map(|planned| planned.action.to_string())
        .collect();
    if let Some(Shortage { resource, needs, free }) = too_small(round, pod, name) {
        let (needs, offers) = (resource.amount(needs.into()), resource.amount(free.into()));
        lines.push(format!("larger machines: it needs {needs} {resource}, a new node of {name} offers {offers}"));
        return lines;
    }
    if !growth.is_empty() {
        lines.push(format!("this plan: {} of {name}", growth.join(", ")));
        return lines;
    }
    if let Room::Short(short) = &room {
        let (needs, free) = (short.resource.amount(short.needs.into()), short.resource.amount(short.free.into()));
        let resource = &short.resource;
        lines.push(format!("room: it needs {needs} {resource}, at most {free} is free on one node of {name}"));
        let Strategy::Utilization(settings) = &group.strategy else { return lines };
        let wants_nothing = round.plan.report.group(name).is_some_and(|report| report.wanted <= 0);
        if wants_nothing && !settings.scale_on_starve {
            lines.push(format!("scaleOnStarve: true for {name}: a node is added for a waiting pod that fits on none"));
        }
    }
    lines
}

/// What a new node of the group would be short of for the pod.
fn too_small(round: &Round, pod: &PodView<'_>, group: &str) -> Option<Shortage> {
    let learnt = round.memory.group(group).learnt?;
    let offers = learnt.allocatable.saturating_sub(&learnt.daemon_sets);
    shortage(&pod.spec.requests, &offers, learnt.allocatable.pods > 0)
}
