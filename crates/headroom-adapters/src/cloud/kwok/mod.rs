//! The cloud `kwok`: groups whose machines are Node objects that kwok pretends to be.
//!
//! A cloud has to remember what it was asked for, and here the API server does: each group has a ConfigMap with its size,
//! the machines that are no nodes yet and the nodes that are to go. It is changed before anything follows from it, and
//! only in the version that was read. Whatever is left undone is done later by whoever reads it next, so Headroom may be
//! killed between any two calls.

mod api;
mod change;
mod describe;
mod error;
mod object;
mod provider;
mod settle;
mod state;

use std::sync::Arc;

use async_trait::async_trait;
use headroom_core::policy::Percent;
use headroom_core::snapshot::{CloudGroup, Labels, Template};
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinHandle;

use self::change::Shared;
use self::state::{Group, Machine};
use super::{Cloud, CloudError, Stays};

/// A group of machines that kwok pretends to be.
#[derive(Clone, Debug, PartialEq)]
pub struct KwokGroup {
    /// The group's name in the policy. It names its nodes and its ConfigMap too: lower-case letters, digits and `-`.
    pub name: Arc<str>,
    /// What a new machine is like.
    pub machines: Machines,
    /// Labels of its nodes besides those of the template.
    pub labels: Labels,
    /// Its machines are spread over these zones. None: a zone is said by the labels or not at all.
    pub zones: Vec<Box<str>>,
    /// From the request until the node is there.
    pub boot: SignedDuration,
    /// The most machines that can be had at once. Each one more fails. None is no limit.
    pub stock: Option<u32>,
    /// The share of machines that never become nodes.
    pub boot_failures: Percent,
}

/// Where it is said what a new machine is like.
#[derive(Clone, Debug, PartialEq)]
pub enum Machines {
    /// Here.
    Stated(Template),
    /// In ConfigMaps in the format of Cluster Autoscaler's kwok provider, which are read once.
    Provider {
        /// The one with the settings (`kwok-provider-config`), in Headroom's namespace.
        config_map: Box<str>,
        /// The node group in it.
        node_group: Box<str>,
    },
}

/// Groups of machines that kwok pretends to be.
#[derive(Debug)]
pub struct Kwok {
    shared: Arc<Shared>,
    settling: JoinHandle<()>,
}

impl Kwok {
    /// Groups with their state in `namespace`. Nothing is read or written before the first call. It needs a tokio runtime:
    /// machines that take their time come from a task of its own.
    pub fn new(client: kube::Client, namespace: &str, groups: Vec<KwokGroup>) -> Self {
        let shared = Arc::new(Shared::new(client, namespace, groups));
        let settling = tokio::spawn(settle::for_ever(Arc::clone(&shared)));
        Kwok { shared, settling }
    }
}

impl Drop for Kwok {
    fn drop(&mut self) {
        self.settling.abort();
    }
}

#[async_trait]
impl Cloud for Kwok {
    async fn groups(&self) -> Result<Vec<CloudGroup>, CloudError> {
        let groups = self.shared.look().await?;
        let mut answer = Vec::new();
        for (entry, group) in self.shared.entries.iter().zip(&groups) {
            let provided = self.shared.machine(entry).await.inspect_err(|error| {
                let error: &dyn std::error::Error = error;
                tracing::warn!(group = %group.spec.name, error, "nobody says what a machine of this group is like");
            });
            answer.push(describe::group(group, provided.ok()));
        }
        if !groups.iter().all(Group::is_settled) {
            self.shared.work.notify_one();
        }
        Ok(answer)
    }

    async fn resize(&self, group: &str, from: u32, to: u32) -> Result<(), CloudError> {
        self.shared.resize(group, from, to).await
    }

    async fn remove(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        self.shared.let_go(group, machines, false).await
    }

    async fn replace(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        self.shared.let_go(group, machines, true).await
    }

    async fn template(&self, group: &str) -> Result<Option<Template>, CloudError> {
        let entry = self.shared.entry(group)?;
        Ok(Some(self.shared.machine(entry).await.map_err(|error| error.of(group))?.template))
    }
}

impl KwokGroup {
    /// The name of the machine with this number.
    fn name_of(&self, number: u32) -> Box<str> {
        format!("{}-{number:05}", self.name).into()
    }

    /// The number of the machine of this name, if it could be one of the group.
    fn number_of(&self, name: &str) -> Option<u32> {
        name.strip_prefix(&*self.name)?.strip_prefix('-')?.parse().ok()
    }

    /// When a machine that boots is a node.
    fn boots_at(&self, machine: &Machine) -> Timestamp {
        machine.asked.saturating_add(self.boot).unwrap_or(Timestamp::MAX)
    }

    /// Whether the machine with this number never becomes a node. They are spread evenly over all numbers, so that the
    /// same machines fail each time.
    fn fails_to_boot(&self, number: u32) -> bool {
        let failed =
            |number: u32| u64::from(number) * u64::from(self.boot_failures.0) / u64::from(Percent::whole(100).0);
        failed(number) > failed(number.saturating_sub(1))
    }
}
