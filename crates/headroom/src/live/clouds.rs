//! The clouds of all groups: read when something may have changed, and remembered for as long as they do not answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_core::snapshot::{Change, CloudGroup, LaunchError, LaunchFailure};
use jiff::{SignedDuration, Timestamp};

/// How long a cloud may take to list its groups.
const DEADLINE: Duration = Duration::from_secs(10);

/// How old a reading may be that the next rounds go by when the cloud does not answer.
const LIMIT: SignedDuration = SignedDuration::from_mins(2);

/// One cloud and the groups whose machines it has.
pub(super) struct Owner {
    pub(super) cloud: Arc<dyn Cloud>,
    pub(super) groups: Vec<Arc<str>>,
}

/// Every cloud, and what each said last.
pub(super) struct Clouds {
    owners: Vec<(Owner, Reading)>,
    /// What became of resizes that a cloud refused: it does not tell of these itself.
    refused: BTreeMap<Arc<str>, LaunchFailure>,
}

#[derive(Default)]
struct Reading {
    at: Option<Timestamp>,
    /// Something was done since.
    stale: bool,
    groups: BTreeMap<Arc<str>, CloudGroup>,
}

impl Clouds {
    pub(super) fn new(owners: Vec<Owner>) -> Self {
        let owners = owners.into_iter().map(|owner| (owner, Reading::default())).collect();
        Clouds { owners, refused: BTreeMap::new() }
    }

    /// Who has the machines of `group`.
    pub(super) fn of(&self, group: &str) -> Option<Arc<dyn Cloud>> {
        let mut owners = self.owners.iter().map(|(owner, _)| owner);
        owners.find(|owner| owner.groups.iter().any(|own| **own == *group)).map(|owner| Arc::clone(&owner.cloud))
    }

    /// The next [`Clouds::read`] asks the cloud of `group` again, however lately it answered.
    pub(super) fn touched(&mut self, group: &str) {
        for (owner, reading) in &mut self.owners {
            reading.stale |= owner.groups.iter().any(|own| **own == *group);
        }
    }

    /// Takes in that the cloud of `group` did not resize it, which holds the group back as a failed launch does.
    pub(super) fn refused(&mut self, group: &Arc<str>, error: &CloudError, at: Timestamp) {
        let kind = match error {
            CloudError::OutOfStock { .. } => LaunchError::OutOfStock,
            // The next round knows the size and plans anew.
            CloudError::StaleSize { .. } => return,
            _ => LaunchError::Refused,
        };
        let failure = LaunchFailure { at, error: kind, message: error.to_string().into() };
        self.refused.insert(Arc::clone(group), failure);
    }

    /// What has changed since the reading before. Clouds are asked at the same time, those only that were not asked within
    /// `interval`; one that does not answer is in the errors.
    pub(super) async fn read(
        &mut self,
        now: Timestamp,
        interval: SignedDuration,
    ) -> (Vec<Change>, Vec<(Vec<Arc<str>>, CloudError)>) {
        let readings = self.owners.iter().map(|(owner, reading)| async move {
            let fresh = reading.at.is_some_and(|at| now.duration_since(at) < interval);
            if fresh && !reading.stale { None } else { Some(ask(&*owner.cloud).await) }
        });
        let answers = futures::future::join_all(readings).await;
        let (mut changes, mut errors) = (Vec::new(), Vec::new());
        for ((owner, reading), answer) in self.owners.iter_mut().zip(answers) {
            match answer {
                None => {}
                Some(Ok(groups)) => {
                    *reading = Reading { at: Some(now), stale: false, groups: std::mem::take(&mut reading.groups) };
                    let groups = groups.into_iter().map(|group| merge(group, &self.refused));
                    changes.extend(reading.update(groups.map(|group| (Arc::clone(&group.name), group)).collect()));
                }
                Some(Err(error)) => {
                    if reading.at.is_none_or(|at| now.duration_since(at) >= LIMIT) {
                        changes.extend(reading.update(BTreeMap::new()));
                    }
                    errors.push((owner.groups.clone(), error));
                }
            }
        }
        (changes, errors)
    }
}

async fn ask(cloud: &dyn Cloud) -> Result<Vec<CloudGroup>, CloudError> {
    match tokio::time::timeout(DEADLINE, cloud.groups()).await {
        Ok(answer) => answer,
        Err(elapsed) => Err(CloudError::Unreachable(Box::new(elapsed))),
    }
}

/// The later of what the cloud tells of and what it answered to a resize.
fn merge(mut group: CloudGroup, refused: &BTreeMap<Arc<str>, LaunchFailure>) -> CloudGroup {
    if let Some(refused) = refused.get(&group.name)
        && group.failure.as_ref().is_none_or(|failure| failure.at < refused.at)
    {
        group.failure = Some(refused.clone());
    }
    group
}

impl Reading {
    /// Replaces the groups; what is different now.
    fn update(&mut self, groups: BTreeMap<Arc<str>, CloudGroup>) -> Vec<Change> {
        let gone = self.groups.keys().filter(|name| !groups.contains_key(*name));
        let mut changes: Vec<Change> = gone.map(|name| Change::GroupGone(Arc::clone(name))).collect();
        let changed = groups.values().filter(|group| self.groups.get(&group.name) != Some(*group));
        changes.extend(changed.map(|group| Change::Group(Box::new(group.clone()))));
        self.groups = groups;
        changes
    }
}
