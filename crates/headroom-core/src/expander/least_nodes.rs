//! The option that adds the fewest nodes.

use std::fmt;

use serde::Serialize;

use super::Candidate;

/// How many nodes are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Score(u32);

/// Counts the nodes.
pub fn score(candidate: &Candidate) -> Score {
    Score(candidate.nodes)
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nodes {}", self.0)
    }
}
