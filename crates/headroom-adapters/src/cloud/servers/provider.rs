//! What a provider of servers has to offer, and why it does not do something.

use std::time::Duration;

use async_trait::async_trait;
use headroom_core::snapshot::InstanceState;
use jiff::Timestamp;

use crate::cloud::CloudError;

/// An account with a provider that makes, lists and deletes single servers.
///
/// It has to see to it itself that nothing is made or deleted once the fence is closed.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// What a kind of hardware is at this provider.
    type Hardware: Clone + Send + Sync + 'static;

    /// Every server that carries the account's cluster id, whoever made it and when.
    async fn list(&self) -> Result<Vec<Server>, ProviderError>;

    /// Asks for a server that carries the order's tags. Does not wait until it runs.
    async fn create(&self, order: &Order<'_, Self::Hardware>) -> Result<(), ProviderError>;

    /// Deletes a server of the list. One that is gone already is no error.
    async fn delete(&self, server: &Server) -> Result<(), ProviderError>;
}

/// A server that is asked for.
pub struct Order<'o, H> {
    /// What it carries.
    pub tags: &'o Tags,
    /// Its name, which no other server has.
    pub name: &'o str,
    /// What it is at the provider.
    pub hardware: &'o H,
    /// What it is told at its first start.
    pub user_data: Option<&'o str>,
}

/// What each server carries, so that the provider's list alone says what there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// Whose it is.
    pub cluster: Box<str>,
    /// The group that it was made for.
    pub pool: Box<str>,
    /// The id that Headroom gave it.
    pub server: Box<str>,
    /// The name of its hardware.
    pub hardware: Box<str>,
}

/// A server as its provider sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// How its node says which machine it is, where nodes say so, and how Headroom names it to the provider.
    pub provider_id: Box<str>,
    /// What it carries.
    pub tags: Tags,
    /// How it is doing.
    pub state: InstanceState,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// Its name and addresses.
    pub addresses: Vec<Box<str>>,
}

/// Why a provider did not do something.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// It has none of this hardware left.
    #[error("{0}")]
    OutOfStock(String),
    /// It refuses for another reason. Nothing was done.
    #[error("{0}")]
    Refused(String),
    /// Another server has this name: it may be the one that was asked for before.
    #[error("{0}")]
    NameTaken(String),
    /// Its credentials are missing, wrong or too old.
    #[error("{0}")]
    Unauthorized(String),
    /// The account may not do this.
    #[error("{0}")]
    Forbidden(String),
    /// Too much was asked of it.
    #[error("{reason}")]
    Throttled {
        /// In its own words.
        reason: String,
        /// How long it wants to be left alone, when it says so.
        retry_after: Option<Duration>,
    },
    /// Another instance leads, or may lead by now: nothing was sent.
    #[error("this instance does not lead")]
    NotLeading,
    /// Nothing could be sent.
    #[error("the provider is not reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No answer came in time. Whether it was done is not known.
    #[error("no answer within {seconds} s")]
    Timeout {
        /// How long was waited.
        seconds: u64,
    },
    /// The connection or the provider itself broke off. Whether it was done is not known.
    #[error("{0}")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer cannot be understood. Whether it was done is not known.
    #[error("the answer cannot be understood")]
    NotUnderstood(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ProviderError {
    /// Whether what was asked for may have been done all the same.
    pub(super) fn is_uncertain(&self) -> bool {
        use ProviderError::{Broken, NotUnderstood, Timeout};
        matches!(self, Timeout { .. } | Broken(_) | NotUnderstood(_))
    }

    /// What the port says, when this was tried for `group`.
    pub(super) fn of(self, verb: &str, group: &str) -> CloudError {
        let (verb, group) = (verb.to_owned(), group.to_owned());
        match self {
            ProviderError::OutOfStock(reason) => CloudError::OutOfStock { group, reason },
            ProviderError::Refused(reason) | ProviderError::NameTaken(reason) => {
                CloudError::Refused { verb, group, reason }
            }
            ProviderError::Unauthorized(reason) => CloudError::Unauthorized { reason },
            ProviderError::Forbidden(_) => CloudError::Forbidden { verb, group },
            ProviderError::Throttled { reason, retry_after } => CloudError::Throttled { reason, retry_after },
            ProviderError::NotLeading => CloudError::NotLeading,
            ProviderError::Timeout { seconds } => CloudError::Timeout { seconds, verb, group },
            ProviderError::Unreachable(source) | ProviderError::Broken(source) => CloudError::Unreachable(source),
            ProviderError::NotUnderstood(source) => CloudError::NotUnderstood(source),
        }
    }
}
