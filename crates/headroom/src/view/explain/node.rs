//! One node: which group it is in, and why it is kept or removed.

use std::sync::Arc;

use headroom_core::membership::groups_of_node;
use headroom_core::plan::{Action, Reason, Resource, Subject};
use headroom_core::policy::Group;
use headroom_core::quantity::{Bytes, MilliCpu};
use headroom_core::snapshot::{NodeView, PodKind, PodView, Readiness};
use headroom_core::strategy::utilization::{oldest_first, tainted_at};
use jiff::Timestamp;

use super::group::{selection, wish};
use super::{NotFound, refusals_about, shown, sorted_nodes};
use crate::dump::Round;
use crate::view::columns::{columns, row};
use crate::view::plan::action;
use crate::view::words::{amounts, count, names, share};
use crate::view::{TITLE, section};

/// Everything about the node called `name`.
pub fn node(round: &Round, name: &str) -> Result<String, NotFound> {
    let Some(view) = round.snapshot().node(name) else { return taken_out(round, name) };
    let mut text = format!("{TITLE}node {name}{TITLE:#}\n\n");
    text += &section("State", &state(&view));
    text += &section("Pods", &pods(&view));
    text += &section("Group", &[group_line(round, &view)]);
    text += &section("This round", &verdict(round, &view));
    text.truncate(text.trim_end().len());
    Ok(text + "\n")
}

/// A node that no group may match, or none at all.
fn taken_out(round: &Round, name: &str) -> Result<String, NotFound> {
    if let Some(apart) = round.assumed.made_up.as_ref().and_then(|apart| apart.get(name)) {
        return Ok(format!("{TITLE}node {name}{TITLE:#}\n\n{}", section("Group", &[format!("none: {apart}")]))
            .trim_end()
            .to_owned()
            + "\n");
    }
    let all: Vec<&str> = round.snapshot().nodes().map(|view| &*view.node.name).collect();
    let like: Vec<&str> = all.iter().filter(|known| known.contains(name)).copied().collect();
    let shown = if like.is_empty() { &all } else { &like };
    let hint =
        if shown.is_empty() { "there is none in the dump".to_owned() } else { format!("there are {}", names(shown)) };
    Err(NotFound { problem: format!("there is no node {name}"), hint })
}

fn state(view: &NodeView<'_>) -> Vec<String> {
    let node = view.node;
    let mut lines = vec![match node.readiness {
        Readiness::Ready => "ready".to_owned(),
        Readiness::NotReady { since: Some(since) } => format!("not ready since {since}"),
        Readiness::NotReady { since: None } => "not ready".to_owned(),
    }];
    if let Some(created) = node.created {
        lines.push(format!("made {created}"));
    }
    if let Some(id) = &node.provider_id {
        lines.push(format!("machine {id}"));
    }
    lines.push(format!("offers {}, {}", amounts(&node.allocatable), count(node.allocatable.pods, "pod")));
    let (used, has) = (&view.sums.used, &node.allocatable);
    let (cpu, memory) = (share(&Resource::Cpu, used.cpu, has.cpu), share(&Resource::Memory, used.memory, has.memory));
    lines.push(format!("requested {cpu} cpu, {memory} memory"));
    lines.extend(node.taints.iter().map(|taint| format!("taint {taint}")));
    if node.unschedulable {
        lines.push("cordoned".to_owned());
    }
    if node.deleting {
        lines.push("being deleted".to_owned());
    }
    if let Some(why) = &node.no_delete {
        lines.push(format!("annotated no-delete: {why}"));
    }
    if let Ok(Some(at)) = tainted_at(node) {
        lines.push(format!("marked for removal at {at}"));
    }
    lines
}

fn pods(view: &NodeView<'_>) -> Vec<String> {
    let pods = view.pods();
    if pods.is_empty() {
        return vec!["none".to_owned()];
    }
    let mut rows = vec![row(["POD", "CPU", "MEMORY", "WHEN THE NODE GOES"])];
    rows.extend(pods.iter().map(|pod| {
        let requests = &pod.spec.requests;
        vec![
            pod.full_name(),
            MilliCpu(requests.cpu).to_string(),
            Bytes(requests.memory).to_string(),
            fate(pod).to_owned(),
        ]
    }));
    columns(&rows)
}

fn fate(pod: &PodView<'_>) -> &'static str {
    match pod.spec.kind {
        PodKind::DaemonSet => "goes with it: DaemonSet",
        PodKind::Static | PodKind::Mirror => "goes with it: static pod",
        PodKind::Workload if pod.blocks_removal() => "would be lost",
        PodKind::Workload => "is going already",
    }
}

fn group_line(round: &Round, view: &NodeView<'_>) -> String {
    let groups = groups_of_node(&round.policy, view.node);
    let groups: Vec<&Group> = groups.iter().filter_map(|at| round.policy.groups.get(*at)).collect();
    match groups.as_slice() {
        [] => match round.assumed.made_up.as_ref().and_then(|apart| apart.get(&view.node.name)) {
            Some(apart) => format!("none: {apart}"),
            None => "none: no group selects it".to_owned(),
        },
        [only] => format!("{}: {}", only.name, selection(&only.select)),
        several => {
            let names: Vec<&str> = several.iter().map(|group| &*group.name).collect();
            format!("none: {} all select it", names.join(" and "))
        }
    }
}

/// What happens to the node, or why nothing does.
fn verdict(round: &Round, view: &NodeView<'_>) -> Vec<String> {
    let name = &view.node.name;
    let actions = round.plan.actions.iter().filter(|planned| planned.action.node() == Some(name));
    let mut lines: Vec<String> = actions.map(|planned| action(round, planned)).collect();
    lines.extend(shown(&refusals_about(round, |subject| *subject == Subject::Node(name.clone()))));
    if !lines.is_empty() {
        return lines;
    }
    let groups = groups_of_node(&round.policy, view.node);
    let group = if let [only] = groups.as_slice() { round.policy.groups.get(*only) } else { None };
    match group {
        Some(group) => kept(round, group, view),
        None => vec!["left alone, since it is in no group".to_owned()],
    }
}

/// Why a node on which nothing acts stays.
fn kept(round: &Round, group: &Group, view: &NodeView<'_>) -> Vec<String> {
    if view.node.unschedulable {
        return vec![
            "kept: whoever cordoned it has it in hand; it counts neither as capacity nor as removable".to_owned(),
        ];
    }
    if view.node.deleting {
        return vec!["it is going already".to_owned()];
    }
    let Some(report) = round.plan.report.group(&group.name) else { return Vec::new() };
    let name = &group.name;
    if let Some((_, until)) = booting(round, group, view) {
        return vec![format!("on its way: counts as a new node of {name} until {until}")];
    }
    let mut lines = if report.wanted < 0 {
        turn(round, group, view)
    } else {
        vec![format!("kept: {name} {}", wish(round, group, report))]
    };
    let about = |subject: &Subject| matches!(subject, Subject::Cluster) || *subject == Subject::Group(name.clone());
    lines.extend(shown(&refusals_about(round, about)));
    lines
}

/// The node, when it has registered and is not usable yet, and how long it counts as on its way.
fn booting(round: &Round, group: &Group, view: &NodeView<'_>) -> Option<(Arc<str>, Timestamp)> {
    let answer = round.inquire()?;
    answer.group(&group.name)?.booting.into_iter().find(|(name, _)| *name == view.node.name)
}

/// Where the node stands in the order in which its group marks nodes.
fn turn(round: &Round, group: &Group, view: &NodeView<'_>) -> Vec<String> {
    let mut nodes = sorted_nodes(round, group).in_service;
    oldest_first(&mut nodes);
    let place = nodes.iter().position(|known| known.node.name == view.node.name);
    let marks = round.plan.actions.iter().filter(|planned| {
        let below = matches!(planned.reason, Reason::BelowThreshold { .. } | Reason::AboveMax { .. });
        planned.group == group.name && below && matches!(planned.action, Action::Taint { .. })
    });
    let (name, marks) = (&group.name, count(marks.count(), "node"));
    match place {
        Some(place) => {
            let of = nodes.len();
            vec![format!("kept: {name} marks {marks} now, oldest first, and this one is number {} of {of}", place + 1)]
        }
        None => vec![format!("kept: {name} marks {marks} now, and only those in service")],
    }
}
