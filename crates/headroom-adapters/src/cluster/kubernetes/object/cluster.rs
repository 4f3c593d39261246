//! Objects that say something about pods: DaemonSets and namespaces.

use serde::Deserialize;

use super::{Metadata, Pod, or_default};

/// A DaemonSet.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DaemonSet<'a> {
    /// Name, namespace and so on.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What is wanted of it.
    #[serde(borrow, deserialize_with = "or_default")]
    pub spec: DaemonSetSpec<'a>,
}

/// `spec` of a DaemonSet.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DaemonSetSpec<'a> {
    /// What its pods are like; it has no status.
    #[serde(borrow, deserialize_with = "or_default")]
    pub template: Pod<'a>,
}

/// A namespace.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Namespace<'a> {
    /// Name and labels.
    #[serde(borrow, deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
}
