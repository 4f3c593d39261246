//! The answers of EC2 (API version 2016-11-15).

use serde::Deserialize;

use super::super::client::Page;

/// A list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Items<T> {
    #[serde(default = "Vec::new")]
    pub(crate) item: Vec<T>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Items { item: Vec::new() }
    }
}

/// The answer to `DescribeInstances`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Instances {
    #[serde(default)]
    reservation_set: Items<Reservation>,
    next_token: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reservation {
    #[serde(default)]
    instances_set: Items<Instance>,
}

impl Instances {
    pub(crate) fn into_instances(self) -> impl Iterator<Item = Instance> {
        self.reservation_set.item.into_iter().flat_map(|reservation| reservation.instances_set.item)
    }
}

impl Page for Instances {
    fn next(&self) -> Option<&str> {
        token(self.next_token.as_deref())
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Instance {
    pub(crate) instance_id: String,
    pub(crate) instance_state: State,
    #[serde(default)]
    pub(crate) tag_set: Items<Tag>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Tag {
    pub(crate) key: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct State {
    pub(crate) name: String,
}

/// The answer to `DescribeLaunchTemplateVersions`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LaunchTemplateVersions {
    #[serde(default)]
    launch_template_version_set: Items<LaunchTemplateVersion>,
    next_token: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LaunchTemplateVersion {
    launch_template_data: LaunchTemplateData,
}

impl LaunchTemplateVersions {
    pub(crate) fn into_data(self) -> impl Iterator<Item = LaunchTemplateData> {
        self.launch_template_version_set.item.into_iter().map(|version| version.launch_template_data)
    }
}

impl Page for LaunchTemplateVersions {
    fn next(&self) -> Option<&str> {
        token(self.next_token.as_deref())
    }
}

/// What a launch template says of machines.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LaunchTemplateData {
    pub(crate) instance_type: Option<String>,
    pub(crate) instance_requirements: Option<Requirements>,
    #[serde(default)]
    pub(crate) block_device_mapping_set: Items<BlockDevice>,
}

/// What a machine of any type must have.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Requirements {
    #[serde(rename = "vCpuCount", default)]
    pub(crate) cpus: AtLeast,
    #[serde(rename = "memoryMiB", default)]
    pub(crate) memory_mib: AtLeast,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct AtLeast {
    #[serde(default)]
    pub(crate) min: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockDevice {
    pub(crate) device_name: Option<String>,
    pub(crate) ebs: Option<Ebs>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ebs {
    /// In GiB.
    pub(crate) volume_size: Option<u32>,
}

/// The answer to `DescribeInstanceTypes`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceTypes {
    #[serde(default)]
    instance_type_set: Items<InstanceType>,
    next_token: Option<String>,
}

impl InstanceTypes {
    pub(crate) fn into_types(self) -> Vec<InstanceType> {
        self.instance_type_set.item
    }
}

impl Page for InstanceTypes {
    fn next(&self) -> Option<&str> {
        token(self.next_token.as_deref())
    }
}

/// A type of machines.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceType {
    pub(crate) instance_type: String,
    pub(crate) processor_info: Option<Processor>,
    pub(crate) v_cpu_info: Cpus,
    pub(crate) memory_info: Memory,
    pub(crate) network_info: Option<Network>,
    pub(crate) gpu_info: Option<Gpus>,
    pub(crate) neuron_info: Option<Neuron>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Processor {
    #[serde(default)]
    pub(crate) supported_architectures: Items<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Cpus {
    #[serde(rename = "defaultVCpus")]
    pub(crate) count: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Memory {
    #[serde(rename = "sizeInMiB")]
    pub(crate) mib: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Network {
    pub(crate) maximum_network_interfaces: u32,
    #[serde(rename = "ipv4AddressesPerInterface")]
    pub(crate) addresses_per_interface: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Gpus {
    #[serde(default)]
    pub(crate) gpus: Items<Gpu>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Gpu {
    #[serde(default)]
    pub(crate) manufacturer: String,
    #[serde(default)]
    pub(crate) count: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Neuron {
    #[serde(default)]
    pub(crate) neuron_devices: Items<NeuronDevice>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NeuronDevice {
    #[serde(default)]
    pub(crate) count: u32,
    pub(crate) core_info: Option<NeuronCores>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct NeuronCores {
    #[serde(default)]
    pub(crate) count: u32,
}

/// The answer to `CreateFleet`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FleetAnswer {
    #[serde(default)]
    fleet_instance_set: Items<FleetInstances>,
    #[serde(default)]
    error_set: Items<FleetError>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FleetInstances {
    #[serde(default)]
    instance_ids: Items<String>,
}

/// Why a pool of machines gave none.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FleetError {
    pub(crate) error_code: String,
    pub(crate) error_message: String,
}

impl FleetAnswer {
    /// The machines that were launched, and why others were not.
    pub(crate) fn into_parts(self) -> (Vec<String>, Vec<FleetError>) {
        let machines = self.fleet_instance_set.item.into_iter().flat_map(|instances| instances.instance_ids.item);
        (machines.collect(), self.error_set.item)
    }
}

fn token(token: Option<&str>) -> Option<&str> {
    token.filter(|token| !token.is_empty())
}
