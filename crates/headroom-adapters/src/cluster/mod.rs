//! The port to a cluster: what is seen of it and what is done to it.

pub mod kubernetes;

use async_trait::async_trait;
use headroom_core::snapshot::{Change, Taint};
use jiff::Timestamp;

/// A cluster that runs pods on nodes.
///
/// Whatever is asked for may be asked for again: the second time changes nothing. No call waits for the cluster to
/// follow; the next [`Cluster::observe`] shows whether it did.
#[async_trait]
pub trait Cluster: Send + Sync {
    /// What has changed since the observation before; everything, the first time.
    async fn observe(&self) -> Result<Observation, ClusterError>;

    /// Returns once there may be something new to observe. It carries no data.
    async fn changed(&self);

    /// Puts a taint on a node. One with the same key and effect is replaced.
    async fn taint(&self, node: &str, taint: &Taint) -> Result<(), ClusterError>;

    /// Takes every taint with this key off a node.
    async fn untaint(&self, node: &str, key: &str) -> Result<(), ClusterError>;

    /// Marks a node so that it takes no new pods.
    async fn cordon(&self, node: &str) -> Result<(), ClusterError>;

    /// Asks the pods that would be lost with a node to leave it, as far as disruption budgets allow.
    async fn drain(&self, node: &str) -> Result<(), ClusterError>;

    /// Deletes a node whose machine is gone.
    async fn forget(&self, node: &str) -> Result<(), ClusterError>;
}

/// What has changed in a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// To be applied to the builder that took in the observations before.
    pub changes: Vec<Change>,
    /// The instant up to which the changes are complete.
    pub as_of: Timestamp,
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
    /// Somebody else changed the object at the same time. The next round sees the new state.
    #[error("{object} was changed by somebody else at the same time")]
    Conflict {
        /// Kind and name.
        object: String,
    },
    /// A disruption budget keeps a pod where it is.
    #[error("pod {pod} may not leave now: {reason}")]
    EvictionRefused {
        /// `namespace/name`
        pod: String,
        /// What the cluster said.
        reason: String,
    },
    /// Headroom's account may not do this.
    #[error("not allowed to {verb} {object}; hint: grant it to Headroom's service account")]
    Forbidden {
        /// What was tried.
        verb: String,
        /// On what.
        object: String,
    },
    /// The cluster does not answer, or answers with something that cannot be understood.
    #[error("the cluster does not answer")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
