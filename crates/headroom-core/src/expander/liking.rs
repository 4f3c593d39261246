//! The option that the pods would rather have.
//!
//! It is no expander that can be chosen: it decides at the end of every chain, where all that the user asked for ties, and
//! before the groups' names do.

use std::cmp::Reverse;
use std::fmt;

use serde::Serialize;

use super::Candidate;

/// How much the pods would like to be there, more is better; None where a label is missing that the nodes should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Score(Reverse<Option<i64>>);

/// Takes what the pods say. None where it makes no difference to any of the candidates.
pub(super) fn scores(candidates: &[Candidate]) -> Option<impl Fn(&Candidate) -> Score> {
    let mut likings = candidates.iter().map(|candidate| candidate.liking);
    let first = likings.next();
    let differ = likings.any(|liking| Some(liking) != first);
    differ.then_some(|candidate: &Candidate| Score(Reverse(candidate.liking)))
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.0 {
            Some(liking) => write!(f, "liking {liking}"),
            None => f.write_str("no liking, a label is missing"),
        }
    }
}
