//! What static constraints may see of a node: that which many nodes share, and its name.

use crate::snapshot::{Labels, Node, Taint, Template};

/// The label that the kubelet sets on every node, to a value of its own.
pub const HOSTNAME: &str = "kubernetes.io/hostname";

/// A node as the static constraints see it.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    /// Empty for a machine that does not exist yet.
    pub name: &'a str,
    /// The value of its `kubernetes.io/hostname` label. Empty for a machine that does not exist yet: it will have the
    /// label, and nobody knows the value.
    pub hostname: Option<&'a str>,
    /// All other labels; a hostname label among them is not looked at.
    pub labels: &'a Labels,
    /// All taints.
    pub taints: &'a [Taint],
    /// Cordoned.
    pub unschedulable: bool,
}

impl<'a> Host<'a> {
    /// A node that exists.
    pub fn of(node: &'a Node) -> Self {
        Host {
            name: &node.name,
            hostname: node.labels.get(HOSTNAME),
            labels: &node.labels,
            taints: &node.taints,
            unschedulable: node.unschedulable,
        }
    }

    /// A machine that does not exist yet.
    pub fn new(template: &'a Template) -> Self {
        Host { name: "", hostname: Some(""), labels: &template.labels, taints: &template.taints, unschedulable: false }
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&'a str> {
        if key == HOSTNAME { self.hostname } else { self.labels.get(key) }
    }
}
