//! Where the configuration comes from: the file, and the clouds that are asked which groups there are.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use futures::future::{BoxFuture, join_all};
use headroom_adapters::cloud::aws::Aws;
use headroom_adapters::cloud::externalgrpc::ExternalGrpc;
use headroom_adapters::cloud::{CloudError, FoundGroup};
use headroom_adapters::fence::Fence;
use tokio::time::{Instant, timeout};

use super::journal;
use crate::config::{Cloud, Config, ConfigErrors, Found};

#[cfg(test)]
mod tests;

/// How often a cloud is asked which groups it has, as Cluster Autoscaler does.
const EVERY: Duration = Duration::from_secs(60);

/// When it is asked again after it did not answer.
const AGAIN: Duration = Duration::from_secs(10);

/// How long it may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// Reads the file, with the groups that were found.
type Read = Box<dyn Fn(&Found) -> Result<Config, ConfigErrors> + Send + Sync>;

/// Asks a cloud for its groups.
type Ask = Box<dyn Fn(Cloud) -> BoxFuture<'static, Result<Vec<FoundGroup>, CloudError>> + Send + Sync>;

/// The configuration, as it is now.
pub(super) struct Source {
    read: Read,
    ask: Ask,
    searches: Vec<Search>,
    /// Of the groups that were found, those that were left out because of their names.
    taken: Vec<Arc<str>>,
}

/// What one cloud was asked for.
struct Search {
    cloud: Cloud,
    /// What it said last.
    found: Option<Vec<FoundGroup>>,
    /// Why it did not answer the last time.
    error: Option<String>,
    /// When it is asked again.
    due: Instant,
}

impl Source {
    /// A file, and the clouds that it names.
    pub(super) fn new(read: impl Fn(&Found) -> Result<Config, ConfigErrors> + Send + Sync + 'static) -> Self {
        Source::asking(Box::new(read), Box::new(|cloud| Box::pin(find(cloud))))
    }

    fn asking(read: Read, ask: Ask) -> Self {
        Source { read, ask, searches: Vec::new(), taken: Vec::new() }
    }

    /// The configuration with every group that there is. A cloud is asked when it is its time; what it said before stands
    /// for as long as it does not answer. One that never has is an error.
    pub(super) async fn load(&mut self) -> anyhow::Result<Config> {
        let config = self.read()?;
        self.searches.retain(|search| config.discover.contains(&search.cloud));
        for cloud in &config.discover {
            if !self.searches.iter().any(|search| search.cloud == *cloud) {
                let cloud = cloud.clone();
                self.searches.push(Search { cloud, found: None, error: None, due: Instant::now() });
            }
        }
        let now = Instant::now();
        let due = self.searches.iter_mut().filter(|search| search.due <= now);
        let ask = &self.ask;
        let asked = join_all(due.map(|search| async move { search.answered(ask(search.cloud.clone()).await) })).await;
        if let Some(search) = self.searches.iter().find(|search| search.found.is_none()) {
            let error = search.error.as_deref().unwrap_or("nobody has answered");
            return Err(anyhow!("it is not known which groups {} has: {error}", search.cloud.search_words()));
        }
        let config = if asked.is_empty() { config } else { self.read()? };
        if config.taken != self.taken {
            config.taken.iter().for_each(|name| journal::name_taken(name));
            self.taken.clone_from(&config.taken);
        }
        Ok(config)
    }

    fn read(&self) -> Result<Config, ConfigErrors> {
        let found = self.searches.iter().filter_map(|search| Some((search.cloud.clone(), search.found.clone()?)));
        (self.read)(&found.collect())
    }
}

impl Search {
    fn answered(&mut self, answer: Result<Vec<FoundGroup>, CloudError>) {
        match answer {
            Ok(groups) => {
                self.due = Instant::now() + EVERY;
                self.error = None;
                let ids = |groups: &[FoundGroup]| groups.iter().map(|group| Arc::clone(&group.id)).collect();
                let (before, now): (Vec<_>, Vec<_>) = (ids(self.found.as_deref().unwrap_or_default()), ids(&groups));
                if before != now {
                    journal::discovered(&self.cloud.search_words(), &before, &now);
                }
                self.found = Some(groups);
            }
            Err(error) => {
                self.due = Instant::now() + AGAIN;
                let error = journal::chain(&error);
                if self.found.is_some() && self.error.as_ref() != Some(&error) {
                    journal::not_discovered(&self.cloud.search_words(), &error);
                }
                self.error = Some(error);
            }
        }
    }
}

/// The groups that a cloud has of those that are meant.
async fn find(cloud: Cloud) -> Result<Vec<FoundGroup>, CloudError> {
    // Nothing is changed, whoever leads.
    let fence = Fence::closed();
    let found = async {
        match cloud {
            Cloud::Aws(aws) => Aws::new(aws.account(), Vec::new(), fence).discover(&aws.tags()).await,
            Cloud::ExternalGrpc(external) => ExternalGrpc::new(external.reach(), Vec::new(), fence).discover().await,
            Cloud::None | Cloud::Kwok(_) | Cloud::Hetzner(_) | Cloud::Linode(_) | Cloud::Process(_) => Ok(Vec::new()),
        }
    };
    timeout(DEADLINE, found).await.unwrap_or_else(|elapsed| Err(CloudError::Unreachable(Box::new(elapsed))))
}
