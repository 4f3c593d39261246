//! A Nomad cluster.
//!
//! Nodes, allocations and jobs become nodes and pods of `headroom_core`: a datacenter, class, pool and meta attribute is a
//! label called as Nomad's constraints call it (`node.class`), the scheduling eligibility and a drain are taints, one MHz is
//! one thousandth of a cpu, and an allocation is a pod.

mod act;
mod busy;
pub mod client;
mod known;
mod lease;
mod notes;
pub mod object;
mod read;
mod rights;
pub mod translate;
mod watch;

use async_trait::async_trait;
use headroom_core::plan::{Evict, Report};
use headroom_core::policy::Selection;
use headroom_core::snapshot::{Snapshot, Taint};
use jiff::Timestamp;

use self::client::{CallError, Client};
use self::watch::Watch;
use super::{Cluster, ClusterError, Observation, Refused};

pub use busy::{Meter, PrometheusQuery};
pub use lease::VariableLease;
pub use notes::Variables;
pub use read::{Unread, readable};
pub use rights::Rights;

/// A Nomad region.
pub struct Nomad {
    client: Client,
    watch: Watch,
}

impl Nomad {
    /// Begins to read the cluster.
    pub fn start(client: Client) -> Self {
        Nomad::measuring(client, Vec::new(), Meter::default())
    }

    /// The same; how busy servers are is asked of `meter` where one of these selects them.
    pub fn measuring(client: Client, selections: Vec<Selection>, meter: Meter) -> Self {
        Nomad { watch: Watch::start(&client, selections, meter), client }
    }

    /// From now on how busy servers are is asked of `meter` where one of these selects them.
    pub fn measure(&self, selections: Vec<Selection>, meter: Meter) {
        self.watch.measure(selections, meter);
    }
}

/// The node on which an allocation runs.
pub async fn node_of(client: &Client, allocation: &str) -> Result<String, CallError> {
    Ok(client.allocation(allocation).await?.node_id)
}

#[async_trait]
impl Cluster for Nomad {
    async fn observe(&self, known: &Snapshot) -> Observation {
        self.watch.observe(known)
    }

    async fn changed(&self) {
        self.watch.changed().await;
    }

    async fn taint(&self, node: &str, taint: &Taint) -> Result<(), ClusterError> {
        let done = act::taint(&self.client, node, &taint.key).await;
        self.watch.touched();
        done
    }

    async fn untaint(&self, node: &str, key: &str) -> Result<(), ClusterError> {
        let done = act::untaint(&self.client, node, key).await;
        self.watch.touched();
        done
    }

    /// Nomad moves all of the tasks, and sees to it itself that not too many of a job move at once.
    async fn drain(&self, node: &str, _: &[Evict], until: Timestamp) -> Result<Vec<Refused>, ClusterError> {
        let done = act::drain(&self.client, node, until, Timestamp::now()).await;
        self.watch.touched();
        done.map(|()| Vec::new())
    }

    async fn lost_with(&self, node: &str) -> Result<Vec<String>, ClusterError> {
        act::lost_with(&self.client, node).await
    }

    async fn report(&self, _: &Snapshot, _: &Report, _: Timestamp) -> Vec<ClusterError> {
        Vec::new()
    }

    /// It is purged once it is down: one that is alive would come back within a second.
    async fn forget(&self, node: &str) -> Result<(), ClusterError> {
        self.watch.going(node);
        Ok(())
    }
}

/// An error with its causes.
struct Chain<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
