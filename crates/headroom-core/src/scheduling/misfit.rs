//! Why a pod cannot run on a node: a closed set, with numbers.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::plan::Resource;
use crate::snapshot::{HostPort, Taint};

/// Why a pod cannot run on a node, or on any node.
///
/// The order of the variants is that of the tests: of two refusals the larger one comes from the node that was closer to
/// taking the pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Misfit {
    /// There is no node at all.
    NoNodes,
    /// The pod has resource claims (dynamic resource allocation), which are not simulated.
    ResourceClaims {
        /// How many.
        count: usize,
    },
    /// The pod mounts a claim that does not exist.
    ClaimMissing {
        /// The claim.
        claim: Box<str>,
    },
    /// The pod mounts a claim that is being deleted.
    ClaimDeleting {
        /// The claim.
        claim: Box<str>,
    },
    /// The pod mounts a claim whose volume is gone.
    VolumeLost {
        /// The claim.
        claim: Box<str>,
    },
    /// The pod mounts a claim that gets its volume before the pod gets its node, and has none.
    ClaimUnbound {
        /// The claim.
        claim: Box<str>,
    },
    /// The pod mounts a claim of a storage class that does not exist.
    StorageClassMissing {
        /// The claim.
        claim: Box<str>,
        /// The class.
        class: Box<str>,
    },
    /// The pod mounts a `ReadWriteOncePod` claim that another pod holds.
    ClaimInUse {
        /// The claim.
        claim: Box<str>,
    },
    /// The node is cordoned.
    Unschedulable,
    /// The node is not ready, or on its way out.
    Closed,
    /// The pod does not tolerate a taint.
    Taint {
        /// The taint.
        taint: Taint,
    },
    /// The node lacks a label of the pod's node selector.
    NodeSelector {
        /// The label's key.
        key: Box<str>,
        /// The value that the pod asks for.
        wanted: Box<str>,
        /// The value that the node has.
        #[serde(skip_serializing_if = "Option::is_none")]
        found: Option<Box<str>>,
    },
    /// No term of the pod's required node affinity holds.
    NodeAffinity {
        /// The terms.
        wanted: String,
    },
    /// No term of a volume's node affinity holds.
    VolumeAffinity {
        /// The volume.
        volume: Arc<str>,
        /// The terms.
        wanted: String,
    },
    /// A volume is in another zone or region.
    VolumeZone {
        /// The volume.
        volume: Arc<str>,
        /// The label's key.
        key: Box<str>,
        /// Where the volume is.
        wanted: String,
        /// Where the node is.
        #[serde(skip_serializing_if = "Option::is_none")]
        found: Option<Box<str>>,
    },
    /// The volume of a claim cannot be made here, and none that exists can be used here.
    VolumeElsewhere {
        /// The claim.
        claim: Box<str>,
        /// Its storage class.
        class: Box<str>,
    },
    /// The volume of a claim is being made for another node.
    VolumeOnOtherNode {
        /// The claim.
        claim: Box<str>,
        /// That node.
        node: Box<str>,
    },
    /// A port of the node is taken.
    HostPort {
        /// The port that the pod asks for.
        #[serde(flatten)]
        port: HostPort,
    },
    /// Not enough of a resource is free.
    Resource {
        /// The resource.
        resource: Resource,
        /// What one pod needs of it.
        needs: i64,
        /// What is free on the node; over several nodes, the most that one of them has.
        free: i64,
        /// What DaemonSet pods take of it there.
        #[serde(skip_serializing_if = "is_zero")]
        daemon_sets: i64,
    },
    /// No device of the node, or not as many unused ones as it takes, have enough free.
    DeviceShare {
        /// The resource that counts parts of devices.
        resource: Arc<str>,
        /// What one pod needs of it.
        needs: i64,
        /// The most that one device has free.
        free: i64,
    },
    /// The node cannot attach so many volumes.
    AttachLimit {
        /// The CSI driver.
        driver: Arc<str>,
        /// Attached now.
        attached: u32,
        /// What the pod adds.
        adds: u32,
        /// The most that the node can have.
        limit: u32,
    },
    /// The node lacks a label that the pod's affinity or spread goes by.
    TopologyKeyMissing {
        /// The label's key.
        key: Box<str>,
    },
    /// One more pod in the node's domain would be too many.
    Spread {
        /// The label whose values are the domains.
        key: Box<str>,
        /// The node's domain; empty for a machine that does not exist yet.
        domain: Box<str>,
        /// Pods there.
        pods: u32,
        /// Pods in the emptiest domain.
        fewest: u32,
        /// The difference that is allowed.
        max_skew: u32,
    },
    /// No pod that this one must be near is there.
    PodAffinity {
        /// Which pods.
        selector: String,
        /// The label that says what is near.
        key: Box<str>,
    },
    /// A pod that this one must not be near is there.
    PodAntiAffinity {
        /// Which pods.
        selector: String,
        /// The label that says what is near.
        key: Box<str>,
    },
    /// A pod is there that does not want this one near.
    PodAntiAffinityOfOther {
        /// What that pod does not want near.
        selector: String,
        /// The label that says what is near.
        key: Box<str>,
    },
    /// No more nodes may be added.
    NodeLimit {
        /// How many may.
        limit: u32,
    },
}

fn is_zero(amount: &i64) -> bool {
    *amount == 0
}

impl Misfit {
    /// Whether it is the pod's own fault, so that no node of any kind helps.
    pub fn is_hopeless(&self) -> bool {
        matches!(
            self,
            Misfit::ResourceClaims { .. }
                | Misfit::ClaimMissing { .. }
                | Misfit::ClaimDeleting { .. }
                | Misfit::VolumeLost { .. }
                | Misfit::ClaimUnbound { .. }
                | Misfit::StorageClassMissing { .. }
                | Misfit::ClaimInUse { .. }
        )
    }

    /// What the user can do about it, when something can be done.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Misfit::ResourceClaims { .. } => "pods with resource claims need a node that exists already".to_owned(),
            Misfit::ClaimMissing { claim } => format!("create the persistent volume claim {claim}"),
            Misfit::ClaimDeleting { claim } | Misfit::VolumeLost { claim } => {
                format!("create the persistent volume claim {claim} anew")
            }
            Misfit::ClaimUnbound { claim } => {
                format!("look at the events of {claim}, or use a storage class with WaitForFirstConsumer")
            }
            Misfit::StorageClassMissing { class, .. } => format!("create the storage class {class}"),
            Misfit::Taint { taint } => format!("add a toleration for {taint}"),
            Misfit::NodeSelector { key, wanted, .. } => format!("add a group whose nodes have {key}={wanted}"),
            Misfit::NodeAffinity { wanted } => format!("add a group whose nodes have {wanted}"),
            Misfit::Resource { resource: Resource::Extended(name), free: 0, .. } => {
                format!("add a group whose nodes have {name}")
            }
            Misfit::TopologyKeyMissing { key } => format!("give the nodes the label {key}"),
            Misfit::NodeLimit { .. } => "raise size.max".to_owned(),
            _ => return None,
        })
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::NoNodes => f.write_str("there is no node"),
            Misfit::ResourceClaims { count: 1 } => f.write_str("has a resource claim, which is not simulated"),
            Misfit::ResourceClaims { count } => write!(f, "has {count} resource claims, which are not simulated"),
            Misfit::ClaimMissing { claim } => write!(f, "the persistent volume claim {claim} does not exist"),
            Misfit::ClaimDeleting { claim } => write!(f, "the persistent volume claim {claim} is being deleted"),
            Misfit::VolumeLost { claim } => write!(f, "the volume of the persistent volume claim {claim} is gone"),
            Misfit::ClaimUnbound { claim } => {
                write!(f, "the persistent volume claim {claim} has no volume, and no node changes that")
            }
            Misfit::StorageClassMissing { claim, class } => {
                write!(f, "the storage class {class} of the persistent volume claim {claim} does not exist")
            }
            Misfit::ClaimInUse { claim } => {
                write!(f, "the persistent volume claim {claim} is for one pod, and another one holds it")
            }
            Misfit::Unschedulable => f.write_str("the node is cordoned"),
            Misfit::Closed => f.write_str("the node is not ready, or on its way out"),
            Misfit::Taint { taint } => write!(f, "does not tolerate {taint}"),
            Misfit::NodeSelector { key, wanted, found: Some(found) } => {
                write!(f, "wants a node with {key}={wanted}, not {found}")
            }
            Misfit::NodeSelector { key, wanted, found: None } => {
                write!(f, "wants a node with {key}={wanted}, not one without {key}")
            }
            Misfit::NodeAffinity { wanted } => write!(f, "wants a node with {wanted}"),
            Misfit::VolumeAffinity { volume, wanted } => write!(f, "volume {volume} wants a node with {wanted}"),
            Misfit::VolumeZone { volume, key, wanted, found } => {
                write!(
                    f,
                    "volume {volume} wants a node with {key}={wanted}, not {}",
                    found.as_deref().unwrap_or("none")
                )
            }
            Misfit::VolumeElsewhere { claim, class } => {
                write!(f, "storage class {class} makes no volume here for the persistent volume claim {claim}")
            }
            Misfit::VolumeOnOtherNode { claim, node } => {
                write!(f, "the volume of the persistent volume claim {claim} is being made for node {node}")
            }
            Misfit::HostPort { port } => write!(f, "host port {port} is taken"),
            Misfit::Resource { resource: Resource::Pods, .. } => {
                f.write_str("the node has as many pods as it can have")
            }
            Misfit::Resource { resource, needs, free, daemon_sets } => {
                let amount = |amount: i64| resource.amount(i128::from(amount));
                write!(f, "needs {} {resource}, at most {} free", amount(*needs), amount((*free).max(0)))?;
                match daemon_sets {
                    0 => Ok(()),
                    taken => write!(f, " after {} of DaemonSets", amount(*taken)),
                }
            }
            Misfit::DeviceShare { resource, needs, free } => {
                write!(f, "needs {needs} {resource} of devices of its own, at most {free} free on one")
            }
            Misfit::AttachLimit { driver, attached, adds, limit } => {
                write!(f, "adds {adds} to {attached} attached volumes of {driver}, at most {limit} possible")
            }
            Misfit::TopologyKeyMissing { key } => write!(f, "wants a node with the label {key}"),
            Misfit::Spread { key, domain, pods, fewest, max_skew } => {
                let place = if domain.is_empty() { "a new node" } else { &**domain };
                write!(f, "spread over {key}: {place} has {pods}, the emptiest {fewest}, they may differ by {max_skew}")
            }
            Misfit::PodAffinity { selector, key } => write!(f, "wants a pod with {selector} near by ({key})"),
            Misfit::PodAntiAffinity { selector, key } => write!(f, "wants no pod with {selector} near by ({key})"),
            Misfit::PodAntiAffinityOfOther { selector, key } => {
                write!(f, "a pod there wants no pod with {selector} near by ({key})")
            }
            Misfit::NodeLimit { limit: 0 } => f.write_str("no node may be added"),
            Misfit::NodeLimit { limit: 1 } => f.write_str("only one node may be added"),
            Misfit::NodeLimit { limit } => write!(f, "only {limit} nodes may be added"),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn too_little(resource: Resource, needs: i64, free: i64) -> Misfit {
        Misfit::Resource { resource, needs, free, daemon_sets: 0 }
    }

    #[test]
    fn the_numbers_are_in_the_json() {
        let taint = Taint { key: "gpu".into(), value: "yes".into(), effect: crate::snapshot::Effect::NoSchedule };
        let misfits = [
            too_little(Resource::Cpu, 1100, 900),
            too_little(Resource::Extended("nvidia.com/gpu".into()), 1, 0),
            Misfit::Taint { taint },
            Misfit::HostPort { port: HostPort { port: 80, ..HostPort::default() } },
            Misfit::Spread { key: "zone".into(), domain: "a".into(), pods: 2, fewest: 0, max_skew: 1 },
            Misfit::Unschedulable,
        ];
        expect![[r#"
            {"resource":{"resource":"cpu","needs":1100,"free":900}}
            {"resource":{"resource":"nvidia.com/gpu","needs":1,"free":0}}
            {"taint":{"taint":{"key":"gpu","value":"yes","effect":"NoSchedule"}}}
            {"hostPort":{"port":80,"protocol":"TCP"}}
            {"spread":{"key":"zone","domain":"a","pods":2,"fewest":0,"maxSkew":1}}
            "unschedulable"
        "#]]
        .assert_eq(&misfits.map(|misfit| serde_json::to_string(&misfit).unwrap() + "\n").concat());
    }

    #[test]
    fn the_largest_refusal_is_the_closest() {
        let cpu = |free| too_little(Resource::Cpu, 1100, free);
        let closest = [cpu(300), Misfit::Unschedulable, cpu(900), Misfit::NoNodes].into_iter().max();
        assert_eq!(closest, Some(cpu(900)));
    }

    #[test]
    fn a_pod_that_nothing_helps_is_told_from_one_that_lacks_a_node() {
        assert!(Misfit::ClaimMissing { claim: "data".into() }.is_hopeless());
        assert!(!Misfit::NoNodes.is_hopeless());
        assert!(!too_little(Resource::Memory, 2, 1).is_hopeless());
    }
}
