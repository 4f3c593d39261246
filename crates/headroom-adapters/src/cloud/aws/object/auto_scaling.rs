//! The answers of Auto Scaling (API version 2011-01-01).

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use super::super::client::Page;

/// A list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Members<T> {
    #[serde(default = "Vec::new")]
    pub(crate) member: Vec<T>,
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Members { member: Vec::new() }
    }
}

/// The answer to `DescribeAutoScalingGroups`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Groups {
    describe_auto_scaling_groups_result: GroupsResult,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GroupsResult {
    #[serde(default)]
    auto_scaling_groups: Members<Group>,
    next_token: Option<String>,
}

impl Groups {
    pub(crate) fn into_groups(self) -> Vec<Group> {
        self.describe_auto_scaling_groups_result.auto_scaling_groups.member
    }
}

impl Page for Groups {
    fn next(&self) -> Option<&str> {
        token(self.describe_auto_scaling_groups_result.next_token.as_deref())
    }
}

/// An Auto Scaling group.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Group {
    pub(crate) auto_scaling_group_name: Arc<str>,
    pub(crate) min_size: u32,
    pub(crate) max_size: u32,
    pub(crate) desired_capacity: u32,
    /// What the desired capacity counts; `units` are machines.
    pub(crate) desired_capacity_type: Option<String>,
    #[serde(default)]
    pub(crate) availability_zones: Members<String>,
    #[serde(default)]
    pub(crate) instances: Members<Instance>,
    #[serde(default)]
    pub(crate) suspended_processes: Members<Process>,
    #[serde(default)]
    pub(crate) tags: Members<Tag>,
    pub(crate) launch_configuration_name: Option<String>,
    pub(crate) launch_template: Option<LaunchTemplate>,
    pub(crate) mixed_instances_policy: Option<MixedInstances>,
    /// The subnets, with commas between them.
    #[serde(rename = "VPCZoneIdentifier")]
    pub(crate) subnets: Option<String>,
    /// It is being deleted.
    pub(crate) status: Option<String>,
}

/// A machine of a group.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Instance {
    pub(crate) instance_id: String,
    pub(crate) availability_zone: String,
    pub(crate) lifecycle_state: String,
    /// How much of the desired capacity it is.
    pub(crate) weighted_capacity: Option<String>,
}

/// Something that a group does not do for now.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Process {
    pub(crate) process_name: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Tag {
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) value: String,
}

/// A launch template, by its id, or by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct LaunchTemplate {
    pub(crate) launch_template_id: Option<String>,
    pub(crate) launch_template_name: Option<String>,
    /// A number, `$Latest` or `$Default`; the default when it is left out.
    pub(crate) version: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct MixedInstances {
    pub(crate) launch_template: Option<MixedTemplate>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct MixedTemplate {
    pub(crate) launch_template_specification: Option<LaunchTemplate>,
    #[serde(default)]
    pub(crate) overrides: Members<Override>,
}

/// One kind of machine among those that a group may have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Override {
    pub(crate) instance_type: Option<String>,
    pub(crate) launch_template_specification: Option<LaunchTemplate>,
    pub(crate) weighted_capacity: Option<String>,
    pub(crate) instance_requirements: Option<Requirements>,
}

/// What a machine of any type must have.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Requirements {
    #[serde(rename = "VCpuCount", default)]
    pub(crate) cpus: AtLeast,
    #[serde(rename = "MemoryMiB", default)]
    pub(crate) memory_mib: AtLeast,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct AtLeast {
    #[serde(default)]
    pub(crate) min: u32,
}

/// The answer to `DescribeLaunchConfigurations`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct LaunchConfigurations {
    describe_launch_configurations_result: LaunchConfigurationsResult,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LaunchConfigurationsResult {
    #[serde(default)]
    launch_configurations: Members<LaunchConfiguration>,
    next_token: Option<String>,
}

impl LaunchConfigurations {
    pub(crate) fn into_configurations(self) -> Vec<LaunchConfiguration> {
        self.describe_launch_configurations_result.launch_configurations.member
    }
}

impl Page for LaunchConfigurations {
    fn next(&self) -> Option<&str> {
        token(self.describe_launch_configurations_result.next_token.as_deref())
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct LaunchConfiguration {
    pub(crate) instance_type: String,
    #[serde(default)]
    pub(crate) block_device_mappings: Members<BlockDevice>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct BlockDevice {
    pub(crate) device_name: Option<String>,
    pub(crate) ebs: Option<Ebs>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Ebs {
    /// In GiB.
    pub(crate) volume_size: Option<u32>,
}

/// The answer to `DescribeScalingActivities`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Activities {
    describe_scaling_activities_result: ActivitiesResult,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ActivitiesResult {
    #[serde(default)]
    activities: Members<Activity>,
    next_token: Option<String>,
}

impl Page for Activities {
    fn next(&self) -> Option<&str> {
        token(self.describe_scaling_activities_result.next_token.as_deref())
    }
}

impl Activities {
    pub(crate) fn into_activities(self) -> Vec<Activity> {
        self.describe_scaling_activities_result.activities.member
    }
}

/// Something that a group did or tried.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Activity {
    #[serde(default)]
    pub(crate) description: String,
    pub(crate) start_time: Timestamp,
    pub(crate) status_code: String,
    #[serde(default)]
    pub(crate) status_message: String,
}

/// An answer of which nothing is read.
#[derive(Debug, Deserialize)]
pub(crate) struct Done {}

fn token(token: Option<&str>) -> Option<&str> {
    token.filter(|token| !token.is_empty())
}
