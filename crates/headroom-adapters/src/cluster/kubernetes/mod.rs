//! Kubernetes: a cluster behind an API server, objects as it writes them, and what they are in Headroom's own values.

pub mod act;
pub mod buffers;
mod call;
pub mod client;
mod events;
pub(crate) mod fenced;
pub mod lease;
mod news;
mod notes;
pub mod object;
mod pauses;
mod proxy;
mod status;
pub mod store;
pub mod translate;
pub mod watch;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use futures::StreamExt;
use headroom_core::plan::{Evict, Report};
use headroom_core::snapshot::{Snapshot, Taint};
use jiff::Timestamp;
use tokio::sync::Mutex;

use self::act::Acts;
use self::buffers::Buffers;
use self::watch::Watches;
use super::{Cluster, ClusterError, Observation, Refused};

pub use kube::Client;
pub use news::News;
pub use notes::Notes;
pub use pauses::{STATUS, set_pause};

/// How many pods of a node are evicted at once.
const EVICTIONS: usize = 16;

/// A cluster behind an API server.
pub struct Kubernetes {
    watches: Watches,
    acts: Acts,
    buffers: Mutex<Buffers>,
}

impl Kubernetes {
    /// Begins to watch the cluster. It has to be called within a tokio runtime. With `cordon`, a node is cordoned with its
    /// taint.
    pub fn start(client: Client, cordon: bool) -> Self {
        let (watches, acts) = (Watches::start(client.clone()), Acts::new(client.clone()).cordoning(cordon));
        Kubernetes { watches, acts, buffers: Mutex::new(Buffers::new(client)) }
    }
}

#[async_trait]
impl Cluster for Kubernetes {
    async fn observe(&self, known: &Snapshot) -> Observation {
        self.watches.observe(known)
    }

    async fn changed(&self) {
        self.watches.changed().await;
    }

    async fn taint(&self, node: &str, taint: &Taint) -> Result<(), ClusterError> {
        self.acts.taint(node, taint).await
    }

    async fn untaint(&self, node: &str, key: &str) -> Result<(), ClusterError> {
        self.acts.untaint(node, key).await
    }

    async fn drain(&self, node: &str, pods: &[Evict], _: Timestamp) -> Result<Vec<Refused>, ClusterError> {
        let calls: Vec<_> = pods.iter().map(|pod| self.acts.evict(node, pod)).collect();
        let answers: Vec<_> = futures::stream::iter(calls).buffered(EVICTIONS).collect().await;
        let refused = pods.iter().zip(answers).filter_map(|(pod, answer)| {
            let reason = answer.err()?;
            Some(Refused { pod: pod.clone(), reason })
        });
        Ok(refused.collect())
    }

    async fn lost_with(&self, node: &str) -> Result<Vec<String>, ClusterError> {
        self.acts.lost_with(node).await
    }

    async fn report(&self, snapshot: &Snapshot, report: &Report, now: Timestamp) -> Vec<ClusterError> {
        self.buffers.lock().await.report(snapshot, report, now).await
    }

    async fn forget(&self, node: &str) -> Result<(), ClusterError> {
        self.acts.forget(node).await
    }
}
