//! How much of each kind a dump shows.

use std::collections::BTreeSet;
use std::sync::Arc;

use headroom_core::snapshot::{Coverage, Kind, Pod, PodKind};

/// What tells how complete a dump is.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// By the API's names.
    kinds: BTreeSet<String>,
    /// Kinds of which some object could not be read.
    skipped: BTreeSet<String>,
    /// Kinds of the pods' controllers.
    controllers: BTreeSet<String>,
    namespace: Option<Arc<str>>,
    several_namespaces: bool,
    /// A pod such as every cluster has: of a DaemonSet, static, or in kube-system.
    system_pod: bool,
}

impl Seen {
    /// There is an object of this kind, or a list of it.
    pub(super) fn kind(&mut self, kind: &str) {
        if !self.kinds.contains(kind) {
            self.kinds.insert(kind.to_owned());
        }
    }

    /// An object of this kind could not be read.
    pub(super) fn skipped(&mut self, kind: &str) {
        self.skipped.insert(kind.to_owned());
    }

    pub(super) fn pod(&mut self, pod: &Pod) {
        let spec = &pod.spec;
        self.system_pod |= spec.kind != PodKind::Workload || &*spec.namespace == "kube-system";
        match &self.namespace {
            Some(known) => self.several_namespaces |= **known != *spec.namespace,
            None => self.namespace = Some(Arc::clone(&spec.namespace)),
        }
        if let Some((kind, _)) = spec.controller.as_deref().and_then(|controller| controller.split_once('/'))
            && !self.controllers.contains(kind)
        {
            self.controllers.insert(kind.to_owned());
        }
    }

    pub(super) fn node_or_pod(&self) -> bool {
        self.has("Node") || self.has("Pod")
    }

    /// How much of every kind there is. What is absent is unknown, never empty.
    pub(super) fn coverage(&self) -> impl Iterator<Item = (Kind, Coverage)> {
        Kind::ALL.into_iter().map(|kind| (kind, self.coverage_of(kind)))
    }

    fn coverage_of(&self, kind: Kind) -> Coverage {
        let partial = |partial: bool| if partial { Coverage::Partial } else { Coverage::Complete };
        let names = names(kind);
        if !names.iter().any(|name| self.has(name)) {
            return Coverage::Absent;
        }
        let skipped = names.iter().any(|name| self.skipped.contains(*name));
        // A cluster may have no Job, but a pod that a Job made shows that the Jobs are missing here.
        let unseen = || names.iter().any(|name| self.controllers.contains(*name) && !self.has(name));
        match kind {
            Kind::Pods
            | Kind::PersistentVolumeClaims
            | Kind::DaemonSets
            | Kind::PodDisruptionBudgets
            | Kind::CapacityBuffers => partial(skipped || self.looks_filtered()),
            Kind::Workloads => partial(skipped || self.looks_filtered() || unseen()),
            _ => partial(skipped),
        }
    }

    /// Whether the pods look as if `-A` was left out: all in one namespace, or none of those that every cluster has.
    fn looks_filtered(&self) -> bool {
        self.namespace.is_some() && !(self.several_namespaces && self.system_pod)
    }

    fn has(&self, kind: &str) -> bool {
        self.kinds.contains(kind)
    }
}

/// The API's names of a kind.
fn names(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Nodes => &["Node"],
        Kind::Pods => &["Pod"],
        Kind::PodDisruptionBudgets => &["PodDisruptionBudget"],
        Kind::DaemonSets => &["DaemonSet"],
        Kind::Workloads => &["Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController"],
        Kind::CapacityBuffers => &["CapacityBuffer"],
        Kind::PersistentVolumes => &["PersistentVolume"],
        Kind::PersistentVolumeClaims => &["PersistentVolumeClaim"],
        Kind::StorageClasses => &["StorageClass"],
        Kind::CsiNodes => &["CSINode"],
        Kind::Namespaces => &["Namespace"],
        Kind::PriorityClasses => &["PriorityClass"],
    }
}
