//! The room that is kept free for pods to come: every kind of placeholder, why it is wanted, and where it is.

use headroom_core::keys::SPARE_COPIES;
use headroom_core::plan::{Placeholder, Placeholders, Slack, SlackRate, Subject, Warning};
use headroom_core::policy::{Basis, Largest, SlackPolicy, Spare, Strategy};
use headroom_core::quantity::{Resources, ceil_div};
use headroom_core::snapshot::{BufferLimits, CapacityBuffer, Workload};

use super::{NotFound, refusals_about, shown};
use crate::dump::Round;
use crate::view::scale_ups::scale_ups_for;
use crate::view::slack::{kept_by_others, places};
use crate::view::words::{amounts, count, there_are};
use crate::view::{TITLE, section, with_hint};

/// Everything about spare room, or about the placeholders whose description has `name` in it.
pub fn slack(round: &Round, name: Option<&str>) -> Result<String, NotFound> {
    let none = Slack::default();
    let slack = round.plan.report.slack.as_ref().unwrap_or(&none);
    let meant = |placeholders: &&Placeholders| name.is_none_or(|name| placeholders.of.to_string().contains(name));
    let chosen: Vec<&Placeholders> = slack.placeholders.iter().filter(meant).collect();
    if let Some(name) = name.filter(|_| chosen.is_empty()) {
        let all: Vec<String> = slack.placeholders.iter().map(|placeholders| placeholders.of.to_string()).collect();
        let hint = if all.is_empty() { "no spare room is wanted".to_owned() } else { there_are(&all) };
        return Err(NotFound { problem: format!("there is no placeholder {name}"), hint });
    }
    let mut text = format!("{TITLE}spare room{TITLE:#}\n\n");
    text += &section("Rules", &rules(round));
    for placeholders in &chosen {
        text += &section(&placeholders.of.to_string(), &about(round, slack, placeholders));
    }
    let named: Vec<&Placeholder> = chosen.iter().map(|placeholders| &placeholders.of).collect();
    text += &section("Scale-ups", &scale_ups_for(&round.plan.report, &named));
    text += &section("Warnings", &warnings(round));
    text.truncate(text.trim_end().len());
    Ok(text + "\n")
}

/// What the configuration asks for.
fn rules(round: &Round) -> Vec<String> {
    let SlackPolicy { rate, basis, granularity, largest, marked, buffers } = &round.policy.slack;
    let mut rules = Vec::new();
    if let Some(rate) = rate {
        let of = match basis {
            Basis::Requested => "what pods request",
            Basis::Capacity => "what nodes offer",
        };
        rules.push(format!(
            "rate: {rate}% of {of}, in placeholders of at most the average node / {granularity} and the largest pod"
        ));
    }
    let slack = round.plan.report.slack.as_ref();
    rules.extend(slack.and_then(|slack| Some(format!("   {}", kept_by_others(slack, slack.rate.as_ref()?)))));
    match largest {
        Largest::Off => {}
        Largest::Pods => rules.push("largest: one more of the largest pod by cpu, and by memory".to_owned()),
        Largest::Combined => rules.push("largest: the most cpu of a pod with the most memory of a pod".to_owned()),
    }
    if *marked {
        rules.push(format!("marked: copies of what is annotated with {SPARE_COPIES}"));
    }
    if *buffers {
        rules.push("capacityBuffers: what CapacityBuffers ask for".to_owned());
    }
    for group in &round.policy.groups {
        let Strategy::Pending(pending) = &group.strategy else { continue };
        let Spare { nodes, pods, .. } = pending.spare;
        let parts = [(nodes, "node"), (pods, "pod")].into_iter().filter(|(spare, _)| *spare > 0);
        let parts: Vec<String> = parts.map(|(spare, what)| count(spare, what)).collect();
        if !parts.is_empty() {
            rules.push(format!("spare of {}: {}", group.name, parts.join(" and ")));
        }
    }
    if rules.is_empty() {
        rules.push(with_hint("none: no spare room is wanted".to_owned(), Some("set slack: { rate: 0.1 }".to_owned())));
    }
    rules
}

/// Why some placeholders are wanted, where they are, and why some have no place.
fn about(round: &Round, slack: &Slack, placeholders: &Placeholders) -> Vec<String> {
    let Placeholders { of, requests, wanted, .. } = placeholders;
    let mut lines = vec![format!("{} of {}", count(*wanted, "placeholder"), amounts(requests))];
    lines.extend(reasons(round, slack, of));
    lines.extend(places(round, placeholders));
    let same = |subject: &Subject| matches!(subject, Subject::Placeholders { of: refused, .. } if refused == of);
    lines.extend(shown(round, &refusals_about(round, same)));
    lines
}

fn reasons(round: &Round, slack: &Slack, of: &Placeholder) -> Vec<String> {
    let spare = |group: &str| match round.policy.group(group).map(|group| &group.strategy) {
        Some(Strategy::Pending(pending)) => pending.spare.clone(),
        _ => Spare::default(),
    };
    match of {
        Placeholder::SpareNode { group } => {
            vec![format!("wanted: {} of {group}, as large as what is free of its smallest", nodes(spare(group).nodes))]
        }
        Placeholder::SparePod { group } => {
            vec![format!("wanted: {} on nodes of {group}", count(spare(group).pods, "pod"))]
        }
        Placeholder::Buffer { buffer } => {
            let known = round.snapshot().capacity_buffers();
            let known = known.filter(|known| format!("{}/{}", known.namespace, known.name) == **buffer);
            known.flat_map(|buffer| by_buffer(round, buffer)).collect()
        }
        Placeholder::Copy { of } => vec![by_annotation(round, of)],
        Placeholder::LargestCpu => vec!["wanted: no pod that counts requests more cpu".to_owned()],
        Placeholder::LargestMemory => vec!["wanted: no pod that counts requests more memory".to_owned()],
        Placeholder::LargestCombined => {
            vec!["wanted: no pod that counts requests more cpu, and none more memory".to_owned()]
        }
        Placeholder::Rate => slack.rate.iter().map(by_rate).collect(),
    }
}

fn nodes(empty: u32) -> String {
    if empty == 1 { "1 empty node".to_owned() } else { format!("{empty} empty nodes") }
}

/// The rate in numbers.
fn by_rate(rate: &SlackRate) -> String {
    let part = |whole: i128| ceil_div(whole.saturating_mul(rate.percent.0.into()), 10_000);
    let part = Resources::new(saturated(part(rate.cpu)), saturated(part(rate.memory)));
    format!("wanted: {rate}, which is {}, less what copies and largest pods keep", amounts(&part))
}

fn saturated(amount: i128) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

/// What a CapacityBuffer says about its number, a line each.
fn by_buffer(round: &Round, buffer: &CapacityBuffer) -> Vec<String> {
    let CapacityBuffer { namespace, pod_template, scalable, replicas, percentage, limits, .. } = buffer;
    let reference = scalable.clone().or(pod_template.as_ref().map(|name| format!("PodTemplate/{name}").into()));
    let mut lines: Vec<String> =
        reference.iter().map(|reference| format!("wanted: pods like those of {reference}")).collect();
    lines.extend(replicas.map(|replicas| format!("replicas: {replicas}")));
    if let (Some(percentage), Some(reference)) = (percentage, scalable) {
        let wants = round.snapshot().workload(namespace, reference).map_or(0, |workload| workload.replicas);
        lines.push(format!("percentage: {percentage}% of the {wants} that {reference} wants, rounded up"));
    }
    lines.extend(limit(limits).map(|limits| format!("limits: all of them together at most {limits}")));
    lines
}

/// What a buffer may request in all; None when nothing limits it.
fn limit(limits: &BufferLimits) -> Option<String> {
    let BufferLimits { cpu, memory, ephemeral_storage, extended } = limits;
    let mut most = Resources::new(cpu.unwrap_or(0), memory.unwrap_or(0));
    most.ephemeral_storage = ephemeral_storage.unwrap_or(0);
    extended.iter().for_each(|(name, amount)| most.set_extended(name, *amount));
    (*limits != BufferLimits::default()).then(|| amounts(&most))
}

/// The annotation and what it is a share of.
fn by_annotation(round: &Round, of: &str) -> String {
    let workload =
        of.split_once('/').and_then(|(namespace, reference)| round.snapshot().workload(namespace, reference));
    match workload {
        Some(Workload { spare_copies: Some(value), replicas, .. }) => {
            format!("wanted: its annotation {SPARE_COPIES} is {value:?}, and it wants {}", count(*replicas, "pod"))
        }
        _ => format!("wanted: its {} annotated with {SPARE_COPIES}", if is_pod(of) { "pod is" } else { "pods are" }),
    }
}

fn is_pod(of: &str) -> bool {
    of.split('/').nth(1) == Some("Pod")
}

/// Those that are about spare room.
fn warnings(round: &Round) -> Vec<String> {
    let about_slack = |warning: &&Warning| match warning {
        Warning::SpareCopiesUnreadable { .. }
        | Warning::SpareWithoutLabel { .. }
        | Warning::SlackNotKnown { .. }
        | Warning::BufferKeepsNothing { .. } => true,
        Warning::MixedSizes { .. }
        | Warning::WithoutRequests { .. }
        | Warning::LargeDaemonSets { .. }
        | Warning::ForeignPods { .. } => false,
    };
    let warnings = round.plan.report.warnings.iter().filter(about_slack);
    warnings.map(|warning| with_hint(warning.to_string(), warning.hint())).collect()
}
