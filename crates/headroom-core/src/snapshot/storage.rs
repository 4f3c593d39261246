//! Volumes, the claims on them, and what they say about where a pod can run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{LabelSelector, Labels, NodeTerm};

/// A persistent volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Volume {
    /// Unique in the cluster.
    pub name: Arc<str>,
    /// Its zone and region labels tie it to nodes; claims may select it by any label.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Required node affinity: one of the terms must hold. Empty when there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_affinity: Vec<NodeTerm>,
    /// The CSI driver, or the one that an in-tree volume is migrated to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<Arc<str>>,
    /// How the driver knows it; the name when empty. Volumes with one handle are attached once.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub handle: Box<str>,
    /// Its class, empty for none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub storage_class: Box<str>,
    /// Bytes.
    pub capacity: i64,
    /// What it can be used for.
    pub modes: AccessModes,
    /// Its phase is Available: a claim of its class may still take it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub available: bool,
    /// Namespace and name of the claim that it is kept for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_for: Option<(Arc<str>, Box<str>)>,
}

/// How a volume can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AccessModes {
    /// ReadWriteOnce.
    pub read_write_once: bool,
    /// ReadOnlyMany.
    pub read_only_many: bool,
    /// ReadWriteMany.
    pub read_write_many: bool,
    /// ReadWriteOncePod.
    pub read_write_once_pod: bool,
    /// `volumeMode: Block`.
    pub block: bool,
}

impl AccessModes {
    /// Whether a volume with these modes serves a claim that asks for `wanted`.
    pub fn serve(self, wanted: AccessModes) -> bool {
        self.block == wanted.block
            && (self.read_write_once || !wanted.read_write_once)
            && (self.read_only_many || !wanted.read_only_many)
            && (self.read_write_many || !wanted.read_write_many)
            && (self.read_write_once_pod || !wanted.read_write_once_pod)
    }
}

/// A persistent volume claim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Claim {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Unique in its namespace.
    pub name: Box<str>,
    /// How far it has come.
    pub state: ClaimState,
    /// It is being deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleting: bool,
    /// Its class, empty for none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub storage_class: Box<str>,
    /// Bytes asked for.
    pub request: i64,
    /// What it asks for.
    pub modes: AccessModes,
    /// Which of the volumes that are there it takes; None is every one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// The node that its volume is being made for (`volume.kubernetes.io/selected-node`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_node: Option<Box<str>>,
}

/// How far a claim has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClaimState {
    /// It has no volume.
    #[default]
    Unbound,
    /// It names a volume and is not completely bound to it.
    Prebound,
    /// It has this volume for good.
    Bound(Arc<str>),
    /// Its volume is gone.
    Lost,
}

/// A storage class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StorageClass {
    /// Unique in the cluster.
    pub name: Arc<str>,
    /// Who makes its volumes, for example `ebs.csi.aws.com`.
    pub provisioner: Arc<str>,
    /// `volumeBindingMode: WaitForFirstConsumer`: volumes are made where the pod goes.
    pub wait_for_first_consumer: bool,
    /// Where volumes can be made: one of the terms must hold. Empty means everywhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_topologies: Vec<NodeTerm>,
}

/// How many volumes of each CSI driver a node can have attached (the CSINode object).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachLimits {
    /// The node.
    pub node: Arc<str>,
    /// By driver; one that is not named has no limit.
    pub limits: Vec<(Arc<str>, u32)>,
}
