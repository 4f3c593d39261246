//! How much of the cluster a snapshot shows.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of object that a decision may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    Nodes,
    Pods,
    PodDisruptionBudgets,
    DaemonSets,
    Workloads,
    CapacityBuffers,
    PersistentVolumes,
    PersistentVolumeClaims,
    StorageClasses,
    CsiNodes,
    Namespaces,
    PriorityClasses,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 12] = [
        Kind::Nodes,
        Kind::Pods,
        Kind::PodDisruptionBudgets,
        Kind::DaemonSets,
        Kind::Workloads,
        Kind::CapacityBuffers,
        Kind::PersistentVolumes,
        Kind::PersistentVolumeClaims,
        Kind::StorageClasses,
        Kind::CsiNodes,
        Kind::Namespaces,
        Kind::PriorityClasses,
    ];

    /// What `kubectl get` calls it.
    pub fn kubectl_name(self) -> &'static str {
        match self {
            Kind::Nodes => "nodes",
            Kind::Pods => "pods",
            Kind::PodDisruptionBudgets => "poddisruptionbudgets",
            Kind::DaemonSets => "daemonsets",
            Kind::Workloads => "deployments,replicasets,statefulsets,jobs,replicationcontrollers",
            Kind::CapacityBuffers => "capacitybuffers",
            Kind::PersistentVolumes => "persistentvolumes",
            Kind::PersistentVolumeClaims => "persistentvolumeclaims",
            Kind::StorageClasses => "storageclasses",
            Kind::CsiNodes => "csinodes",
            Kind::Namespaces => "namespaces",
            Kind::PriorityClasses => "priorityclasses",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kubectl_name())
    }
}

/// How much of one kind is known. Absent means unknown, never empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Coverage {
    /// Nothing is known.
    #[default]
    Absent,
    /// Some objects may be missing: enough to grow a group by, never to shrink one.
    Partial,
    /// Every object is here.
    Complete,
}
