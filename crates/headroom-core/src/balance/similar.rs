//! Which groups are so alike that new nodes may as well be in either.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::policy::Percent;
use crate::quantity::{Bytes, MilliCpu, Resources};
use crate::snapshot::Labels;

/// How alike nodes must be. The defaults are Cluster Autoscaler's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Similarity {
    /// How far memory capacities may be apart, as a share of the larger (`memory-difference-ratio`, 1.5 %): machines of
    /// one type differ by what their kernels reserve. All other capacities must be equal.
    pub memory: Percent,
    /// The same for what pods may use (`max-allocatable-difference-ratio`, 5 %).
    pub allocatable: Percent,
    /// The same for what is free on a new node (`max-free-difference-ratio`, 5 %).
    pub free: Percent,
    /// Labels that may differ (`balancing-ignore-label`), besides those that differ between any two groups or zones.
    pub ignore_labels: Vec<Box<str>>,
    /// When not empty: nodes are alike if these labels are equal, whatever else differs (`balancing-label`).
    pub only_labels: Vec<Box<str>>,
}

impl Default for Similarity {
    fn default() -> Self {
        Similarity {
            memory: Percent(150),
            allocatable: Percent::whole(5),
            free: Percent::whole(5),
            ignore_labels: Vec::new(),
            only_labels: Vec::new(),
        }
    }
}

/// Labels that say which node, zone or group a machine is in, or how a cloud or installer keeps book of it. Pods that do
/// mind them are taken care of by [`Member::hosts`].
const NEVER_COMPARED: [&str; 26] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/fluentd-ds-ready",
    "kops.k8s.io/instancegroup",
    // Amazon
    "alpha.eksctl.io/instance-id",
    "alpha.eksctl.io/nodegroup-name",
    "eks.amazonaws.com/nodegroup",
    "k8s.amazonaws.com/eniConfig",
    "lifecycle",
    "topology.ebs.csi.aws.com/zone",
    "topology.k8s.aws/zone-id",
    // Azure
    "agentpool",
    "creationSource",
    "kubernetes.azure.com/agentpool",
    "poolName",
    "storageprofile",
    "storagetier",
    "topology.disk.csi.azure.com/zone",
    // Google
    "cloud.google.com/gke-nodepool",
    "topology.gke.io/zone",
    // Cluster API
    "cluster.x-k8s.io/deployment-name",
    // kwok, as Headroom and Cluster Autoscaler label the nodes that they make
    "headroom.dev/kwok-group",
    "autoscaling.x-k8s.io/nodegroup",
];

/// What new nodes of a group are like.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// What the machine has.
    pub capacity: &'a Resources,
    /// What pods may use of it.
    pub allocatable: &'a Resources,
    /// What is left when the DaemonSets' pods run.
    pub free: &'a Resources,
    /// Of the Node object, without those by which Headroom tells groups apart: these differ by definition.
    pub labels: &'a Labels,
}

/// A group that may get a share of another group's new nodes.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    /// Its name.
    pub group: Arc<str>,
    /// What its new nodes are like.
    pub shape: Shape<'a>,
    /// The classes of waiting pods that can run on them, in ascending order.
    pub hosts: &'a [u32],
}

/// Why a group gets no share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Apart {
    /// A resource of the two machines differs too much.
    Resource {
        /// Capacity, allocatable or free.
        of: &'static str,
        /// Which resource.
        resource: Arc<str>,
        /// What the enlarged group's nodes have.
        own: i64,
        /// What the other group's nodes have.
        other: i64,
        /// The difference allowed, as a share of the larger.
        allowed: Percent,
    },
    /// A label differs or is missing.
    Label {
        /// Its key.
        key: Box<str>,
        /// On the enlarged group's nodes.
        own: Option<Box<str>>,
        /// On the other group's nodes.
        other: Option<Box<str>>,
    },
    /// Some of the pods cannot run there.
    PodsDoNotFit {
        /// How many classes of pods the new nodes are for.
        classes: usize,
        /// How many of them can run there.
        fit: usize,
    },
}

/// Which of `others` can share the new nodes of `chosen`: all whose nodes are alike and can run at least the same pods.
/// The rest with the reason. Without `similarity` nothing is balanced, and nobody shares.
pub fn partners<'m, 'a>(
    chosen: &Member<'a>,
    others: &'m [Member<'a>],
    similarity: Option<&Similarity>,
) -> Vec<(&'m Member<'a>, Result<(), Apart>)> {
    let Some(similarity) = similarity else { return Vec::new() };
    let compare = |other: &Member<'a>| {
        similarity.compare(&chosen.shape, &other.shape)?;
        let fit = chosen.hosts.iter().filter(|class| other.hosts.binary_search(class).is_ok()).count();
        let classes = chosen.hosts.len();
        if fit == classes && fit > 0 { Ok(()) } else { Err(Apart::PodsDoNotFit { classes, fit }) }
    };
    others.iter().map(|other| (other, compare(other))).collect()
}

impl Similarity {
    /// What two nodes that are alike have in common: those that differ in it need not be compared.
    pub fn kinship(&self, shape: &Shape<'_>) -> Option<i64> {
        self.only_labels.is_empty().then_some(shape.capacity.cpu)
    }

    /// Whether nodes of two groups are alike, or the first difference.
    pub fn compare(&self, own: &Shape<'_>, other: &Shape<'_>) -> Result<(), Apart> {
        if !self.only_labels.is_empty() {
            let keys = self.only_labels.iter().map(|key| &**key);
            return labels_equal(keys, own.labels, other.labels);
        }
        let exact = Percent(0);
        resources_close("capacity", own.capacity, other.capacity, [exact, self.memory])?;
        resources_close("allocatable", own.allocatable, other.allocatable, [self.allocatable; 2])?;
        resources_close("free", own.free, other.free, [self.free; 2])?;
        let compared =
            |key: &str| !NEVER_COMPARED.contains(&key) && self.ignore_labels.iter().all(|known| **known != *key);
        let keys = own.labels.iter().chain(other.labels.iter()).map(|(key, _)| key).filter(|key| compared(key));
        labels_equal(keys, own.labels, other.labels)
    }
}

fn labels_equal<'k>(mut keys: impl Iterator<Item = &'k str>, own: &Labels, other: &Labels) -> Result<(), Apart> {
    match keys.find(|key| own.get(key) != other.get(key)) {
        Some(key) => Err(Apart::Label {
            key: key.into(),
            own: own.get(key).map(Box::from),
            other: other.get(key).map(Box::from),
        }),
        None => Ok(()),
    }
}

/// Compares every resource; `[other, memory]` are the differences allowed.
fn resources_close(
    of: &'static str,
    own: &Resources,
    other: &Resources,
    [most, memory]: [Percent; 2],
) -> Result<(), Apart> {
    let extended = own.extended.iter().chain(&other.extended);
    let extended = extended.map(|(name, _)| (&**name, own.extended(name), other.extended(name), most));
    let mut pairs = [
        ("cpu", own.cpu, other.cpu, most),
        ("memory", own.memory, other.memory, memory),
        ("ephemeral-storage", own.ephemeral_storage, other.ephemeral_storage, most),
        ("pods", own.pods, other.pods, most),
    ]
    .into_iter()
    .chain(extended);
    match pairs.find(|(_, own, other, allowed)| !close(*own, *other, *allowed)) {
        Some((name, own, other, allowed)) => Err(Apart::Resource { of, resource: name.into(), own, other, allowed }),
        None => Ok(()),
    }
}

/// Whether the difference is at most `allowed` of the larger amount.
fn close(a: i64, b: i64, allowed: Percent) -> bool {
    let (larger, smaller) = (i128::from(a.max(b)), i128::from(a.min(b)));
    (larger - smaller) * 10_000 <= larger * i128::from(allowed.0)
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Apart::Resource { of, resource, own, other, allowed } => {
                write!(f, "{of} of {resource} is {}, not {}", amount(resource, *other), amount(resource, *own))?;
                if *allowed > Percent(0) { write!(f, ", at most {allowed}% apart allowed") } else { Ok(()) }
            }
            Apart::Label { key, own, other } => {
                let text =
                    |value: &Option<Box<str>>| value.as_deref().map_or("missing".to_owned(), |v| format!("{v:?}"));
                write!(f, "label {key} is {}, not {}", text(other), text(own))
            }
            Apart::PodsDoNotFit { classes, fit } => write!(f, "only {fit} of {classes} kinds of pods can run there"),
        }
    }
}

fn amount(resource: &str, value: i64) -> String {
    match resource {
        "cpu" => MilliCpu(value).to_string(),
        "memory" | "ephemeral-storage" => Bytes(value).to_string(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(own: (&Resources, &Labels), other: (&Resources, &Labels), similarity: &Similarity) -> String {
        let shape =
            |(resources, labels)| Shape { capacity: resources, allocatable: resources, free: resources, labels };
        match similarity.compare(&shape(own), &shape(other)) {
            Ok(()) => "alike".into(),
            Err(apart) => apart.to_string(),
        }
    }

    #[test]
    fn the_first_difference_is_named_with_numbers() {
        let (default, none) = (Similarity::default(), Labels::default());
        let small = Resources::new(4_000, 16 << 30);
        let mut gpu = small.clone();
        gpu.set_extended("nvidia.com/gpu", 1);
        let large = Resources::new(4_000, 32 << 30);
        let labels = |pool: &str| Labels::from_iter([("pool", pool), ("topology.kubernetes.io/zone", pool)]);
        let table = [
            (compare((&small, &none), (&gpu, &none), &default), "capacity of nvidia.com/gpu is 1, not 0"),
            (
                compare((&small, &none), (&large, &none), &default),
                "capacity of memory is 32Gi, not 16Gi, at most 1.5% apart allowed",
            ),
            (compare((&small, &labels("a")), (&small, &labels("b")), &default), r#"label pool is "b", not "a""#),
            (compare((&small, &none), (&small, &labels("b")), &default), r#"label pool is "b", not missing"#),
        ];
        for (found, expected) in table {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn only_labels_replace_everything_else() {
        let only = Similarity { only_labels: vec!["tier".into()], ..Similarity::default() };
        let labels = |tier: &str, pool: &str| Labels::from_iter([("tier", tier), ("pool", pool)]);
        let (small, large) = (Resources::new(1_000, 1), Resources::new(64_000, 1 << 40));
        assert_eq!(compare((&small, &labels("x", "a")), (&large, &labels("x", "b")), &only), "alike");
        assert_eq!(
            compare((&small, &labels("x", "a")), (&small, &labels("y", "a")), &only),
            r#"label tier is "y", not "x""#
        );
    }
}
