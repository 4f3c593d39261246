//! What there is of a scene at one instant.

use std::fmt;

use k8s_openapi::api::core::v1::{Node, Pod, Taint};

/// The nodes and pods of a scene. In words it is what a failed test says.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) nodes: Vec<Node>,
    pub(crate) pods: Vec<Pod>,
}

impl View {
    /// All pods of a Deployment, whatever their state.
    pub(crate) fn pods_of(&self, deployment: &str) -> impl Iterator<Item = &Pod> {
        let of = move |pod: &&Pod| pod.metadata.labels.as_ref().is_some_and(|labels| labels["app"] == deployment);
        self.pods.iter().filter(of)
    }

    /// How many pods of a Deployment run and are to stay.
    pub(crate) fn running(&self, deployment: &str) -> usize {
        self.pods_of(deployment).filter(|pod| runs(pod)).count()
    }

    pub(crate) fn ready(&self) -> usize {
        self.nodes.iter().filter(|node| ready(node)).count()
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nodes, {} pods", self.nodes.len(), self.pods.len())?;
        for node in &self.nodes {
            let ready = if ready(node) { "Ready" } else { "not Ready" };
            write!(f, "\n  node {}: {ready}", name(&node.metadata.name))?;
            for taint in taints(node) {
                write!(f, " {}:{}", taint.key, taint.effect)?;
            }
        }
        const SHOWN: usize = 40;
        for pod in self.pods.iter().take(SHOWN) {
            let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("?");
            let on = node_of(pod).unwrap_or("no node");
            let leaving = if pod.metadata.deletion_timestamp.is_some() { ", on its way out" } else { "" };
            write!(f, "\n  pod {}: {phase} on {on}{leaving}", name(&pod.metadata.name))?;
        }
        match self.pods.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more pods"),
        }
    }
}

/// The node that a pod is bound to.
pub(crate) fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref()
}

pub(crate) fn taints(node: &Node) -> &[Taint] {
    node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default()
}

fn runs(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    phase == Some("Running") && pod.metadata.deletion_timestamp.is_none()
}

fn ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn name(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or("?")
}
