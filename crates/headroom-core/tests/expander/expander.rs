//! The other expanders, and chains.

use headroom_core::expander::price::Formula;
use headroom_core::expander::{Candidate, Chain, Context, Expander, Ranked, rank};
use headroom_core::pricing::{PriceSource, Quote};
use headroom_core::quantity::{Money, Resources, Totals};

fn ranking(candidates: &[Candidate], chain: &[Expander], seed: u64) -> Vec<Ranked> {
    let formula = Formula::default();
    let chain = Chain::new(chain.to_vec()).unwrap();
    rank(candidates, &chain, &Context { formula: &formula, cluster_nodes: 10, seed })
}

/// All that tie for the first place before names are compared.
fn best(ranking: &[Ranked]) -> Vec<&str> {
    let first = ranking.first();
    let ties = ranking.iter().filter(|ranked| first.is_some_and(|first| first.rank.scores == ranked.rank.scores));
    ties.map(|ranked| &*ranked.rank.group).collect()
}

fn option(group: &str, nodes: u32, cpu: i64, pods: i128) -> Candidate {
    let mut requested = Totals::default();
    requested += &Resources::new(1_000, 1 << 30);
    requested.pods = pods;
    Candidate { group: group.into(), nodes, capacity: Resources::new(cpu, 4 << 30), requested, ..Candidate::default() }
}

#[test]
fn most_pods_counts_pods() {
    let ranking = ranking(&[option("a", 1, 2_000, 3), option("b", 9, 2_000, 4)], &[Expander::MostPods], 0);
    assert_eq!(best(&ranking), ["b"]);
}

#[test]
fn all_nodes_of_an_option_count_as_waste() {
    // One node of 4 cores for 1, or two of 2 cores each with twice the memory in all.
    let ranking = ranking(&[option("two", 2, 2_000, 1), option("one", 1, 4_000, 1)], &[Expander::LeastWaste], 0);
    assert_eq!(ranking[0].to_string(), "one +1: waste 1.5");
    assert_eq!(ranking[1].to_string(), "two +2: waste 1.625");
}

#[test]
fn idle_gpus_are_the_worst_waste() {
    let mut gpu = option("gpu", 1, 1_000, 1);
    gpu.capacity.set_extended("nvidia.com/gpu", 1);
    let plain = option("plain", 1, 64_000, 1);
    let ranking_of = |gpu: &Candidate| ranking(&[gpu.clone(), plain.clone()], &[Expander::LeastWaste], 0);
    assert_eq!(best(&ranking_of(&gpu)), ["plain"]);
    assert_eq!(ranking_of(&gpu)[1].to_string(), "gpu +1: waste 0.75 and idle GPUs");
    gpu.requested.extended.push(("nvidia.com/gpu".into(), 1));
    assert_eq!(best(&ranking_of(&gpu)), ["gpu"]);
}

#[test]
fn priorities_below_zero_can_win_and_the_unlisted_come_last() {
    let with = |group, priority| Candidate { priority, ..option(group, 1, 1_000, 1) };
    let options = [with("a", None), with("b", Some(-5)), with("c", Some(-7))];
    let ranking = ranking(&options, &[Expander::Priority], 0);
    let text: Vec<String> = ranking.iter().map(Ranked::to_string).collect();
    assert_eq!(text, ["b +1: priority -5", "c +1: priority -7", "a +1: no priority"]);
}

#[test]
fn a_chain_decides_in_order_and_names_what_decided() {
    let options =
        [option("c", 2, 4_000, 5), option("b", 2, 2_000, 5), option("a", 1, 2_000, 4), option("d", 2, 4_000, 5)];
    let ranking = ranking(&options, &[Expander::MostPods, Expander::LeastWaste], 0);
    let order: Vec<&str> = ranking.iter().map(|ranked| &*ranked.rank.group).collect();
    assert_eq!(order, ["b", "c", "d", "a"]);
    let decided = |at: usize| {
        let scores = ranking[at].rank.decisive(&ranking[at + 1].rank);
        scores.map(|(own, other)| format!("{own} against {other}"))
    };
    assert_eq!(decided(0).as_deref(), Some("waste 1.625 against waste 1.75"));
    // Only the names differ.
    assert_eq!(decided(1), None);
    assert_eq!(decided(2).as_deref(), Some("pods 5 against pods 4"));
}

#[test]
fn without_a_chain_a_known_price_decides_between_price_and_waste() {
    let mut options = [option("a", 1, 2_000, 1), option("b", 1, 4_000, 1)];
    assert_eq!(ranking(&options, &[], 0)[0].to_string(), "a +1: waste 1.25");
    options[1].price = Some(Quote { amount: Money(1_000), source: PriceSource::Catalogue });
    let text = ranking(&options, &[], 0)[0].to_string();
    assert!(text.starts_with("b +1: price "), "{text}");
}

#[test]
fn random_picks_each_option_alike_and_the_same_again() {
    let options = ["a", "b", "c"].map(|group| option(group, 1, 2_000, 1));
    let pick = |options: &[Candidate], seed| ranking(options, &[Expander::Random], seed)[0].rank.group.to_string();
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    for seed in 0..3_000 {
        *counts.entry(pick(&options, seed)).or_default() += 1;
        assert_eq!(pick(&options, seed), pick(&[options[2].clone(), options[0].clone(), options[1].clone()], seed));
    }
    // Three standard deviations of a fair draw are 77.
    assert!(counts.len() == 3 && counts.values().all(|count| count.abs_diff(1_000) < 77), "{counts:?}");
}
