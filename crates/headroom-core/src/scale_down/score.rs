//! In which order idle nodes are tried.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;

use crate::quantity::{Money, Ratio};

/// What decides which of two idle nodes goes first; the fields are in the order of their weight.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    /// Nodes that are too old come first: they are to go however busy they are.
    pub(super) young: bool,
    /// Then those from which nothing has to move.
    pub(super) has_pods: bool,
    /// Then those that were found before, so that the time that they have waited counts for something even while pods come
    /// and go.
    pub(super) is_new: bool,
    /// The emptiest.
    pub(super) used: Option<Ratio>,
    /// The one whose pods are cheapest to disrupt.
    pub(super) disruption: i64,
    /// The dearest.
    pub(super) price: Reverse<Money>,
    /// The oldest.
    pub(super) created: Option<Timestamp>,
    /// The first by name.
    pub(super) name: Arc<str>,
}
