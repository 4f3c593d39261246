//! What a node on a machine of some type has, before it has been seen.
//!
//! EC2 tells what a machine has; the kernel, the hypervisor and the kubelet keep some of it. The shares are those of the
//! EKS images. They are close, not exact: once a node of the group has been seen, Headroom goes by that.

use headroom_core::quantity::Resources;

use super::ec2::InstanceType;

const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;

/// Of a thousand MiB that EC2 names, the hypervisor and the kernel keep so many. It is what Karpenter reckons with.
const OVERHEAD_PER_MILLE: i64 = 75;
/// The kubelet of an EKS image reserves this, and more for each pod.
const RESERVED: i64 = 255 * MIB;
const RESERVED_PER_POD: i64 = 11 * MIB;
/// The kubelet evicts pods before less than this is free.
const EVICTION: i64 = 100 * MIB;
/// EKS allows no more pods, on machines of up to 30 cpus and on larger ones.
const MOST_PODS: i64 = 110;
const MOST_PODS_LARGE: i64 = 250;
const LARGE_FROM_CPUS: u32 = 31;
/// How many pods a machine has room for of which no more is known than its least cpus: as the smallest type with two.
const FEWEST_PODS: i64 = 17;

/// What a machine has, and what its node offers to pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) instance_type: Option<String>,
    pub(crate) arch: Option<&'static str>,
    pub(crate) capacity: Resources,
    pub(crate) allocatable: Resources,
}

impl Machine {
    /// A machine of this type.
    pub(crate) fn of(kind: &InstanceType) -> Self {
        let cpus = kind.v_cpu_info.count;
        // An address on each interface is its own; the two are for pods in the network of the host.
        let by_addresses = kind.network_info.as_ref().map_or(FEWEST_PODS, |network| {
            let for_pods = i64::from(network.addresses_per_interface).saturating_sub(1).max(0);
            i64::from(network.maximum_network_interfaces) * for_pods + 2
        });
        let most = if cpus >= LARGE_FROM_CPUS { MOST_PODS_LARGE } else { MOST_PODS };
        let mut machine = Machine::with(cpus, kind.memory_info.mib, by_addresses.min(most));
        machine.instance_type = Some(kind.instance_type.clone());
        machine.arch = kind.processor_info.as_ref().and_then(|processor| {
            let arches = &processor.supported_architectures.item;
            arches.iter().find_map(|arch| match arch.as_str() {
                "x86_64" => Some("amd64"),
                "arm64" => Some("arm64"),
                _ => None,
            })
        });
        for (resource, count) in accelerators(kind) {
            machine.capacity.set_extended(resource, count);
            machine.allocatable.set_extended(resource, count);
        }
        machine
    }

    /// A machine of which it is known that it has at least so much.
    pub(crate) fn at_least(cpus: u32, memory_mib: u32) -> Self {
        Machine::with(cpus, memory_mib, FEWEST_PODS)
    }

    /// What nodes of both kinds have in common.
    pub(crate) fn either(self, other: Machine) -> Self {
        Machine {
            instance_type: self.instance_type.filter(|kind| other.instance_type.as_ref() == Some(kind)),
            arch: self.arch.filter(|arch| other.arch == Some(arch)),
            capacity: self.capacity.min_each(&other.capacity),
            allocatable: self.allocatable.min_each(&other.allocatable),
        }
    }

    /// With a disk of so many GiB, of which the kubelet keeps a tenth free.
    pub(crate) fn with_disk(mut self, gib: u32) -> Self {
        let bytes = i64::from(gib) * GIB;
        self.capacity.ephemeral_storage = bytes;
        self.allocatable.ephemeral_storage = bytes - bytes / 10;
        self
    }

    fn with(cpus: u32, memory_mib: u32, pods: i64) -> Self {
        let cpu = i64::from(cpus) * 1000;
        let memory_mib = i64::from(memory_mib);
        let memory = (memory_mib - memory_mib * OVERHEAD_PER_MILLE / 1000) * MIB;
        let kept = RESERVED + RESERVED_PER_POD * pods + EVICTION;
        let capacity = Resources { pods, ..Resources::new(cpu, memory) };
        let allocatable = Resources { pods, ..Resources::new(cpu - reserved_cpu(cpus), (memory - kept).max(0)) };
        Machine { instance_type: None, arch: None, capacity, allocatable }
    }
}

/// What the kubelet of an EKS image reserves: 6 % of the first cpu, 1 % of the second, 0.5 % of the next two and 0.25 %
/// of each further one. In thousandths of a cpu, rounded up.
fn reserved_cpu(cpus: u32) -> i64 {
    let cpus = i64::from(cpus);
    let part = |from: i64, to: i64, per: i64| cpus.clamp(from, to).saturating_sub(from) * per;
    let hundredths = part(0, 1, 6000) + part(1, 2, 1000) + part(2, 4, 500) + part(4, i64::MAX, 250);
    (hundredths + 99) / 100
}

/// What device plugins will call what is in the machine.
fn accelerators(kind: &InstanceType) -> Vec<(&'static str, i64)> {
    let gpus = kind.gpu_info.iter().flat_map(|info| &info.gpus.item);
    let gpus = gpus.filter_map(|gpu| match gpu.manufacturer.to_ascii_lowercase().as_str() {
        "nvidia" => Some(("nvidia.com/gpu", i64::from(gpu.count))),
        "amd" => Some(("amd.com/gpu", i64::from(gpu.count))),
        "habana" => Some(("habana.ai/gaudi", i64::from(gpu.count))),
        _ => None,
    });
    let devices = kind.neuron_info.iter().flat_map(|info| &info.neuron_devices.item);
    let neuron = devices.flat_map(|device| {
        let cores = device.core_info.as_ref().map_or(0, |cores| cores.count);
        let (devices, cores) = (i64::from(device.count), i64::from(device.count) * i64::from(cores));
        [("aws.amazon.com/neuron", devices), ("aws.amazon.com/neuroncore", cores)]
    });
    gpus.chain(neuron).collect()
}
