//! What makes pods, and capacity buffers.

use serde::Deserialize;

use super::{Condition, Map, Metadata, Pod, Quantity, Text, or_default};

/// A Deployment, ReplicaSet, StatefulSet, ReplicationController or Job.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Workload<'a> {
    /// Group and version: other groups have kinds of the same names.
    #[serde(borrow)]
    pub api_version: Text<'a>,
    /// Name, namespace and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What is wanted of it.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: WorkloadSpec<'a>,
    /// How far it is.
    #[serde(borrow, deserialize_with = "or_default")]
    pub status: WorkloadStatus<'a>,
}

/// `spec` of what makes pods. A Job has other fields for how many they are.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct WorkloadSpec<'a> {
    /// How many pods it wants; 1 when left out.
    pub replicas: Option<i64>,
    /// How many pods a Job wants at once; 1 when left out.
    pub parallelism: Option<i64>,
    /// How many pods of a Job have to succeed.
    pub completions: Option<i64>,
    /// Whether a Job waits.
    pub suspend: Option<bool>,
    /// What its pods are like; it has no status.
    #[serde(borrow, deserialize_with = "or_default")]
    pub template: Pod<'a>,
}

/// `status` of what makes pods, as far as a Job needs it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct WorkloadStatus<'a> {
    /// How many pods of a Job have succeeded.
    pub succeeded: Option<i64>,
    /// `Complete` and `Failed` are the ends of a Job.
    #[serde(borrow, deserialize_with = "or_default")]
    pub conditions: Vec<Condition<'a>>,
}

/// A PodTemplate: it makes no pods and says what those of others are like.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodTemplate<'a> {
    /// Group and version.
    #[serde(borrow)]
    pub api_version: Text<'a>,
    /// Name, namespace and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// It has no status.
    #[serde(borrow, deserialize_with = "or_default")]
    pub template: Pod<'a>,
}

/// A CapacityBuffer (`autoscaling.x-k8s.io`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CapacityBuffer<'a> {
    /// Group and version.
    #[serde(borrow)]
    pub api_version: Text<'a>,
    /// Name, namespace and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What is wanted.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: CapacityBufferSpec<'a>,
}

/// `spec` of a CapacityBuffer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CapacityBufferSpec<'a> {
    /// Who is to keep the room, and how.
    #[serde(borrow)]
    pub provisioning_strategy: Text<'a>,
    /// A PodTemplate.
    #[serde(borrow)]
    pub pod_template_ref: Option<NameReference<'a>>,
    /// Something with replicas.
    #[serde(borrow)]
    pub scalable_ref: Option<ScalableReference<'a>>,
    /// How many pods it stands for.
    pub replicas: Option<i64>,
    /// The same as a percentage of the replicas of what it refers to.
    pub percentage: Option<i64>,
    /// What its pods request together at most.
    #[serde(borrow)]
    pub limits: Map<'a, Quantity<'a>>,
}

/// A reference to an object of a known kind in the same namespace.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NameReference<'a> {
    /// Its name.
    #[serde(borrow)]
    pub name: Text<'a>,
}

/// A reference to an object of any kind in the same namespace.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScalableReference<'a> {
    /// Empty for the core group.
    #[serde(borrow)]
    pub api_group: Text<'a>,
    /// For example `Deployment`.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// Its name.
    #[serde(borrow)]
    pub name: Text<'a>,
}
