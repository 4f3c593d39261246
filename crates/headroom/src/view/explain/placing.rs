//! Where a waiting pod could go, and where it does.

use headroom_core::plan::{EqualPods, Refusal, Subject};
use headroom_core::policy::Strategy;
use headroom_core::snapshot::PodView;
use headroom_core::strategy::pending::{Aside, Fate, Fit, PodAnswer};

use super::pending::won;
use super::pod::is_like;
use super::{actions_in, class_of, refusals_about, shown};
use crate::dump::Round;
use crate::view::columns::columns;
use crate::view::scale_ups::groups;
use crate::view::words::{count, names};

/// What a round says of `pod`; None when it waits for nothing, or when no group grows for waiting pods.
pub(super) fn answer(round: &Round, pod: &PodView<'_>) -> Option<PodAnswer> {
    let class = class_of(round, pod).filter(|_| pod.pending)?;
    Some(round.inquire()?.pods(&class))
}

/// Which groups may grow for the pod, or why none does.
pub(super) fn standing(aside: Option<&Aside>) -> String {
    match aside {
        None => "no group counts it; every group with the strategy pending that it fits may grow for it".to_owned(),
        Some(Aside::OfNode) => "no group grows for it: it comes with its node".to_owned(),
        Some(Aside::LowPriority { priority, least }) => {
            format!("no group grows for it: its priority {priority} is below {least}")
        }
        Some(Aside::CountedBy { group }) => {
            format!("groups with the strategy pending leave it to {group} as long as that can grow")
        }
    }
}

/// One line for the nodes that are there and one for each group: whether it fits, or what is in the way.
pub(super) fn fits(round: &Round, answer: &PodAnswer) -> Vec<String> {
    let nodes = match &answer.node {
        None => "there is none".to_owned(),
        Some((name, Ok(()))) => format!("fits on {name}"),
        Some((name, Err(misfit))) => format!("fits on none; closest is {name}: {misfit}"),
    };
    let mut rows = vec![vec!["nodes that are there".to_owned(), nodes]];
    for group in round.policy.groups.iter().filter(|group| matches!(group.strategy, Strategy::Pending(_))) {
        let fit = answer.groups.iter().find(|fit| fit.group == group.name);
        let verdict = match fit {
            Some(Fit { fits: Err(misfit), .. }) => misfit.to_string(),
            Some(fit) => format!("fits on a new node; {}", held(round, fit)),
            None => format!("is not judged{}", refusals(round, &group.name)),
        };
        rows.push(vec![format!("group {}", group.name), verdict]);
    }
    columns(&rows)
}

/// How much more a group may grow, and what holds it.
pub(super) fn held(round: &Round, fit: &Fit) -> String {
    match (fit.room, &fit.bound) {
        (0, Some(bound)) => format!("the group gets no more: {bound}"),
        (0, None) => format!("the group may not grow now{}", refusals(round, &fit.group)),
        (room, Some(bound)) => format!("room for {} after this plan: {bound}", count(room, "more node")),
        (room, None) => format!("room for {} after this plan", count(room, "more node")),
    }
}

/// Where the pod and those that are equal to it go, and the scale-ups that make room for them.
pub(super) fn fate(round: &Round, pod: &PodView<'_>, answer: &PodAnswer) -> Vec<String> {
    let mut lines = Vec::new();
    if answer.aside.is_none() {
        lines.extend(goes(&answer.fate, pod));
    }
    for (at, scale_up) in round.plan.report.scale_ups.iter().enumerate() {
        if scale_up.pods.iter().any(|EqualPods { first, .. }| is_like(round, first, pod)) {
            lines.push(format!("scale-up {}: {}{}", at + 1, groups(scale_up), won(scale_up)));
            lines.extend(scale_up.nodes.iter().flat_map(|(group, _)| actions_in(round, group)));
        }
    }
    lines
}

/// `it goes on a new node`, or for several equal pods how many go where.
fn goes(fate: &Fate, pod: &PodView<'_>) -> Option<String> {
    if let Some(node) = pod.nominated {
        return Some(format!("it goes on {node}, where preemption makes room for it"));
    }
    let there: Vec<&str> = fate.nodes.iter().map(|(name, _)| &**name).collect();
    let room = format!("on {}, where there is room", names(&there));
    let parts = [
        (fate.nodes.iter().map(|(_, count)| count).sum(), &*room, &*room),
        (fate.upcoming, "on a machine on its way", "on machines on their way"),
        (fate.new, "on a new node", "on new nodes"),
        (fate.nominated, "where preemption makes room", "where preemption makes room"),
        (fate.left, "nowhere", "nowhere"),
    ];
    let parts: Vec<&(u32, &str, &str)> = parts.iter().filter(|(pods, ..)| *pods > 0).collect();
    match parts.as_slice() {
        [] => None,
        [(1, place, _)] => Some(format!("it goes {place}")),
        several => {
            let all: u32 = several.iter().map(|(pods, ..)| pods).sum();
            let places: Vec<String> = several.iter().map(|(pods, _, places)| format!("{pods} {places}")).collect();
            Some(format!("it is one of {all} equal pods, which go: {}", places.join("; ")))
        }
    }
}

/// `: has no node to learn from`, what is refused about a group.
fn refusals(round: &Round, group: &str) -> String {
    let about: Vec<&Refusal> =
        refusals_about(round, |subject| matches!(subject, Subject::Group(name) if **name == *group));
    let texts = shown(round, &about);
    if texts.is_empty() { String::new() } else { format!(" ({})", texts.join("; ")) }
}
