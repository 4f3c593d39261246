//! The clouds that make, list and delete single servers: groups of servers with an ordered list of hardware.
//!
//! Such a provider keeps no size for anybody. So the size of a group is the number of its servers: those that exist and
//! those that are being asked for. Each server carries whose it is, its group, its id and its hardware, and the provider's
//! list alone is what there is. Nothing has to survive here: an order that is broken off has made a server, which the list
//! then shows, or none, and then the next round finds the group too small.
//!
//! A server goes only when it is named by [`Cloud::remove`] or [`Cloud::replace`], or when the order that made it has
//! failed. One that nobody remembers is a server of its group like any other.

mod book;
mod create;
pub mod hetzner;
pub mod linode;
mod name;
pub mod process;
mod provider;
pub mod rest;
mod user_data;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use headroom_core::snapshot::{CloudGroup, Template};
use tokio::time::Instant;

use self::book::Book;
use super::{Cloud, CloudError, Stays};
pub use provider::{Order, Provider, ProviderError, Server, Tags};
pub use user_data::UserData;

/// How long a change of a group waits for the one before.
const PATIENCE: Duration = Duration::from_secs(30);

/// A group of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerGroup<H> {
    /// The group's name in the policy.
    pub name: Arc<str>,
    /// What its servers may be, the best first.
    pub hardware: Vec<Hardware<H>>,
    /// What a server is told at its first start, with `${HEADROOM_SERVER_ID}` and the like in it.
    pub user_data: Option<UserData>,
    /// How many servers are asked for at once.
    pub parallel: NonZeroUsize,
    /// How long hardware that could not be had is tried after the others.
    pub retry_hardware_after: Duration,
}

/// One kind of hardware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hardware<H> {
    /// What its servers call it.
    pub name: Arc<str>,
    /// What it is at the provider.
    pub at: H,
}

/// Groups of servers that one provider has.
#[derive(Debug)]
pub struct Servers<P: Provider> {
    provider: P,
    cluster: Arc<str>,
    entries: Vec<Entry<P::Hardware>>,
}

#[derive(Debug)]
struct Entry<H> {
    spec: ServerGroup<H>,
    /// One change at a time.
    changing: tokio::sync::Mutex<()>,
    book: Mutex<Book>,
}

impl<H> Entry<H> {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Provider> Servers<P> {
    /// Groups whose servers carry the id `cluster`. Servers of the account without it do not exist for them.
    pub fn new(provider: P, cluster: Arc<str>, groups: Vec<ServerGroup<P::Hardware>>) -> Self {
        let entry = |spec| Entry { spec, changing: tokio::sync::Mutex::new(()), book: Mutex::default() };
        Servers { provider, cluster, entries: groups.into_iter().map(entry).collect() }
    }

    fn entry(&self, group: &str) -> Result<&Entry<P::Hardware>, CloudError> {
        let found = self.entries.iter().find(|entry| *entry.spec.name == *group);
        found.ok_or_else(|| CloudError::NoSuchGroup { group: group.to_owned() })
    }

    /// Every server of this cluster.
    async fn list(&self, group: &str) -> Result<Vec<Server>, CloudError> {
        let servers = self.provider.list().await.map_err(|error| error.of("list the servers of", group))?;
        Ok(servers.into_iter().filter(|server| *server.tags.cluster == *self.cluster).collect())
    }

    /// Deletes these machines of a group. How many went, and which stay.
    async fn let_go(&self, entry: &Entry<P::Hardware>, machines: &[&str]) -> Result<(u32, Vec<Stays>), CloudError> {
        let group = &*entry.spec.name;
        let servers = self.list(group).await?;
        let (mut deletions, mut stay) = (Vec::new(), Vec::new());
        for machine in machines {
            match servers.iter().find(|server| *server.provider_id == **machine) {
                Some(server) if *server.tags.pool == *group => deletions.push(self.delete(entry, server)),
                Some(_) => {
                    let (machine, group) = ((*machine).to_owned(), group.to_owned());
                    stay.push(Stays { machine: machine.clone(), reason: CloudError::NotInGroup { machine, group } });
                }
                // It is gone.
                None => {}
            }
        }
        let deletions = futures::stream::iter(deletions).buffer_unordered(entry.spec.parallel.get());
        let answers: Vec<Result<(), Stays>> = deletions.collect().await;
        if answers.iter().any(|answer| matches!(answer, Err(stays) if matches!(stays.reason, CloudError::NotLeading))) {
            return Err(CloudError::NotLeading);
        }
        let went = answers.iter().filter(|answer| answer.is_ok()).count();
        stay.extend(answers.into_iter().filter_map(Result::err));
        Ok((u32::try_from(went).unwrap_or(u32::MAX), stay))
    }

    async fn delete(&self, entry: &Entry<P::Hardware>, server: &Server) -> Result<(), Stays> {
        let stays = |error: ProviderError| Stays {
            machine: server.provider_id.to_string(),
            reason: error.of("delete a server of", &entry.spec.name),
        };
        self.provider.delete(server).await.map_err(stays)?;
        entry.book().deleted(&server.provider_id, Instant::now());
        Ok(())
    }
}

#[async_trait]
impl<P: Provider> Cloud for Servers<P> {
    async fn groups(&self) -> Result<Vec<CloudGroup>, CloudError> {
        // Before the list is read: what is made meanwhile is in one of the two.
        let expected: Vec<_> = self.entries.iter().map(|entry| entry.book().expected(Instant::now())).collect();
        let servers = self.list("any group").await?;
        let groups = self.entries.iter().zip(&expected).map(|(entry, expected)| {
            let name = &entry.spec.name;
            let own: Vec<&Server> = servers.iter().filter(|server| *server.tags.pool == **name).collect();
            entry.book().group(name, &own, expected)
        });
        Ok(groups.collect())
    }

    async fn resize(&self, group: &str, from: u32, to: u32) -> Result<(), CloudError> {
        let entry = self.entry(group)?;
        let _turn = turn(entry).await?;
        let groups = self.groups().await?;
        let actual = groups.iter().find(|known| *known.name == *group).map_or(0, |known| known.target);
        if actual != from {
            return Err(CloudError::StaleSize { group: group.to_owned(), planned: from, actual });
        }
        if to < from {
            // Which of them should go?
            return Err(CloudError::WouldChoose { group: group.to_owned(), wanted: to, alive: actual });
        }
        self.make(entry, to - from).await
    }

    async fn remove(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        let entry = self.entry(group)?;
        let _turn = turn(entry).await?;
        let (_, stay) = self.let_go(entry, machines).await?;
        Ok(stay)
    }

    async fn replace(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        let entry = self.entry(group)?;
        let _turn = turn(entry).await?;
        let (went, stay) = self.let_go(entry, machines).await?;
        // The machines are gone whether or not others can be had: the next round sees how many there are.
        if let Err(error) = self.make(entry, went).await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(group, error, "nothing comes in the place of servers that are gone");
        }
        Ok(stay)
    }

    async fn template(&self, group: &str) -> Result<Option<Template>, CloudError> {
        self.entry(group).map(|_| None)
    }
}

async fn turn<H>(entry: &Entry<H>) -> Result<tokio::sync::MutexGuard<'_, ()>, CloudError> {
    let too_late = |_| CloudError::Timeout {
        seconds: PATIENCE.as_secs(),
        verb: "change".to_owned(),
        group: entry.spec.name.to_string(),
    };
    tokio::time::timeout(PATIENCE, entry.changing.lock()).await.map_err(too_late)
}
