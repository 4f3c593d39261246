//! The port to a cloud: groups of equal machines and their sizes.

pub mod aws;
pub mod externalgrpc;
pub mod kwok;
pub mod servers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use headroom_core::snapshot::{CloudGroup, Template};

/// Something that has machines in groups.
///
/// Groups go by their names in the policy; a machine goes by its `provider_id`. No call waits for a machine to come or
/// go; the next [`Cloud::groups`] shows what became of it.
#[async_trait]
pub trait Cloud: Send + Sync {
    /// Every configured group as it is now.
    async fn groups(&self) -> Result<Vec<CloudGroup>, CloudError>;

    /// Sets the size of `group` to `to`, unless it is no longer `from`, the size that the plan was made for.
    async fn resize(&self, group: &str, from: u32, to: u32) -> Result<(), CloudError>;

    /// Removes these machines of `group` and lowers its size by as many. One that is gone already is no error. Of a batch
    /// that would pass a minimum of the cloud's own as many go as may. Which stay after all; an error is about all.
    async fn remove(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError>;

    /// Removes these machines of `group` and keeps its size, so that the cloud makes others. One that is gone already is
    /// no error. Which stay after all; an error is about all.
    async fn replace(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError>;

    /// What a new machine of `group` will be like; None when the cloud cannot tell.
    async fn template(&self, group: &str) -> Result<Option<Template>, CloudError>;

    /// Hears which node a machine is, before it is asked to remove it. For clouds that know machines by both names.
    fn is_node(&self, _machine: &str, _node: &str) {}
}

/// A group that a cloud was found to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundGroup {
    /// What the cloud calls it.
    pub id: Arc<str>,
    /// Its tags, where groups of this cloud have any.
    pub tags: BTreeMap<Box<str>, Box<str>>,
}

/// A machine that a cloud did not let go of, although it let others go.
#[derive(Debug)]
pub struct Stays {
    /// Its `provider_id`.
    pub machine: String,
    /// Why.
    pub reason: CloudError,
}

/// Why a cloud did not do something.
#[derive(Debug, thiserror::Error)]
pub enum CloudError {
    /// There is no such group.
    #[error("the cloud has no group for {group}; hint: check the group's cloud section")]
    NoSuchGroup {
        /// The group's name in the policy.
        group: String,
    },
    /// The size changed after the plan was made. The next round plans anew.
    #[error("{group} has size {actual}, the plan was made for {planned}")]
    StaleSize {
        /// The group.
        group: String,
        /// The size that the plan was made for.
        planned: u32,
        /// The size now.
        actual: u32,
    },
    /// The size is outside the cloud group's own limits.
    #[error("{group} cannot have size {wanted}: the cloud allows {min} to {max}")]
    OutsideLimits {
        /// The group.
        group: String,
        /// The size wanted.
        wanted: u32,
        /// The cloud's minimum.
        min: u32,
        /// The cloud's maximum.
        max: u32,
    },
    /// The machine belongs to something else.
    #[error("{machine} is no machine of {group}")]
    NotInGroup {
        /// The machine's `provider_id`.
        machine: String,
        /// The group.
        group: String,
    },
    /// The cloud has no such machine to give now.
    #[error("the cloud is out of machines for {group}: {reason}")]
    OutOfStock {
        /// The group.
        group: String,
        /// What the cloud said.
        reason: String,
    },
    /// The cloud's own group is told not to do this for now.
    #[error("{group} has the process {process} suspended; hint: resume it in the cloud")]
    Suspended {
        /// The group.
        group: String,
        /// What it does not do.
        process: String,
    },
    /// More machines are there than the group would have, so that the cloud would choose which of them go.
    #[error("{group} has {alive} machines and would lose some of the cloud's choice with size {wanted}")]
    WouldChoose {
        /// The group.
        group: String,
        /// The size wanted.
        wanted: u32,
        /// How many machines it has.
        alive: u32,
    },
    /// The cloud does not do this, for a reason of its own.
    #[error("the cloud refuses to {verb} {group}: {reason}")]
    Refused {
        /// What was tried.
        verb: String,
        /// On which group.
        group: String,
        /// What the cloud said.
        reason: String,
    },
    /// Headroom's account may not do this.
    #[error("not allowed to {verb} {group}; hint: grant it to Headroom's account")]
    Forbidden {
        /// What was tried.
        verb: String,
        /// On which group.
        group: String,
    },
    /// The cloud does not know who asks: credentials are missing, wrong or too old.
    #[error("the cloud does not accept Headroom's credentials: {reason}; hint: renew them")]
    Unauthorized {
        /// What the cloud said.
        reason: String,
    },
    /// Too much was asked of the cloud.
    #[error("the cloud asks for fewer requests: {reason}")]
    Throttled {
        /// What the cloud said.
        reason: String,
        /// How long it wants to be left alone, when it says so.
        retry_after: Option<Duration>,
    },
    /// Another instance leads, or may lead by now: nothing was sent.
    #[error("this instance does not lead")]
    NotLeading,
    /// The cloud did not answer in time. Whether it was done is not known; the next round sees it.
    #[error("no answer within {seconds} s to {verb} {group}")]
    Timeout {
        /// How long was waited.
        seconds: u64,
        /// What was tried.
        verb: String,
        /// On which group.
        group: String,
    },
    /// The cloud answers with something that cannot be understood.
    #[error("the cloud's answer cannot be understood")]
    NotUnderstood(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The cloud does not answer.
    #[error("the cloud does not answer")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
