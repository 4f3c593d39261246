//! Volumes, the claims on them, and the classes that they are made by.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{LabelSelector, Map, Metadata, NodeSelector, Quantity, Resources, Text, or_default};

/// A persistent volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PersistentVolume<'a> {
    /// Name, labels and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What it is.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: PersistentVolumeSpec<'a>,
    /// How far it has come.
    #[serde(borrow, deserialize_with = "or_default")]
    pub status: PhaseStatus<'a>,
}

/// `spec` of a persistent volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeSpec<'a> {
    /// `storage`
    #[serde(borrow)]
    pub capacity: Map<'a, Quantity<'a>>,
    /// `ReadWriteOnce` and others.
    #[serde(borrow, deserialize_with = "or_default")]
    pub access_modes: Vec<Text<'a>>,
    /// `Filesystem` (also when empty) or `Block`.
    #[serde(borrow)]
    pub volume_mode: Text<'a>,
    /// Its class.
    #[serde(borrow)]
    pub storage_class_name: Option<Text<'a>>,
    /// The claim that it is kept for.
    #[serde(borrow)]
    pub claim_ref: Option<ClaimReference<'a>>,
    /// Where it can be used.
    #[serde(borrow)]
    pub node_affinity: Option<VolumeNodeAffinity<'a>>,
    /// A volume of a CSI driver.
    #[serde(borrow)]
    pub csi: Option<CsiSource<'a>>,
    /// A volume that a CSI driver has taken over.
    pub aws_elastic_block_store: Option<IgnoredAny>,
    /// A volume that a CSI driver has taken over.
    pub azure_disk: Option<IgnoredAny>,
    /// A volume that a CSI driver has taken over.
    pub azure_file: Option<IgnoredAny>,
    /// A volume that a CSI driver has taken over.
    pub cinder: Option<IgnoredAny>,
    /// A volume that a CSI driver has taken over.
    pub gce_persistent_disk: Option<IgnoredAny>,
    /// A volume that a CSI driver has taken over.
    pub portworx_volume: Option<IgnoredAny>,
    /// A volume that a CSI driver has taken over.
    pub vsphere_volume: Option<IgnoredAny>,
}

/// `spec.nodeAffinity` of a persistent volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct VolumeNodeAffinity<'a> {
    /// Where it can be used.
    #[serde(borrow)]
    pub required: Option<NodeSelector<'a>>,
}

/// `spec.claimRef` of a persistent volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClaimReference<'a> {
    /// The claim's namespace.
    #[serde(borrow)]
    pub namespace: Text<'a>,
    /// The claim's name.
    #[serde(borrow)]
    pub name: Text<'a>,
}

/// `spec.csi` of a persistent volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CsiSource<'a> {
    /// For example `ebs.csi.aws.com`.
    #[serde(borrow)]
    pub driver: Text<'a>,
    /// How the driver knows the volume.
    #[serde(borrow)]
    pub volume_handle: Text<'a>,
}

/// `status` of a volume or claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PhaseStatus<'a> {
    /// One word.
    #[serde(borrow)]
    pub phase: Text<'a>,
}

/// A persistent volume claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PersistentVolumeClaim<'a> {
    /// Name, namespace and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What it asks for.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: PersistentVolumeClaimSpec<'a>,
    /// How far it has come.
    #[serde(borrow, deserialize_with = "or_default")]
    pub status: PhaseStatus<'a>,
}

/// `spec` of a persistent volume claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeClaimSpec<'a> {
    /// `ReadWriteOnce` and others.
    #[serde(borrow, deserialize_with = "or_default")]
    pub access_modes: Vec<Text<'a>>,
    /// `Filesystem` (also when empty) or `Block`.
    #[serde(borrow)]
    pub volume_mode: Text<'a>,
    /// Its class.
    #[serde(borrow)]
    pub storage_class_name: Option<Text<'a>>,
    /// `storage`
    #[serde(borrow, deserialize_with = "or_default")]
    pub resources: Resources<'a>,
    /// Labels that its volume must have.
    #[serde(borrow)]
    pub selector: Option<LabelSelector<'a>>,
    /// The volume that it has or is to have.
    #[serde(borrow)]
    pub volume_name: Text<'a>,
}

/// A storage class.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StorageClass<'a> {
    /// Its name.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// Who makes its volumes.
    #[serde(borrow)]
    pub provisioner: Text<'a>,
    /// `Immediate` (also when empty) or `WaitForFirstConsumer`.
    #[serde(borrow)]
    pub volume_binding_mode: Text<'a>,
    /// Where its volumes can be made: one of them must hold; everywhere without any.
    #[serde(borrow, deserialize_with = "or_default")]
    pub allowed_topologies: Vec<TopologySelectorTerm<'a>>,
}

/// One of a storage class's `allowedTopologies`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySelectorTerm<'a> {
    /// All of them must hold.
    #[serde(borrow, deserialize_with = "or_default")]
    pub match_label_expressions: Vec<TopologyRequirement<'a>>,
}

/// A label that a node must have with one of some values.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TopologyRequirement<'a> {
    /// The label.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// One of them.
    #[serde(borrow, deserialize_with = "or_default")]
    pub values: Vec<Text<'a>>,
}
