//! When nodes of `pending` groups go. Defaults are Cluster Autoscaler's (`spec/cluster-autoscaler.md` 4) where it has such
//! a setting.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::Percent;
use crate::quantity::{Bytes, MilliCpu};

/// What all groups share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScaleDownPolicy {
    /// How many nodes of all groups together may be on their way out at once. Without any there is no such limit.
    pub budgets: Vec<Budget>,
    /// Keep nodes with a pod of the namespace `kube-system` that no disruption budget covers
    /// (`skip-nodes-with-system-pods`), until the pod is `system_pods_for` old.
    pub keep_for_system_pods: bool,
    /// See `keep_for_system_pods` (`blocking-system-pod-distruption-timeout`).
    pub system_pods_for: SignedDuration,
    /// Keep nodes with a pod whose volumes would be lost with the node (`skip-nodes-with-local-storage`).
    pub keep_for_local_storage: bool,
    /// Keep nodes with a pod of a controller that is not one of Kubernetes' own
    /// (`skip-nodes-with-custom-controller-pods`).
    pub keep_for_custom_controllers: bool,
    /// For so long an eviction may be refused before the drain is given up (`max-pod-eviction-time`). Each pod that goes
    /// starts the time anew.
    pub eviction_timeout: SignedDuration,
    /// For so long evicted pods may take to end before the drain is given up (`max-graceful-termination-sec`).
    pub end_grace: SignedDuration,
    /// After a drain was given up its node is left alone for so long (`unremovable-node-recheck-timeout`).
    pub retry_after: SignedDuration,
    /// Between the mark and the removal of a node without pods there is at least so much time, so that what was placed on
    /// it meanwhile is seen (`node-delete-delay-after-taint`).
    pub settle: SignedDuration,
    /// Mark nodes that are not needed with a taint that the scheduler avoids where it can
    /// (`DeletionCandidateOfClusterAutoscaler`).
    pub soft_taint: bool,
    /// What the cluster keeps in any case.
    pub at_least: AtLeast,
    /// While more nodes than this many and than `max_unready` are not ready, no group shrinks (`ok-total-unready-count`).
    pub ok_unready: u32,
    /// See `ok_unready` (`max-total-unready-percentage`).
    pub max_unready: Percent,
    /// When the nodes or the requests of the cluster have fallen by more than half from one round to the next, it must stay
    /// so for this long before anything is removed: three rounds at the default interval.
    pub doubt: SignedDuration,
    /// Replace nodes whose pods have no place elsewhere by one machine that costs less, where that pays; None: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consolidation: Option<Consolidation>,
}

impl Default for ScaleDownPolicy {
    fn default() -> Self {
        ScaleDownPolicy {
            budgets: Vec::new(),
            keep_for_system_pods: true,
            system_pods_for: SignedDuration::from_hours(1),
            keep_for_local_storage: true,
            keep_for_custom_controllers: true,
            eviction_timeout: SignedDuration::from_mins(2),
            end_grace: SignedDuration::from_mins(10),
            retry_after: SignedDuration::from_mins(5),
            settle: SignedDuration::from_secs(5),
            soft_taint: true,
            at_least: AtLeast::default(),
            ok_unready: 3,
            max_unready: Percent::whole(45),
            doubt: SignedDuration::from_secs(30),
            consolidation: None,
        }
    }
}

impl ScaleDownPolicy {
    /// For how long nothing need happen before a drain is over, with so many pods on the node that have to be evicted still.
    pub fn drain_patience(&self, evictions: u32) -> SignedDuration {
        if evictions > 0 { self.eviction_timeout } else { self.end_grace }
    }
}

/// How nodes are replaced by a cheaper machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Consolidation {
    /// When the old nodes have not gone so long after the machine was asked for, the replacement is given up: the new node
    /// goes like any other that is not needed. For as long again nothing else is replaced.
    pub give_up_after: SignedDuration,
}

impl Default for Consolidation {
    fn default() -> Self {
        Consolidation { give_up_after: SignedDuration::from_hours(1) }
    }
}

/// What the nodes of all groups have together at least, by capacity (the lower bounds of `cores-total`, `memory-total` and
/// `gpu-total`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AtLeast {
    /// Nodes.
    pub nodes: Option<u32>,
    /// Cpu.
    pub cpu: Option<MilliCpu>,
    /// Memory.
    pub memory: Option<Bytes>,
    /// Extended resources by name.
    pub extended: BTreeMap<Arc<str>, i64>,
}

/// Settings of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScaleDown {
    /// A node is idle when what its pods request is at most this share of what it offers
    /// (`scale-down-utilization-threshold`).
    pub threshold: Percent,
    /// The same for nodes with GPUs, of which only the GPUs count (`scale-down-gpu-utilization-threshold`).
    pub gpu_threshold: Percent,
    /// A node that has not been needed for so long goes (`scale-down-unneeded-time`).
    pub unneeded_for: SignedDuration,
    /// The same for a node that is not ready (`scale-down-unready-time`); None: such nodes stay.
    pub unready_for: Option<SignedDuration>,
    /// A node that is older goes as soon as its pods fit elsewhere, whatever share of it is in use (Karpenter's
    /// `expireAfter`); None: age does not matter.
    pub expire_after: Option<SignedDuration>,
    /// After the group grew, it is left alone for so long (`scale-down-delay-after-add`).
    pub after_add: SignedDuration,
    /// The same after a node was removed (`scale-down-delay-after-delete`).
    pub after_delete: SignedDuration,
    /// The same after a drain was given up (`scale-down-delay-after-failure`).
    pub after_failure: SignedDuration,
    /// Pods of DaemonSets and what they take of the node do not count (`ignore-daemonsets-utilization`).
    pub ignore_daemon_sets: bool,
    /// The same for static pods and their mirrors (`ignore-mirror-pods-utilization`).
    pub ignore_mirror_pods: bool,
    /// How many nodes of the group may be on their way out at once. Without any there is no limit.
    pub budgets: Vec<Budget>,
}

impl Default for ScaleDown {
    fn default() -> Self {
        ScaleDown {
            threshold: Percent::whole(50),
            gpu_threshold: Percent::whole(50),
            unneeded_for: SignedDuration::from_mins(10),
            unready_for: Some(SignedDuration::from_mins(20)),
            expire_after: None,
            after_add: SignedDuration::from_mins(10),
            after_delete: SignedDuration::ZERO,
            after_failure: SignedDuration::from_mins(3),
            ignore_daemon_sets: false,
            ignore_mirror_pods: false,
            budgets: vec![Budget::default()],
        }
    }
}

/// How many nodes may be on their way out at once. Of several budgets that are in force the smallest holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    /// At most so many.
    pub nodes: Share,
    /// Only for nodes that go for one of these reasons; empty: for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Removal>,
    /// Only at these times; None: always.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
}

/// A number of nodes, or a share of them that is rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Share {
    /// So many.
    Nodes(u32),
    /// This percentage.
    Percent(Percent),
}

impl Default for Share {
    fn default() -> Self {
        Share::Percent(Percent::whole(10))
    }
}

/// Why a node goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Removal {
    /// No pod would have to move.
    Empty,
    /// Its pods fit elsewhere.
    Underutilized,
    /// It is not ready.
    Unready,
    /// It is older than its group allows.
    Old,
}

/// Times that come again and again: each begins as the schedule says and lasts for a while.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// Five fields as in cron: minute, hour, day of month, month, day of week.
    pub schedule: Box<str>,
    /// How long it lasts.
    pub lasts: SignedDuration,
    /// The name of the time zone in which the schedule is read, such as `Europe/Zurich`; empty: UTC.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub time_zone: Box<str>,
}
