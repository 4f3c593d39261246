//! The port to a cluster: what is seen of it and what is done to it.

pub mod kubernetes;
pub mod nomad;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use headroom_core::plan::{Evict, Report};
use headroom_core::snapshot::{Change, Kind, Snapshot, Taint};
use jiff::Timestamp;

/// A cluster that runs pods on nodes.
///
/// Whatever is asked for may be asked for again: the second time changes nothing. No call waits for the cluster to
/// follow; the next [`Cluster::observe`] shows whether it did.
#[async_trait]
pub trait Cluster: Send + Sync {
    /// What has changed since `known`, the snapshot that took in every observation before; everything, the first time. It
    /// waits for nothing and cannot fail: what is not known is in [`Observation::ages`].
    async fn observe(&self, known: &Snapshot) -> Observation;

    /// Returns once there may be something new to observe. It carries no data.
    async fn changed(&self);

    /// Puts a taint on a node. One with the same key and effect is replaced; every other one stays, also one that somebody
    /// puts there at the same time.
    async fn taint(&self, node: &str, taint: &Taint) -> Result<(), ClusterError>;

    /// Takes every taint with this key off a node.
    async fn untaint(&self, node: &str, key: &str) -> Result<(), ClusterError>;

    /// Asks pods to leave `node`, as far as disruption budgets allow. One that is gone, on its way out or on another node by
    /// now is no error. Where the cluster drains a whole node by itself, that is asked for instead: what has not left at
    /// `until` is stopped, and a drain that is under way stays as it is. Which pods were refused; an error is about all.
    async fn drain(&self, node: &str, pods: &[Evict], until: Timestamp) -> Result<Vec<Refused>, ClusterError>;

    /// The pods (`namespace/name`) that would be lost if `node` went now, read afresh from the cluster: all but those that
    /// go with every node, those that have ended and those that are stuck on their way out.
    async fn lost_with(&self, node: &str) -> Result<Vec<String>, ClusterError>;

    /// Answers, in the objects themselves, those by which users of the cluster ask for something, as far as what is to be
    /// said has changed. What went wrong is for the log.
    async fn report(&self, snapshot: &Snapshot, report: &Report, now: Timestamp) -> Vec<ClusterError>;

    /// Deletes a node whose machine is gone, at the latest once the cluster has noticed that. One that is gone already is no
    /// error.
    async fn forget(&self, node: &str) -> Result<(), ClusterError>;
}

/// A pod that may not leave its node now.
#[derive(Debug)]
pub struct Refused {
    /// The pod.
    pub pod: Evict,
    /// Why.
    pub reason: ClusterError,
}

/// What has changed in a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// To be applied to the builder that took in the observations before.
    pub changes: Vec<Change>,
    /// When it was made.
    pub as_of: Timestamp,
    /// The instant until which each kind is known to be complete; None for a kind that has not been read completely yet.
    pub ages: BTreeMap<Kind, Option<Timestamp>>,
    /// Objects that were left out or read in another way than they were written, and why.
    pub warnings: Vec<String>,
}

/// Why a cluster did not do something.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// There is no such node.
    #[error("the cluster has no node {node}")]
    NoSuchNode {
        /// The node asked for.
        node: String,
    },
    /// Somebody else changed the object at the same time, again and again. The next round sees the new state.
    #[error("{object} was changed by somebody else at the same time")]
    Conflict {
        /// Kind and name.
        object: String,
    },
    /// The cluster's version does not have what is needed.
    #[error("this Nomad has no {missing}; hint: set `state: {{ folder: {{ path: … }} }}` in `cluster: {{ nomad: … }}`")]
    TooOld {
        /// What is missing, and since when there is such a thing.
        missing: &'static str,
    },
    /// The cluster has no such mark for its nodes.
    #[error("nodes of this cluster cannot have the taint {key}")]
    NoSuchTaint {
        /// Its key.
        key: String,
    },
    /// A disruption budget keeps a pod where it is.
    #[error("pod {pod} may not leave now: {reason}")]
    EvictionRefused {
        /// `namespace/name`
        pod: String,
        /// What the cluster said.
        reason: String,
        /// How long it asks to wait before the next try, when it says so.
        retry_after: Option<Duration>,
    },
    /// Headroom's account may not do this.
    #[error("not allowed to {verb} {object}; hint: grant it to Headroom's account")]
    Forbidden {
        /// What was tried.
        verb: String,
        /// On what.
        object: String,
    },
    /// Another instance leads, or may lead by now: nothing was sent.
    #[error("this instance does not lead")]
    NotLeading,
    /// The cluster did not answer in time. Whether it was done is not known; the next round sees it.
    #[error("no answer within {seconds} s to {verb} {object}")]
    Timeout {
        /// How long was waited.
        seconds: u64,
        /// What was tried.
        verb: String,
        /// On what.
        object: String,
    },
    /// The cluster does not answer, or answers with something that cannot be understood.
    #[error("the cluster does not answer")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
