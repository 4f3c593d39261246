//! Escalator's behaviour, from its tests and docs, as fixtures (docs/escalator.md). A case states what Escalator does
//! and, only where Headroom differs on purpose, what Headroom does and why.

use std::collections::BTreeMap;

use headroom_core::fixture::Fixture;
use headroom_core::plan::{Action, Plan, Why};
use headroom_core::strategy::utilization::REMOVAL_TAINT;

#[test]
fn passes() {
    run("passes", include_str!("escalator/passes.cases"));
}

#[test]
fn order() {
    run("order", include_str!("escalator/order.cases"));
}

#[test]
fn health() {
    run("health", include_str!("escalator/health.cases"));
}

#[test]
fn removal() {
    run("reap", include_str!("escalator/reap.cases"));
}

#[test]
fn public_reports() {
    run("public", include_str!("escalator/public.cases"));
}

fn run(file: &str, text: &str) {
    let cases: Vec<&str> = text.split("\ncase ").map(|case| case.trim_start_matches("case ")).collect();
    let failures: Vec<String> = cases.iter().filter_map(|case| judge(case).err()).collect();
    assert!(failures.is_empty(), "{} of {} {file} cases fail:\n\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// What is expected of a case: names and values.
type Facts = BTreeMap<String, String>;

fn judge(case: &str) -> Result<(), String> {
    let (title, body) = case.split_once('\n').ok_or("an empty case")?;
    let mut fixture = Fixture::new();
    let (mut escalator, mut headroom, mut joined) = (None, None, None);
    for line in body.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "escalator" => escalator = Some(facts(rest)),
            "headroom" => {
                let (expected, reason) = rest.split_once(" because ").ok_or(format!("{title}: no reason given"))?;
                headroom = Some((facts(expected), reason));
            }
            "join" => joined = Some(join(&mut fixture, rest)),
            _ => fixture.line(line).map_err(|what| format!("{title}: {line}: {what}"))?,
        }
    }
    let escalator = escalator.ok_or(format!("{title}: Escalator's answer is missing"))?;
    let actual = |expected: &Facts| -> Facts {
        expected.keys().map(|key| (key.clone(), fact(&fixture, key, joined).unwrap_or("unknown".to_owned()))).collect()
    };
    let complain = |who: &str, expected: &Facts| {
        let plans = fixture.to_string();
        format!("{title}\n{who} {expected:?}\nactual   {:?}\n{plans}", actual(expected))
    };
    match headroom {
        None if actual(&escalator) != escalator => Err(complain("expected", &escalator)),
        Some((expected, _)) if actual(&expected) != expected => Err(complain("expected", &expected)),
        Some(_) if actual(&escalator) == escalator => {
            Err(complain("no difference from Escalator any more:", &escalator))
        }
        _ => Ok(()),
    }
}

fn facts(text: &str) -> Facts {
    let pairs = text.split_whitespace().map(|word| word.split_once('=').unwrap_or((word, "true")));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Lets the machines that the cloud was asked for join, and answers how many more are wanted then.
fn join(fixture: &mut Fixture, size: &str) -> i64 {
    let snapshot = fixture.builder.snapshot();
    let target = snapshot.group("default").map_or(0, |group| group.target) as usize;
    let missing = target.saturating_sub(snapshot.node_count());
    for at in 1..=missing {
        fixture.line(&format!("node joined-{at} in=default {size}")).unwrap();
    }
    fixture.round(false);
    fixture.plans.last().unwrap().report.group("default").unwrap().wanted
}

fn fact(fixture: &Fixture, key: &str, joined: Option<i64>) -> Option<String> {
    let plan = fixture.plans.first()?;
    let report = plan.report.group("default")?;
    let snapshot = fixture.builder.snapshot();
    let marked = || snapshot.nodes().filter(|view| view.node.taint(REMOVAL_TAINT).is_some()).count();
    Some(match key {
        "wanted" => report.wanted.to_string(),
        "size" => snapshot.group("default")?.target.to_string(),
        "joined" => joined?.to_string(),
        "tainted" => marked().to_string(),
        "untainted" => (snapshot.node_count() - marked()).to_string(),
        "inService" => report.nodes.in_service.to_string(),
        "force" => report.nodes.force_tainted.to_string(),
        "marks" => nodes(plan, |action| matches!(action, Action::Taint { .. })),
        "unmarks" => nodes(plan, |action| matches!(action, Action::Untaint { .. })),
        "removed" => plan.actions.iter().filter(|p| matches!(p.action, Action::Remove { .. })).count().to_string(),
        "percent" => {
            report.usage.iter().map(|usage| four_digits(usage.requests, usage.capacity)).collect::<Vec<_>>().join("/")
        }
        "error" => (!plan.report.refusals.is_empty() && plan.actions.is_empty()).to_string(),
        "healthy" => group_unhealthy(plan).is_none().to_string(),
        // Only an unhealthy group says how many were tested, so every tested node counts as unhealthy here.
        "tested" => group_unhealthy(plan)?.to_string(),
        _ => return None,
    })
}

fn nodes(plan: &Plan, which: impl Fn(&Action) -> bool) -> String {
    let names: Vec<&str> = plan.actions.iter().filter(|p| which(&p.action)).filter_map(|p| p.action.node()).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(",") }
}

fn group_unhealthy(plan: &Plan) -> Option<u32> {
    plan.report.refusals.iter().find_map(|refusal| match refusal.why {
        Why::GroupUnhealthy { tested, .. } => Some(tested),
        _ => None,
    })
}

fn four_digits(requests: i128, capacity: i128) -> String {
    if capacity == 0 {
        return if requests == 0 { "0.0000".to_owned() } else { "none".to_owned() };
    }
    let rounded = (requests * 100 * 10_000 * 2 + capacity) / (capacity * 2);
    format!("{}.{:04}", rounded / 10_000, rounded % 10_000)
}
