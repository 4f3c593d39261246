//! What machines have: what `aws ec2 describe-instance-types` prints, one page or several one after the other.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use headroom_core::quantity::Resources;
use serde::Deserialize;

use super::Wanted;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Page {
    instance_types: Vec<InstanceType>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct InstanceType {
    instance_type: String,
    v_cpu_info: Cpus,
    memory_info: Memory,
    #[serde(default)]
    gpu_info: Gpus,
    #[serde(default)]
    processor_info: Processor,
}

#[derive(Deserialize)]
struct Cpus {
    #[serde(rename = "DefaultVCpus")]
    count: u32,
}

#[derive(Deserialize)]
struct Memory {
    #[serde(rename = "SizeInMiB")]
    mib: u32,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Gpus {
    #[serde(default)]
    gpus: Vec<Gpu>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Gpu {
    #[serde(default)]
    count: u32,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Processor {
    #[serde(default)]
    supported_architectures: Vec<String>,
}

/// What a machine of some type has.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) has: Resources,
    cpus: u32,
    mib: u32,
    gpus: u32,
    /// As AWS calls it, such as `arm64`.
    architecture: Option<String>,
}

/// The machine types that are wanted.
pub(super) fn read(input: impl Read, wanted: &Wanted) -> Result<BTreeMap<Box<str>, Machine>, serde_json::Error> {
    let mut types = BTreeMap::new();
    for page in serde_json::Deserializer::from_reader(input).into_iter::<Page>() {
        let page = page?.instance_types.into_iter().filter(|kind| wanted.has(&kind.instance_type));
        types.extend(page.map(|kind| (kind.instance_type.as_str().into(), Machine::of(kind))));
    }
    Ok(types)
}

impl Machine {
    fn of(kind: InstanceType) -> Self {
        let (cpus, mib) = (kind.v_cpu_info.count, kind.memory_info.mib);
        let gpus = kind.gpu_info.gpus.iter().fold(0_u32, |sum, gpu| sum.saturating_add(gpu.count));
        let mut has = Resources::new(i64::from(cpus) * 1000, i64::from(mib) << 20);
        // A GPU costs the same, whoever made it.
        has.set_extended("nvidia.com/gpu", gpus.into());
        // Old types can be had with 32 bits too, which stand first.
        let architecture = kind.processor_info.supported_architectures.into_iter().next_back();
        Machine { has, cpus, mib, gpus, architecture }
    }
}

impl fmt::Display for Machine {
    /// `4 cpu, 16 GiB, 1 GPU, x86_64`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cpus, mib, gpus, architecture, .. } = self;
        write!(f, "{cpus} cpu, {} GiB", f64::from(*mib) / 1024.0)?;
        match gpus {
            0 => {}
            1 => f.write_str(", 1 GPU")?,
            gpus => write!(f, ", {gpus} GPUs")?,
        }
        architecture.iter().try_for_each(|architecture| write!(f, ", {architecture}"))
    }
}
