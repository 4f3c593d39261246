//! One node: which group it is in, and why it is kept or removed.

use std::collections::BTreeMap;

use headroom_core::keys::{DRAINING, INELIGIBLE};
use headroom_core::membership::groups_of_node;
use headroom_core::plan::{Action, Reason, Resource, Subject, Unmovable};
use headroom_core::policy::{Group, RunsOn, Strategy};
use headroom_core::quantity::{Bytes, MilliCpu};
use headroom_core::scale_down::{marked_at, unmovable};
use headroom_core::snapshot::{NodeView, PodKind, PodView, Readiness, Taint};
use headroom_core::strategy::utilization::{oldest_first, tainted_at};

use super::group::{selection, wish};
use super::{NotFound, refusals_about, shown, sorted_nodes};
use crate::dump::Round;
use crate::view::actions::action;
use crate::view::called::{called, meant, title};
use crate::view::columns::{columns, row};
use crate::view::scale_down::price;
use crate::view::slack::held_by;
use crate::view::words::{amounts, count, share, there_are};
use crate::view::{TITLE, section};

/// Everything about the node called `name`.
pub fn node(round: &Round, name: &str) -> Result<String, NotFound> {
    let Some(view) = meant(round.snapshot(), name) else { return taken_out(round, name) };
    let name = &*view.node.name;
    let own = view.node.title.as_ref().map(|title| format!("{title} ")).unwrap_or_default();
    let heading = format!("{TITLE}node {own}{name}{TITLE:#}\n\n");
    let mut text = String::new();
    text += &section("State", &state(round, &view));
    let tasks = if is_on_nomad(round) { "Allocations" } else { "Pods" };
    text += &section(tasks, &pods(round, &view));
    text += &section("Spare room", &held_by(round, name));
    text += &section("Group", &[group_line(round, &view)]);
    text += &section("This round", &verdict(round, &view));
    text.truncate(text.trim_end().len());
    Ok(heading + &called(round.snapshot(), &text) + "\n")
}

/// A node that no group may match, or none at all.
fn taken_out(round: &Round, name: &str) -> Result<String, NotFound> {
    if let Some(apart) = round.assumed.made_up.as_ref().and_then(|apart| apart.get(name)) {
        return Ok(format!("{TITLE}node {name}{TITLE:#}\n\n{}", section("Group", &[format!("none: {apart}")]))
            .trim_end()
            .to_owned()
            + "\n");
    }
    let all: Vec<String> = round.snapshot().nodes().map(|view| title(view.node)).collect();
    let like: Vec<String> = all.iter().filter(|known| known.contains(name)).cloned().collect();
    let shown = if like.is_empty() { &all } else { &like };
    let hint = if shown.is_empty() { "there is none in the dump".to_owned() } else { there_are(shown) };
    Err(NotFound { problem: format!("there is no node {name}"), hint })
}

fn state(round: &Round, view: &NodeView<'_>) -> Vec<String> {
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
    let mut offers = format!("offers {}", amounts(&node.allocatable));
    // Nomad does not limit how many allocations there are.
    if !is_on_nomad(round) {
        offers += &format!(", {}", count(node.allocatable.pods, "pod"));
    }
    lines.push(offers);
    if let Some(price) = price(round, view) {
        lines.push(format!("costs {price} an hour"));
    }
    let (used, has) = (&view.sums.used, &node.allocatable);
    let (cpu, memory) = (share(&Resource::Cpu, used.cpu, has.cpu), share(&Resource::Memory, used.memory, has.memory));
    let taken = if is_on_nomad(round) { "allocated" } else { "requested" };
    lines.push(format!("{taken} {cpu} cpu, {memory} memory"));
    lines.extend(node.taints.iter().map(mark));
    if node.unschedulable {
        lines.push("cordoned".to_owned());
    }
    if node.deleting {
        lines.push("being deleted".to_owned());
    }
    if let Some(why) = &node.no_delete {
        lines.push(format!("annotated no-delete: {why}"));
    }
    let marked_at = if let Ok(Some(at)) = tainted_at(node) { Some(at) } else { marked_at(node) };
    lines.extend(marked_at.map(|at| format!("marked for removal at {at}")));
    lines
}

fn is_on_nomad(round: &Round) -> bool {
    round.policy.runs_on() == RunsOn::Nomad
}

/// A taint, in the words of Nomad where it stands for something that Nomad says.
fn mark(taint: &Taint) -> String {
    match &*taint.key {
        INELIGIBLE => "ineligible: it gets no new work".to_owned(),
        DRAINING => "is being drained".to_owned(),
        _ => format!("taint {taint}"),
    }
}

fn pods(round: &Round, view: &NodeView<'_>) -> Vec<String> {
    let pods = view.pods();
    if pods.is_empty() {
        return vec!["none".to_owned()];
    }
    let task = if is_on_nomad(round) { "ALLOCATION" } else { "POD" };
    let mut rows = vec![row([task, "CPU", "MEMORY", "WHEN THE NODE GOES"])];
    let group = group_of(round, view);
    let drained = group.is_some_and(|group| matches!(group.strategy, Strategy::Pending(_)));
    let unmovable = unmovable(round.snapshot(), &round.policy, view, round.plan.at).filter(|_| drained);
    rows.extend(pods.iter().map(|pod| {
        let requests = &pod.spec.requests;
        vec![
            pod.full_name(),
            MilliCpu(requests.cpu).to_string(),
            Bytes(requests.memory).to_string(),
            if is_on_nomad(round) { fate_on_nomad(pod).to_owned() } else { fate(pod, unmovable.as_ref()) },
        ]
    }));
    columns(&rows)
}

/// What becomes of a pod; `unmovable` has those that cannot be moved, where nodes are drained before they go.
fn fate(pod: &PodView<'_>, unmovable: Option<&BTreeMap<String, Unmovable>>) -> String {
    let fate = match (pod.spec.kind, unmovable) {
        (PodKind::DaemonSet, _) => "goes with it: DaemonSet",
        (PodKind::Static | PodKind::Mirror, _) => "goes with it: static pod",
        (PodKind::Workload, _) if pod.deleting || !pod.blocks_removal() => "is going already",
        (PodKind::Workload, None) => "would be lost",
        (PodKind::Workload, Some(unmovable)) => match unmovable.get(&pod.full_name()) {
            Some(why) => return format!("keeps it: {why}"),
            None => "moves to another node",
        },
    };
    fate.to_owned()
}

/// The same where nodes are drained before they go, and go once all of their tasks have ended.
fn fate_on_nomad(pod: &PodView<'_>) -> &'static str {
    match pod.spec.kind {
        PodKind::DaemonSet => "goes with it: system job",
        _ if pod.deleting || !pod.blocks_removal() => "is stopping already",
        _ => "moves first: the node is drained",
    }
}

/// The one group that the node is in.
fn group_of<'r>(round: &'r Round, view: &NodeView<'_>) -> Option<&'r Group> {
    let groups = groups_of_node(&round.policy, view.node);
    if let [only] = groups.as_slice() { round.policy.groups.get(*only) } else { None }
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
    lines.extend(shown(round, &refusals_about(round, |subject| *subject == Subject::Node(name.clone()))));
    let group = group_of(round, view);
    lines.extend(group.and_then(|group| on_its_way(round, group, view)));
    if !lines.is_empty() {
        return lines;
    }
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
    let mut lines = match group.strategy {
        Strategy::MemoryPool(_) | Strategy::CpuPool(_) if report.wanted < 0 => {
            vec![format!(
                "kept: {name} {}; the least loaded go first, of equal ones the newest",
                wish(round, group, report)
            )]
        }
        _ if report.wanted < 0 => turn(round, group, view),
        _ => vec![format!("kept: {name} {}", wish(round, group, report))],
    };
    let about = |subject: &Subject| matches!(subject, Subject::Cluster) || *subject == Subject::Group(name.clone());
    lines.extend(shown(round, &refusals_about(round, about)));
    lines
}

/// How long the node counts as on its way, when it has registered and is not usable yet.
fn on_its_way(round: &Round, group: &Group, view: &NodeView<'_>) -> Option<String> {
    let booting = round.inquire()?.group(&group.name)?.booting;
    let (_, until) = booting.into_iter().find(|(name, _)| *name == view.node.name)?;
    Some(format!("on its way: counts as a new node of {} until {until}", group.name))
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
