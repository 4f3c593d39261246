//! Every number that the cost-ranking proposal prints, recomputed.

use std::collections::BTreeMap;

use expect_test::expect;
use headroom_core::expander::price::{self, Formula, PreferredCpu, Settings, Step};
use headroom_core::expander::{Billionths, Candidate, Chain, Context, Expander, Ranked, rank};
use headroom_core::pricing::{PriceSource, Quote};
use headroom_core::quantity::{MilliCpu, Money, Resources, Totals};
use serde::Deserialize;

use crate::read;

/// How many nodes a cluster has in which the preferred node has 8 cpus.
const CLUSTER_OF_EIGHTS: u32 = 30;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    pod: String,
    machine: String,
    unfitness: f64,
    cost: String,
    theoretical: String,
    damper: String,
    printed: f64,
    score: f64,
    exact: Exact,
    printed_wrong: Option<String>,
}

/// The same with prices that are not cut off.
#[derive(Deserialize)]
struct Exact {
    theoretical: String,
    damper: String,
    score: f64,
}

fn money(text: &str) -> Money {
    Money::from_dollars_text(text).unwrap()
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 5e-7, "{what}: {found}, expected {expected}");
}

#[test]
fn every_row_follows_from_its_inputs() {
    for row in read::<Row>(include_str!("seed_tables.json")) {
        let what = format!("{} on {} at unfitness {}", row.pod, row.machine, row.unfitness);
        let score = |theoretical: &str, damper: &str| {
            row.unfitness * price::overpaid(money(&row.cost), money(theoretical), money(damper))
        };
        let found = score(&row.theoretical, &row.damper);
        close(found, row.score, &what);
        close(score(&row.exact.theoretical, &row.exact.damper), row.exact.score, &what);
        // Half a unit of the printed decimals; some rows are cut off or wrong.
        let agrees = (found - row.printed).abs() <= 0.005;
        assert_eq!(agrees, row.printed_wrong.is_none(), "{what}: printed {}, is {found}", row.printed);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Suppressed {
    nodes: u32,
    suppressed: f64,
    printed_share: f64,
}

#[test]
fn suppress_has_the_printed_values() {
    for row in read::<Suppressed>(include_str!("seed_suppress.json")) {
        let found = price::suppress(4.0, row.nodes, 15);
        close(found, row.suppressed, &format!("{} nodes", row.nodes));
        assert!((found / 4.0 - row.printed_share).abs() < 0.005, "{} nodes: {}", row.nodes, found / 4.0);
    }
}

#[derive(Deserialize)]
struct Grid {
    unfitness: f64,
    suppressed: BTreeMap<u32, f64>,
}

#[test]
fn suppress_agrees_at_every_point() {
    for row in read::<Grid>(include_str!("suppress.json")) {
        for (nodes, expected) in row.suppressed {
            let found = price::suppress(row.unfitness, nodes, 15);
            assert!((found - expected).abs() < 1e-12, "{} and {nodes}: {found}", row.unfitness);
        }
    }
}

#[test]
fn unfitness_is_the_same_both_ways() {
    for (preferred, node, expected) in
        [(1_000, 2_000, 2.0), (2_000, 1_000, 2.0), (1_000, 1_000, 1.0), (8_000, 0, 8_000.0)]
    {
        assert_eq!(price::unfitness(MilliCpu(preferred), MilliCpu(node)), expected);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Preferred {
    nodes: u32,
    proposal: i64,
    cluster_autoscaler: i64,
}

/// Cluster Autoscaler's table is a setting away.
#[test]
fn preferred_cpu_follows_either_table() {
    let steps = [(2, 1), (6, 2), (20, 4), (60, 8), (200, 16)];
    let step = |(up_to_nodes, cores): (u32, i64)| Step { up_to_nodes, cpu: MilliCpu(cores * 1_000) };
    let theirs = PreferredCpu { steps: steps.map(step).to_vec(), above: MilliCpu(32_000) };
    assert!(Formula::new(Settings { preferred_cpu: theirs.clone(), ..Settings::default() }).is_ok());
    for row in read::<Preferred>(include_str!("preferred_cpu.json")) {
        assert_eq!(PreferredCpu::default().at(row.nodes), MilliCpu(row.proposal * 1_000), "{} nodes", row.nodes);
        assert_eq!(theirs.at(row.nodes), MilliCpu(row.cluster_autoscaler * 1_000), "{} nodes", row.nodes);
    }
}

/// `nodes` machines of the proposal's examples for `pods` pods of `cpu`.
fn machine(name: &str, nodes: u32, pods: u32, cpu: i64) -> Candidate {
    let (cores, gib, price) = match name {
        "n1-standard-2" => (2, 7.5, "0.095"),
        "n1-standard-8" => (8, 30.0, "0.38"),
        _ => (2, 7.5, "0.795"),
    };
    let mut capacity = Resources::new(cores * 1_000, (gib * f64::from(1 << 30)) as i64);
    if name.ends_with("GPU") {
        capacity.set_extended("nvidia.com/gpu", 1);
    }
    let mut requested = Totals::default();
    requested.add_times(&Resources { pods: 1, ..Resources::new(cpu, 0) }, pods.into());
    let price = Some(Quote { amount: money(price), source: PriceSource::Config });
    Candidate { group: name.into(), nodes, capacity, price, requested, ..Candidate::default() }
}

fn by_price(candidates: &[Candidate]) -> Vec<Ranked> {
    let chain = Chain::new(vec![Expander::Price]).unwrap();
    let formula = Formula::default();
    rank(candidates, &chain, &Context { formula: &formula, cluster_nodes: CLUSTER_OF_EIGHTS, seed: 0 })
}

fn groups(ranking: &[Ranked]) -> Vec<&str> {
    ranking.iter().map(|ranked| &*ranked.rank.group).collect()
}

#[test]
fn one_pod_gets_the_machine_that_fits_the_cluster() {
    for cpu in [100, 1_500] {
        let names = ["n1-standard-2", "n1-standard-2+GPU", "n1-standard-8"];
        let ranking = by_price(&names.map(|name| machine(name, 1, 1, cpu)));
        assert_eq!(groups(&ranking), ["n1-standard-8", "n1-standard-2", "n1-standard-2+GPU"]);
    }
}

#[test]
fn fifty_nodes_at_once_get_the_machine_that_fits_the_pods() {
    let ranking = by_price(&["n1-standard-8", "n1-standard-2"].map(|name| machine(name, 50, 50, 1_500)));
    assert_eq!(groups(&ranking), ["n1-standard-2", "n1-standard-8"]);
    let scores = ranking.iter().map(|ranked| ranked.price.unwrap());
    let expected = [1.919_685_217_646_944, 7.592_552_134_301_298];
    for (terms, expected) in scores.zip(expected) {
        assert_eq!(terms.score, Billionths::round(expected));
    }
    // Without the suppression the larger machine would win by a hair.
    let small = ranking[0].price.unwrap();
    let unsuppressed = small.unfitness * price::overpaid(small.cost, small.theoretical, small.damper);
    assert!(unsuppressed > 7.6);
}

/// The worked example of docs/cost-ranking.md.
#[test]
fn the_report_shows_every_term_of_every_option() {
    let mut candidates = ["n1-standard-8", "n1-standard-2", "n1-standard-2+GPU"].map(|name| machine(name, 1, 1, 100));
    candidates[1].price = None;
    let ranking = by_price(&candidates);
    let text: String = ranking.iter().map(|ranked| format!("{ranked}\n")).collect();
    expect![[r#"
        n1-standard-8 +1: price 19.9246 = 1 * ($0.38 + $0.0166) / ($0.0033 + $0.0166): 1 x $0.38 (config) with 8 cpu, preferred 8 cpu, unfitness 1
        n1-standard-2 +1: price 23.3677 = 4 * ($0.0997 + $0.0166) / ($0.0033 + $0.0166): 1 x $0.0997 (estimated) with 2 cpu, preferred 8 cpu, unfitness 4
        n1-standard-2+GPU +1: price 40774.2509 = 1000 * ($0.795 + $0.0166) / ($0.0033 + $0.0166): 1 x $0.795 (config) with 2 cpu, preferred 8 cpu, unfitness 4, replaced by 1000 as no pod asks for the GPUs
    "#]].assert_eq(&text);
    let document = include_str!("../../../../docs/cost-ranking.md");
    assert!(document.contains(&text), "docs/cost-ranking.md lacks\n{text}");
    expect![[r#"
        {
          "rank": {
            "scores": [
              {
                "price": 23.367697595
              }
            ],
            "group": "n1-standard-2"
          },
          "nodes": 1,
          "price": {
            "nodes": 1,
            "nodePrice": {
              "estimated": {
                "amount": 99693000,
                "byUnitPrices": 99693000
              }
            },
            "cost": 99693000,
            "theoretical": 3317400,
            "damper": 16587000,
            "nodeCpu": 2000,
            "preferredCpu": 8000,
            "unfitness": 4.0,
            "suppressed": 4.0,
            "unneededGpu": false,
            "score": 23.367697595
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&ranking[1]).unwrap());
}
