//! One pod: which group it counts for, what is done about it, and what would help it.

use headroom_core::plan::Subject;
use headroom_core::policy::RunsOn;
use headroom_core::snapshot::{PodKind, PodView};
use headroom_core::strategy::pending::PodAnswer;

use super::help::help;
use super::standing::{Standing, wishes};
use super::{NotFound, named, placing, refusals_about, shown};
use crate::dump::Round;
use crate::view::actions::action;
use crate::view::called::called;
use crate::view::words::{amounts, names, there_are};
use crate::view::{TITLE, section};

/// Everything about the pod called `name`, which may have its namespace in front.
pub fn pod(round: &Round, name: &str) -> Result<String, NotFound> {
    let pod = find(round, name)?;
    let standing = Standing::of(round, &pod);
    let answer = placing::answer(round, &pod);
    let mut text = format!("{TITLE}pod {}{TITLE:#}\n\n", pod.full_name());
    text += &section("State", &state(round, &pod));
    text += &section("Group", &group_lines(&standing, answer.as_ref()));
    if let Some(answer) = &answer {
        text += &section("Where it fits", &placing::fits(round, answer));
    }
    text += &section("This round", &this_round(round, &pod, &standing, answer.as_ref()));
    text += &section("What helps", &help(round, &pod, &standing));
    text.truncate(text.trim_end().len());
    Ok(called(round.snapshot(), &(text + "\n")))
}

fn find<'r>(round: &'r Round, name: &str) -> Result<PodView<'r>, NotFound> {
    let snapshot = round.snapshot();
    let found = match name.split_once('/') {
        Some((namespace, name)) => Vec::from_iter(snapshot.pod(namespace, name)),
        None => snapshot.pods_named(name),
    };
    let found = if found.is_empty() { allocations(round, name) } else { found };
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(not_found(round, name)),
        several => {
            let all: Vec<String> = several.iter().map(PodView::full_name).collect();
            let problem = format!("there are {} pods called {name}", several.len());
            Err(NotFound { problem, hint: format!("name one of {}", names(&all)) })
        }
    }
}

/// Allocations of Nomad that are called so, or whose ID it is or the start of it.
fn allocations<'r>(round: &'r Round, name: &str) -> Vec<PodView<'r>> {
    if round.policy.runs_on() != RunsOn::Nomad {
        return Vec::new();
    }
    let is_meant = |pod: &PodView<'_>| {
        let Some((own, id)) = pod.name.rsplit_once('@') else { return false };
        own == name || pod.full_name().rsplit_once('@').is_some_and(|(full, _)| full == name) || name.starts_with(id)
    };
    round.snapshot().nodes().flat_map(|view| view.pods()).filter(is_meant).collect()
}

fn not_found(round: &Round, name: &str) -> NotFound {
    let bare = name.rsplit('/').next().unwrap_or(name);
    let snapshot = round.snapshot();
    let on_nodes = snapshot.nodes().flat_map(|view| view.pods());
    let waiting = snapshot.classes().flat_map(|class| class.pending_pods());
    let mut like: Vec<String> =
        on_nodes.chain(waiting).filter(|pod| pod.name.contains(bare)).map(|pod| pod.full_name()).collect();
    like.sort();
    let hint = if like.is_empty() {
        match round.policy.runs_on() {
            RunsOn::Kubernetes => "pods that have ended are not kept; kubectl get pods -A lists all".to_owned(),
            RunsOn::Nomad => "allocations that have ended are not kept; nomad job status JOB lists all".to_owned(),
        }
    } else {
        there_are(&like)
    };
    NotFound { problem: format!("there is no pod {name} that has not ended"), hint }
}

fn state(round: &Round, pod: &PodView<'_>) -> Vec<String> {
    let mut lines = vec![match pod.node {
        Some(node) if round.snapshot().node(node).is_some() => format!("on node {node}"),
        Some(node) => format!("on node {node}, which is not among the nodes looked at"),
        None if pod.pending => "waits for a node".to_owned(),
        None => "has no node and waits for none".to_owned(),
    }];
    if let Some(node) = pod.nominated {
        lines.push(format!("room is being made for it on {node} by preemption"));
    }
    if pod.deleting {
        lines.push("being deleted".to_owned());
    }
    if let Some(created) = pod.created {
        lines.push(format!("made {created}"));
    }
    lines.push(format!("asks for {}", amounts(&pod.spec.requests)));
    if let Some(wishes) = wishes(pod.spec) {
        lines.push(format!("on a node with {wishes}"));
    }
    if pod.spec.priority != 0 {
        lines.push(format!("priority {}", pod.spec.priority));
    }
    let kept_by = match (&pod.spec.controller, pod.spec.kind) {
        (_, PodKind::Static | PodKind::Mirror) => "the kubelet of its node".to_owned(),
        (Some(controller), _) => controller.to_string(),
        (None, _) => "nobody: if it goes, it does not come back".to_owned(),
    };
    lines.push(format!("kept by {kept_by}"));
    lines
}

fn group_lines(standing: &Standing<'_>, answer: Option<&PodAnswer>) -> Vec<String> {
    let why = &standing.why;
    let counted = standing.counted_by.iter().map(|group| format!("counts as demand of {}: {why}", group.name));
    let mut lines: Vec<String> = counted.collect();
    match answer {
        Some(answer) => lines.push(placing::standing(answer.aside.as_ref())),
        None if lines.is_empty() => lines.push(format!("counts for no group: {why}")),
        None => {}
    }
    lines
}

/// What is done in the pod's groups, and what is refused about them or about pods like it.
fn this_round(round: &Round, pod: &PodView<'_>, standing: &Standing<'_>, answer: Option<&PodAnswer>) -> Vec<String> {
    let groups = standing.counted_by.iter().chain(&standing.runs_in);
    let mut names: Vec<_> = groups.map(|group| group.name.clone()).collect();
    names.dedup();
    let mut lines = answer.map(|answer| placing::fate(round, pod, answer)).unwrap_or_default();
    for name in &names {
        match round.plan.report.group(name) {
            Some(report) if !report.usage.is_empty() => {
                let usage: Vec<String> = report.usage.iter().map(ToString::to_string).collect();
                lines.push(format!("{name}: {}", usage.join(", ")));
            }
            _ => {}
        }
        let actions = round.plan.actions.iter().filter(|planned| planned.group == *name);
        // Of what is done to nodes only its own matters to it.
        let about_it =
            actions.filter(|planned| pod.node.is_none() || planned.action.node().is_none_or(|of| pod.node == Some(of)));
        lines.extend(about_it.map(|planned| action(round, planned)));
    }
    let about = |subject: &Subject| match subject {
        Subject::Cluster => true,
        Subject::Group(group) => names.contains(group),
        Subject::Node(node) => pod.node == Some(node),
        Subject::Pods { first, .. } => is_like(round, first, pod),
        Subject::Placeholders { .. } => false,
    };
    lines.extend(shown(round, &refusals_about(round, about)));
    lines
}

/// Whether `first` (`namespace/name`) is equal to `pod`: a refusal about one is about both.
pub(super) fn is_like(round: &Round, first: &str, pod: &PodView<'_>) -> bool {
    pod.pending && named(round, first).is_some_and(|first| std::ptr::eq(first.spec, pod.spec))
}
