//! The option that helps the most pods.

use std::cmp::Reverse;
use std::fmt;

use serde::Serialize;

use super::Candidate;

/// How many pods get room; more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Score(Reverse<i128>);

/// Counts the pods.
pub fn score(candidate: &Candidate) -> Score {
    Score(Reverse(candidate.requested.pods))
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pods {}", self.0.0)
    }
}
