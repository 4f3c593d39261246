//! What makes pods, and the room that is asked for in objects of the cluster.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::SharedSpec;
use crate::keys::ACTIVE_CAPACITY;
use crate::quantity::Resources;

/// Something with a pod template: a Deployment, ReplicaSet, StatefulSet, Job, ReplicationController or PodTemplate;
/// or something of another group with replicas that a capacity buffer refers to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Workload {
    /// For example `Deployment`; with its group, such as `Rollout.argoproj.io`, when that is not Kubernetes' own.
    pub kind: Box<str>,
    /// Unique among those of its kind in the namespace, which is that of its pods.
    pub name: Box<str>,
    /// How many pods it wants now. A PodTemplate wants none.
    pub replicas: u32,
    /// What its pods are like before anything is added to them on admission.
    pub spec: SharedSpec,
    /// Kind and name of its own controller, for example `Deployment/web`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<Box<str>>,
    /// The annotation [`SPARE_COPIES`](crate::keys::SPARE_COPIES) on the object itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_copies: Option<Box<str>>,
    /// Of a PodTemplate: the generation of the object, which buffers that refer to it are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
}

impl Workload {
    /// `Kind/name`, as owners are written.
    pub fn reference(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }
}

/// A CapacityBuffer (`autoscaling.x-k8s.io`, `spec/cluster-autoscaler.md` 6.2): room that its author wants kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CapacityBuffer {
    /// Its namespace, and that of what it refers to.
    pub namespace: Arc<str>,
    /// Unique in the namespace.
    pub name: Box<str>,
    /// `provisioningStrategy`; empty for the default.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub strategy: Box<str>,
    /// The name of a PodTemplate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_template: Option<Box<str>>,
    /// Kind and name of something with replicas, for example `Deployment/web`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalable: Option<Box<str>>,
    /// So many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// A percentage of what `scalable` wants, rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentage: Option<u32>,
    /// Together they request at most this; a resource that is not listed has no limit.
    pub limits: BufferLimits,
}

impl CapacityBuffer {
    /// Whether its room is to be kept in the cluster itself. Others are for other controllers.
    pub fn is_for_us(&self) -> bool {
        self.strategy.is_empty() || *self.strategy == *ACTIVE_CAPACITY
    }
}

/// The most that a buffer may request of each resource that has a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BufferLimits {
    /// Thousandths of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<i64>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<i64>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral_storage: Option<i64>,
    /// Extended resources by name, in their own units.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extended: Vec<(Arc<str>, i64)>,
}

impl BufferLimits {
    /// How many pods with these requests stay under the limits; None when no limit is about anything that they request.
    pub fn pods(&self, requests: &Resources) -> Option<u32> {
        let named = [
            (self.cpu, requests.cpu),
            (self.memory, requests.memory),
            (self.ephemeral_storage, requests.ephemeral_storage),
        ];
        let extended = self.extended.iter().map(|(name, limit)| (Some(*limit), requests.extended(name)));
        let each = named.into_iter().chain(extended).filter(|(_, needs)| *needs > 0);
        let fits = each.filter_map(|(limit, needs)| Some(limit?.max(0) / needs)).min()?;
        Some(u32::try_from(fits).unwrap_or(u32::MAX))
    }
}
