//! Names of other programs, for dashboards and alerts that were made for them.

use std::collections::BTreeMap;

use super::Seen;
use super::names::{
    BACKOFF, Declared, GROUP_MAX, GROUP_MIN, GROUP_NODES, GROUP_PODS, GROUP_SIZE, GROUP_WANTED, KEPT, LAST_ROUND,
    UNSCHEDULABLE,
};
use super::samples::Sample;

/// The program whose names are offered besides Headroom's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compatible {
    /// `cluster_autoscaler_…`
    ClusterAutoscaler,
    /// `escalator_…`
    Escalator,
}

/// A name of another program, and the gauge of Headroom's whose values it has.
struct Renamed {
    declared: Declared,
    from: &'static str,
    /// Only values whose second label is this.
    state: Option<&'static str>,
    /// Values that differ in this program's labels are not told apart, so they are added up.
    labels: fn(&[String]) -> Vec<String>,
}

const fn renamed(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
    from: &Declared,
    map: fn(&[String]) -> Vec<String>,
) -> Renamed {
    Renamed { declared: Declared { name, labels, help }, from: from.name, state: None, labels: map }
}

/// The nodes of each group in this state.
const fn nodes(name: &'static str, help: &'static str, state: &'static str) -> Renamed {
    Renamed { state: Some(state), ..renamed(name, &GROUP, help, &GROUP_NODES, first) }
}

const GROUP: [&str; 1] = ["node_group"];

const CLUSTER_AUTOSCALER: &[Renamed] = &[
    renamed("cluster_autoscaler_node_group_min_count", &GROUP, "As headroom_group_min_nodes", &GROUP_MIN, first),
    renamed("cluster_autoscaler_node_group_max_count", &GROUP, "As headroom_group_max_nodes", &GROUP_MAX, first),
    renamed("cluster_autoscaler_node_group_target_count", &GROUP, "As headroom_group_target_nodes", &GROUP_SIZE, first),
    renamed(
        "cluster_autoscaler_node_group_backoff_status",
        &GROUP,
        "Above 0 while the group is left alone",
        &BACKOFF,
        first,
    ),
    renamed(
        "cluster_autoscaler_unschedulable_pods_count",
        &["type"],
        "Pods that get no place",
        &UNSCHEDULABLE,
        unschedulable,
    ),
    renamed("cluster_autoscaler_unremovable_nodes_count", &["reason"], "As headroom_kept_nodes", &KEPT, first),
    renamed(
        "cluster_autoscaler_nodes_count",
        &["state"],
        "As headroom_group_nodes, of all groups together",
        &GROUP_NODES,
        state,
    ),
    renamed(
        "cluster_autoscaler_last_activity",
        &["activity"],
        "As headroom_last_round_timestamp_seconds",
        &LAST_ROUND,
        activity,
    ),
];

const ESCALATOR: &[Renamed] = &[
    nodes("escalator_node_group_untainted_nodes", "Nodes in service", "ready"),
    nodes("escalator_node_group_tainted_nodes", "Marked nodes", "tainted"),
    nodes("escalator_node_group_force_tainted_nodes", "Nodes with the force taint", "force_tainted"),
    nodes("escalator_node_group_cordoned_nodes", "Cordoned nodes", "cordoned"),
    renamed("escalator_node_group_pods", &GROUP, "As headroom_group_pods", &GROUP_PODS, first),
    renamed("escalator_node_group_scale_delta", &GROUP, "As headroom_group_wanted_change_nodes", &GROUP_WANTED, first),
];

impl Compatible {
    pub(super) fn gauges(self) -> impl Iterator<Item = &'static Declared> {
        self.renamed().iter().map(|renamed| &renamed.declared)
    }

    /// The values under these names, from those under Headroom's.
    pub(super) fn samples(self, seen: &Seen<'_>, own: &[Sample]) -> Vec<Sample> {
        let mut sums: BTreeMap<(&'static str, Vec<String>), f64> = BTreeMap::new();
        for Renamed { declared, from, state, labels } in self.renamed() {
            let of_state =
                |sample: &&Sample| state.is_none_or(|state| sample.labels.get(1).is_some_and(|of| of == state));
            for sample in own.iter().filter(|sample| sample.of == *from).filter(of_state) {
                *sums.entry((declared.name, labels(&sample.labels))).or_default() += sample.value;
            }
        }
        if self == Compatible::ClusterAutoscaler && seen.plan.report.waiting.is_some() {
            // A dashboard takes a missing value for a program that does not answer.
            sums.entry(("cluster_autoscaler_unschedulable_pods_count", unschedulable(&[]))).or_default();
        }
        sums.into_iter().map(|((of, labels), value)| Sample { of, labels, value }).collect()
    }

    fn renamed(self) -> &'static [Renamed] {
        match self {
            Compatible::ClusterAutoscaler => CLUSTER_AUTOSCALER,
            Compatible::Escalator => ESCALATOR,
        }
    }
}

fn first(labels: &[String]) -> Vec<String> {
    labels.iter().take(1).cloned().collect()
}

/// The state of nodes in the words of Cluster Autoscaler, to which a marked or cordoned node is as ready as others.
fn state(labels: &[String]) -> Vec<String> {
    let word = match labels.get(1).map(String::as_str) {
        Some("not_ready") => "unready",
        Some("upcoming") => "unregistered",
        Some("never_came") => "longUnregistered",
        _ => "ready",
    };
    vec![word.to_owned()]
}

fn unschedulable(_: &[String]) -> Vec<String> {
    vec!["unschedulable".to_owned()]
}

fn activity(_: &[String]) -> Vec<String> {
    vec!["main".to_owned()]
}
