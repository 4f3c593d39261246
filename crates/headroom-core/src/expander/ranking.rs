//! The place of each option, and what put it there.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::price::Terms;
use super::{Billionths, least_nodes, least_waste, liking, most_pods, priority, random};

/// What one expander says of one option, or what the pods say; the lowest is best. Scores of different expanders are never
/// compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the expanders' own names")]
pub enum Score {
    Price(Billionths),
    LeastWaste(least_waste::Score),
    MostPods(most_pods::Score),
    LeastNodes(least_nodes::Score),
    Priority(priority::Score),
    Random(random::Score),
    Liking(liking::Score),
}

/// What decides the place of an option, in order of importance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rank {
    /// One for each expander of the chain, and one for what the pods would rather have where that differs.
    pub scores: Vec<Score>,
    /// Settles what the scores leave open.
    pub group: Arc<str>,
}

/// One option with its rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ranked {
    /// Where it stands and why.
    pub rank: Rank,
    /// Its index among the candidates that were ranked.
    #[serde(skip)]
    pub at: usize,
    /// Similar groups among which the nodes would be shared out, the group of the rank left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<Arc<str>>,
    /// How many nodes it adds.
    pub nodes: u32,
    /// Nothing was packed, since the option cannot be the best: it needs at least so many nodes, and each score is at
    /// best what is said here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_best: bool,
    /// Every term of the price score, when price is in the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Terms>,
}

impl Rank {
    /// The first pair of scores in which the two differ: the one that decides between them. None when every score ties,
    /// so that the group's name decides.
    pub fn decisive<'a>(&'a self, other: &'a Rank) -> Option<(&'a Score, &'a Score)> {
        self.scores.iter().zip(&other.scores).find(|(own, others)| own != others)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Score::Price(score) => write!(f, "price {score}"),
            Score::LeastWaste(score) => score.fmt(f),
            Score::MostPods(score) => score.fmt(f),
            Score::LeastNodes(score) => score.fmt(f),
            Score::Priority(score) => score.fmt(f),
            Score::Random(score) => score.fmt(f),
            Score::Liking(score) => score.fmt(f),
        }
    }
}

impl fmt::Display for Ranked {
    /// `web +2: price 2.4168 = ...; waste 0.25`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} +{}{}", self.rank.group, self.nodes, if self.at_best { " at best" } else { "" })?;
        for (at, score) in self.rank.scores.iter().enumerate() {
            f.write_str(if at == 0 { ": " } else { "; " })?;
            match (score, &self.price) {
                (Score::Price(_), Some(terms)) => write!(f, "price {terms}")?,
                _ => score.fmt(f)?,
            }
        }
        Ok(())
    }
}
