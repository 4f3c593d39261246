//! What machines and pods cost, and how much that counts.

use std::path::Path;
use std::sync::Arc;

use headroom_core::expander::price::{Formula, PreferredCpu, Settings, SettingsError, Step};
use headroom_core::pricing::{PriceEntry, PriceSources, PriceTable, UnitPrices};
use headroom_core::quantity::{MilliCpu, Resources};

use super::catalogue::{self, Failure};
use super::machine_price;
use crate::config::kind::{Kind, count, cpu, dollars, list, requested, requested_cpu, text};
use crate::config::problem::{ConfigErrors, Problem, Problems};
use crate::config::record::{Places, Record};
use crate::config::tree::Place;

/// What the file says about prices.
#[derive(Default)]
pub(super) struct Prices {
    settings: Settings,
    machines: Vec<(Place, PriceEntry)>,
    catalogue: Option<(Place, Arc<str>)>,
    from_catalogue: PriceTable,
}

impl Prices {
    /// The formula. Settings that make none have been reported, and count as the defaults.
    pub(super) fn formula(&self) -> Formula {
        Formula::new(self.settings.clone()).unwrap_or_default()
    }

    /// Reads the catalogue, whose path is relative to `folder`. What is wrong with its path is added to `problems`.
    pub(super) fn load(&mut self, folder: &Path, problems: &mut Problems) -> Result<(), ConfigErrors> {
        let Some((place, path)) = &self.catalogue else { return Ok(()) };
        match catalogue::load(&folder.join(&**path)) {
            Ok(prices) => self.from_catalogue = prices,
            Err(Failure::Unreadable(problem)) => problems.add(problem.placed(place.clone())),
            Err(Failure::Wrong(errors)) => return Err(errors),
        }
        Ok(())
    }

    /// Whether the price of any machine type is stated.
    pub(super) fn are_stated(&self) -> bool {
        !self.machines.is_empty() || !self.from_catalogue.is_empty()
    }

    /// What machine types cost.
    pub(super) fn sources(&self) -> PriceSources {
        let machines: Vec<PriceEntry> = self.machines.iter().map(|(_, entry)| entry.clone()).collect();
        PriceSources { config: machines.into(), catalogue: self.from_catalogue.clone() }
    }
}

pub(super) fn kind() -> Kind<Prices> {
    Record::new(
        "prices",
        "What machines cost, and the constants of the price score; [cost-ranking.md](cost-ranking.md) \
         explains it. A group's own `price` wins over `machines`, these over the `catalogue`, and that \
         over what the cloud says. What nobody says is estimated from `unit`.",
        Prices::default,
    )
    .field(
        "machines",
        list(machine_price::kind().sound().placed()),
        |prices| &mut prices.machines,
        "What machine types cost.",
    )
    .field(
        "catalogue",
        text().placed().optional(),
        |prices| &mut prices.catalogue,
        "A file with such a list of machine types, in YAML or JSON, or with the instance types that \
         Karpenter's kwok provider reads. Its path is relative to this file.",
    )
    .field(
        "unit",
        unit(),
        |prices| &mut prices.settings.unit_prices,
        "What pods are worth, and machines whose price nobody says.",
    )
    .field(
        "stabilizationPod",
        stabilization_pod(),
        |prices| &mut prices.settings.stabilization_pod,
        "A pod whose price is added to what nodes cost and to what pods are worth, so that the score of \
         tiny pods does not explode. It must cost something.",
    )
    .field("preferredCpu", preferred_cpu(), |prices| &mut prices.settings.preferred_cpu, "How large a node should be.")
    .field(
        "suppressOver",
        count(1),
        |prices| &mut prices.settings.suppress_over,
        "How many nodes must be added at once before their size counts little: the divisor in the score.",
    )
    .field(
        "unneededGpuFactor",
        count(1),
        |prices| &mut prices.settings.unneeded_gpu_factor,
        "How many times worse a node is that has GPUs for which no pod asks.",
    )
    .check(&["machines"], |prices, _, problems| machine_price::check(&prices.machines, problems))
    .check(&["unit", "stabilizationPod", "preferredCpu", "suppressOver", "unneededGpuFactor"], sound)
    .kind()
}

fn sound(prices: &Prices, at: &Places, problems: &mut Problems) {
    let Err(error) = Formula::new(prices.settings.clone()) else { return };
    let place = match error {
        SettingsError::DamperZero => at.written("stabilizationPod", "unit"),
        SettingsError::PriceBelowZero { .. } => at.of("unit"),
        SettingsError::SuppressOverZero => at.of("suppressOver"),
        SettingsError::GpuFactorZero => at.of("unneededGpuFactor"),
        SettingsError::PreferredCpuNotPositive { .. } | SettingsError::PreferredCpuOutOfOrder { .. } => {
            at.of("preferredCpu")
        }
    };
    problems.add(Problem::from_error(place, &error));
}

fn unit() -> Kind<UnitPrices> {
    Record::new("prices.unit", "What one unit of each resource costs in an hour.", UnitPrices::default)
        .field("cpu", dollars(), |unit| &mut unit.cpu, "One cpu.")
        .field("memoryGib", dollars(), |unit| &mut unit.memory_gib, "One GiB of memory.")
        .field("gpu", dollars(), |unit| &mut unit.gpu, "One GPU of any kind.")
        .field("storage50Gb", dollars(), |unit| &mut unit.storage_50_gb, "50 GB of ephemeral storage.")
        .field("gpuResources", list(text()), |unit| &mut unit.gpu_resources, "Extended resources that are GPUs.")
        .kind()
}

fn stabilization_pod() -> Kind<Resources> {
    let start = || Settings::default().stabilization_pod;
    Record::new("prices.stabilizationPod", "What the stabilization pod requests.", start)
        .field("cpu", requested_cpu(), |pod| &mut pod.cpu, "Cpus.")
        .field("memory", requested(), |pod| &mut pod.memory, "Memory. Cluster Autoscaler has `500Mi` here.")
        .kind()
}

fn preferred_cpu() -> Kind<PreferredCpu> {
    let start = || Step { up_to_nodes: 0, cpu: MilliCpu(0) };
    let step = Record::new("prices.preferredCpu.steps[]", "One row of the table.", start)
        .required(
            "upToNodes",
            count(1),
            |step: &mut Step| &mut step.up_to_nodes,
            "The row holds for clusters of at most so many nodes.",
        )
        .required("cpu", cpu(), |step| &mut step.cpu.0, "Cpus that a node should have there.");
    Record::new(
        "prices.preferredCpu",
        "How many cpus a node should have, by the number of nodes in the cluster.",
        PreferredCpu::default,
    )
    .field(
        "steps",
        list(step.kind()),
        |preferred| &mut preferred.steps,
        "In ascending order. Left out: 1 cpu up to 2 nodes, 2 up to 6, 4 up to 20, 8 up to 80, 16 up to 300.",
    )
    .field("above", cpu(), |preferred| &mut preferred.above.0, "Cpus of a node in clusters that are larger.")
    .kind()
}
