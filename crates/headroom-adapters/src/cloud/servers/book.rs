//! What is known of a group's servers before the provider's list shows it.
//!
//! None of this has to survive: after a restart the list alone is what there is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use headroom_core::snapshot::{CloudGroup, Instance, InstanceState, LaunchFailure};
use tokio::time::Instant;

use super::provider::Server;

/// How long a list may lag behind what the provider has answered.
const LAG: Duration = Duration::from_secs(60);

/// What is known of one group beside the provider's list.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// Servers that were asked for, by their ids: None while the provider has not answered, else since when it has.
    ordered: BTreeMap<Box<str>, Option<Instant>>,
    /// Servers that the provider has agreed to delete, by their provider ids.
    deleted: BTreeMap<Box<str>, Instant>,
    /// Servers that came of a failed order and could not be deleted, by their ids.
    failed: BTreeSet<Box<str>>,
    /// Hardware that failed, and until when it is tried last.
    avoided: BTreeMap<Arc<str>, Instant>,
    /// The last order that came to nothing.
    pub(super) failure: Option<LaunchFailure>,
}

impl Book {
    /// A server is being asked for.
    pub(super) fn order(&mut self, server: &str) {
        self.ordered.insert(server.into(), None);
    }

    /// The provider makes it.
    pub(super) fn made(&mut self, server: &str, now: Instant) {
        self.ordered.insert(server.into(), Some(now));
    }

    /// It is not made.
    pub(super) fn not_made(&mut self, server: &str) {
        self.ordered.remove(server);
    }

    /// It is there and good for nothing.
    pub(super) fn left_over(&mut self, server: &str) {
        self.ordered.remove(server);
        self.failed.insert(server.into());
    }

    /// The provider deletes this machine.
    pub(super) fn deleted(&mut self, provider_id: &str, now: Instant) {
        self.deleted.insert(provider_id.into(), now);
    }

    /// This hardware is tried after the others until then.
    pub(super) fn avoid(&mut self, hardware: &Arc<str>, until: Instant) {
        self.avoided.insert(Arc::clone(hardware), until);
    }

    /// This hardware can be had.
    pub(super) fn works(&mut self, hardware: &str) {
        self.avoided.remove(hardware);
    }

    /// Whether this hardware failed lately.
    pub(super) fn avoids(&self, hardware: &str, now: Instant) -> bool {
        self.avoided.get(hardware).is_some_and(|until| now < *until)
    }

    /// The servers that were asked for and are perhaps not in a list that is read after this.
    pub(super) fn expected(&mut self, now: Instant) -> BTreeSet<Box<str>> {
        let lags = |since: &Instant| now.duration_since(*since) < LAG;
        self.ordered.retain(|_, answered| answered.as_ref().is_none_or(lags));
        self.deleted.retain(|_, since| lags(since));
        self.ordered.keys().cloned().collect()
    }

    /// The group, by its part of a list and by what was expected before it was read.
    pub(super) fn group(&mut self, name: &Arc<str>, list: &[&Server], expected: &BTreeSet<Box<str>>) -> CloudGroup {
        let listed = |server: &str| list.iter().any(|known| *known.tags.server == *server);
        self.failed.retain(|server| listed(server));
        self.ordered.retain(|server, answered| answered.is_none() || !listed(server));
        let instances: Vec<Instance> = list.iter().map(|server| self.instance(server)).collect();
        let alive = instances.iter().filter(|instance| instance.state != InstanceState::Deleting).count();
        let to_come = expected.iter().filter(|server| !listed(server)).count();
        CloudGroup {
            name: Arc::clone(name),
            target: u32::try_from(alive + to_come).unwrap_or(u32::MAX),
            instances: Some(instances),
            failure: self.failure.clone(),
            ..CloudGroup::default()
        }
    }

    fn instance(&self, server: &Server) -> Instance {
        let state = match server.state {
            InstanceState::Deleting => InstanceState::Deleting,
            _ if self.deleted.contains_key(&server.provider_id) => InstanceState::Deleting,
            _ if self.failed.contains(&server.tags.server) => InstanceState::Failed,
            state => state,
        };
        let names = std::iter::once(&server.tags.server).chain(&server.addresses);
        Instance {
            provider_id: server.provider_id.clone(),
            addresses: names.filter(|name| !name.is_empty()).cloned().collect(),
            state,
            created: server.created,
        }
    }
}
