//! The option that the user prefers.
//!
//! A user lists regular expressions for names of groups under numbers, and the highest number with a match wins. Names of
//! groups are known when the configuration is read, so matching belongs there: what reaches the core is one number for
//! each group, and the core needs no regular expressions.
//!
//! Unlike Cluster Autoscaler's, a number below zero can win, and a group that matches nothing stays an option, the last.

use std::cmp::Reverse;
use std::fmt;

use serde::Serialize;

use super::Candidate;

/// The highest number under which the group is listed; a group that is not listed comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Score(Reverse<Option<i64>>);

/// Takes the group's number.
pub fn score(candidate: &Candidate) -> Score {
    Score(Reverse(candidate.priority))
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.0 {
            Some(priority) => write!(f, "priority {priority}"),
            None => f.write_str("no priority"),
        }
    }
}
