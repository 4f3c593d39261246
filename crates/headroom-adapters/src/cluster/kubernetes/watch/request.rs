//! Lists and watches as requests and answers.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use kube::Client;
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::core::watch::Bookmark;
use kube::core::{ObjectList, Request};
use serde_json::value::RawValue;

use super::resource::Resource;
use super::timing::Timing;

/// An object as the API wrote it. It is read and let go one at a time; only a page holds several.
pub(super) type Raw = Box<RawValue>;

/// Why a list or a watch came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// What is asked for is older than what the API server remembers.
    #[error("the API server does not remember so far back")]
    Expired,
    /// There is no such resource.
    #[error("the API server does not serve it")]
    NotServed,
    /// Headroom's account may not read it.
    #[error("{0}")]
    Forbidden(String),
    /// Nothing came for too long.
    #[error("the API server has said nothing for {0:?}")]
    Silent(Duration),
    /// The answer broke off.
    #[error("the answer broke off")]
    BrokenOff,
    /// A line of a watch is not understood, so a change may have been missed.
    #[error("an event cannot be read: {0}")]
    Unreadable(#[source] serde_json::Error),
    /// Anything else.
    #[error(transparent)]
    Other(kube::Error),
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => match status.code {
                403 => Failure::Forbidden(status.message),
                404 => Failure::NotServed,
                410 => Failure::Expired,
                _ => Failure::Other(kube::Error::Api(status)),
            },
            kube::Error::SerdeError(error) => Failure::Unreadable(error),
            error => Failure::Other(error),
        }
    }
}

/// Makes the requests for one resource.
#[derive(Clone)]
pub(super) struct Requests {
    client: Client,
    request: Request,
    fields: Option<String>,
    timing: Timing,
}

impl Requests {
    pub(super) fn new(client: Client, resource: &Resource, timing: Timing) -> Self {
        let request = Request::new(format!("/{}/{}", resource.group, resource.plural));
        Requests { client, request, fields: resource.fields.map(str::to_owned), timing }
    }

    /// One page of the list; `token` is what the page before said.
    pub(super) async fn page(&self, token: Option<String>) -> Result<ObjectList<Raw>, Failure> {
        let page = ListParams {
            field_selector: self.fields.clone(),
            limit: Some(self.timing.page),
            continue_token: token,
            ..ListParams::default()
        };
        let request = self.request.list(&page).map_err(kube::Error::BuildRequest)?;
        // Not `Client::request`, which logs the whole page when it cannot be read.
        let text = in_time(self.timing.answer, self.client.request_text(request)).await?;
        serde_json::from_str(&text).map_err(Failure::Unreadable)
    }

    /// All objects as events, up to a bookmark that says so. An API server from before 1.32 may refuse.
    pub(super) async fn streamed_list(&self) -> Result<Events, Failure> {
        // Without a version it is the state of now, not what this one API server happens to have.
        self.open(self.timing.streamed_list, true, "").await
    }

    /// What changes from `version` on, until the API server ends it.
    pub(super) async fn watch(&self, version: &str) -> Result<Events, Failure> {
        self.open(self.timing.watch, false, version).await
    }

    async fn open(&self, length: Duration, list: bool, version: &str) -> Result<Events, Failure> {
        let watch = WatchParams {
            field_selector: self.fields.clone(),
            timeout: u32::try_from(length.as_secs()).ok(),
            send_initial_events: list,
            ..WatchParams::default()
        };
        let request = self.request.watch(&watch, version).map_err(kube::Error::BuildRequest)?;
        let events = in_time(self.timing.answer, self.client.request_events(request)).await?;
        let patience = if list { self.timing.answer } else { length + self.timing.grace };
        Ok(Events { events: events.boxed(), patience })
    }
}

/// One line of a watch.
pub(super) enum Event {
    /// There is such an object.
    Put(Raw),
    /// There is no such object any more; this is how it last was.
    Gone(Raw),
    /// Everything up to this version of the cluster has been said.
    Mark {
        version: String,
        /// It was the last of a streamed list.
        ends_list: bool,
    },
}

/// The events of a watch.
pub(super) struct Events {
    events: BoxStream<'static, kube::Result<WatchEvent<Raw>>>,
    patience: Duration,
}

impl Events {
    /// The next event; None at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, Failure> {
        let next = tokio::time::timeout(self.patience, self.events.next()).await;
        let next = next.map_err(|_| Failure::Silent(self.patience))?.transpose()?;
        Ok(Some(match next {
            None => return Ok(None),
            Some(WatchEvent::Added(object) | WatchEvent::Modified(object)) => Event::Put(object),
            Some(WatchEvent::Deleted(object)) => Event::Gone(object),
            Some(WatchEvent::Bookmark(Bookmark { metadata, .. })) => Event::Mark {
                ends_list: metadata.annotations.contains_key("k8s.io/initial-events-end"),
                version: metadata.resource_version,
            },
            Some(WatchEvent::Error(status)) => return Err(kube::Error::Api(status).into()),
        }))
    }
}

/// The answer, unless it takes too long.
pub(super) async fn in_time<T>(
    patience: Duration,
    answer: impl Future<Output = kube::Result<T>>,
) -> Result<T, Failure> {
    Ok(tokio::time::timeout(patience, answer).await.map_err(|_| Failure::Silent(patience))??)
}
