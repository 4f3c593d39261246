//! A simulation's summary for people.

use std::fmt::Write;

use headroom_core::quantity::Ratio;
use headroom_sim::{Nodes, Summary};
use jiff::{SignedDuration, Timestamp};

use super::columns::{columns, row};
use crate::config::duration;

/// The summary as text: groups, pods, what was done, and a chart; and where spare room was kept, what came of the same
/// scenario without it.
pub fn summary(summary: &Summary, without_slack: Option<&Summary>) -> String {
    let Summary { start, end, seed, rounds, pods, scaling, chart, .. } = summary;
    let mut text = String::new();
    let mut line = |args: std::fmt::Arguments<'_>| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{args}");
    };
    let (length, from) = (span(*start, *end), start.strftime("%F %H:%M"));
    line(format_args!("{length} from {from} UTC, seed {seed}"));
    line(format_args!(
        "{} decided, {} left out as nothing could come of them\n",
        counted(rounds.decided, "round"),
        grouped(rounds.skipped)
    ));
    line(format_args!("{}\n", groups(summary).join("\n")));
    line(format_args!(
        "pods     {} came, {} got a node, {} never ran, {} lost theirs",
        grouped(pods.arrived),
        grouped(pods.ran),
        grouped(pods.never_ran),
        grouped(pods.lost)
    ));
    let [p50, p95, p99, max] = [pods.wait.p50, pods.wait.p95, pods.wait.p99, pods.wait.max].map(seconds);
    line(format_args!("waiting  {p50} (p50), {p95} (p95), {p99} (p99), {max} (max)"));
    line(format_args!(
        "scaling  {} for {}, {}; {} marked for removal, {} of them unmarked",
        counted(scaling.scale_ups, "scale-up"),
        counted(scaling.nodes_requested, "node"),
        counted(scaling.nodes_removed, "scale-down"),
        grouped(scaling.nodes_marked),
        grouped(scaling.nodes_unmarked)
    ));
    if scaling.boot_failures > 0 || scaling.refused > 0 {
        line(format_args!(
            "trouble  {} that never became a node, {} refused",
            counted(scaling.boot_failures, "machine"),
            counted(scaling.refused, "action")
        ));
    }
    if let Some(without) = without_slack {
        let cost = (summary.total.cost, without.total.cost);
        line(format_args!("slack    costs {}: {} instead of {}", more_or_less(cost.0.0, cost.1.0), cost.0, cost.1));
        let (here, there) = (pods.waited, without.pods.waited);
        line(format_args!(
            "         pods wait {}: {} in all instead of {}, {p95} (p95) instead of {}",
            more_or_less(here, there),
            seconds(here),
            seconds(there),
            seconds(without.pods.wait.p95)
        ));
    }
    line(format_args!("\n{chart}"));
    text
}

/// How much more or less `is` than `was`, in percent.
fn more_or_less(is: i64, was: i64) -> String {
    let (is, was) = (i128::from(is), i128::from(was));
    match Ratio::percent_of((is - was).abs(), was) {
        _ if is == was => "the same".to_owned(),
        Some(percent) => format!("{percent}% {}", if is > was { "more" } else { "less" }),
        None => "more".to_owned(),
    }
}

fn groups(summary: &Summary) -> Vec<String> {
    let mut rows = vec![row(["GROUP", "NODES", "NODE-HOURS", "COST", "CPU", "MEMORY"])];
    rows.extend(summary.groups.iter().map(|group| nodes(&group.name, &group.nodes)));
    rows.push(nodes("total", &summary.total));
    columns(&rows)
}

fn nodes(name: &str, nodes: &Nodes) -> Vec<String> {
    let percent = |share: Option<Ratio>| share.map_or_else(|| "-".to_owned(), |share| format!("{share}%"));
    vec![
        name.to_owned(),
        format!("{}..{}", nodes.fewest, nodes.most),
        nodes.node_hours.to_string(),
        nodes.cost.to_string(),
        percent(nodes.cpu_percent),
        percent(nodes.memory_percent),
    ]
}

pub(super) fn span(start: Timestamp, end: Timestamp) -> String {
    let time = end.duration_since(start);
    let days = time.as_secs() / SignedDuration::from_hours(24).as_secs();
    if days > 1 { format!("{days} days") } else { duration::show(time) }
}

pub(super) fn seconds(seconds: i64) -> String {
    duration::show(SignedDuration::from_secs(seconds))
}

/// `1 node`, `12,345 nodes`
pub(super) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// `12,345`
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let separated = digits.char_indices().map(|(at, digit)| {
        let comma = at > 0 && (digits.len() - at).is_multiple_of(3);
        format!("{}{digit}", if comma { "," } else { "" })
    });
    separated.collect()
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
