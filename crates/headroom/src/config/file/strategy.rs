//! How the size of a group is decided.

use headroom_core::policy::{RunsOn, Strategy};

use super::group::Draft;
use super::{pending, pool, utilization};
use crate::config::kind::{Kind, one_of, variant};
use crate::config::problem::{Problem, Problems};

pub(super) fn kind() -> Kind<Strategy> {
    let variants = vec![
        variant("pending", "By the pods that fit on no node.", pending::kind().map(Strategy::Pending)),
        variant(
            "utilization",
            "By what pods request as a share of what nodes have, as Escalator does.",
            utilization::kind().map(Strategy::Utilization),
        ),
        variant("memoryPool", "On Nomad: by the memory that tasks have.", pool::memory().map(Strategy::MemoryPool)),
        variant("cpuPool", "On Nomad: by how busy the cpus of servers are.", pool::cpu().map(Strategy::CpuPool)),
    ];
    one_of(variants, |_| None)
}

const ON_NOMAD: &str = "write `memoryPool`, `cpuPool` or `utilization`";

const ON_KUBERNETES: &str = "write `pending: {}` or `utilization: {}`, or say `cluster: { nomad: {} }`";

/// Reports groups whose strategy their cluster has no use for.
pub(crate) fn check(cluster: RunsOn, groups: &[Draft], problems: &mut Problems) {
    for draft in groups {
        let (message, hint) = match (cluster, &draft.group.strategy) {
            (RunsOn::Nomad, Strategy::Pending(_)) => {
                ("`pending` grows a group for the pods of a Kubernetes cluster, and this is a Nomad cluster", ON_NOMAD)
            }
            (RunsOn::Kubernetes, strategy) if strategy.is_pool() => {
                ("this is a strategy for the pools of a Nomad cluster, and this is a Kubernetes cluster", ON_KUBERNETES)
            }
            _ => continue,
        };
        problems.add(Problem::at(draft.places.of("strategy"), message, hint));
    }
}
