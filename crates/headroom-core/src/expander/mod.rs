//! Which group to enlarge.
//!
//! An expander gives every option a score, and the lowest score is best. A chain of expanders compares the options by the
//! score of the first, those that tie by the score of the second, and so on; then by what the pods would rather have; the
//! group's name settles the rest, so that equal snapshots give equal plans. Nothing drops out: the answer is the whole ranking, best option first.
//!
//! Adding an expander is one file here, one variant of [`Expander`] and of [`Score`].

mod billionths;
mod chain;
pub mod least_nodes;
pub mod least_waste;
pub mod liking;
pub mod most_pods;
pub mod price;
pub mod priority;
pub mod random;
mod ranking;

use std::sync::Arc;

pub use billionths::Billionths;
pub use chain::{Chain, ChainError, Expander, UnknownExpander};
pub use ranking::{Rank, Ranked, Score};

use crate::pricing::{Quote, UnitPrices, on_one_scale};
use crate::quantity::{Resources, Totals};

/// One way to make room: so many nodes of a group, for these pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidate {
    /// The group to enlarge.
    pub group: Arc<str>,
    /// Similar groups among which the nodes would be shared out, `group` left out.
    pub shared_with: Vec<Arc<str>>,
    /// How many nodes to add: no more than every limit allows. An option without nodes is no option.
    pub nodes: u32,
    /// What one new node has: its capacity, or where that is not known what it offers to pods.
    pub capacity: Resources,
    /// What a new node costs, when somebody states it.
    pub price: Option<Quote>,
    /// What the pods request that go onto these nodes, and no others; its `pods` is their number.
    pub requested: Totals,
    /// How much the user prefers this group; see [`priority`].
    pub priority: Option<i64>,
    /// How much the pods would like to be on such nodes; see [`liking`].
    pub liking: Option<i64>,
    /// Nothing was packed: `nodes` is the least that these pods could need, and the scores are no better than they could
    /// be for any number of nodes.
    pub at_best: bool,
}

impl Candidate {
    /// Whether its nodes have GPUs and none of its pods asks for one. `unit_prices` says what a GPU is.
    fn wastes_gpu(&self, unit_prices: &UnitPrices) -> bool {
        unit_prices.has_gpu(&self.capacity) && unit_prices.milli_gpus(&self.requested) <= 0
    }
}

/// What scores depend on besides the option itself.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// How options are compared by price.
    pub formula: &'a price::Formula,
    /// How many Node objects exist; machines on their way are not among them.
    pub cluster_nodes: u32,
    /// Decides what the random expander picks: taken from what the snapshot holds, so that a replay picks the same.
    pub seed: u64,
}

/// Every option, best first.
pub fn rank(candidates: &[Candidate], chain: &Chain, context: &Context<'_>) -> Vec<Ranked> {
    let options = || candidates.iter().enumerate().filter(|(_, candidate)| candidate.nodes > 0);
    let prices_known = options().any(|(_, candidate)| candidate.price.is_some());
    let expanders = chain.expanders(prices_known);
    let machines = options().map(|(_, candidate)| (&candidate.capacity, candidate.price));
    let unit_prices = &context.formula.settings().unit_prices;
    let liking = liking::scores(candidates);
    let node_prices = on_one_scale(machines, unit_prices);
    let mut ranking: Vec<Ranked> = options()
        .zip(node_prices)
        .map(|((at, candidate), node_price)| {
            let price = context.formula.terms(candidate, node_price, context.cluster_nodes);
            let score = |expander: &Expander| match expander {
                Expander::Price => Score::Price(price.score),
                Expander::LeastWaste => Score::LeastWaste(least_waste::score(candidate, unit_prices)),
                Expander::MostPods => Score::MostPods(most_pods::score(candidate)),
                Expander::LeastNodes => Score::LeastNodes(least_nodes::score(candidate)),
                Expander::Priority => Score::Priority(priority::score(candidate)),
                Expander::Random => Score::Random(random::score(candidate, context.seed)),
            };
            let liking = liking.as_ref().map(|score| Score::Liking(score(candidate)));
            let scores = expanders.iter().map(score).chain(liking).collect();
            let price = expanders.contains(&Expander::Price).then_some(price);
            let rank = Rank { scores, group: Arc::clone(&candidate.group) };
            let Candidate { nodes, at_best, .. } = *candidate;
            Ranked { rank, at, shared_with: candidate.shared_with.clone(), nodes, at_best, price }
        })
        .collect();
    ranking.sort_by(|a, b| a.rank.cmp(&b.rank));
    ranking
}
