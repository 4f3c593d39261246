//! What the server keeps.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::access::Token;
use crate::allocations::Allocation;
use crate::jobs::Job;
use crate::nodes::Node;
use crate::variables::Variable;

/// A request that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET` and the like.
    pub method: String,
    /// Decoded, without the query.
    pub path: String,
    /// As it was sent.
    pub query: String,
    /// As it was sent.
    pub body: String,
}

/// How requests fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failing {
    /// There is no leader, so that nothing is answered.
    NoLeader,
    /// Requests to paths that begin so.
    At(String),
    /// Lists of allocations are empty, as those of a token that may see nothing.
    NoAllocations,
}

/// Everything.
#[derive(Clone, Default)]
pub(crate) struct State {
    /// Grows with every change.
    pub(crate) index: u64,
    made: u64,
    pub(crate) nodes: BTreeMap<String, Node>,
    /// By namespace and ID.
    pub(crate) jobs: BTreeMap<(String, String), Job>,
    pub(crate) allocations: BTreeMap<String, Allocation>,
    /// By namespace and path.
    pub(crate) variables: BTreeMap<(String, String), Variable>,
    /// None while the ACL system is off.
    pub(crate) tokens: Option<Vec<Token>>,
    pub(crate) failing: Option<Failing>,
    pub(crate) seen: Vec<Request>,
}

impl State {
    /// Something changes: its number.
    pub(crate) fn change(&mut self) -> u64 {
        self.index += 1;
        self.index
    }

    /// Goes back to what `saved` knew. What was seen, how it fails and which IDs are new is of this server alone.
    pub(crate) fn restore(&mut self, saved: &State) {
        let State { index, nodes, jobs, allocations, variables, tokens, .. } = saved.clone();
        (self.index, self.nodes, self.jobs, self.allocations) = (index, nodes, jobs, allocations);
        (self.variables, self.tokens) = (variables, tokens);
    }

    /// A new ID, in the form of Nomad's.
    pub(crate) fn id(&mut self) -> String {
        self.made += 1;
        let scattered = self.made.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{:08x}-{:04x}-4000-8000-{:012x}", scattered >> 32, (scattered >> 16) & 0xffff, self.made)
    }
}

/// Now, as Nomad writes it in most places.
pub(crate) fn nanoseconds() -> i64 {
    i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}
