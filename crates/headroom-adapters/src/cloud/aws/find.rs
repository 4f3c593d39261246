//! Which Auto Scaling group is meant.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::try_join_all;

use super::client::{AwsError, Call};
use super::object::auto_scaling::{Group, Groups};
use super::{Aws, Entry, FoundBy};
use crate::cloud::{CloudError, FoundGroup};

/// How many names one call may have, and how many groups a page.
const NAMES: usize = 50;
const PAGE: &str = "100";

/// Why there is no Auto Scaling group for a group.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotFound {
    #[error("there is no Auto Scaling group {name} in this account and region")]
    NoName { name: Arc<str> },
    #[error("no Auto Scaling group in this account and region has the tags {tags}")]
    NoTags { tags: String },
    #[error("{} Auto Scaling groups have the tags {tags}: {}; hint: add a tag that only one has", found.len(), found.join(", "))]
    Several { tags: String, found: Vec<String> },
    #[error("the Auto Scaling group {name} does not count machines, but {counts}; hint: use machines of weight 1")]
    NotMachines { name: Arc<str>, counts: String },
}

impl Aws {
    /// The Auto Scaling group of each group, all in as few calls as go.
    pub(super) async fn find_all(&self) -> Result<Vec<Result<Group, NotFound>>, CloudError> {
        let names: Vec<&str> = self.entries.iter().filter_map(|entry| entry.name()).collect();
        let named = names.chunks(NAMES).map(|names| self.list(by_names(names)));
        let tagged = self.entries.iter().filter_map(|entry| match &entry.spec.found_by {
            FoundBy::Tags(tags) => Some(async move { self.list(by_tags(tags)).await }),
            FoundBy::Name(_) => None,
        });
        let (named, tagged) =
            futures::try_join!(try_join_all(named), try_join_all(tagged)).map_err(|error| error.of("any group"))?;
        let named: BTreeMap<Arc<str>, Group> =
            named.into_iter().flatten().map(|group| (Arc::clone(&group.auto_scaling_group_name), group)).collect();
        let mut tagged = tagged.into_iter();
        let of = |entry: &Entry| match &entry.spec.found_by {
            FoundBy::Name(name) => only(entry, named.get(name).cloned().into_iter().collect()),
            FoundBy::Tags(_) => only(entry, tagged.next().unwrap_or_default()),
        };
        Ok(self.entries.iter().map(of).collect())
    }

    /// The Auto Scaling group of one group, as it is now.
    pub(super) async fn find(&self, entry: &Entry) -> Result<Group, CloudError> {
        let call = match &entry.spec.found_by {
            FoundBy::Name(name) => by_names(&[name]),
            FoundBy::Tags(tags) => by_tags(tags),
        };
        let mut found = self.list(call).await.map_err(|error| error.of(&entry.spec.name))?;
        found.retain(|group| entry.name().is_none_or(|name| name == &*group.auto_scaling_group_name));
        only(entry, found).map_err(|wrong| {
            tracing::debug!(group = %entry.spec.name, "{wrong}");
            CloudError::NoSuchGroup { group: entry.spec.name.to_string() }
        })
    }

    /// Every Auto Scaling group of the account and region that has all these tags, by its name. An empty value stands for
    /// any.
    pub async fn discover(&self, tags: &BTreeMap<Box<str>, Box<str>>) -> Result<Vec<FoundGroup>, CloudError> {
        let found = self.list(by_tags(tags)).await.map_err(|error| error.of("any group"))?;
        let there = found.into_iter().filter(is_there).map(|group| FoundGroup {
            id: group.auto_scaling_group_name,
            tags: group.tags.member.into_iter().map(|tag| (tag.key.into(), tag.value.into())).collect(),
        });
        let mut there: Vec<FoundGroup> = there.collect();
        there.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(there)
    }

    async fn list(&self, call: Call) -> Result<Vec<Group>, AwsError> {
        let pages: Vec<Groups> = self.client.pages(&call).await?;
        Ok(pages.into_iter().flat_map(Groups::into_groups).collect())
    }
}

impl Entry {
    fn name(&self) -> Option<&str> {
        if let FoundBy::Name(name) = &self.spec.found_by { Some(name) } else { None }
    }
}

fn by_names(names: &[&str]) -> Call {
    let call = Call::auto_scaling("DescribeAutoScalingGroups").with("MaxRecords", PAGE);
    call.with_all("AutoScalingGroupNames", names.iter().copied())
}

fn by_tags(tags: &BTreeMap<Box<str>, Box<str>>) -> Call {
    let mut call = Call::auto_scaling("DescribeAutoScalingGroups").with("MaxRecords", PAGE);
    for (number, (key, value)) in (1..).zip(tags) {
        let (name, value) = if value.is_empty() { ("tag-key".to_owned(), key) } else { (format!("tag:{key}"), value) };
        call = call.with(format!("Filters.member.{number}.Name"), name);
        call = call.with(format!("Filters.member.{number}.Values.member.1"), &**value);
    }
    call
}

/// Whether a group is not being deleted.
fn is_there(group: &Group) -> bool {
    group.status.is_none()
}

/// The group that was found, if it is one and its size is a number of machines. One that is being deleted is none.
fn only(entry: &Entry, mut found: Vec<Group>) -> Result<Group, NotFound> {
    found.retain(is_there);
    let group = match (found.pop(), &entry.spec.found_by) {
        (None, FoundBy::Name(name)) => return Err(NotFound::NoName { name: Arc::clone(name) }),
        (None, FoundBy::Tags(tags)) => return Err(NotFound::NoTags { tags: words(tags) }),
        (Some(last), FoundBy::Tags(tags)) if !found.is_empty() => {
            let mut found: Vec<String> =
                found.iter().chain([&last]).map(|group| group.auto_scaling_group_name.to_string()).collect();
            found.sort_unstable();
            return Err(NotFound::Several { tags: words(tags), found });
        }
        (Some(group), _) => group,
    };
    match counts(&group) {
        None => Ok(group),
        Some(counts) => Err(NotFound::NotMachines { name: Arc::clone(&group.auto_scaling_group_name), counts }),
    }
}

/// What the desired capacity counts, if not machines.
fn counts(group: &Group) -> Option<String> {
    let unit = group.desired_capacity_type.as_deref().filter(|unit| !unit.is_empty() && *unit != "units");
    let policy = group.mixed_instances_policy.as_ref().and_then(|policy| policy.launch_template.as_ref());
    let weights = policy.into_iter().flat_map(|template| &template.overrides.member);
    let weight = weights.filter_map(|kind| kind.weighted_capacity.as_deref()).find(|weight| *weight != "1");
    unit.map(str::to_owned).or_else(|| weight.map(|weight| format!("weights such as {weight}")))
}

fn words(tags: &BTreeMap<Box<str>, Box<str>>) -> String {
    let pairs: Vec<String> = tags
        .iter()
        .map(|(key, value)| if value.is_empty() { key.to_string() } else { format!("{key}={value}") })
        .collect();
    pairs.join(", ")
}
