//! The room that is kept free for pods to come, and where it is.

use headroom_core::memory::Places;
use headroom_core::plan::{EqualPlaceholders, Placeholder, Placeholders, Slack, SlackRate};

use super::words::{count, names};
use crate::dump::Round;

/// What a rate comes to and what becomes of every kind of placeholder; nothing when none is wanted. `wide` says where they are.
pub(super) fn spare_room(round: &Round, wide: bool) -> Vec<String> {
    let Some(slack) = &round.plan.report.slack else { return Vec::new() };
    let mut lines: Vec<String> = slack.rate.iter().map(|rate| kept_by_others(slack, rate)).collect();
    for placeholders in &slack.placeholders {
        lines.push(placeholders.to_string());
        if wide {
            lines.extend(places(round, placeholders).into_iter().map(|place| format!("   {place}")));
        }
    }
    lines
}

/// What a rate comes to, and whether no placeholder of its own is needed for it.
pub(super) fn kept_by_others(slack: &Slack, rate: &SlackRate) -> String {
    let others = |it: &Placeholders| match it.of {
        Placeholder::Copy { .. }
        | Placeholder::LargestCpu
        | Placeholder::LargestMemory
        | Placeholder::LargestCombined => true,
        Placeholder::SpareNode { .. }
        | Placeholder::SparePod { .. }
        | Placeholder::Buffer { .. }
        | Placeholder::Rate => false,
    };
    let has_own = slack.placeholders.iter().any(|placeholders| placeholders.of == Placeholder::Rate);
    let covered = !has_own && slack.placeholders.iter().any(others);
    format!("{rate}{}", if covered { ": copies and largest pods keep as much" } else { "" })
}

/// Where placeholders are after the plan: `on web-1 (2), web-2`, `2 on 1 machine of web that is no node yet`.
pub(super) fn places(round: &Round, placeholders: &Placeholders) -> Vec<String> {
    let Places { nodes, upcoming } = round.memory.places_of(&placeholders.of);
    let named: Vec<String> = nodes.iter().map(|(node, held)| times(node, *held)).collect();
    let mut lines = Vec::new();
    if !named.is_empty() {
        lines.push(format!("on {}", names(&named)));
    }
    for (group, held) in upcoming {
        let machines = held.iter().filter(|held| **held > 0).count();
        let held: u32 = held.iter().sum();
        let are = if machines == 1 { "is no node" } else { "are no nodes" };
        lines.push(format!("{held} on {} of {group} that {are} yet", count(machines, "machine")));
    }
    lines
}

/// What a node holds: `holds 2 placeholders (rate)`.
pub(super) fn held_by(round: &Round, node: &str) -> Vec<String> {
    let all = round.plan.report.slack.iter().flat_map(|slack| &slack.placeholders);
    all.filter_map(|Placeholders { of, .. }| {
        let held = round.memory.places_of(of).nodes.get(node)?;
        Some(format!("holds {} ({of})", count(*held, "placeholder")))
    })
    .collect()
}

/// `rate; 2 of buffer shop/small`
pub(super) fn kinds(placeholders: &[EqualPlaceholders]) -> String {
    let kind = |EqualPlaceholders { of, count }: &EqualPlaceholders| match count {
        1 => of.to_string(),
        _ => format!("{count} of {of}"),
    };
    placeholders.iter().map(kind).collect::<Vec<_>>().join("; ")
}

fn times(node: &str, held: u32) -> String {
    if held == 1 { node.to_owned() } else { format!("{node} ({held})") }
}
