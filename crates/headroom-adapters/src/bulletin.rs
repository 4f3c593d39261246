//! The port by which the users of a cluster are told what Headroom does, what it does not do, and how it is.

use std::sync::Arc;

use async_trait::async_trait;
use headroom_core::plan::Counts;
use jiff::Timestamp;

use crate::cluster::ClusterError;

/// Tells users, in the cluster itself. Nothing depends on it: what is not told is in the log and in the plan.
#[async_trait]
pub trait Bulletin: Send + Sync {
    /// Tells of events, the most important first. What was told lately is counted and not told again, and of the rest no
    /// more is told than is good for the cluster; what lasts may be handed over again. The first failure ends it.
    async fn tell(&self, events: Vec<Event>, now: Timestamp) -> Result<(), ClusterError>;

    /// Says how everything is, in the place of what was said before.
    async fn post(&self, status: &Status) -> Result<(), ClusterError>;
}

/// Something that happened to an object, or that is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The object.
    pub about: About,
    /// Whether somebody should look after it.
    pub tone: Tone,
    /// One word, by which alerts know it.
    pub reason: &'static str,
    /// A sentence with the numbers.
    pub message: String,
    /// For what lasts: which of the things that go by this reason it is. Told again, it counts as the same in whatever
    /// words. None for what happens once, which is told by its message from others.
    pub lasting: Option<Arc<str>>,
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// The running program.
    Headroom,
    /// A node.
    Node(Arc<str>),
    /// A pod.
    Pod {
        /// Its namespace.
        namespace: Arc<str>,
        /// Its name.
        name: Box<str>,
    },
}

/// Whether somebody should look after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// All is as it should be.
    Normal,
    /// Something is wrong.
    Warning,
}

/// How everything is after a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// When the round was made.
    pub at: Timestamp,
    /// What keeps plans from being carried out.
    pub message: Option<String>,
    /// Whether so few nodes are out of order that the cluster can be judged.
    pub healthy: bool,
    /// Each group, in the order of the configuration.
    pub groups: Vec<GroupStatus>,
}

/// How a group is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupStatus {
    /// Its name.
    pub name: Arc<str>,
    /// Whether enough of its nodes are in order.
    pub healthy: bool,
    /// Its nodes.
    pub nodes: Counts,
    /// The cloud's target.
    pub target: u32,
    /// The least that it may have.
    pub min: u32,
    /// The most that it may have.
    pub max: u32,
    /// Whether it grows.
    pub growth: Growth,
    /// Nodes that are not needed, those on their way out included.
    pub candidates: u32,
}

/// Whether a group grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Growth {
    /// It does not.
    None,
    /// Machines are on their way, or are being asked for.
    InProgress,
    /// It is left alone since machines did not come.
    BackingOff {
        /// One word for what went wrong.
        code: &'static str,
        /// The whole of it.
        message: String,
    },
}
