//! Persistent volumes: what a pod's claims ask of a node.
//!
//! Claims are looked up once per class of pods ([`Volumes::of`]); what comes out depends on the labels of nodes only.
//! A volume that several waiting claims could take is offered to each of them: which one gets it is not simulated.

use std::sync::Arc;

use super::node_affinity::{any_holds, describe, keys, names_nodes};
use super::selector::selects;
use super::{Demand, Host, Misfit};
use crate::snapshot::{Claim, ClaimState, Coverage, Kind, NodeTerm, PodSpec, Snapshot, StorageClass, Volume};

/// The provisioner of classes whose volumes are all made by hand.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// Labels of a volume that tie it to nodes with the same label.
const ZONE_LABELS: [&str; 4] = [
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
];

/// What separates the zones of a volume that is in several.
const ZONE_SEPARATOR: &str = "__";

/// What a pod's claims ask of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Volumes {
    /// Why no node can have the pod.
    refused: Option<Misfit>,
    /// Volumes that are there, with the terms of which one must hold.
    affinities: Vec<(Arc<str>, Vec<NodeTerm>)>,
    zones: Vec<Zone>,
    to_make: Vec<ToMake>,
    /// Driver and handle of each volume that gets attached, sorted, each once.
    pub(super) attach: Vec<(Arc<str>, Box<str>)>,
    /// Claims that one pod at a time may use.
    pub(super) exclusive: Vec<Box<str>>,
    /// A kind of object that an answer depends on and that is not completely known.
    pub(super) unknown: Option<Kind>,
}

/// A label in which the node must agree with a volume.
#[derive(Clone, Debug, PartialEq)]
struct Zone {
    volume: Arc<str>,
    key: Box<str>,
    values: Vec<Box<str>>,
}

/// A claim that gets its volume once the pod has a node.
#[derive(Clone, Debug, PartialEq)]
struct ToMake {
    claim: Box<str>,
    class: Box<str>,
    /// Where the class makes volumes; None when it makes none, empty for everywhere.
    made_in: Option<Vec<NodeTerm>>,
    /// Volumes that are there and would do, with their affinities (empty for everywhere).
    existing: Vec<Vec<NodeTerm>>,
    selected_node: Option<Box<str>>,
}

impl Volumes {
    /// Looks up the claims of a pod.
    ///
    /// What cannot be found counts as missing when its kind is completely known. Otherwise it asks for nothing, and
    /// `unknown` says so.
    pub(super) fn of(snapshot: &Snapshot, spec: &PodSpec) -> Self {
        let mut volumes = Volumes::default();
        for name in &spec.claims {
            let missing = Misfit::ClaimMissing { claim: name.clone() };
            let Some(claim) = snapshot.claim(&spec.namespace, name) else {
                volumes.miss(snapshot, Kind::PersistentVolumeClaims, missing);
                continue;
            };
            volumes.add(snapshot, claim);
        }
        volumes.attach.sort();
        volumes.attach.dedup();
        if !volumes.attach.is_empty() && snapshot.coverage(Kind::CsiNodes) != Coverage::Complete {
            volumes.unknown.get_or_insert(Kind::CsiNodes);
        }
        volumes
    }

    /// The label keys that the answers depend on.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let affinities = self.affinities.iter().map(|(_, terms)| terms);
        let to_make = self.to_make.iter().flat_map(|claim| claim.made_in.iter().chain(&claim.existing));
        let zone = if self.zones.is_empty() { [].as_slice() } else { ZONE_LABELS.as_slice() };
        affinities.chain(to_make).flat_map(|terms| keys(terms)).chain(zone.iter().copied())
    }

    /// Whether the answers depend on a node's name or hostname.
    pub(super) fn names_nodes(&self) -> bool {
        self.affinities.iter().any(|(_, terms)| names_nodes(terms))
            || self.to_make.iter().any(|claim| {
                claim.selected_node.is_some()
                    || claim.made_in.iter().chain(&claim.existing).any(|terms| names_nodes(terms))
            })
    }

    fn add(&mut self, snapshot: &Snapshot, claim: &Claim) {
        let name = || claim.name.clone();
        if claim.deleting {
            return self.refuse(Misfit::ClaimDeleting { claim: name() });
        }
        if claim.modes.read_write_once_pod {
            self.exclusive.push(name());
        }
        match &claim.state {
            ClaimState::Lost => self.refuse(Misfit::VolumeLost { claim: name() }),
            ClaimState::Bound(volume) => match snapshot.volume(volume) {
                Some(volume) => self.add_bound(volume),
                None => self.miss(snapshot, Kind::PersistentVolumes, Misfit::VolumeLost { claim: name() }),
            },
            // A claim that names its volume waits for that volume, whatever its class says.
            ClaimState::Prebound => self.refuse(Misfit::ClaimUnbound { claim: name() }),
            ClaimState::Unbound if claim.storage_class.is_empty() => {
                self.refuse(Misfit::ClaimUnbound { claim: name() });
            }
            ClaimState::Unbound => match snapshot.storage_class(&claim.storage_class) {
                Some(class) if class.wait_for_first_consumer => self.add_waiting(snapshot, claim, class),
                Some(class) => {
                    self.attach_new(claim, class);
                    self.refuse(Misfit::ClaimUnbound { claim: name() });
                }
                None => {
                    let class = claim.storage_class.clone();
                    let missing = Misfit::StorageClassMissing { claim: name(), class };
                    self.miss(snapshot, Kind::StorageClasses, missing);
                }
            },
        }
    }

    fn add_bound(&mut self, volume: &Volume) {
        if !volume.node_affinity.is_empty() {
            self.affinities.push((Arc::clone(&volume.name), volume.node_affinity.clone()));
        }
        let zones = volume.labels.iter().filter(|(key, _)| ZONE_LABELS.contains(key));
        self.zones.extend(zones.map(|(key, value)| Zone {
            volume: Arc::clone(&volume.name),
            key: key.into(),
            values: value.split(ZONE_SEPARATOR).map(Box::from).collect(),
        }));
        if let Some(driver) = &volume.driver {
            let handle = if volume.handle.is_empty() { &*volume.name } else { &*volume.handle };
            self.attach.push((Arc::clone(driver), handle.into()));
        }
    }

    fn add_waiting(&mut self, snapshot: &Snapshot, claim: &Claim, class: &StorageClass) {
        let free_for_claim = |volume: &&Volume| match &volume.kept_for {
            Some((namespace, name)) => *namespace == claim.namespace && *name == claim.name,
            None => volume.available,
        };
        let serves = |volume: &&Volume| {
            *volume.storage_class == *class.name
                && volume.capacity >= claim.request
                && volume.modes.serve(claim.modes)
                && (claim.selector.is_none() || selects(claim.selector.as_ref(), &volume.labels))
        };
        let existing = snapshot.volumes().filter(free_for_claim).filter(serves);
        self.attach_new(claim, class);
        self.to_make.push(ToMake {
            claim: claim.name.clone(),
            class: claim.storage_class.clone(),
            made_in: makes_volumes(class).then(|| class.allowed_topologies.clone()),
            existing: existing.map(|volume| volume.node_affinity.clone()).collect(),
            selected_node: claim.selected_node.clone(),
        });
    }

    /// A volume that is yet to be made will be attached too.
    fn attach_new(&mut self, claim: &Claim, class: &StorageClass) {
        if makes_volumes(class) {
            let handle = format!("{}/{}", claim.namespace, claim.name);
            self.attach.push((Arc::clone(&class.provisioner), handle.into()));
        }
    }

    fn refuse(&mut self, misfit: Misfit) {
        self.refused.get_or_insert(misfit);
    }

    fn miss(&mut self, snapshot: &Snapshot, kind: Kind, misfit: Misfit) {
        match snapshot.coverage(kind) {
            Coverage::Complete => self.refuse(misfit),
            Coverage::Partial | Coverage::Absent => drop(self.unknown.get_or_insert(kind)),
        }
    }
}

fn makes_volumes(class: &StorageClass) -> bool {
    &*class.provisioner != NO_PROVISIONER
}

/// Every claim has, or can get, a volume at all.
pub(super) fn check_claims(demand: &Demand<'_>, _: &Host<'_>) -> Result<(), Misfit> {
    demand.volumes.refused.clone().map_or(Ok(()), Err)
}

/// Every volume can be used, or made, on the node.
pub(super) fn check(demand: &Demand<'_>, host: &Host<'_>) -> Result<(), Misfit> {
    let volumes = demand.volumes;
    if let Some((volume, terms)) = volumes.affinities.iter().find(|(_, terms)| !any_holds(terms, host)) {
        return Err(Misfit::VolumeAffinity { volume: Arc::clone(volume), wanted: describe(terms) });
    }
    volumes.zones.iter().try_for_each(|zone| check_zone(zone, host))?;
    volumes.to_make.iter().try_for_each(|claim| check_to_make(claim, host))
}

/// The node's label has one of the volume's values. A node without any zone label is taken for one in every zone.
fn check_zone(zone: &Zone, host: &Host<'_>) -> Result<(), Misfit> {
    if ZONE_LABELS.iter().all(|key| host.label(key).is_none()) {
        return Ok(());
    }
    let found = host.label(&zone.key).or_else(|| host.label(current_name(&zone.key)));
    if found.is_some_and(|found| zone.values.iter().any(|value| **value == *found)) {
        return Ok(());
    }
    Err(Misfit::VolumeZone {
        volume: Arc::clone(&zone.volume),
        key: zone.key.clone(),
        wanted: zone.values.join(" or "),
        found: found.map(Box::from),
    })
}

/// What a deprecated zone label is called today.
fn current_name(key: &str) -> &str {
    match key {
        "failure-domain.beta.kubernetes.io/zone" => "topology.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region" => "topology.kubernetes.io/region",
        other => other,
    }
}

fn check_to_make(claim: &ToMake, host: &Host<'_>) -> Result<(), Misfit> {
    if let Some(node) = &claim.selected_node
        && **node != *host.name
    {
        return Err(Misfit::VolumeOnOtherNode { claim: claim.claim.clone(), node: node.clone() });
    }
    let here = |terms: &Vec<NodeTerm>| terms.is_empty() || any_holds(terms, host);
    if claim.existing.iter().chain(&claim.made_in).any(here) {
        return Ok(());
    }
    Err(Misfit::VolumeElsewhere { claim: claim.claim.clone(), class: claim.class.clone() })
}
