//! What other autoscalers do, from their tests and from public reports, as fixtures through `decide`. One file for each
//! area; `case` describes their form, and docs/compatibility.md counts them.

mod case;
mod facts;
mod page;

use case::{Verdict, cases};
use expect_test::expect_file;
use page::Area;

/// Each area with its file.
const AREAS: [(&str, &str); 20] = [
    ("estimator", include_str!("estimator.cases")),
    ("filter", include_str!("filter.cases")),
    ("scale-up", include_str!("scale_up.cases")),
    ("balance", include_str!("balance.cases")),
    ("similarity", include_str!("similarity.cases")),
    ("equivalence", include_str!("equivalence.cases")),
    ("scheduling", include_str!("scheduling.cases")),
    ("cluster state", include_str!("cluster_state.cases")),
    ("back-off", include_str!("backoff.cases")),
    ("expander", include_str!("expander.cases")),
    ("utilisation", include_str!("utilization.cases")),
    ("eligibility", include_str!("eligibility.cases")),
    ("time and minimum", include_str!("unneeded.cases")),
    ("drain rules", include_str!("drain.cases")),
    ("removal of one node", include_str!("simulation.cases")),
    ("scale-down planner", include_str!("planner.cases")),
    ("scale-down budget", include_str!("budget.cases")),
    ("public reports", include_str!("public.cases")),
    ("public reports on scale-down", include_str!("public_scale_down.cases")),
    ("public reports on spare room", include_str!("public_slack.cases")),
];

#[test]
fn every_case_is_as_it_says() {
    let judged = AREAS.map(|(area, text)| {
        cases(text).iter().filter_map(|case| case.judge().err()).map(|wrong| format!("{area}, {wrong}")).collect()
    });
    let wrong: Vec<String> = judged.into_iter().flat_map(|wrong: Vec<String>| wrong).collect();
    assert!(wrong.is_empty(), "{} cases fail:\n\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_page_counts_every_case() {
    let mut areas: Vec<Area<'_>> = AREAS.iter().map(|(area, text)| (*area, counted(text))).collect();
    areas.push(("price expander", page::price_cases()));
    expect_file!["../../../../docs/compatibility.md"].assert_eq(&page::page(&areas));
}

fn counted(text: &str) -> Vec<(&str, Verdict<'_>)> {
    cases(text).iter().map(|case| (case.name, case.verdict())).collect()
}
