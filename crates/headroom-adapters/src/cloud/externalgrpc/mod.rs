//! The cloud `externalgrpc`: groups of a provider that speaks the protocol of Cluster Autoscaler's external providers.
//!
//! The protocol has no versions of sizes: it grows a group by a number, whatever its size is. So the size is read right
//! before, and a plan for another size is refused; within Headroom one change of a group waits for the one before.
//! `Cleanup` is never sent: the provider serves whoever runs next.

mod change;
mod error;
mod fenced;
mod link;
mod options;
mod protocol;
mod read;
pub mod server;
mod translate;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use headroom_core::policy::Group;
use headroom_core::snapshot::{CloudGroup, GroupOptions, Template};
use jiff::Timestamp;

use self::link::Link;
use self::protocol::provider::NodeGroupAutoscalingOptions;
use super::{Cloud, CloudError, Stays};
use crate::fence::Fence;

pub use link::{LinkError, Reach, Tls};

/// The metadata of a price that Headroom as a provider has only estimated.
const ESTIMATED: &str = "headroom-estimated";

/// A group of a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalGroup {
    /// The group in the policy.
    pub group: Group,
    /// What the provider calls it.
    pub id: Box<str>,
}

/// The groups of one provider.
#[derive(Debug)]
pub struct ExternalGrpc {
    link: Link,
    entries: Vec<Entry>,
    /// The nodes that machines are, as far as somebody told it.
    nodes: Mutex<BTreeMap<Box<str>, Box<str>>>,
    /// The provider has said that it knows no prices.
    priceless: AtomicBool,
}

/// One group.
#[derive(Debug)]
struct Entry {
    /// Its name in the policy.
    name: Arc<str>,
    /// What the provider calls it.
    id: Box<str>,
    /// How it is treated unless the provider says otherwise.
    treated: NodeGroupAutoscalingOptions,
    /// What the provider said to that when it last could.
    options: Mutex<GroupOptions>,
    /// One change at a time, since the protocol cannot tell whether another one came in between.
    changing: tokio::sync::Mutex<()>,
    /// Since when machines that could not be made have been listed: the protocol does not say when it was tried.
    failed: Mutex<BTreeMap<Box<str>, Timestamp>>,
}

impl ExternalGrpc {
    /// The provider that is reached in this way. Nothing is sent before the first call, and no change while `fence` is
    /// closed.
    pub fn new(reach: Reach, groups: Vec<ExternalGroup>, fence: Fence) -> Self {
        let entry = |ExternalGroup { group, id }: ExternalGroup| Entry {
            name: Arc::clone(&group.name),
            id,
            treated: options::of(&group, None),
            options: Mutex::default(),
            changing: Default::default(),
            failed: Mutex::default(),
        };
        ExternalGrpc {
            link: Link::new(reach, fence),
            entries: groups.into_iter().map(entry).collect(),
            nodes: Mutex::default(),
            priceless: AtomicBool::new(false),
        }
    }

    fn entry(&self, group: &str) -> Result<&Entry, CloudError> {
        let found = self.entries.iter().find(|entry| *entry.name == *group);
        found.ok_or_else(|| CloudError::NoSuchGroup { group: group.to_owned() })
    }
}

#[async_trait]
impl Cloud for ExternalGrpc {
    async fn groups(&self) -> Result<Vec<CloudGroup>, CloudError> {
        self.read_all().await
    }

    async fn resize(&self, group: &str, from: u32, to: u32) -> Result<(), CloudError> {
        self.set_size(self.entry(group)?, from, to).await
    }

    async fn remove(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        self.let_go(self.entry(group)?, machines, false).await
    }

    async fn replace(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        self.let_go(self.entry(group)?, machines, true).await
    }

    async fn template(&self, group: &str) -> Result<Option<Template>, CloudError> {
        self.read_template(self.entry(group)?).await
    }

    fn is_node(&self, machine: &str, node: &str) {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).insert(machine.into(), node.into());
    }
}
