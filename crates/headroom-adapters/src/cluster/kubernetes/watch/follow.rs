//! Follows one resource: lists it, watches it, and does so again after whatever goes wrong.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures::FutureExt;
use kube::Client;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::request::{Event, Failure, Requests};
use super::resource::Resource;
use super::state::State;
use super::timing::{Pauses, Timing};
use crate::cluster::kubernetes::object::Header;
use crate::cluster::kubernetes::translate::{self, Malformed, Source, Specs, Translated};
use crate::fence::boottime;

/// What all watches share.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    specs: Mutex<Specs>,
    /// There is something new to observe.
    pub(super) changed: Notify,
    /// Pods have been read without a label that matters, as became known later.
    left_out: Notify,
}

impl Shared {
    pub(super) fn new(state: State) -> Self {
        Shared { state: Mutex::new(state), specs: Mutex::default(), changed: Notify::new(), left_out: Notify::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn specs(&self) -> MutexGuard<'_, Specs> {
        self.specs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows one resource.
pub(super) struct Follower {
    resource: &'static Resource,
    requests: Requests,
    shared: Arc<Shared>,
    timing: Timing,
}

/// How a watch ended that did not fail.
enum End {
    /// The API server has ended it, as it always does after a while.
    Closed,
    /// Everything is to be read once more.
    ReadAgain,
}

impl Follower {
    pub(super) fn new(client: Client, resource: &'static Resource, shared: Arc<Shared>, timing: Timing) -> Self {
        Follower { resource, requests: Requests::new(client, resource, timing), shared, timing }
    }

    /// Hands on what is there and every change, for as long as the API server serves the resource.
    pub(super) async fn follow(&self) {
        let mut pauses = Pauses::new(self.timing);
        let mut version = None;
        loop {
            let failure = match version.take() {
                None => match self.list().await {
                    Ok(listed) => {
                        version = Some(listed);
                        continue;
                    }
                    Err(failure) => failure,
                },
                Some(mut from) => match self.watch(&mut from, &mut pauses).await {
                    Ok(End::Closed) => {
                        version = Some(from);
                        continue;
                    }
                    Ok(End::ReadAgain) => continue,
                    Err(failure @ (Failure::Expired | Failure::Unreadable(_))) => failure,
                    Err(failure) => {
                        version = Some(from);
                        failure
                    }
                },
            };
            self.shared.state().connection(self.resource).lost();
            match failure {
                Failure::NotServed => return,
                Failure::Forbidden(message) => {
                    // An API server that has just started refuses what it allows a moment later.
                    if pauses.is_long() {
                        self.warn_forbidden(&message);
                    }
                    pauses.pause().await;
                }
                failure => {
                    let resource = self.resource.plural;
                    if pauses.is_first() {
                        tracing::warn!(resource, %failure, "a watch failed and is tried again");
                    } else {
                        tracing::debug!(resource, %failure, "it failed again");
                    }
                    pauses.pause().await;
                }
            }
        }
    }

    /// Reads all objects and returns the version of the cluster that they are from.
    async fn list(&self) -> Result<String, Failure> {
        let version = match self.streamed_list().await {
            Err(Failure::NotServed) => return Err(Failure::NotServed),
            Err(Failure::Forbidden(message)) => return Err(Failure::Forbidden(message)),
            // Not every API server serves it, and not every one that does ever ends it.
            Err(_) => self.paged_list().await?,
            Ok(version) => version,
        };
        if self.is_pods() && self.shared.left_out.notified().now_or_never().is_some() {
            return Box::pin(self.list()).await;
        }
        let mut state = self.shared.state();
        state.end_list(self.resource);
        state.warnings.over(self.resource.plural);
        drop(state);
        self.shared.changed.notify_one();
        Ok(version)
    }

    async fn streamed_list(&self) -> Result<String, Failure> {
        let mut events = self.requests.streamed_list().await?;
        self.shared.state().begin_list(self.resource);
        while let Some(event) = events.next().await? {
            match event {
                Event::Put(object) => self.put(&object),
                Event::Gone(object) => self.remove(&object),
                Event::Mark { version, ends_list: true } => return Ok(version),
                Event::Mark { .. } => {}
            }
        }
        Err(Failure::BrokenOff)
    }

    async fn paged_list(&self) -> Result<String, Failure> {
        self.shared.state().begin_list(self.resource);
        let mut token = None;
        loop {
            let page = self.requests.page(token).await?;
            page.items.iter().for_each(|object| self.put(object));
            token = page.metadata.continue_.filter(|token| !token.is_empty());
            if token.is_none() {
                return page.metadata.resource_version.ok_or(Failure::BrokenOff);
            }
        }
    }

    /// Hands on changes; `from` follows the version of the cluster that they make.
    async fn watch(&self, from: &mut String, pauses: &mut Pauses) -> Result<End, Failure> {
        let mut events = self.requests.watch(from).await?;
        let opened = Instant::now();
        self.shared.state().connection(self.resource).opened(boottime(), self.timing.watch + self.timing.grace);
        loop {
            let event = tokio::select! {
                event = events.next() => event?,
                () = self.shared.left_out.notified(), if self.is_pods() => return Ok(End::ReadAgain),
            };
            let Some(event) = event else { break };
            pauses.reset();
            self.shared.state().connection(self.resource).heard(boottime());
            match event {
                Event::Put(object) => {
                    self.put(&object);
                    version_of(&object).into_iter().for_each(|version| *from = version);
                }
                Event::Gone(object) => {
                    self.remove(&object);
                    version_of(&object).into_iter().for_each(|version| *from = version);
                }
                Event::Mark { version, .. } => *from = version,
            }
        }
        if opened.elapsed() >= self.timing.longest_pause {
            pauses.reset();
        }
        // Before its time somebody else may have cut it off, and who knows since when it was dead.
        if opened.elapsed() + self.timing.grace < self.timing.watch {
            return Err(Failure::BrokenOff);
        }
        let mut state = self.shared.state();
        let connection = state.connection(self.resource);
        connection.heard(boottime());
        connection.lost();
        Ok(End::Closed)
    }

    /// Takes in one object.
    fn put(&self, object: &RawValue) {
        let translated = {
            let mut specs = self.shared.specs();
            let translated = translate::object(self.resource.object, &Json(object), &mut specs);
            if specs.take_left_out() {
                self.shared.left_out.notify_one();
            }
            translated
        };
        let mut state = self.shared.state();
        match translated {
            Ok(Some(Translated { value, warnings })) => {
                for problem in warnings {
                    state.warnings.add(&header_of(object).describe(self.resource.object), &problem);
                }
                state.put(self.resource, value);
            }
            Ok(None) => {}
            Err(Unreadable(problem)) => {
                let header = header_of(object);
                state.warnings.add(&header.describe(self.resource.object), &format!("skipped: {problem}"));
                state.unreadable(self.resource, self.resource.key(&header));
            }
        }
        drop(state);
        self.shared.changed.notify_one();
    }

    fn remove(&self, object: &RawValue) {
        self.shared.state().remove(self.resource, self.resource.key(&header_of(object)));
        self.shared.changed.notify_one();
    }

    fn warn_forbidden(&self, message: &str) {
        let Resource { plural, .. } = self.resource;
        let group = self.resource.api_group();
        let problem = format!(
            "cannot be read: {message}; hint: grant get, list and watch on {plural} in API group {group:?} to \
             Headroom's service account"
        );
        self.warn(&problem);
    }

    /// Something is wrong with the resource itself. It is said once, until it has been read.
    pub(super) fn warn(&self, problem: &str) {
        self.shared.state().warnings.add(self.resource.plural, problem);
        self.shared.changed.notify_one();
    }

    fn is_pods(&self) -> bool {
        self.resource.object == "Pod"
    }
}

/// An object as JSON.
struct Json<'a>(&'a RawValue);

/// Why an object cannot be read.
struct Unreadable(String);

impl Source for Json<'_> {
    type Fault = Unreadable;

    fn read<'s, T: Deserialize<'s>>(&'s self) -> Result<T, Unreadable> {
        serde_json::from_str(self.0.get()).map_err(|error| Unreadable(error.to_string()))
    }
}

impl From<Malformed> for Unreadable {
    fn from(malformed: Malformed) -> Self {
        Unreadable(malformed.to_string())
    }
}

/// The name of an object, as far as it can be read.
fn header_of(object: &RawValue) -> Header<'_> {
    serde_json::from_str(object.get()).unwrap_or_default()
}

/// The version of the cluster that an object is from.
fn version_of(object: &RawValue) -> Option<String> {
    serde_json::from_str::<Versioned>(object.get()).ok()?.metadata.resource_version
}

#[derive(Deserialize)]
struct Versioned {
    metadata: Version,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: Option<String>,
}
