//! What objects of a cluster are called: enough to say which one a change is about, and that one is gone.

use std::sync::Arc;

use super::{Change, Kind, Snapshot};

/// Which object of the cluster is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Its kind.
    pub kind: Kind,
    /// Empty for what has none.
    pub namespace: Arc<str>,
    /// Unique for the kind in the namespace; for workloads `Kind/name`.
    pub name: Box<str>,
}

impl ObjectKey {
    /// What says that the object is gone. None for a kind of which a snapshot holds no objects.
    pub fn gone(&self) -> Option<Change> {
        let ObjectKey { kind, namespace, name } = self;
        let (namespace, name) = (Arc::clone(namespace), name.clone());
        Some(match kind {
            Kind::Nodes => Change::NodeGone(name.into()),
            Kind::Pods => Change::PodGone { namespace, name },
            Kind::PodDisruptionBudgets => Change::DisruptionBudgetGone { namespace, name },
            Kind::DaemonSets => Change::DaemonSetGone { namespace, name },
            Kind::Workloads => Change::WorkloadGone { namespace, reference: name },
            Kind::CapacityBuffers => Change::CapacityBufferGone { namespace, name },
            Kind::PersistentVolumes => Change::VolumeGone(name.into()),
            Kind::PersistentVolumeClaims => Change::ClaimGone { namespace, name },
            Kind::StorageClasses => Change::StorageClassGone(name.into()),
            Kind::CsiNodes => Change::AttachLimitsGone(name.into()),
            Kind::Namespaces => Change::NamespaceGone(name.into()),
            Kind::PriorityClasses => return None,
        })
    }
}

impl Change {
    /// The object that it is about; None when it is about no object of the cluster.
    pub fn object(&self) -> Option<ObjectKey> {
        let of = |kind, namespace: &Arc<str>, name: &str| {
            Some(ObjectKey { kind, namespace: Arc::clone(namespace), name: name.into() })
        };
        let cluster_wide = |kind, name: &str| of(kind, &Arc::default(), name);
        match self {
            Change::Node(node) => cluster_wide(Kind::Nodes, &node.name),
            Change::NodeGone(name) => cluster_wide(Kind::Nodes, name),
            Change::Pod(pod) => of(Kind::Pods, &pod.spec.namespace, &pod.name),
            Change::PodGone { namespace, name } => of(Kind::Pods, namespace, name),
            Change::Namespace { name, .. } | Change::NamespaceGone(name) => cluster_wide(Kind::Namespaces, name),
            Change::DisruptionBudget(budget) => of(Kind::PodDisruptionBudgets, &budget.namespace, &budget.name),
            Change::DisruptionBudgetGone { namespace, name } => of(Kind::PodDisruptionBudgets, namespace, name),
            Change::Volume(volume) => cluster_wide(Kind::PersistentVolumes, &volume.name),
            Change::VolumeGone(name) => cluster_wide(Kind::PersistentVolumes, name),
            Change::Claim(claim) => of(Kind::PersistentVolumeClaims, &claim.namespace, &claim.name),
            Change::ClaimGone { namespace, name } => of(Kind::PersistentVolumeClaims, namespace, name),
            Change::StorageClass(class) => cluster_wide(Kind::StorageClasses, &class.name),
            Change::StorageClassGone(name) => cluster_wide(Kind::StorageClasses, name),
            Change::AttachLimits(limits) => cluster_wide(Kind::CsiNodes, &limits.node),
            Change::AttachLimitsGone(node) => cluster_wide(Kind::CsiNodes, node),
            Change::DaemonSet { name, spec } => of(Kind::DaemonSets, &spec.namespace, name),
            Change::DaemonSetGone { namespace, name } => of(Kind::DaemonSets, namespace, name),
            Change::Workload(workload) => of(Kind::Workloads, &workload.spec.namespace, &workload.reference()),
            Change::WorkloadGone { namespace, reference } => of(Kind::Workloads, namespace, reference),
            Change::CapacityBuffer(buffer) => of(Kind::CapacityBuffers, &buffer.namespace, &buffer.name),
            Change::CapacityBufferGone { namespace, name } => of(Kind::CapacityBuffers, namespace, name),
            Change::Group(_) | Change::GroupGone(_) | Change::Coverage(..) => None,
        }
    }
}

impl Snapshot {
    /// What all objects of a kind are called, in no meaningful order. Pods that have ended are not among them.
    pub fn objects(&self, kind: Kind) -> Vec<ObjectKey> {
        let key =
            |namespace: &Arc<str>, name: &str| ObjectKey { kind, namespace: Arc::clone(namespace), name: name.into() };
        let cluster_wide = |name: &Arc<str>| key(&Arc::default(), name);
        match kind {
            Kind::Nodes => self.node_order.keys().map(cluster_wide).collect(),
            Kind::Pods => {
                let namespace = |class: u32| self.classes.get(class as usize).map(|class| &class.spec.namespace);
                let pods = self.pods.iter();
                pods.filter_map(|(pod, entry)| Some(key(namespace(entry.class)?, &pod.name))).collect()
            }
            Kind::PodDisruptionBudgets => {
                self.disruption_budgets().map(|budget| key(&budget.namespace, &budget.name)).collect()
            }
            Kind::DaemonSets => self.daemon_sets.keys().map(|(namespace, name)| key(namespace, name)).collect(),
            Kind::Workloads => {
                self.workloads().map(|workload| key(&workload.spec.namespace, &workload.reference())).collect()
            }
            Kind::CapacityBuffers => {
                self.capacity_buffers().map(|buffer| key(&buffer.namespace, &buffer.name)).collect()
            }
            Kind::PersistentVolumes => self.volumes.keys().map(cluster_wide).collect(),
            Kind::PersistentVolumeClaims => {
                let claims = self.claims.values().flat_map(std::collections::BTreeMap::values);
                claims.map(|claim| key(&claim.namespace, &claim.name)).collect()
            }
            Kind::StorageClasses => self.storage_classes.keys().map(cluster_wide).collect(),
            Kind::CsiNodes => self.attach_limits.keys().map(cluster_wide).collect(),
            Kind::Namespaces => self.namespace_labels.keys().map(cluster_wide).collect(),
            Kind::PriorityClasses => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{
        AttachLimits, Builder, CapacityBuffer, Claim, DisruptionBudget, Labels, Node, Pod, PodSpec, SharedSpec,
        StorageClass, Volume, Workload,
    };

    /// One object of every kind.
    fn one_of_each() -> [Change; 11] {
        let (namespace, name) = (|| Arc::from("shop"), || Box::from("web"));
        let spec = SharedSpec::new(PodSpec { namespace: namespace(), ..PodSpec::default() });
        [
            Change::Node(Box::new(Node { name: "web".into(), ..Node::default() })),
            Change::Pod(Pod { name: name(), spec: spec.clone(), ..Pod::default() }),
            Change::Namespace { name: "web".into(), labels: Labels::default() },
            Change::DisruptionBudget(Box::new(DisruptionBudget {
                namespace: namespace(),
                name: name(),
                ..DisruptionBudget::default()
            })),
            Change::Volume(Box::new(Volume { name: "web".into(), ..Volume::default() })),
            Change::Claim(Box::new(Claim { namespace: namespace(), name: name(), ..Claim::default() })),
            Change::StorageClass(StorageClass { name: "web".into(), ..StorageClass::default() }),
            Change::AttachLimits(AttachLimits { node: "web".into(), ..AttachLimits::default() }),
            Change::DaemonSet { name: name(), spec: spec.clone() },
            Change::Workload(Box::new(Workload { kind: "Job".into(), name: name(), spec, ..Workload::default() })),
            Change::CapacityBuffer(Box::new(CapacityBuffer {
                namespace: namespace(),
                name: name(),
                ..CapacityBuffer::default()
            })),
        ]
    }

    #[test]
    fn what_is_there_is_called_as_the_change_that_brought_it_and_goes_by_that_name() {
        let mut builder = Builder::new();
        for change in one_of_each() {
            builder.apply(change);
        }
        for change in one_of_each() {
            assert!(builder.snapshot().has(&change), "{change:?}");
            let key = change.object().unwrap();
            assert!(!builder.snapshot().has(&key.gone().unwrap()), "{change:?}");
            assert_eq!(builder.snapshot().objects(key.kind), std::slice::from_ref(&key));
            let gone = key.gone().unwrap();
            assert_eq!(gone.object(), Some(key.clone()));
            builder.apply(gone.clone());
            assert!(builder.snapshot().has(&gone));
            assert_eq!(builder.snapshot().objects(key.kind), []);
        }
        for change in one_of_each() {
            assert!(!builder.snapshot().has(&change), "{change:?}");
        }
        let empty = |kind: Kind| builder.snapshot().objects(kind).is_empty();
        assert!(Kind::ALL.into_iter().all(empty));
    }
}
