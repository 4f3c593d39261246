//! Asking for servers: the first hardware of the list that can be had.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::StreamExt;
use headroom_core::snapshot::{LaunchError, LaunchFailure};
use jiff::Timestamp;
use tokio::time::{Instant, sleep};

use super::provider::{Order, Provider, ProviderError, Server, Tags};
use super::{Entry, Hardware, Servers, name};
use crate::cloud::CloudError;

/// The longest that a provider is waited for which asks for fewer requests.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it is left alone when it does not say how long.
const PAUSE: Duration = Duration::from_secs(5);
/// How often one hardware is asked for when nobody knows whether the time before was successful, or when it was too early.
const ATTEMPTS: u32 = 3;

/// What errors say was tried.
const MAKE: &str = "make a server of";

/// What became of one kind of hardware.
enum Tried {
    Made,
    /// It cannot be had, and nothing is left of the attempt.
    Next(ProviderError),
    /// Another kind would do no better.
    Stop(ProviderError),
}

impl<P: Provider> Servers<P> {
    /// Makes `count` servers for a group, several at once. After the first for which nothing is left to try, no more are
    /// begun.
    pub(super) async fn make(&self, entry: &Entry<P::Hardware>, count: u32) -> Result<(), CloudError> {
        let stop = AtomicBool::new(false);
        let orders: Vec<_> = (0..count).map(|_| self.make_one(entry, Ordered::new(entry), &stop)).collect();
        let orders = futures::stream::iter(orders).buffer_unordered(entry.spec.parallel.get());
        let made: Vec<Result<(), CloudError>> = orders.collect().await;
        let failure = made.into_iter().find_map(Result::err);
        entry.book().failure = failure.as_ref().and_then(launch_failure);
        failure.map_or(Ok(()), Err)
    }

    async fn make_one<'e>(
        &self,
        entry: &'e Entry<P::Hardware>,
        mut ordered: Ordered<'e, P::Hardware>,
        stop: &AtomicBool,
    ) -> Result<(), CloudError> {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let made = self.try_all(entry, &mut ordered).await;
        match &made {
            Ok(()) => ordered.answered(),
            Err(_) => stop.store(true, Ordering::Relaxed),
        }
        made
    }

    /// Tries the hardware of a group in its order, what failed lately last. Each attempt is another server, so that what is
    /// left of one is never taken for the next.
    async fn try_all<'e>(
        &self,
        entry: &'e Entry<P::Hardware>,
        ordered: &mut Ordered<'e, P::Hardware>,
    ) -> Result<(), CloudError> {
        let group = &*entry.spec.name;
        let mut refusals = Vec::new();
        let mut sold_out = false;
        for hardware in in_order(entry) {
            if !refusals.is_empty() {
                *ordered = Ordered::new(entry);
            }
            let error = match self.try_one(entry, &ordered.server, hardware).await {
                Tried::Made => {
                    entry.book().works(&hardware.name);
                    return Ok(());
                }
                Tried::Stop(error) => return Err(error.of(MAKE, group)),
                Tried::Next(error) => error,
            };
            tracing::warn!(group, hardware = &*hardware.name, reason = %error, "this hardware is not to be had");
            let until = Instant::now() + entry.spec.retry_hardware_after;
            entry.book().avoid(&hardware.name, until);
            sold_out |= matches!(error, ProviderError::OutOfStock(_));
            refusals.push(format!("{}: {error}", hardware.name));
        }
        let reason = refusals.join("; ");
        let error = if sold_out { ProviderError::OutOfStock(reason) } else { ProviderError::Refused(reason) };
        Err(error.of(MAKE, group))
    }

    async fn try_one(&self, entry: &Entry<P::Hardware>, server: &str, hardware: &Hardware<P::Hardware>) -> Tried {
        let tags = Tags {
            cluster: (*self.cluster).into(),
            pool: (*entry.spec.name).into(),
            server: server.into(),
            hardware: (*hardware.name).into(),
        };
        let name = name::of_server(&entry.spec.name, server);
        let user_data = entry.spec.user_data.as_ref().map(|template| template.fill_in(&tags, &name));
        let order = Order { tags: &tags, name: &name, hardware: &hardware.at, user_data: user_data.as_deref() };
        let mut attempts = 0;
        loop {
            attempts += 1;
            let error = match self.provider.create(&order).await {
                Ok(()) => return Tried::Made,
                Err(error) => error,
            };
            // One that was made although the answer was lost is the one that was asked for.
            let made_before = error.is_uncertain() || attempts > 1 || matches!(error, ProviderError::NameTaken(_));
            let found = match &error {
                ProviderError::Throttled { retry_after, .. } => {
                    let wait = retry_after.unwrap_or(PAUSE);
                    if attempts == ATTEMPTS || wait > PATIENCE {
                        return Tried::Stop(error);
                    }
                    sleep(wait).await;
                    continue;
                }
                ProviderError::OutOfStock(_) | ProviderError::Refused(_) | ProviderError::NameTaken(_) => {
                    self.find(server).await
                }
                error if error.is_uncertain() => self.find(server).await,
                _ => return Tried::Stop(error),
            };
            match found {
                Err(_) => return Tried::Stop(error),
                Ok(Some(_)) if made_before => return Tried::Made,
                Ok(Some(rest)) => return self.clean_up(entry, server, &rest, error).await,
                Ok(None) if error.is_uncertain() && attempts < ATTEMPTS => sleep(PAUSE).await,
                Ok(None) if error.is_uncertain() => return Tried::Stop(error),
                Ok(None) => return Tried::Next(error),
            }
        }
    }

    /// Deletes what is left of a failed order, before anything else is tried.
    async fn clean_up(&self, entry: &Entry<P::Hardware>, server: &str, rest: &Server, error: ProviderError) -> Tried {
        match self.provider.delete(rest).await {
            Ok(()) => {
                entry.book().deleted(&rest.provider_id, Instant::now());
                Tried::Next(error)
            }
            Err(deletion) => {
                entry.book().left_over(server);
                Tried::Stop(deletion)
            }
        }
    }

    async fn find(&self, server: &str) -> Result<Option<Server>, ProviderError> {
        Ok(self.provider.list().await?.into_iter().find(|known| *known.tags.server == *server))
    }
}

/// The hardware of a group in the order in which it is tried.
fn in_order<H>(entry: &Entry<H>) -> Vec<&Hardware<H>> {
    let (book, now) = (entry.book(), Instant::now());
    let mut hardware: Vec<&Hardware<H>> = entry.spec.hardware.iter().collect();
    hardware.sort_by_key(|hardware| book.avoids(&hardware.name, now));
    hardware
}

/// What the group says of an order that came to nothing. What has nothing to do with what was ordered is no failure of it.
fn launch_failure(error: &CloudError) -> Option<LaunchFailure> {
    let kind = match error {
        CloudError::OutOfStock { .. } => LaunchError::OutOfStock,
        CloudError::Refused { .. } => LaunchError::Refused,
        _ => return None,
    };
    Some(LaunchFailure { at: Timestamp::now(), error: kind, message: error.to_string().into() })
}

/// A server that is asked for. Unless it was answered it is taken out of the book in the end: an order that is broken off has
/// made a server, which the list shows, or none.
struct Ordered<'e, H> {
    entry: &'e Entry<H>,
    server: Box<str>,
    answered: bool,
}

impl<'e, H> Ordered<'e, H> {
    fn new(entry: &'e Entry<H>) -> Self {
        let server = name::new_id();
        entry.book().order(&server);
        Ordered { entry, server, answered: false }
    }

    /// The provider makes it.
    fn answered(&mut self) {
        self.answered = true;
        self.entry.book().made(&self.server, Instant::now());
    }
}

impl<H> Drop for Ordered<'_, H> {
    fn drop(&mut self) {
        if !self.answered {
            self.entry.book().not_made(&self.server);
        }
    }
}
