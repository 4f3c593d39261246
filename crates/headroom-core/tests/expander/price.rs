//! The price expander's cases, and what Headroom adds to the formula.

use headroom_core::expander::price::{Formula, PreferredCpu, Settings};
use headroom_core::expander::{Billionths, Candidate, Chain, Context, Expander, Ranked, rank};
use headroom_core::pricing::{PriceSource, Quote, UnitPrices};
use headroom_core::quantity::{MilliCpu, Money, Resources, Totals};
use serde::Deserialize;

use crate::{Case, read};

pub(crate) const CASES: &str = include_str!("price.json");

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Input {
    preferred_cpu: i64,
    options: Vec<Entry>,
    expected: Vec<String>,
    theirs: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Entry {
    group: String,
    nodes: u32,
    cpu: i64,
    price: Option<String>,
    pods: Vec<String>,
    terms: Option<Terms>,
}

#[derive(Deserialize)]
struct Terms {
    cost: String,
    theoretical: String,
    unfitness: f64,
    suppressed: f64,
    score: f64,
}

fn money(text: &str) -> Money {
    Money::from_dollars_text(text).unwrap()
}

/// The cases give prices of pods: `p1` costs 20, `p2` 10 and the stabilization pod 10. With a core at 10 they are pods of
/// two cores and of one.
fn formula(preferred_cpu: i64) -> Formula {
    let unit_prices = UnitPrices { cpu: money("10"), ..UnitPrices::default() };
    let preferred_cpu = PreferredCpu { steps: Vec::new(), above: MilliCpu(preferred_cpu) };
    let stabilization_pod = Resources::new(1_000, 0);
    Formula::new(Settings { unit_prices, preferred_cpu, stabilization_pod, ..Settings::default() }).unwrap()
}

fn candidate(option: &Entry) -> Candidate {
    let mut requested = Totals::default();
    for pod in &option.pods {
        requested += &Resources { pods: 1, ..Resources::new(if pod == "p1" { 2_000 } else { 1_000 }, 0) };
    }
    let price = option.price.as_deref().map(stated);
    let capacity = Resources::new(option.cpu, 0);
    Candidate { group: (*option.group).into(), nodes: option.nodes, capacity, price, requested, ..Candidate::default() }
}

fn stated(price: &str) -> Quote {
    Quote { amount: money(price), source: PriceSource::Provider }
}

fn by_price(candidates: &[Candidate], formula: &Formula) -> Vec<Ranked> {
    let chain = Chain::new(vec![Expander::Price]).unwrap();
    rank(candidates, &chain, &Context { formula, cluster_nodes: 30, seed: 0 })
}

#[test]
fn every_case_has_its_winner_and_its_terms() {
    for Case { case, differs, not_applicable, input } in read::<Case<Input>>(CASES) {
        let candidates: Vec<Candidate> = input.options.iter().map(candidate).collect();
        let ranking = by_price(&candidates, &formula(input.preferred_cpu));
        for ranked in &ranking {
            let (found, option) = (ranked.price.unwrap(), &input.options[ranked.at]);
            let Some(terms) = &option.terms else {
                assert!(found.node_price.is_estimated(), "{case}");
                continue;
            };
            assert_eq!((found.cost, found.theoretical), (money(&terms.cost), money(&terms.theoretical)), "{case}");
            assert_eq!((found.nodes, found.damper), (option.nodes, money("10")), "{case}");
            assert_eq!(found.unfitness, terms.unfitness, "{case}");
            assert!((found.suppressed - terms.suppressed).abs() < 1e-12, "{case}");
            assert_eq!(found.score, Billionths::round(terms.score), "{case}");
        }
        if not_applicable.is_none() {
            assert_eq!([&*ranking[0].rank.group], *input.expected, "{case}");
            assert_eq!(differs.is_some(), input.theirs.is_some_and(|theirs| theirs != input.expected), "{case}");
        }
    }
}

fn plain(group: &str, cpu: i64, gib: i64) -> Candidate {
    let mut requested = Totals::default();
    requested += &Resources { pods: 1, ..Resources::new(500, 1 << 30) };
    Candidate {
        group: group.into(),
        nodes: 1,
        capacity: Resources::new(cpu, gib << 30),
        requested,
        ..Candidate::default()
    }
}

fn with_gpus(mut candidate: Candidate, machine: i64, pod: i64) -> Candidate {
    candidate.capacity.set_extended("nvidia.com/gpu", machine);
    let mut gpus = Resources::default();
    gpus.set_extended("nvidia.com/gpu", pod);
    candidate.requested += &gpus;
    candidate
}

/// The estimate is lifted to the scale of the real price, and the plain node still wins.
#[test]
fn an_unpriced_plain_group_beats_gpus_at_thirty_an_hour() {
    let gpu = with_gpus(Candidate { price: Some(stated("30")), ..plain("gpu", 16_000, 64) }, 4, 0);
    let ranking = by_price(&[gpu, plain("plain", 8_000, 32)], &Formula::default());
    assert_eq!(&*ranking[0].rank.group, "plain");
    let (plain, gpu) = (ranking[0].price.unwrap(), ranking[1].price.unwrap());
    assert!(plain.node_price.is_estimated() && !gpu.node_price.is_estimated());
    assert_eq!(plain.node_price.to_string(), "$3.3828 (estimated $0.4077, times 8.3 as others cost)");
    assert!(gpu.unneeded_gpu);
}

/// Even where the bare formula prefers the GPU machine.
#[test]
fn idle_gpus_lose_to_a_node_of_the_wrong_size() {
    let gpu = with_gpus(Candidate { price: Some(stated("0.5")), ..plain("gpu", 8_000, 32) }, 1, 0);
    let wrong = Candidate { price: Some(stated("2")), ..plain("wrong", 32_000, 128) };
    let ranking = by_price(&[gpu, wrong], &Formula::default());
    assert_eq!(&*ranking[0].rank.group, "wrong");
    assert_eq!(ranking[1].price.unwrap().suppressed, 1_000.0);
}

#[test]
fn the_factor_is_not_for_pods_that_ask_for_gpus() {
    let terms = |machine, pod| {
        let candidate = with_gpus(Candidate { price: Some(stated("1")), ..plain("gpu", 16_000, 64) }, machine, pod);
        by_price(&[candidate], &Formula::default())[0].price.unwrap()
    };
    assert!(!terms(1, 1).unneeded_gpu);
    assert_eq!(terms(1, 1).suppressed, 2.0);
    assert!(!terms(0, 0).unneeded_gpu);
    assert!(terms(1, 0).unneeded_gpu);
}

/// Pods without requests are worth nothing, and X keeps their score finite.
#[test]
fn pods_without_requests_have_a_score() {
    let candidate = Candidate { requested: Totals { pods: 3, ..Totals::default() }, ..plain("web", 8_000, 32) };
    let terms = by_price(&[candidate], &Formula::default())[0].price.unwrap();
    assert_eq!(terms.theoretical, Money(0));
    assert_eq!(terms.score, Billionths::round((0.407664 + 0.016587) / 0.016587));
}

#[test]
fn requested_disk_counts_and_nothing_else_does() {
    let terms = |bytes| {
        let mut candidate = plain("web", 8_000, 32);
        candidate.requested += &Resources { ephemeral_storage: bytes, ..Resources::default() };
        by_price(&[candidate], &Formula::default())[0].price.unwrap().theoretical
    };
    assert_eq!(terms(0), money("0.021033"));
    assert_eq!(terms(50_000_000_000), money("0.031033"));
}

/// Scores that differ by less than 1e-9 tie, and the next expander decides.
#[test]
fn equal_scores_tie() {
    let chain = Chain::new(vec![Expander::Price, Expander::MostPods]).unwrap();
    let priced = |group| Candidate { price: Some(stated("0.4")), ..plain(group, 8_000, 32) };
    let mut more = priced("more");
    more.requested += &Resources { pods: 1, ..Resources::default() };
    let formula = Formula::default();
    let ranking = rank(&[priced("less"), more], &chain, &Context { formula: &formula, cluster_nodes: 30, seed: 0 });
    assert_eq!(&*ranking[0].rank.group, "more");
    let (own, other) = ranking[0].rank.decisive(&ranking[1].rank).unwrap();
    assert_eq!((own.to_string(), other.to_string()), ("pods 2".into(), "pods 1".into()));
}
