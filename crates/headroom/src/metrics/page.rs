//! docs/metrics.md.

use super::compatible::Compatible;
use super::names::{COUNTERS, Declared, GAUGES, HISTOGRAMS};

const HEAD: &str = "# Metrics

Generated from the declarations; do not edit. Units are seconds, bytes, cores, ratios and dollars. A group is always the
label `group`. Every reason is one of a closed set: its word stands in [output.md](output.md). A round sets every gauge
anew, so what is no more leaves no trace.
";

/// The page of all metrics, in Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    section(&mut page, "Gauges", GAUGES.iter(), |name| format!("headroom_{name}"));
    section(&mut page, "Counters", COUNTERS.iter(), |name| format!("headroom_{name}_total"));
    section(&mut page, "Histograms", HISTOGRAMS.iter(), |name| format!("headroom_{name}"));
    let others =
        [("Names of Cluster Autoscaler", Compatible::ClusterAutoscaler), ("Names of Escalator", Compatible::Escalator)];
    for (title, names) in others {
        section(&mut page, title, names.gauges(), str::to_owned);
    }
    page
}

fn section(
    page: &mut String,
    title: &str,
    list: impl Iterator<Item = &'static Declared>,
    full: impl Fn(&str) -> String,
) {
    page.push_str(&format!("\n## {title}\n\n| name | labels | what it says |\n|---|---|---|\n"));
    for Declared { name, labels, help } in list {
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        page.push_str(&format!("| `{}` | {} | {help} |\n", full(name), labels.join(", ")));
    }
}
