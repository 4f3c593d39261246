//! A small picture of a run, drawn with characters.

use std::fmt;

use headroom_core::quantity::Ratio;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// Lines of the drawing.
const HEIGHT: u64 = 8;

/// Machines wanted and nodes used over time, on average in each of equal spans.
///
/// Displays as a drawing of fixed width without colours: full blocks are nodes in use, light ones machines that are
/// wanted beyond them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chart {
    #[serde(skip)]
    start: Timestamp,
    #[serde(skip)]
    end: Timestamp,
    /// How long each span is, in seconds.
    span: Ratio,
    /// Machines that the cloud is asked to have.
    wanted: Vec<Ratio>,
    /// Nodes that run pods other than those of DaemonSets.
    used: Vec<Ratio>,
    #[serde(skip)]
    thousandths: Vec<(u64, u64)>,
}

impl Chart {
    /// A chart of `columns`: wanted and used, in thousandths.
    pub(crate) fn new(start: Timestamp, end: Timestamp, columns: Vec<(u64, u64)>) -> Self {
        let ratio = |num: i128, den: i128| Ratio::new(num, den).expect("denominators are positive");
        let thousandths = |of: fn(&(u64, u64)) -> u64| columns.iter().map(|c| ratio(of(c).into(), 1000)).collect();
        let span = ratio(end.duration_since(start).as_millis(), 1000 * columns.len().max(1) as i128);
        let (wanted, used) = (thousandths(|column| column.0), thousandths(|column| column.1));
        Chart { start, end, span, wanted, used, thousandths: columns }
    }

    fn peak(&self) -> u64 {
        self.thousandths.iter().map(|(wanted, used)| *wanted.max(used)).max().unwrap_or(0)
    }
}

impl fmt::Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let top = self.peak().div_ceil(1000).max(1);
        let margin = top.to_string().len().max(3);
        for line in (1..=HEIGHT).rev() {
            // A cell is filled when the value reaches at least the middle of it.
            let middle = (2 * line - 1) * top * 1000;
            let reaches = |value: u64| value * 2 * HEIGHT >= middle;
            let cells = self.thousandths.iter().map(|(wanted, used)| match (reaches(*used), reaches(*wanted)) {
                (true, _) => '█',
                (false, true) => '░',
                (false, false) => ' ',
            });
            let label = if line == HEIGHT { top.to_string() } else { String::new() };
            let cells: String = cells.collect();
            writeln!(f, "{label:>margin$} │{}", cells.trim_end())?;
        }
        let width = self.thousandths.len();
        writeln!(f, "{:>margin$} └{}", 0, "─".repeat(width))?;
        let (first, last) = (clock(self.start, self.start), clock(self.start, self.end));
        let gap = width.saturating_sub(first.len() + last.len());
        writeln!(f, "{:margin$}  {first}{}{last}", "", " ".repeat(gap))?;
        write!(f, "{:margin$}  █ nodes that run pods   ░ nodes wanted beyond them", "")
    }
}

/// The time of day where a run starts or ends, with the day when it is another one.
fn clock(start: Timestamp, at: Timestamp) -> String {
    let days = at.duration_since(start).as_secs() / SignedDuration::from_hours(24).as_secs();
    let time = at.strftime("%H:%M");
    if days == 0 { time.to_string() } else { format!("{time} +{days}d") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(days: i64, columns: &[(u64, u64)]) -> String {
        let start = Timestamp::constant(1_767_571_200, 0);
        let chart = Chart::new(start, start + SignedDuration::from_hours(24 * days), columns.to_vec()).to_string();
        chart.lines().map(|line| format!("|{line}\n")).collect()
    }

    #[test]
    fn a_column_is_as_high_as_its_means() {
        let columns: Vec<(u64, u64)> = (0..24).map(|at| (at * 1000, if at % 2 == 0 { at * 500 } else { 0 })).collect();
        expect_test::expect![[r#"
            | 23 │                      ░░
            |    │                   ░░░░░
            |    │                ░░░░░░░░
            |    │             ░░░░░░░░░░░
            |    │           ░░░░░░░░░░░█░
            |    │        ░░░░░░░░█░█░█░█░
            |    │     ░░░░░█░█░█░█░█░█░█░
            |    │  ░░█░█░█░█░█░█░█░█░█░█░
            |  0 └────────────────────────
            |     00:00          00:00 +1d
            |     █ nodes that run pods   ░ nodes wanted beyond them
        "#]]
        .assert_eq(&chart(1, &columns));
    }

    #[test]
    fn nothing_draws_an_empty_chart() {
        expect_test::expect![[r#"
            |  1 │
            |    │
            |    │
            |    │
            |    │
            |    │
            |    │
            |    │
            |  0 └────────────────────
            |     00:00      00:00 +3d
            |     █ nodes that run pods   ░ nodes wanted beyond them
        "#]]
        .assert_eq(&chart(3, &[(0, 0); 20]));
    }
}
