//! Where pods come from.

use std::sync::Arc;

use headroom_core::snapshot::SharedSpec;
use jiff::{SignedDuration, Timestamp};

use super::{Life, Schedule, Span, When};

/// Pods of one origin.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Unique: the start of its pods' names, and what its random draws depend on.
    pub name: Arc<str>,
    /// What its pods are like. A pod with a controller is made again when it is lost with its node.
    pub shapes: Vec<Shape>,
    /// When they come.
    pub demand: Demand,
    /// How long each runs once it has a node; None is until the end, or until it is not wanted any more.
    pub runs_for: Option<Span>,
    /// How they start and end.
    pub life: Life,
}

/// One of the sizes that a workload's pods have.
#[derive(Clone, Debug)]
pub struct Shape {
    /// How often, compared with the others.
    pub weight: u32,
    /// Everything but the name.
    pub spec: SharedSpec,
}

/// When pods come.
#[derive(Clone, Debug)]
pub enum Demand {
    /// So many at any time, as a Deployment keeps them.
    Replicas(Schedule),
    /// So many in an hour, at random instants.
    Arrivals(Schedule),
    /// Many at once.
    Bursts(Vec<Burst>),
    /// As recorded elsewhere.
    Recorded(Vec<Arrival>),
}

/// Many pods at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// When.
    pub at: When,
    /// How many.
    pub pods: u32,
}

/// One recorded pod.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Its name.
    pub name: Box<str>,
    /// When it came.
    pub at: Timestamp,
    /// Everything else about it.
    pub spec: SharedSpec,
    /// How long it ran once it had a node.
    pub runs_for: Option<SignedDuration>,
    /// When it goes at the latest, whether it runs or waits.
    pub leaves_at: Option<Timestamp>,
}
