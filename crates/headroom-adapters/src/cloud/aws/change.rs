//! What is done to a group, after it was read once more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use headroom_core::snapshot::InstanceState;
use tokio::sync::MutexGuard;

use super::client::{AwsError, Call};
use super::object::auto_scaling::{Done, Group};
use super::object::ec2;
use super::translate::{self, provider_id};
use super::{Aws, Entry};
use crate::cloud::{CloudError, Stays};

/// How many machines are ended at once; Auto Scaling throttles clients that ask for more.
const AT_ONCE: usize = 8;
/// How long a change waits for the one before.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many ids a filter of EC2 may have.
const IDS: usize = 200;

/// What becomes of the size of a group that loses machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Shrinks,
    Stays,
}

impl Aws {
    /// Sets the desired capacity to `to`, if it is `from`.
    pub(super) async fn set_desired_capacity(&self, entry: &Entry, from: u32, to: u32) -> Result<(), CloudError> {
        let _turn = turn(entry).await?;
        let group = self.find(entry).await?;
        let name = &*entry.spec.name;
        let actual = group.desired_capacity;
        if actual != from {
            return Err(CloudError::StaleSize { group: name.to_owned(), planned: from, actual });
        }
        if to < group.min_size || to > group.max_size {
            return Err(outside(name, &group, to));
        }
        if let (Some(fleet), true) = (&entry.spec.fleet, to > actual) {
            return self.add_fleet(fleet, &group, name, to - actual).await;
        }
        if to > actual {
            running(name, &group, "Launch")?;
        }
        let alive = translate::alive(&group);
        if to < actual && to < alive {
            return Err(CloudError::WouldChoose { group: name.to_owned(), wanted: to, alive });
        }
        if to == actual {
            return Ok(());
        }
        let call = Call::auto_scaling("SetDesiredCapacity")
            .with("AutoScalingGroupName", &*group.auto_scaling_group_name)
            .with("DesiredCapacity", to.to_string())
            .with("HonorCooldown", "false");
        let done: Result<Done, _> = self.client.call(&call).await;
        match done {
            Ok(Done {}) => Ok(()),
            // The limits have changed since.
            Err(error) if error.is_refusal(&["ValidationError"]) && is_about_limits(error.message()) => {
                Err(outside(name, &group, to))
            }
            Err(error) => Err(error.of(name)),
        }
    }

    /// Ends machines. Which stay: those of somebody else, those that the minimum needs, and those that AWS keeps.
    pub(super) async fn terminate(
        &self,
        entry: &Entry,
        machines: &[&str],
        size: Size,
    ) -> Result<Vec<Stays>, CloudError> {
        let _turn = turn(entry).await?;
        let group = self.find(entry).await?;
        let name = &*entry.spec.name;
        running(name, &group, "Terminate")?;
        if size == Size::Stays {
            running(name, &group, "Launch")?;
        }
        let batch = Batch::of(&group, machines);
        let foreign = |machine: &str| Stays {
            machine: machine.to_owned(),
            reason: CloudError::NotInGroup { machine: machine.to_owned(), group: name.to_owned() },
        };
        let mut stay: Vec<Stays> = batch.malformed.into_iter().map(foreign).collect();
        match self.running(batch.unknown.keys().copied()).await {
            Ok(running) => {
                let elsewhere = batch.unknown.iter().filter(|(instance, _)| running.contains(**instance));
                stay.extend(elsewhere.map(|(_, machine)| foreign(machine)));
            }
            // Nobody knows whether these are gone; the others can go all the same.
            Err(error) => {
                let reason = |error: &AwsError| {
                    let (verb, group) = ("ec2:DescribeInstances".to_owned(), name.to_owned());
                    CloudError::Refused { verb, group, reason: error.text() }
                };
                let unsure = batch.unknown.values();
                stay.extend(unsure.map(|machine| Stays { machine: (*machine).to_owned(), reason: reason(&error) }));
            }
        }

        let room = match size {
            Size::Shrinks => group.desired_capacity.saturating_sub(group.min_size),
            Size::Stays => u32::MAX,
        };
        let (go, kept) = batch.own.split_at(batch.own.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
        let below = group.min_size.saturating_sub(1);
        let held = |(_, machine): &(&str, &str)| Stays {
            machine: (*machine).to_owned(),
            reason: outside(name, &group, below),
        };
        stay.extend(kept.iter().map(held));
        let group = &group;
        let calls = go.iter().map(|(instance, machine)| async move {
            let ended = self.end_one(group, name, instance, size).await;
            ended.err().map(|reason| Stays { machine: (*machine).to_owned(), reason })
        });
        let calls: Vec<_> = calls.collect();
        let answers: Vec<Option<Stays>> = stream::iter(calls).buffer_unordered(AT_ONCE).collect().await;
        let none_went = answers.iter().all(Option::is_some);
        for stays in answers.into_iter().flatten() {
            if none_went && is_about_all(&stays.reason) {
                return Err(stays.reason);
            }
            stay.push(stays);
        }
        Ok(stay)
    }

    async fn end_one(&self, group: &Group, name: &str, instance: &str, size: Size) -> Result<(), CloudError> {
        let call = Call::auto_scaling("TerminateInstanceInAutoScalingGroup")
            .with("InstanceId", instance)
            .with("ShouldDecrementDesiredCapacity", (size == Size::Shrinks).to_string());
        let done: Result<Done, _> = self.client.call(&call).await;
        match done {
            Ok(Done {}) => Ok(()),
            Err(error) if error.is_refusal(&["ValidationError"]) && is_gone(error.message()) => Ok(()),
            Err(error) if error.is_refusal(&["ValidationError"]) && is_about_limits(error.message()) => {
                Err(outside(name, group, group.min_size.saturating_sub(1)))
            }
            Err(error) => Err(error.of(name)),
        }
    }

    /// Which of these instances there are. One that EC2 does not know, or knows as ended, is none.
    async fn running<'i>(&self, instances: impl Iterator<Item = &'i str>) -> Result<BTreeSet<String>, AwsError> {
        let instances: Vec<&str> = instances.collect();
        let mut running = BTreeSet::new();
        for instances in instances.chunks(IDS) {
            let call = Call::ec2("DescribeInstances").with("Filter.1.Name", "instance-id");
            let call = call.with_all("Filter.1.Value", instances.iter().copied());
            let pages: Vec<ec2::Instances> = self.client.pages(&call).await?;
            let found = pages.into_iter().flat_map(ec2::Instances::into_instances);
            let alive = found
                .filter(|instance| !["shutting-down", "terminated"].contains(&instance.instance_state.name.as_str()));
            running.extend(alive.map(|instance| instance.instance_id));
        }
        Ok(running)
    }
}

/// Machines that are to go, sorted by what Auto Scaling says of them. Those that go already are left out.
struct Batch<'m> {
    /// Instances of the group, with the machine that was named.
    own: Vec<(&'m str, &'m str)>,
    /// Instances that the group does not list.
    unknown: BTreeMap<&'m str, &'m str>,
    /// What names no instance.
    malformed: Vec<&'m str>,
}

impl<'m> Batch<'m> {
    fn of(group: &Group, machines: &[&'m str]) -> Self {
        let states: BTreeMap<&str, Option<InstanceState>> = group
            .instances
            .member
            .iter()
            .map(|instance| (instance.instance_id.as_str(), translate::state(&instance.lifecycle_state)))
            .collect();
        let mut batch = Batch { own: Vec::new(), unknown: BTreeMap::new(), malformed: Vec::new() };
        let mut seen = BTreeSet::new();
        for machine in machines.iter().copied().filter(|machine| seen.insert(*machine)) {
            match provider_id::instance(machine) {
                None => batch.malformed.push(machine),
                Some(instance) => match states.get(instance) {
                    Some(None | Some(InstanceState::Deleting)) => {}
                    Some(Some(_)) => batch.own.push((instance, machine)),
                    None => drop(batch.unknown.insert(instance, machine)),
                },
            }
        }
        batch
    }
}

async fn turn(entry: &Entry) -> Result<MutexGuard<'_, ()>, CloudError> {
    let too_late = |_| CloudError::Timeout {
        seconds: PATIENCE.as_secs(),
        verb: "change".to_owned(),
        group: entry.spec.name.to_string(),
    };
    tokio::time::timeout(PATIENCE, entry.changing.lock()).await.map_err(too_late)
}

fn outside(name: &str, group: &Group, wanted: u32) -> CloudError {
    CloudError::OutsideLimits { group: name.to_owned(), wanted, min: group.min_size, max: group.max_size }
}

fn running(name: &str, group: &Group, process: &str) -> Result<(), CloudError> {
    match translate::is_suspended(group, process) {
        true => Err(CloudError::Suspended { group: name.to_owned(), process: process.to_owned() }),
        false => Ok(()),
    }
}

/// Whether an error has nothing to do with the machine.
fn is_about_all(error: &CloudError) -> bool {
    matches!(
        error,
        CloudError::NotLeading
            | CloudError::Unauthorized { .. }
            | CloudError::Forbidden { .. }
            | CloudError::Throttled { .. }
    )
}

/// Auto Scaling has one code for everything that is wrong with a request; only the message says what.
fn is_about_limits(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["minsize", "min size", "min value", "max value", "max size"].iter().any(|words| message.contains(words))
}

fn is_gone(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("no managed instance found") || message.contains("instance id not found")
}
