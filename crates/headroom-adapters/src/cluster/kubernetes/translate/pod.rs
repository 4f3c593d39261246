//! Pods, and what equal ones share.

use std::sync::Arc;

use headroom_core::snapshot::{
    Eviction, Expression, HostPort, LabelSelector, NodeTerm, Operator, Phase, Pod, PodKind, PodSpec, Protocol,
    SharedSpec,
};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::constraints::{
    node_selector, pod_affinity, pod_anti_affinity, pod_preferences, preferences, spreads, toleration,
};
use super::requests::requests;
use super::{Malformed, Translated, labels, name_of, namespace_of, text, timestamp};
use crate::cluster::kubernetes::object;

/// Labels that differ between the pods of one StatefulSet or Job. With them no two of its pods would be equal.
const UNIQUE_TO_EACH_POD: [&str; 3] =
    ["statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"];

/// So many specs may be kept although no pod has them any more.
const FEW: usize = 1_000;

/// What equal pods have in common, kept once for all of them, for as long as somebody has it.
///
/// Labels that no two pods of a StatefulSet or Job share are left out, unless a rule has been seen that selects pods by
/// them.
#[derive(Clone, Debug, Default)]
pub struct Specs {
    shared: IndexSet<SharedSpec, FxBuildHasher>,
    /// With so many it is time to forget those that nobody has any more.
    most: usize,
    unique: [Unique; UNIQUE_TO_EACH_POD.len()],
}

/// What has been done about one label of [`UNIQUE_TO_EACH_POD`].
#[derive(Clone, Copy, Debug, Default)]
struct Unique {
    /// Some rule selects pods by it.
    selected: bool,
    /// Some pod was read without it.
    left_out: bool,
}

impl Specs {
    /// Whether, since the last call, a pod was read without a label by which some rule selects pods. Reading the pods
    /// once more puts that right.
    pub fn take_left_out(&mut self) -> bool {
        let wanting = |unique: &&mut Unique| unique.selected && unique.left_out;
        self.unique.iter_mut().filter(wanting).map(|unique| unique.left_out = false).count() > 0
    }

    pub(super) fn share(&mut self, spec: PodSpec) -> SharedSpec {
        if self.shared.len() >= self.most {
            self.shared.retain(SharedSpec::is_shared);
            // Looking at all of them this seldom costs each new one two looks.
            self.most = FEW.max(self.shared.len() * 2);
        }
        let spec = SharedSpec::new(spec);
        let (index, _) = self.shared.insert_full(spec.clone());
        self.shared.get_index(index).cloned().unwrap_or(spec)
    }

    /// Some rule selects pods by the labels of a selector and by these keys.
    pub(super) fn select_by<'k>(
        &mut self,
        selector: Option<&'k LabelSelector>,
        keys: impl IntoIterator<Item = &'k Box<str>>,
    ) {
        let expressions = selector.into_iter().flat_map(|selector| &selector.0);
        for key in expressions.map(|expression| &expression.key).chain(keys) {
            if let Some(at) = UNIQUE_TO_EACH_POD.iter().position(|unique| *unique == &**key) {
                self.unique[at].selected = true;
            }
        }
    }

    /// Whether a label is left out.
    fn leave_out(&mut self, key: &str) -> bool {
        let Some(at) = UNIQUE_TO_EACH_POD.iter().position(|unique| *unique == key) else { return false };
        let unique = &mut self.unique[at];
        unique.left_out |= !unique.selected;
        !unique.selected
    }
}

/// Translates a pod; what it has in common with equal ones is looked up in `specs`.
pub fn pod(object: &object::Pod<'_>, specs: &mut Specs) -> Result<Translated<Pod>, Malformed> {
    let object::Pod { metadata, spec: wanted, status } = object;
    let mut warnings = Vec::new();
    let shared = spec(object, specs, &mut warnings)?;
    let value = Pod {
        name: Box::from(name_of(metadata)?),
        spec: specs.share(shared),
        node: text(wanted.node_name.as_ref()),
        phase: phase(&status.phase),
        created: timestamp(metadata.creation_timestamp.as_ref(), "creationTimestamp", &mut warnings),
        deleting: metadata.deletion_timestamp.is_some(),
        gated: !wanted.scheduling_gates.is_empty(),
        // Schedulers that share devices note on pods which ones these are, each in a form of its own, and none is read yet.
        devices: Vec::new(),
        nominated: text(status.nominated_node_name.as_ref()),
        unready: phase(&status.phase) == Phase::Running && !is_ready(status),
        ends_by: timestamp(metadata.deletion_timestamp.as_ref(), "deletionTimestamp", &mut warnings),
    };
    Ok(Translated { value, warnings })
}

/// What further pods of whatever made this one are like. They are nobody's yet, and ask for no spare copies of their own.
pub fn like(object: &object::Pod<'_>, specs: &mut Specs) -> Result<Translated<SharedSpec>, Malformed> {
    let mut warnings = Vec::new();
    let shared = spec(object, specs, &mut warnings)?;
    let value = specs.share(PodSpec {
        kind: PodKind::Workload,
        controller: None,
        claims: Vec::new(),
        spare_copies: None,
        ..shared
    });
    Ok(Translated { value, warnings })
}

/// What a pod shares with equal ones. A pod without a name is the template of others: it has no ephemeral volumes yet.
pub(super) fn spec(
    object: &object::Pod<'_>,
    specs: &mut Specs,
    warnings: &mut Vec<String>,
) -> Result<PodSpec, Malformed> {
    let object::Pod { metadata, spec, .. } = object;
    let kind = pod_kind(metadata);
    let object::Affinity { node_affinity: near_node, pod_affinity: near, pod_anti_affinity: away } = &spec.affinity;
    let required = near_node.as_ref().and_then(|affinity| affinity.required.as_ref());
    let mut node_affinity = node_selector(required, "node affinity", warnings);
    if kind == PodKind::DaemonSet {
        forget_own_node(&mut node_affinity);
    }
    let near_pods = near.as_ref().map(|affinity| pod_affinity(affinity, warnings)).unwrap_or_default();
    let away_from = away.as_ref().map(|affinity| pod_anti_affinity(affinity, warnings)).unwrap_or_default();
    let preferred = |affinity: &Option<object::PodAffinity<'_>>, kind: &str, warnings: &mut Vec<String>| {
        affinity.as_ref().map(|affinity| pod_preferences(affinity, kind, warnings)).unwrap_or_default()
    };
    let preferred_pod_affinity = preferred(near, "affinity", warnings);
    let preferred_pod_anti_affinity = preferred(away, "anti-affinity", warnings);
    let (over, preferred_spread) = spreads(&spec.topology_spread_constraints, warnings);
    // Not for what pods would rather have: no preference is worth that no two pods are equal.
    for term in near_pods.iter().chain(&away_from) {
        specs.select_by(term.selector.as_ref(), term.match_label_keys.iter().chain(&term.mismatch_label_keys));
    }
    for spread in &over {
        specs.select_by(spread.selector.as_ref(), &spread.match_label_keys);
    }
    let own_labels = metadata.labels.iter().filter(|(key, _)| !specs.leave_out(key));
    Ok(PodSpec {
        namespace: Arc::from(namespace_of(metadata)),
        labels: own_labels.map(|(key, value)| (key, &**value)).collect(),
        requests: requests(object, warnings)?,
        node_selector: labels(&spec.node_selector),
        node_affinity,
        has_affinity: near_node.is_some() || near.is_some() || away.is_some(),
        preferred_node_affinity: near_node.as_ref().map(|it| preferences(it, warnings)).unwrap_or_default(),
        tolerations: spec.tolerations.iter().filter_map(|object| toleration(object, warnings)).collect(),
        pod_affinity: near_pods,
        pod_anti_affinity: away_from,
        preferred_pod_affinity,
        preferred_pod_anti_affinity,
        spread: over,
        preferred_spread,
        host_ports: host_ports(spec, warnings),
        claims: claims(object, warnings),
        resource_claims: spec.resource_claims.iter().map(|claim| Box::from(&*claim.name)).collect(),
        priority: spec.priority.unwrap_or(0),
        kind,
        controller: controller(metadata),
        eviction: eviction(&metadata.annotations, warnings),
        local_storage: local_storage(object).map(Box::from),
        spare_copies: metadata.annotations.spare_copies.as_ref().map(|value| Box::from(&**value)),
    })
}

/// The DaemonSet controller names the node of each of its pods in a field. What else the pod asks of nodes is true of
/// all pods of the DaemonSet, and only that is kept.
fn forget_own_node(terms: &mut Vec<NodeTerm>) {
    terms.retain_mut(|term| {
        let named = !term.fields.is_empty();
        term.fields.clear();
        !(named && term.labels.is_empty())
    });
}

/// What asks for this node and no other.
pub(super) fn only_on(node: Box<str>) -> Vec<NodeTerm> {
    let only = Expression { key: Box::from("metadata.name"), operator: Operator::In, values: vec![node] };
    vec![NodeTerm { labels: Vec::new(), fields: vec![only] }]
}

/// Ports of the node that are taken as long as the pod runs: those of containers and of restartable init containers.
fn host_ports(spec: &object::PodSpec<'_>, warnings: &mut Vec<String>) -> Vec<HostPort> {
    let sidecars = spec.init_containers.iter().filter(|container| &*container.restart_policy == "Always");
    let host_network = spec.host_network == Some(true);
    let mut taken = Vec::new();
    for object in spec.containers.iter().chain(sidecars).flat_map(|container| &container.ports) {
        let asked = object.host_port.filter(|port| *port != 0);
        let Some(port) = asked.or(object.container_port.filter(|_| host_network)) else { continue };
        let Ok(port) = u16::try_from(port) else {
            warnings.push(format!("host port {port} is no port and is left out"));
            continue;
        };
        let all = [Protocol::Tcp, Protocol::Udp, Protocol::Sctp];
        let protocols = match &*object.protocol {
            "" | "TCP" => &all[..1],
            "UDP" => &all[1..2],
            "SCTP" => &all[2..],
            other => {
                warnings.push(format!("host port {port}: unknown protocol {other:?} counts as every one"));
                &all[..]
            }
        };
        let ip = Box::from(&*object.host_ip);
        taken.extend(protocols.iter().map(|protocol| HostPort { port, protocol: *protocol, ip: Box::clone(&ip) }));
    }
    taken
}

/// What it says about its eviction. What nobody understands keeps its node.
fn eviction(annotations: &object::Annotations<'_>, warnings: &mut Vec<String>) -> Eviction {
    match annotations.safe_to_evict.as_deref() {
        None => Eviction::Unsaid,
        Some("true") => Eviction::Safe,
        Some("false") => Eviction::Unsafe,
        Some("on-completion") => Eviction::OnCompletion,
        Some(other) => {
            warnings.push(format!("unknown safe-to-evict {other:?} counts as false"));
            Eviction::Unsafe
        }
    }
}

/// The first volume on the node's disk that its annotation does not name.
fn local_storage<'s>(object: &'s object::Pod<'_>) -> Option<&'s str> {
    let may_be_lost = object.metadata.annotations.safe_to_evict_local_volumes.as_deref().unwrap_or_default();
    let on_disk = object.spec.volumes.iter().filter(|volume| {
        volume.host_path.is_some() || volume.empty_dir.as_ref().is_some_and(|folder| &*folder.medium != "Memory")
    });
    let mut names = on_disk.map(|volume| &*volume.name);
    names.find(|name| may_be_lost.split(',').all(|known| known.trim() != *name))
}

/// The names of its persistent volume claims.
fn claims(object: &object::Pod<'_>, warnings: &mut Vec<String>) -> Vec<Box<str>> {
    let object::Pod { metadata, spec, .. } = object;
    let mut claims: Vec<Box<str>> = Vec::new();
    for volume in &spec.volumes {
        if let Some(claim) = &volume.persistent_volume_claim {
            claims.push(Box::from(&*claim.claim_name));
        } else if volume.ephemeral.is_some() && !metadata.name.is_empty() {
            claims.push(format!("{}-{}", &*metadata.name, &*volume.name).into_boxed_str());
        } else if is_disk(volume) {
            let name = &*volume.name;
            warnings.push(format!("volume {name}: a disk without a claim is not counted among the node's volumes"));
        }
    }
    claims.sort_unstable();
    claims.dedup();
    claims
}

/// Whether it is a disk that the node attaches for this pod, and for no other at the same time.
fn is_disk(volume: &object::PodVolume<'_>) -> bool {
    volume.aws_elastic_block_store.is_some()
        || volume.azure_disk.is_some()
        || volume.cinder.is_some()
        || volume.gce_persistent_disk.is_some()
        || volume.iscsi.is_some()
        || volume.rbd.is_some()
        || volume.vsphere_volume.is_some()
}

fn pod_kind(metadata: &object::Metadata<'_>) -> PodKind {
    let annotations = &metadata.annotations;
    if metadata.owner_references.iter().any(|owner| &*owner.kind == "DaemonSet")
        || annotations.daemon_set_pod.as_deref() == Some("true")
    {
        PodKind::DaemonSet
    } else if annotations.config_mirror.is_some() {
        PodKind::Mirror
    } else if annotations.config_source.as_deref() == Some("file") {
        PodKind::Static
    } else {
        PodKind::Workload
    }
}

/// Kind and name of the owner that manages the object.
pub(super) fn controller(metadata: &object::Metadata<'_>) -> Option<Box<str>> {
    let owner = metadata.owner_references.iter().find(|owner| owner.controller == Some(true))?;
    Some(format!("{}/{}", &*owner.kind, &*owner.name).into_boxed_str())
}

fn is_ready(status: &object::PodStatus<'_>) -> bool {
    status.conditions.iter().any(|condition| &*condition.kind == "Ready" && &*condition.status == "True")
}

/// A pod whose node has gone silent (`Unknown`) still holds its place.
fn phase(text: &str) -> Phase {
    match text {
        "Running" | "Unknown" => Phase::Running,
        "Succeeded" => Phase::Succeeded,
        "Failed" => Phase::Failed,
        _ => Phase::Pending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_that_nobody_has_are_forgotten_and_the_others_stay_shared() {
        let mut specs = Specs::default();
        let spec = |priority| PodSpec { priority, ..PodSpec::default() };
        let kept = specs.share(spec(-1));
        for round in 0..5 * i32::try_from(FEW).unwrap() {
            specs.share(spec(round));
        }
        assert!(specs.shared.len() <= FEW, "{}", specs.shared.len());
        assert!(std::ptr::eq(&*specs.share(spec(-1)), &*kept));
    }
}
