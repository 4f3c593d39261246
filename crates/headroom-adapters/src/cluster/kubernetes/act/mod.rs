//! What is done to a cluster.

mod evict;
mod forget;
mod losses;
mod taints;

use headroom_core::plan::Evict;
use headroom_core::snapshot::Taint;
use kube::Client;

use crate::cluster::ClusterError;

/// The changes that Headroom makes to nodes and pods. See [`Cluster`](crate::cluster::Cluster) for what each promises.
#[derive(Clone)]
pub struct Acts {
    client: Client,
    cordon: bool,
}

impl Acts {
    /// Acts through this client, and no faster than its fence allows.
    pub fn new(client: Client) -> Self {
        Acts { client, cordon: false }
    }

    /// With `cordon`, a node is cordoned with its taint, if that keeps all pods away.
    #[must_use]
    pub fn cordoning(self, cordon: bool) -> Self {
        Acts { cordon, ..self }
    }

    /// Puts a taint on a node. One with the same key and effect is replaced; every other one stays, also one that somebody
    /// puts there at the same time.
    pub async fn taint(&self, node: &str, taint: &Taint) -> Result<(), ClusterError> {
        taints::change(&self.client, node, |marks| marks.put(taint, self.cordon)).await
    }

    /// Takes every taint with this key off a node, and the cordon that came with it.
    pub async fn untaint(&self, node: &str, key: &str) -> Result<(), ClusterError> {
        taints::change(&self.client, node, |marks| marks.take_off(key)).await
    }

    /// Asks a pod to leave `node`, as far as disruption budgets allow. One that is gone, on its way out or on another node
    /// by now is no error.
    pub async fn evict(&self, node: &str, pod: &Evict) -> Result<(), ClusterError> {
        evict::evict(&self.client, node, pod).await
    }

    /// The pods (`namespace/name`) that would be lost if `node` went now, read afresh, in order: all but those that go with
    /// every node, those that have ended and those that are stuck on their way out.
    pub async fn lost_with(&self, node: &str) -> Result<Vec<String>, ClusterError> {
        losses::lost_with(&self.client, node).await
    }

    /// Deletes a node whose machine is gone. One that is gone already is no error.
    pub async fn forget(&self, node: &str) -> Result<(), ClusterError> {
        forget::forget(&self.client, node).await
    }
}
