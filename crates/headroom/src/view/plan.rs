//! A plan as text.

use headroom_core::plan::{Action, GroupReport, Planned, Resource};
use headroom_core::scale_down::CANDIDATE_TAINT;

use super::actions::actions;
use super::assumed::assumed;
use super::called::called;
use super::columns::{columns, row};
use super::refusals::refusals;
use super::scale_down::scale_down;
use super::scale_ups::{scale_ups, waiting};
use super::slack::spare_room;
use super::words::count;
use super::{TITLE, section, with_hint};
use crate::dump::Round;

/// What the round saw, a table of its groups, the actions in order, and what was refused. `wide` adds columns.
pub fn plan(round: &Round, wide: bool) -> String {
    let report = &round.plan.report;
    let mut text = format!("{}\n\n", seen(round));
    if report.groups.is_empty() {
        text.push_str("No group.\n\n");
    } else {
        text.push_str(&table(round, wide));
    }
    let actions = actions(round);
    text.push_str(&section("Waiting pods", &waiting(report)));
    text.push_str(&section("Spare room", &spare_room(round, wide)));
    text.push_str(&section("Scale-ups", &scale_ups(report, wide)));
    text.push_str(&section("Scale-down", &scale_down(round, wide)));
    if actions.is_empty() {
        text.push_str("Nothing to do.\n\n");
    }
    text.push_str(&section("Actions", &actions));
    text.push_str(&section("Refused", &refusals(round.refusals(), round.policy.runs_on())));
    let warnings = report.warnings.iter().map(|warning| with_hint(warning.to_string(), warning.hint()));
    let misread = round.dump.warnings.iter().map(ToString::to_string);
    text.push_str(&section("Warnings", &warnings.chain(misread).collect::<Vec<_>>()));
    let assumed: Vec<String> = assumed(round).iter().map(|line| hinted(line)).collect();
    text.push_str(&section("Assumed", &assumed));
    // Every part ends in an empty line, which the last does not need.
    text.truncate(text.trim_end().len());
    text.push('\n');
    called(round.snapshot(), &text)
}

/// `web  2 -> 8 (+6)`: the size now and after the plan, and how many nodes are marked or no longer marked.
pub(super) fn size(round: &Round, group: &GroupReport) -> String {
    let (size, planned) = (i64::from(group.size), i64::from(group.planned));
    let mut text = size.to_string();
    if planned != size {
        text += &format!(" -> {planned} ({:+})", planned - size);
    }
    let actions = || round.plan.actions.iter().filter(|planned| planned.group == group.name);
    // The mark that pods avoid where they can decides nothing.
    let marks = |planned: &&Planned| match &planned.action {
        Action::Taint { taint, .. } => &*taint.key != CANDIDATE_TAINT,
        _ => false,
    };
    let unmarks = |planned: &&Planned| match &planned.action {
        Action::Untaint { key, .. } => &**key != CANDIDATE_TAINT,
        _ => false,
    };
    let (marks, unmarks) = (actions().filter(marks).count(), actions().filter(unmarks).count());
    if marks > 0 {
        text += &format!(", marks {marks}");
    }
    if unmarks > 0 {
        text += &format!(", unmarks {unmarks}");
    }
    text
}

/// A line that may end in a hint.
fn hinted(line: &str) -> String {
    match line.split_once("; hint: ") {
        Some((text, hint)) => with_hint(text.to_owned(), Some(hint.to_owned())),
        None => line.to_owned(),
    }
}

fn seen(round: &Round) -> String {
    let snapshot = round.snapshot();
    // Some were taken out of the snapshot.
    let apart = round.assumed.made_up.iter().flat_map(|apart| apart.keys());
    let apart = apart.filter(|name| snapshot.node(name).is_none()).count();
    let files = round.dump.files.iter().map(|file| if file == "-" { "standard input" } else { file });
    let files = files.collect::<Vec<_>>().join(", ");
    format!("{}, {} in {files}", count(snapshot.node_count() + apart, "node"), count(snapshot.pod_count(), "pod"))
}

fn table(round: &Round, wide: bool) -> String {
    let mut head = row(["GROUP", "SIZE", "CPU", "MEMORY", "PODS", "LIMITS"]);
    if wide {
        head.extend(row([
            "WANTS", "SERVING", "UNREADY", "COMING", "MARKED", "FORCED", "CORDONED", "LOST", "DISPUTED", "STRATEGY",
        ]));
    }
    let mut rows = vec![head];
    for group in &round.plan.report.groups {
        let mut cells = vec![
            group.name.to_string(),
            size(round, group),
            usage(group, &Resource::Cpu),
            usage(group, &Resource::Memory),
            group.pods.to_string(),
            limits(group),
        ];
        if wide {
            let nodes = group.nodes;
            cells.push(if group.wanted == 0 { "0".to_owned() } else { format!("{:+}", group.wanted) });
            let counts = [nodes.in_service, nodes.not_ready, nodes.upcoming, nodes.tainted, nodes.force_tainted];
            cells.extend(counts.map(|count| count.to_string()));
            cells.extend([nodes.cordoned, nodes.never_came, nodes.disputed].map(|count| count.to_string()));
            cells.push(group.strategy.to_owned());
        }
        rows.push(cells);
    }
    let mut lines = columns(&rows);
    lines[0] = format!("{TITLE}{}{TITLE:#}", lines[0]);
    format!("{}\n\n", lines.join("\n"))
}

/// `62.5% (5 of 8)`
fn usage(group: &GroupReport, resource: &Resource) -> String {
    let Some(usage) = group.usage.iter().find(|usage| usage.resource == *resource) else { return "-".to_owned() };
    let of = format!("{} of {}", resource.amount(usage.requests), resource.amount(usage.capacity));
    usage.percent.map_or_else(|| of.clone(), |percent| format!("{percent}% ({of})"))
}

fn limits(group: &GroupReport) -> String {
    match (group.min, group.max) {
        (Some(min), Some(max)) => format!("{min}..{max}"),
        _ => "-".to_owned(),
    }
}
