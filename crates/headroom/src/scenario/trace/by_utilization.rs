//! The trace on two groups that are scaled by their utilisation.
//!
//! Pods with GPUs go to `gpu`, the others to `cpu`. GPUs are counted as wholes: the strategy goes by cpu and memory.

use headroom_core::policy::{Group, Selection, Size, Strategy, Utilization};
use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Labels, PodSpec};
use headroom_sim::scenario::{Arrival, NodeGroup};
use jiff::SignedDuration;

use super::{MIB, NodeRow, PodRow, machines};

const GPU: &str = "nvidia.com/gpu";

/// The groups, and the pods as they come.
pub(super) fn scenario(pods: &[PodRow], nodes: &[NodeRow]) -> (Vec<(Group, NodeGroup)>, Vec<Arrival>) {
    let sorts = [Sort::new("cpu", 64_000, 262_144 * MIB, 0), Sort::new("gpu", 96_000, 393_216 * MIB, 8)];
    let groups = sorts.iter().map(|sort| {
        let same = nodes.iter().filter(|row| (row.gpu > 0) == (sort.gpus > 0)).count();
        let max = u32::try_from(same).unwrap_or(u32::MAX);
        (sort.policy(max), machines(sort.name, &sort.allocatable, sort.labels(), Vec::new(), max))
    });
    (groups.collect(), pods.iter().map(|row| arrival(row, &sorts)).collect())
}

/// One of the two sorts of machines.
struct Sort {
    name: &'static str,
    allocatable: Resources,
    gpus: i64,
}

impl Sort {
    fn new(name: &'static str, cpu: i64, memory: i64, gpus: i64) -> Self {
        let mut allocatable = Resources { pods: 110, ..Resources::new(cpu, memory) };
        allocatable.set_extended(GPU, gpus);
        Sort { name, allocatable, gpus }
    }

    fn labels(&self) -> Labels {
        Labels::from_iter([("pool", self.name)])
    }

    fn policy(&self, max: u32) -> Group {
        let select = Selection { labels: self.labels(), capacity: None };
        let utilization = Utilization {
            // A pod may lack a GPU on nodes whose cpu and memory are hardly used.
            scale_on_starve: true,
            // Some of the trace's pods run for days, and each that is cut off runs again from its start.
            hard_grace: SignedDuration::from_hours(7 * 24),
            ..Utilization::default()
        };
        Group {
            size: Size { min: Some(0), max: Some(max) },
            strategy: Strategy::Utilization(utilization),
            ..Group::new(self.name, select)
        }
    }
}

fn arrival(row: &PodRow, [cpu, gpu]: &[Sort; 2]) -> Arrival {
    let sort = if row.num_gpu > 0 { gpu } else { cpu };
    let mut requests = row.requests();
    requests.set_extended(GPU, i64::from(row.num_gpu));
    row.arrival(PodSpec { requests, node_selector: sort.labels(), ..PodSpec::default() })
}
