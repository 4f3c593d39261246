//! How the size of a group is decided.

use headroom_core::policy::Strategy;

use super::cluster::Cluster;
use super::group::Draft;
use super::{pending, utilization};
use crate::config::kind::{Kind, no_variant, one_of, variant};
use crate::config::problem::{Problem, Problems};

pub(super) fn kind() -> Kind<Strategy> {
    let for_nomad = "this is a strategy for the pools of a Nomad cluster, and this version has none for them";
    let instead = "on Kubernetes write `pending: {}` or `utilization: {}`, on Nomad `utilization: {}`";
    let variants = vec![
        variant("pending", "By the pods that fit on no node.", pending::kind().map(Strategy::Pending)),
        variant(
            "utilization",
            "By what pods request as a share of what nodes have, as Escalator does.",
            utilization::kind().map(Strategy::Utilization),
        ),
        no_variant("memoryPool", for_nomad, instead),
        no_variant("cpuPool", for_nomad, instead),
    ];
    one_of(variants, |_| None)
}

/// Reports groups whose strategy their cluster has no use for.
pub(super) fn check(cluster: &Cluster, groups: &[Draft], problems: &mut Problems) {
    let Cluster::Nomad { .. } = cluster else { return };
    for draft in groups.iter().filter(|draft| matches!(draft.group.strategy, Strategy::Pending(_))) {
        let message = "`pending` grows a group for the pods of a Kubernetes cluster, and this is a Nomad cluster";
        problems.add(Problem::at(draft.places.of("strategy"), message, "write `utilization: {}`"));
    }
}
