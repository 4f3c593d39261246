//! Nodes.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::or_default;

/// A node, whole or as lists have it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Node {
    /// Unique.
    #[serde(rename = "ID", deserialize_with = "or_default")]
    pub id: String,
    /// As its client is called.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// Where it is.
    #[serde(deserialize_with = "or_default")]
    pub datacenter: String,
    /// Empty when it has none.
    #[serde(deserialize_with = "or_default")]
    pub node_class: String,
    /// From Nomad 1.6 on.
    #[serde(deserialize_with = "or_default")]
    pub node_pool: String,
    /// Its allocations are being moved off it.
    #[serde(deserialize_with = "or_default")]
    pub drain: bool,
    /// `eligible` or `ineligible`.
    #[serde(deserialize_with = "or_default")]
    pub scheduling_eligibility: String,
    /// `initializing`, `ready`, `down` or `disconnected`.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    /// In seconds; lists leave it out.
    #[serde(deserialize_with = "or_default")]
    pub status_updated_at: i64,
    /// What it has; lists leave it out unless asked with `resources=true`.
    pub node_resources: Option<NodeResources>,
    /// What of that allocations cannot have.
    #[serde(deserialize_with = "or_default")]
    pub reserved_resources: NodeResources,
    /// Lists leave it out.
    pub meta: Option<BTreeMap<String, String>>,
    /// Lists leave them out.
    #[serde(deserialize_with = "or_default")]
    pub attributes: BTreeMap<String, String>,
    /// The latest ones; lists leave them out.
    #[serde(deserialize_with = "or_default")]
    pub events: Vec<NodeEvent>,
    /// Grows with every change.
    #[serde(deserialize_with = "or_default")]
    pub modify_index: u64,
}

/// Amounts of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeResources {
    /// Cpu.
    #[serde(deserialize_with = "or_default")]
    pub cpu: Cpu,
    /// Memory.
    #[serde(deserialize_with = "or_default")]
    pub memory: Memory,
    /// Disk.
    #[serde(deserialize_with = "or_default")]
    pub disk: Disk,
}

/// Cpu of a node or a task.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Cpu {
    /// In MHz.
    #[serde(deserialize_with = "or_default")]
    pub cpu_shares: i64,
}

/// Memory of a node or a task.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// In MiB.
    #[serde(rename = "MemoryMB", deserialize_with = "or_default")]
    pub memory_mb: i64,
}

/// Disk of a node or an allocation.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// In MiB.
    #[serde(rename = "DiskMB", deserialize_with = "or_default")]
    pub disk_mb: i64,
}

/// Something that happened to a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeEvent {
    /// For example `Node registered`.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    /// RFC 3339.
    #[serde(deserialize_with = "or_default")]
    pub timestamp: String,
}
