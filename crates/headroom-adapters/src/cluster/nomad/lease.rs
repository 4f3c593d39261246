//! Who leads, by the lock on a Nomad variable (from Nomad 1.7 on). Nomad itself takes it back when it is not renewed in time.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use super::client::{Client, Lock};
use crate::cluster::ClusterError;
use crate::election::{Lease, Turn};

/// The item that says who holds it.
const HOLDER: &str = "holder";

/// A lock, and what is known of it.
pub struct VariableLease {
    client: Client,
    path: String,
    identity: String,
    duration: Duration,
    held: Option<Lock>,
}

impl VariableLease {
    /// That of the variable `lock` under `path`. `identity` is what others are told. It lasts for `duration` after each
    /// renewal, in whole seconds and at least 10.
    pub fn new(client: Client, path: &str, identity: &str, duration: Duration) -> Self {
        VariableLease { client, path: format!("{path}/lock"), identity: identity.to_owned(), duration, held: None }
    }

    fn object(&self) -> String {
        format!("the lock on the variable {}", self.path)
    }
}

#[async_trait]
impl Lease for VariableLease {
    async fn turn(&mut self) -> Result<Turn, ClusterError> {
        let since = self.client.fence().now();
        let object = self.object();
        if let Some(lock) = &self.held {
            if self.client.renew(&self.path, lock).await.map_err(|error| error.of("renew", &object))? {
                return Ok(Turn::Ours { since });
            }
            self.held = None;
        }
        let items = BTreeMap::from([(HOLDER.to_owned(), self.identity.clone())]);
        let seconds = self.duration.as_secs();
        let lock = self.client.acquire(&self.path, &items, (seconds, seconds)).await;
        if let Some(lock) = lock.map_err(|error| error.of("take", &object))? {
            self.held = Some(lock);
            return Ok(Turn::Ours { since });
        }
        let found = self.client.variable(&self.path).await.map_err(|error| error.of("read", &object))?;
        Ok(Turn::Of(found.and_then(|mut found| found.items.remove(HOLDER)).unwrap_or_default()))
    }

    async fn release(&mut self) -> Result<(), ClusterError> {
        let Some(lock) = self.held.take() else { return Ok(()) };
        self.client.release(&self.path, &lock).await.map_err(|error| error.of("release", &self.object()))
    }
}
