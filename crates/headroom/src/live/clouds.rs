//! The clouds of all groups: read when something may have changed, and remembered for as long as they do not answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_core::snapshot::{Change, CloudGroup, LaunchError, LaunchFailure};
use jiff::{SignedDuration, Timestamp};

#[cfg(test)]
mod tests;

/// How long a cloud may take to list its groups.
const DEADLINE: Duration = Duration::from_secs(10);

/// How old a reading may be that the next rounds go by when the cloud does not answer.
const LIMIT: SignedDuration = SignedDuration::from_mins(2);

/// How long a cloud is left alone after it did not answer, the first time. Each time doubles it.
const FIRST_WAIT: SignedDuration = SignedDuration::from_secs(2);

/// At most, unless the cloud itself asks for longer.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_mins(1);

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
    /// None while it answers.
    trouble: Option<Trouble>,
}

/// A cloud that did not answer the last time.
struct Trouble {
    /// How many times in a row.
    failures: u32,
    /// The last reason.
    error: Arc<CloudError>,
    /// When it is asked again.
    again: Timestamp,
}

impl Clouds {
    pub(super) fn new(owners: Vec<Owner>) -> Self {
        let owners = owners.into_iter().map(|owner| (owner, Reading::default())).collect();
        Clouds { owners, refused: BTreeMap::new() }
    }

    /// Goes by other owners. One that has the same groups as before, none of which is `changed`, stays what it was, with all
    /// that it knows. Of the others the groups that are still there are as they were said to be until their cloud answers.
    /// What is different now: groups that nobody has any more are gone.
    pub(super) fn replace(&mut self, owners: Vec<Owner>, changed: impl Fn(&str) -> bool) -> Vec<Change> {
        let mut before = std::mem::take(&mut self.owners);
        for owner in owners {
            let same = |(old, _): &(Owner, Reading)| {
                old.groups == owner.groups && !owner.groups.iter().any(|group| changed(group))
            };
            if let Some(at) = before.iter().position(same) {
                self.owners.push(before.swap_remove(at));
                continue;
            }
            let mut reading = Reading { stale: true, ..Reading::default() };
            for (_, old) in &mut before {
                for group in &owner.groups {
                    if let Some(known) = old.groups.remove(group) {
                        reading.groups.insert(Arc::clone(group), known);
                        reading.at = reading.at.into_iter().chain(old.at).min();
                    }
                }
            }
            self.owners.push((owner, reading));
        }
        let owners = &self.owners;
        self.refused.retain(|group, _| owners.iter().any(|(owner, _)| owner.groups.contains(group)));
        before.into_iter().flat_map(|(_, old)| old.groups.into_keys().map(Change::GroupGone)).collect()
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
    /// `interval`; one that does not answer is in the errors, of each round until it does, and is left alone for longer
    /// each time.
    pub(super) async fn read(
        &mut self,
        now: Timestamp,
        interval: SignedDuration,
    ) -> (Vec<Change>, Vec<(Vec<Arc<str>>, Arc<CloudError>)>) {
        let readings = self.owners.iter().map(|(owner, reading)| async move {
            if reading.is_due(now, interval) { Some(ask(&*owner.cloud).await) } else { None }
        });
        let answers = futures::future::join_all(readings).await;
        let (mut changes, mut errors) = (Vec::new(), Vec::new());
        for ((owner, reading), answer) in self.owners.iter_mut().zip(answers) {
            match answer {
                None => {}
                Some(Ok(groups)) => {
                    let before = std::mem::take(&mut reading.groups);
                    *reading = Reading { at: Some(now), groups: before, ..Reading::default() };
                    let groups = groups.into_iter().map(|group| merge(group, &self.refused));
                    changes.extend(reading.update(groups.map(|group| (Arc::clone(&group.name), group)).collect()));
                }
                Some(Err(error)) => reading.trouble = Some(Trouble::new(reading.trouble.as_ref(), error, now)),
            }
            if let Some(Trouble { error, .. }) = &reading.trouble {
                errors.push((owner.groups.clone(), Arc::clone(error)));
                if reading.at.is_none_or(|at| now.duration_since(at) >= LIMIT) {
                    changes.extend(reading.update(BTreeMap::new()));
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

impl Trouble {
    fn new(before: Option<&Trouble>, error: CloudError, now: Timestamp) -> Self {
        let failures = before.map_or(1, |before| before.failures.saturating_add(1));
        let doubled = (1..failures).fold(FIRST_WAIT, |wait, _| wait.saturating_mul(2).min(LONGEST_WAIT));
        let asked_for = match &error {
            CloudError::Throttled { retry_after: Some(wait), .. } => SignedDuration::try_from(*wait).unwrap_or(doubled),
            _ => SignedDuration::ZERO,
        };
        let again = now.saturating_add(doubled.max(asked_for)).unwrap_or(Timestamp::MAX);
        Trouble { failures, error: Arc::new(error), again }
    }
}

impl Reading {
    /// Whether it is time to ask the cloud.
    fn is_due(&self, now: Timestamp, interval: SignedDuration) -> bool {
        match &self.trouble {
            Some(trouble) => now >= trouble.again,
            None => self.stale || self.at.is_none_or(|at| now.duration_since(at) >= interval),
        }
    }

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
