//! What becomes of waiting pods, and the enlargements that are made for them with every option.

use headroom_core::expander::{Billionths, Ranked};
use headroom_core::plan::{EqualPods, Placeholder, Report, ScaleUp, Waiting};

use super::columns::{columns, row};
use super::slack;
use super::words::count;

/// The most kinds of pods of one enlargement that are named.
const KINDS: usize = 4;

/// How many pods wait and where they go; nothing when none waits.
pub(super) fn waiting(report: &Report) -> Vec<String> {
    let Some(waiting) = &report.waiting else { return Vec::new() };
    let Waiting { on_nodes, on_upcoming, on_new, refused, nominated, low_priority, counted, .. } = waiting;
    let parts = [
        (on_nodes, "on nodes that are there"),
        (on_upcoming, "on machines on their way"),
        (on_new, "on new nodes"),
        (refused, "nowhere (refused below)"),
        (nominated, "where preemption makes room"),
        (low_priority, "of too low a priority to grow a group"),
        (counted, "left to utilization groups"),
    ];
    let all: u64 = parts.iter().map(|(pods, _)| *pods).sum();
    let some = parts.iter().filter(|(pods, _)| **pods > 0);
    let parts: Vec<String> = some.map(|(pods, place)| format!("{pods} {place}")).collect();
    if all == 0 { Vec::new() } else { vec![format!("{}: {}", count(all, "pod"), parts.join(", "))] }
}

/// Each enlargement: which groups get how many nodes, for which pods. `wide` adds every option with its terms.
pub(super) fn scale_ups(report: &Report, wide: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, scale_up) in report.scale_ups.iter().enumerate() {
        lines.push(format!("{}. {}", at + 1, what_for(scale_up)));
        if wide {
            lines.extend(options(&scale_up.options).into_iter().map(|line| format!("   {line}")));
        }
    }
    if wide && report.scale_ups.iter().any(|scale_up| scale_up.options.iter().any(|option| option.price.is_some())) {
        lines.push(
            "price = FACTOR * (C + X) / (T + X), the lowest is best; FACTOR is what N leaves of UNFITNESS".into(),
        );
    }
    lines
}

/// Those by which some of these placeholders get a place.
pub(super) fn scale_ups_for(report: &Report, placeholders: &[&Placeholder]) -> Vec<String> {
    let wanted = |scale_up: &&ScaleUp| scale_up.placeholders.iter().any(|equal| placeholders.contains(&&equal.of));
    report.scale_ups.iter().filter(wanted).map(what_for).collect()
}

/// `web +2 for 3 pods: shop/web-1 and 2 like it; for 1 placeholder: rate`
fn what_for(scale_up: &ScaleUp) -> String {
    let ScaleUp { pods, placeholders, .. } = scale_up;
    let mut parts = Vec::new();
    if !pods.is_empty() {
        parts.push(format!("for {}: {}", count(scale_up.pod_count(), "pod"), kinds(pods)));
    }
    if !placeholders.is_empty() {
        let all = count(scale_up.placeholder_count(), "placeholder");
        parts.push(format!("for {all}: {}", slack::kinds(placeholders)));
    }
    format!("{} {}", groups(scale_up), parts.join("; "))
}

/// `web +2 for 3 pods and 1 placeholder`
pub(super) fn summary(scale_up: &ScaleUp) -> String {
    let parts = [(scale_up.pod_count(), "pod"), (scale_up.placeholder_count(), "placeholder")];
    let parts: Vec<String> =
        parts.into_iter().filter(|(all, _)| *all > 0).map(|(all, what)| count(all, what)).collect();
    format!("{} for {}", groups(scale_up), parts.join(" and "))
}

/// `web +2, batch +1`
pub(super) fn groups(scale_up: &ScaleUp) -> String {
    let groups: Vec<String> = scale_up.nodes.iter().map(|(group, nodes)| format!("{group} +{nodes}")).collect();
    groups.join(", ")
}

/// `shop/web-1 and 4 like it; shop/cart-1; 2 more kinds`
pub(super) fn kinds(pods: &[EqualPods]) -> String {
    let named = if pods.len() > KINDS { KINDS - 1 } else { pods.len() };
    let mut parts: Vec<String> = pods.iter().take(named).map(kind).collect();
    if pods.len() > named {
        parts.push(count(pods.len() - named, "more kind"));
    }
    parts.join("; ")
}

fn kind(EqualPods { first, count }: &EqualPods) -> String {
    if *count == 1 { first.clone() } else { format!("{first} and {} like it", count - 1) }
}

/// A table of options, the best first.
fn options(options: &[Ranked]) -> Vec<String> {
    let priced = options.iter().any(|option| option.price.is_some());
    let mut rows = vec![row(["OPTION", "N"])];
    if priced {
        rows[0].extend(row(["C", "T", "X", "CPU", "PREFERRED", "UNFITNESS", "FACTOR", "NODE PRICE"]));
    }
    rows[0].extend(row(["SCORES"]));
    for option in options {
        let at_best = if option.at_best { " at best" } else { "" };
        let mut cells = vec![who(option), format!("{}{at_best}", option.nodes)];
        match &option.price {
            Some(terms) => {
                let factor = Billionths::round(terms.suppressed);
                cells.extend([terms.cost, terms.theoretical, terms.damper].map(|money| money.to_string()));
                cells.extend([terms.node_cpu, terms.preferred_cpu].map(|cpu| cpu.to_string()));
                cells.push(Billionths::round(terms.unfitness).to_string());
                cells.push(if terms.unneeded_gpu { format!("{factor} (idle GPUs)") } else { factor.to_string() });
                cells.push(terms.node_price.to_string());
            }
            None if priced => cells.extend((0..8).map(|_| "-".to_owned())),
            None => {}
        }
        let scores: Vec<String> = option.rank.scores.iter().map(ToString::to_string).collect();
        cells.push(scores.join("; "));
        rows.push(cells);
    }
    columns(&rows)
}

/// `web`, or `web, shared with batch`
pub(super) fn who(option: &Ranked) -> String {
    let group = &option.rank.group;
    if option.shared_with.is_empty() {
        return group.to_string();
    }
    format!("{group}, shared with {}", option.shared_with.join(", "))
}
