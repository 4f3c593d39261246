//! What holds for every set of options.

use headroom_core::expander::price::{self, Formula};
use headroom_core::expander::{Candidate, Chain, Context, Expander, Ranked, rank};
use headroom_core::pricing::{PriceSource, Quote};
use headroom_core::quantity::{Money, Resources, Totals};
use proptest::prelude::*;

fn chains() -> impl Strategy<Value = Chain> {
    let some = proptest::sample::subsequence(Expander::ALL[..5].to_vec(), 0..=5).prop_shuffle();
    (some, any::<bool>()).prop_map(|(mut expanders, random)| {
        expanders.extend(random.then_some(Expander::Random));
        Chain::new(expanders).unwrap()
    })
}

/// Options of any size, the absurd included; groups have different names.
fn options() -> impl Strategy<Value = Vec<Candidate>> {
    let amounts = || prop_oneof![0_i64..100_000, any::<i64>()];
    let option =
        (any::<u32>(), amounts(), amounts(), 0_i64..3, any::<Option<i64>>(), any::<Option<i64>>(), 0_u32..2_000);
    prop::collection::vec(option, 0..6).prop_map(|options| {
        let option =
            |(at, (nodes, cpu, memory, gpus, price, priority, pods)): (usize, (u32, i64, i64, i64, _, _, u32))| {
                let mut capacity = Resources::new(cpu, memory);
                capacity.set_extended("nvidia.com/gpu", gpus);
                let mut requested = Totals::default();
                requested.add_times(&Resources { pods: 1, ..Resources::new(memory, cpu) }, pods.into());
                let price = Option::map(price, |price| Quote { amount: Money(price), source: PriceSource::Config });
                Candidate {
                    group: format!("g{at}").into(),
                    nodes,
                    capacity,
                    price,
                    requested,
                    priority,
                    ..Candidate::default()
                }
            };
        options.into_iter().enumerate().map(option).collect()
    })
}

fn names(ranking: &[Ranked]) -> Vec<&str> {
    ranking.iter().map(|ranked| &*ranked.rank.group).collect()
}

proptest! {
    #[test]
    fn the_order_of_the_options_means_nothing(options in options(), chain in chains(), seed: u64, cluster_nodes: u32) {
        let formula = Formula::default();
        let context = Context { formula: &formula, cluster_nodes, seed };
        let mut reversed = options.clone();
        reversed.reverse();
        let (one, other) = (rank(&options, &chain, &context), rank(&reversed, &chain, &context));
        prop_assert_eq!(names(&one), names(&other));
        prop_assert_eq!(one.len(), options.iter().filter(|option| option.nodes > 0).count());
        for ranked in &one {
            prop_assert_eq!(&options[ranked.at].group, &ranked.rank.group);
            let _ = (ranked.to_string(), serde_json::to_string(ranked).unwrap());
        }
    }

    /// The best option of a chain is the one that is left when each expander in turn drops all but its best.
    #[test]
    fn ranking_is_filtering(options in options(), chain in chains()) {
        let formula = Formula::default();
        let context = Context { formula: &formula, cluster_nodes: 10, seed: 7 };
        let ranking = rank(&options, &chain, &context);
        let mut left: Vec<&Ranked> = ranking.iter().collect();
        for at in 0..ranking.first().map_or(0, |first| first.rank.scores.len()) {
            let best = left.iter().map(|ranked| ranked.rank.scores[at].clone()).min();
            left.retain(|ranked| Some(&ranked.rank.scores[at]) == best.as_ref());
        }
        let winner = left.iter().map(|ranked| &ranked.rank.group).min();
        prop_assert_eq!(ranking.first().map(|first| &first.rank.group), winner);
    }

    /// An option for which nothing was packed is taken to be no worse than it turns out to be with more nodes.
    #[test]
    fn at_best_is_never_too_dark(options in options(), chain in chains(), more: u32, cluster_nodes: u32) {
        let formula = Formula::default();
        let context = Context { formula: &formula, cluster_nodes, seed: 7 };
        let possible = |option: &Candidate| option.nodes > 0 && option.requested.cpu >= 0 && option.requested.memory >= 0;
        for option in options.into_iter().filter(possible) {
            let rank = |option: Candidate| rank(&[option], &chain, &context).remove(0).rank;
            let at_best = rank(Candidate { at_best: true, ..option.clone() });
            let packed = rank(Candidate { nodes: option.nodes.saturating_add(more), ..option });
            for (at_best, packed) in at_best.scores.iter().zip(&packed.scores) {
                prop_assert!(at_best <= packed, "{at_best:?} > {packed:?}");
            }
        }
    }

    #[test]
    fn suppression_stays_between_one_and_unfitness(unfitness in 1.0_f64..1e6, nodes: u32, over: u32) {
        let suppressed = price::suppress(unfitness, nodes, over);
        prop_assert!((1.0..=unfitness).contains(&suppressed));
        prop_assert!(price::suppress(unfitness, nodes.saturating_add(1), over) <= suppressed);
    }

    /// A dearer option for the same pods never looks better.
    #[test]
    fn paying_more_never_helps(price in 0_i64..1 << 40, more in 0_i64..1 << 40, theoretical in 0_i64..1 << 40) {
        let overpaid = |cost: i64| price::overpaid(Money(cost), Money(theoretical), Money(16_587_000));
        prop_assert!(overpaid(price) <= overpaid(price + more));
    }
}
