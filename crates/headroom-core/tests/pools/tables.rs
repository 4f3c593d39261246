//! The formulas of both kinds of pools, one case after the other.

use std::collections::BTreeMap;

use headroom_core::fixture::Fixture;
use headroom_core::plan::{SizedBy, Sizing};

#[test]
fn memory() {
    run(include_str!("memory.cases"));
}

#[test]
fn cpu() {
    run(include_str!("cpu.cases"));
}

fn run(text: &str) {
    let cases: Vec<&str> = text.split("\ncase ").map(|case| case.trim_start_matches("case ")).collect();
    let failures: Vec<String> = cases.iter().filter_map(|case| judge(case).err()).collect();
    assert!(failures.is_empty(), "{} of {} cases fail:\n\n{}", failures.len(), cases.len(), failures.join("\n"));
}

fn judge(case: &str) -> Result<(), String> {
    let (title, body) = case.split_once('\n').ok_or("an empty case")?;
    let mut fixture = Fixture::new();
    let mut expected = None;
    for line in body.lines() {
        match line.strip_prefix("expected ") {
            Some(facts) => expected = Some(facts),
            None => fixture.line(line).map_err(|what| format!("{title}: {line}: {what}"))?,
        }
    }
    let expected = expected.ok_or(format!("{title}: what is expected is missing"))?;
    let report = fixture.plans.first().and_then(|plan| plan.report.groups.first());
    let sizing = report.and_then(|group| group.sizing.as_ref()).ok_or(format!("{title}: not sized\n{fixture}"))?;
    let facts = facts(sizing);
    let actual: Vec<String> = expected
        .split(' ')
        .filter_map(|fact| fact.split_once('='))
        .map(|(key, _)| format!("{key}={}", facts.get(key).map_or("unknown", String::as_str)))
        .collect();
    let actual = actual.join(" ");
    if actual == expected { Ok(()) } else { Err(format!("{title}\nexpected {expected}\nactual   {actual}\n{fixture}")) }
}

fn facts(sizing: &Sizing) -> BTreeMap<&'static str, String> {
    let mut facts = BTreeMap::from([
        ("servers", sizing.servers.to_string()),
        ("wanted", sizing.wanted.to_string()),
        ("desired", sizing.desired.to_string()),
    ]);
    match &sizing.by {
        SizedBy::Memory(need) => facts.extend([
            ("used", need.used.to_string()),
            ("perServer", need.per_server.to_string()),
            ("measured", need.measured.to_string()),
            ("total", need.total.to_string()),
            ("error", need.error.to_string()),
            ("usage", need.usage.to_string()),
            ("unplaced", need.unplaced.to_string()),
            ("unplacedServers", need.unplaced_servers.to_string()),
        ]),
        SizedBy::Cpu(need) => {
            let percent = |hundredths: u64| (hundredths / 100).to_string();
            facts.extend([("total", percent(need.total))]);
            facts.extend(need.usage.map(|usage| ("usage", percent(usage))));
            facts.extend(need.free.map(|free| ("free", percent(free))));
        }
    }
    facts
}
