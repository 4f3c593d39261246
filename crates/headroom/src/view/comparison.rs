//! Several runs of one scenario, side by side.

use std::fmt::Write;

use headroom_sim::{Pods, Summary};

use super::columns::{columns, row};
use super::summary::{counted, grouped, seconds, span};

/// A line for each run, by the expanders that decided in it.
pub fn comparison(runs: &[(String, Summary)]) -> String {
    let mut text = String::new();
    if let Some((_, Summary { start, end, seed, .. })) = runs.first() {
        let (length, from, times) =
            (span(*start, *end), start.strftime("%F %H:%M"), counted(runs.len() as u64, "time"));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{length} from {from} UTC, seed {seed}, played {times}\n");
    }
    let mut rows =
        vec![row(["EXPANDERS", "NODE-HOURS", "COST", "PLACED", "NEVER", "WAIT P50", "WAIT P95", "WAIT MAX"])];
    rows.extend(runs.iter().map(|(expanders, summary)| {
        let Summary { total, pods: Pods { ran, never_ran, wait, .. }, .. } = summary;
        let [p50, p95, max] = [wait.p50, wait.p95, wait.max].map(seconds);
        let (hours, cost) = (total.node_hours.to_string(), total.cost.to_string());
        vec![expanders.clone(), hours, cost, grouped(*ran), grouped(*never_ran), p50, p95, max]
    }));
    columns(&rows).into_iter().for_each(|line| text.extend([&line, "\n"]));
    text
}
