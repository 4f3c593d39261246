//! The cloud `aws`: EC2 Auto Scaling groups.
//!
//! The size of a group is its desired capacity, and its machines are those that Auto Scaling lists. Nothing is kept
//! here: what a group is, is read before each change. Machines that wait in a warm pool are none of the group.

mod change;
mod client;
mod complaints;
mod failures;
mod find;
mod fleet;
mod object;
mod templates;
mod translate;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt as _, stream};
use headroom_core::snapshot::{CloudGroup, LaunchFailure, Template};

pub use self::client::{Account, Key};
use self::client::{AwsError, Client};
use self::complaints::{About, Complaints};
pub use self::fleet::Fleet;
use self::object::auto_scaling::Group;
use self::templates::Templates;
use self::translate::machine::Machine;
use super::{Cloud, CloudError, Stays};
use crate::fence::Fence;

/// How many groups are asked for their launches at once.
const AT_ONCE: usize = 8;

/// A group whose machines are those of an Auto Scaling group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsGroup {
    /// Its name in the policy.
    pub name: Arc<str>,
    /// Which Auto Scaling group it is.
    pub found_by: FoundBy,
    /// How it gets machines, if not by Auto Scaling itself.
    pub fleet: Option<Fleet>,
}

/// How the Auto Scaling group of a group is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// By its name.
    Name(Arc<str>),
    /// As the only one that has all these tags. An empty value stands for any.
    Tags(BTreeMap<Box<str>, Box<str>>),
}

/// Auto Scaling groups of one account in one region.
#[derive(Debug)]
pub struct Aws {
    client: Client,
    entries: Vec<Entry>,
    templates: Templates,
    /// What was last said of each group that is not as it should be.
    complaints: Complaints,
}

/// One group.
#[derive(Debug)]
struct Entry {
    spec: AwsGroup,
    /// One change at a time.
    changing: tokio::sync::Mutex<()>,
}

impl Aws {
    /// These groups, as the environment says where and who asks, but for what `account` says. Nothing is asked for
    /// before the first call, and nothing is changed while `fence` is closed.
    pub fn new(account: Account, groups: Vec<AwsGroup>, fence: Fence) -> Self {
        let entry = |spec| Entry { spec, changing: tokio::sync::Mutex::new(()) };
        Aws {
            client: Client::new(account, fence),
            entries: groups.into_iter().map(entry).collect(),
            templates: Templates::default(),
            complaints: Complaints::default(),
        }
    }

    fn entry(&self, group: &str) -> Result<&Entry, CloudError> {
        let found = self.entries.iter().find(|entry| *entry.spec.name == *group);
        found.ok_or_else(|| CloudError::NoSuchGroup { group: group.to_owned() })
    }

    /// The template of each group. Groups can be sized whether or not anybody can tell what their machines are like.
    async fn templates(&self, groups: &[(&AwsGroup, Group)]) -> Vec<Option<Template>> {
        let found: Vec<_> = groups.iter().map(|(spec, group)| (spec.fleet.as_ref(), group)).collect();
        let known = async {
            Ok::<_, AwsError>((self.client.region().await?, self.templates.machines(&self.client, &found).await?))
        };
        let (region, machines) = match known.await {
            Ok(known) => known,
            Err(error) => {
                let wrong = format!("nobody says what a machine of this group is like: {}", error.text());
                groups
                    .iter()
                    .for_each(|(spec, _)| self.complaints.tell(&spec.name, About::Template, vec![wrong.clone()]));
                return vec![None; groups.len()];
            }
        };
        let template = |((spec, group), machine): (&(&AwsGroup, Group), Option<Machine>)| {
            let (template, wrong) = translate::template(group, region, machine);
            self.complaints.tell(&spec.name, About::Template, wrong);
            template
        };
        groups.iter().zip(machines).map(template).collect()
    }

    /// The last failed launch of each group that lacks machines.
    async fn failures(&self, groups: &[(&AwsGroup, Group)]) -> Vec<Option<LaunchFailure>> {
        let asked = groups.iter().map(|(spec, group)| async move {
            let failure = failures::last(&self.client, group).await;
            let wrong = failure.as_ref().err().map(|error| format!("launches are not known: {}", error.text()));
            self.complaints.tell(&spec.name, About::Launches, wrong.into_iter().collect());
            failure.ok().flatten()
        });
        let asked: Vec<_> = asked.collect();
        stream::iter(asked).buffered(AT_ONCE).collect().await
    }
}

#[async_trait]
impl Cloud for Aws {
    async fn groups(&self) -> Result<Vec<CloudGroup>, CloudError> {
        let mut found: Vec<(&AwsGroup, Group)> = Vec::new();
        for (entry, group) in self.entries.iter().zip(self.find_all().await?) {
            match group {
                Ok(group) => found.push((&entry.spec, group)),
                Err(wrong) => self.complaints.tell(&entry.spec.name, About::Group, vec![wrong.to_string()]),
            }
        }
        let (templates, failures) = futures::join!(self.templates(&found), self.failures(&found));
        let parts = found.iter().zip(templates).zip(failures);
        Ok(parts
            .map(|(((spec, group), template), failure)| {
                self.complaints.tell(&spec.name, About::Group, Vec::new());
                let (options, wrong) = translate::options(group);
                self.complaints.tell(&spec.name, About::Options, wrong);
                CloudGroup { template, failure, options, ..translate::group(&spec.name, group) }
            })
            .collect())
    }

    async fn resize(&self, group: &str, from: u32, to: u32) -> Result<(), CloudError> {
        self.set_desired_capacity(self.entry(group)?, from, to).await
    }

    async fn remove(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        self.terminate(self.entry(group)?, machines, change::Size::Shrinks).await
    }

    async fn replace(&self, group: &str, machines: &[&str]) -> Result<Vec<Stays>, CloudError> {
        self.terminate(self.entry(group)?, machines, change::Size::Stays).await
    }

    async fn template(&self, group: &str) -> Result<Option<Template>, CloudError> {
        let entry = self.entry(group)?;
        let found = self.find(entry).await?;
        let machines = self
            .templates
            .machines(&self.client, &[(entry.spec.fleet.as_ref(), &found)])
            .await
            .map_err(|error| error.of(group))?;
        let region = self.client.region().await.map_err(|error| error.of(group))?;
        Ok(translate::template(&found, region, machines.into_iter().next().flatten()).0)
    }
}
