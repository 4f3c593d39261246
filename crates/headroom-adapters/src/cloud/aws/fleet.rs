//! Machines by an EC2 fleet instead of by Auto Scaling: all of a request at once or none, from the first of many types
//! and subnets that has so many, attached to the Auto Scaling group once they run.
//!
//! It is what Escalator does where a launch template is named, by the actions `CreateFleet` (type `instant`) and
//! `AttachInstances`. Machines that cannot be attached are ended. Those that were left when Headroom itself ended carry a
//! tag by which the next enlargement of the group finds them and ends them.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::client::{AwsError, Call};
use super::object::auto_scaling::{Done, Group};
use super::object::ec2::{self, FleetAnswer};
use super::{Aws, failures};
use crate::cloud::CloudError;

/// How many machines one call may attach; a limit of AWS.
const ATTACHED_AT_ONCE: usize = 20;
/// How many machines one call names when they are looked for or ended.
const NAMED_AT_ONCE: usize = 100;
/// How often is looked whether all run.
const PAUSE: Duration = Duration::from_secs(1);
/// The tag of machines that are to be attached to the Auto Scaling group that is its value.
const TAG: &str = "headroom.dev/fleet";
/// The tag that Auto Scaling gives to what it has.
const OWNED: &str = "aws:autoscaling:groupName";

/// How a group gets its machines by fleets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// The launch template, by its id.
    pub launch_template: Box<str>,
    /// Its version: a number, `$Latest` or `$Default`.
    pub version: Box<str>,
    /// Spot machines instead of ones on demand.
    pub spot: bool,
    /// The types that will do; none are those of the launch template.
    pub instance_types: Vec<Box<str>>,
    /// How long all machines may take until they run.
    pub ready_timeout: Duration,
}

impl Aws {
    /// Adds `count` machines to `group`, which goes by `name`.
    pub(super) async fn add_fleet(
        &self,
        fleet: &Fleet,
        group: &Group,
        name: &str,
        count: u32,
    ) -> Result<(), CloudError> {
        self.end_left_over(group).await.map_err(|error| error.of(name))?;
        let answer: FleetAnswer =
            self.client.call(&request(fleet, group, count)).await.map_err(|error| error.of(name))?;
        let (machines, refusals) = answer.into_parts();
        if machines.is_empty() {
            let first = refusals.into_iter().next().unwrap_or_default();
            return Err(failures::of_fleet(name, &first.error_code, &first.error_message));
        }
        // Other refusals are of pools that were passed over on the way.
        let (attached, outcome) = self.attach_when_running(fleet, group, name, &machines).await;
        let Err(error) = outcome else { return Ok(()) };
        let left: Vec<String> = machines.into_iter().skip(attached).collect();
        if let Err(error) = self.end(&left).await {
            let machines = left.join(", ");
            tracing::error!(group = name, machines, "machines of a fleet could not be ended: {}", error.text());
        }
        Err(error)
    }

    /// Attaches machines once all run. How many were attached before something went wrong.
    async fn attach_when_running(
        &self,
        fleet: &Fleet,
        group: &Group,
        name: &str,
        machines: &[String],
    ) -> (usize, Result<(), CloudError>) {
        if let Err(error) = self.all_run(fleet, name, machines).await {
            return (0, Err(error));
        }
        for (number, batch) in machines.chunks(ATTACHED_AT_ONCE).enumerate() {
            let call = Call::auto_scaling("AttachInstances")
                .with("AutoScalingGroupName", &*group.auto_scaling_group_name)
                .with_all("InstanceIds", batch.iter().map(String::as_str));
            let done: Result<Done, AwsError> = self.client.call(&call).await;
            if let Err(error) = done {
                return (number * ATTACHED_AT_ONCE, Err(error.of(name)));
            }
        }
        (machines.len(), Ok(()))
    }

    /// Waits until all run. A look that fails is made up for by the next.
    async fn all_run(&self, fleet: &Fleet, name: &str, machines: &[String]) -> Result<(), CloudError> {
        let start = Instant::now();
        let all: BTreeSet<&str> = machines.iter().map(String::as_str).collect();
        loop {
            if let Ok(running) = self.running_of(machines).await
                && all.iter().all(|machine| running.contains(*machine))
            {
                return Ok(());
            }
            if start.elapsed() >= fleet.ready_timeout {
                let seconds = fleet.ready_timeout.as_secs();
                return Err(CloudError::Timeout {
                    seconds,
                    verb: "start machines of".to_owned(),
                    group: name.to_owned(),
                });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn running_of(&self, machines: &[String]) -> Result<BTreeSet<String>, AwsError> {
        let mut running = BTreeSet::new();
        for machines in machines.chunks(NAMED_AT_ONCE) {
            let call = Call::ec2("DescribeInstances")
                .with("Filter.1.Name", "instance-id")
                .with_all("Filter.1.Value", machines.iter().map(String::as_str))
                .with("Filter.2.Name", "instance-state-name")
                .with_all("Filter.2.Value", ["running"]);
            let pages: Vec<ec2::Instances> = self.client.pages(&call).await?;
            running
                .extend(pages.into_iter().flat_map(ec2::Instances::into_instances).map(|machine| machine.instance_id));
        }
        Ok(running)
    }

    /// Ends what earlier fleets of this group left: it carries their tag and is in no Auto Scaling group.
    async fn end_left_over(&self, group: &Group) -> Result<(), AwsError> {
        let call = Call::ec2("DescribeInstances")
            .with("Filter.1.Name", format!("tag:{TAG}"))
            .with_all("Filter.1.Value", [&*group.auto_scaling_group_name])
            .with("Filter.2.Name", "instance-state-name")
            .with_all("Filter.2.Value", ["pending", "running"]);
        let pages: Vec<ec2::Instances> = self.client.pages(&call).await?;
        let found = pages.into_iter().flat_map(ec2::Instances::into_instances);
        let left = found.filter(|machine| machine.tag_set.item.iter().all(|tag| tag.key != OWNED));
        let left: Vec<String> = left.map(|machine| machine.instance_id).collect();
        self.end(&left).await
    }

    async fn end(&self, machines: &[String]) -> Result<(), AwsError> {
        for machines in machines.chunks(NAMED_AT_ONCE) {
            let call = Call::ec2("TerminateInstances").with_all("InstanceId", machines.iter().map(String::as_str));
            let Done {} = self.client.call(&call).await?;
        }
        Ok(())
    }
}

/// The request of a fleet: all machines of one type, or none, in any of the group's subnets.
fn request(fleet: &Fleet, group: &Group, count: u32) -> Call {
    let (terms, options) = if fleet.spot { ("spot", "SpotOptions") } else { ("on-demand", "OnDemandOptions") };
    let count = count.to_string();
    let mut call = Call::ec2("CreateFleet")
        .with("Type", "instant")
        .with("ClientToken", token(group))
        .with("TargetCapacitySpecification.TotalTargetCapacity", &*count)
        .with("TargetCapacitySpecification.DefaultTargetCapacityType", terms)
        .with(format!("{options}.MinTargetCapacity"), count)
        .with(format!("{options}.SingleInstanceType"), "true")
        .with("LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateId", &*fleet.launch_template)
        .with("LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version", &*fleet.version)
        .with("TagSpecification.1.ResourceType", "instance")
        .with("TagSpecification.1.Tag.1.Key", TAG)
        .with("TagSpecification.1.Tag.1.Value", &*group.auto_scaling_group_name);
    let subnets = group.subnets.as_deref().unwrap_or_default().split(',');
    let subnets: Vec<&str> = subnets.map(str::trim).filter(|subnet| !subnet.is_empty()).collect();
    let subnets = if subnets.is_empty() { vec![None] } else { subnets.into_iter().map(Some).collect() };
    let types: Vec<Option<&str>> = match fleet.instance_types.as_slice() {
        [] => vec![None],
        types => types.iter().map(|kind| Some(&**kind)).collect(),
    };
    let pools = subnets.iter().flat_map(|subnet| types.iter().map(move |kind| (*subnet, *kind)));
    for (number, (subnet, kind)) in (1..).zip(pools) {
        let part = |what| format!("LaunchTemplateConfigs.1.Overrides.{number}.{what}");
        call = subnet.into_iter().fold(call, |call, subnet| call.with(part("SubnetId"), subnet));
        call = kind.into_iter().fold(call, |call, kind| call.with(part("InstanceType"), kind));
    }
    call
}

/// By this EC2 knows a request again that is sent once more.
fn token(group: &Group) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let name: String = group.auto_scaling_group_name.chars().filter(char::is_ascii_alphanumeric).take(30).collect();
    format!("{name}-{now}")
}
