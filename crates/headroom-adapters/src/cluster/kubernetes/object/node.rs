//! Nodes, and what storage drivers say about them.

use serde::Deserialize;

use super::{Condition, Map, Metadata, Quantity, Text, or_default};

/// A node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node<'a> {
    /// Name, labels and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What is wanted of it.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: NodeSpec<'a>,
    /// How it is.
    #[serde(borrow, deserialize_with = "or_default")]
    pub status: NodeStatus<'a>,
}

/// `spec` of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec<'a> {
    /// How the cloud names the machine.
    #[serde(borrow, rename = "providerID")]
    pub provider_id: Option<Text<'a>>,
    /// All taints.
    #[serde(borrow, deserialize_with = "or_default")]
    pub taints: Vec<Taint<'a>>,
    /// Cordoned.
    pub unschedulable: Option<bool>,
}

/// One of a node's `spec.taints`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Taint<'a> {
    /// What tolerations name.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// Often empty.
    #[serde(borrow)]
    pub value: Text<'a>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    #[serde(borrow)]
    pub effect: Text<'a>,
}

/// `status` of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeStatus<'a> {
    /// What pods may use.
    #[serde(borrow)]
    pub allocatable: Map<'a, Quantity<'a>>,
    /// What the machine has.
    #[serde(borrow)]
    pub capacity: Map<'a, Quantity<'a>>,
    /// Ready and others.
    #[serde(borrow, deserialize_with = "or_default")]
    pub conditions: Vec<Condition<'a>>,
    /// Host names and addresses.
    #[serde(borrow, deserialize_with = "or_default")]
    pub addresses: Vec<Address<'a>>,
}

/// One of a node's `status.addresses`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Address<'a> {
    /// For example `InternalIP`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// A name or an address.
    #[serde(borrow)]
    pub address: Text<'a>,
}

/// What the storage drivers of a node say about it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CsiNode<'a> {
    /// It has the name of its node.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// The drivers.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: CsiNodeSpec<'a>,
}

/// `spec` of a CSINode.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CsiNodeSpec<'a> {
    /// Those that run on the node.
    #[serde(borrow, deserialize_with = "or_default")]
    pub drivers: Vec<CsiDriver<'a>>,
}

/// One of a CSINode's `spec.drivers`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CsiDriver<'a> {
    /// For example `ebs.csi.aws.com`.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// What the node can bear of its volumes.
    #[serde(deserialize_with = "or_default")]
    pub allocatable: DriverAllocatable,
}

/// `allocatable` of a CSI driver on a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DriverAllocatable {
    /// How many volumes can be attached at once; without it there is no limit.
    pub count: Option<i64>,
}
