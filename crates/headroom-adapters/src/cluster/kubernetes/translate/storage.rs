//! Persistent volumes, the claims on them, and storage classes.

use std::sync::Arc;

use headroom_core::quantity::Round;
use headroom_core::snapshot::{
    AccessModes, Change, Claim, ClaimState, Expression, NodeTerm, Operator, StorageClass, Volume,
};

use super::amounts::amount;
use super::constraints::{label_selector, node_selector, nothing};
use super::{Malformed, Translated, labels, name_of, namespace_of, text, texts};
use crate::cluster::kubernetes::object::{self, Map, Quantity, Text};

/// CSI drivers by the storage that was once a part of Kubernetes and that they have taken over.
const TAKEN_OVER: [(&str, &str); 7] = [
    ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/azure-file", "file.csi.azure.com"),
    ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("kubernetes.io/portworx-volume", "pxd.portworx.com"),
    ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
];

/// More than any volume can do.
const ALL_MODES: AccessModes = AccessModes {
    read_write_once: true,
    read_only_many: true,
    read_write_many: true,
    read_write_once_pod: true,
    block: false,
};

/// Translates a persistent volume.
///
/// One that is released, failed or being deleted is kept for nobody: a claim of the same name as the one that had it
/// does not get it.
pub fn volume(object: &object::PersistentVolume<'_>) -> Result<Translated<Change>, Malformed> {
    let object::PersistentVolume { metadata, spec, status } = object;
    let mut warnings = Vec::new();
    let gone = metadata.deletion_timestamp.is_some() || matches!(&*status.phase, "Released" | "Failed");
    let kept_for = spec.claim_ref.as_ref().filter(|_| !gone);
    let required = spec.node_affinity.as_ref().and_then(|affinity| affinity.required.as_ref());
    let (driver, handle) = match &spec.csi {
        Some(csi) => (Some(&*csi.driver), &*csi.volume_handle),
        None => (driver_of(spec), ""),
    };
    let (modes, odd) = modes(&spec.access_modes, &spec.volume_mode);
    warnings.extend(odd.map(|mode| format!("unknown access mode {mode:?} is left out")));
    let volume = Volume {
        name: Arc::from(name_of(metadata)?),
        labels: labels(&metadata.labels),
        node_affinity: node_selector(required, "node affinity", &mut warnings),
        driver: driver.map(Arc::from),
        handle: Box::from(handle),
        storage_class: class_of(metadata, spec.storage_class_name.as_ref()),
        capacity: storage(&spec.capacity, "capacity", Round::Down, &mut warnings)?,
        modes,
        available: !gone && &*status.phase == "Available",
        kept_for: kept_for.map(|claim| (Arc::from(&*claim.namespace), Box::from(&*claim.name))),
    };
    Ok(Translated { value: Change::Volume(Box::new(volume)), warnings })
}

/// Translates a persistent volume claim.
pub fn claim(object: &object::PersistentVolumeClaim<'_>) -> Result<Translated<Change>, Malformed> {
    let object::PersistentVolumeClaim { metadata, spec, status } = object;
    let mut warnings = Vec::new();
    let bound = &*status.phase == "Bound" || metadata.annotations.bind_completed.is_some();
    let state = match (&*status.phase, &*spec.volume_name) {
        ("Lost", _) => ClaimState::Lost,
        (_, "") => ClaimState::Unbound,
        (_, volume) if bound => ClaimState::Bound(Arc::from(volume)),
        _ => ClaimState::Prebound,
    };
    let selector = spec.selector.as_ref().and_then(|selector| {
        let (selector, odd) = label_selector(Some(selector));
        if odd.is_empty() {
            return selector;
        }
        warnings.push(format!("selector: {} selects no volume", odd.join(", ")));
        Some(nothing())
    });
    let (mut modes, odd) = modes(&spec.access_modes, &spec.volume_mode);
    if let Some(mode) = odd {
        warnings.push(format!("unknown access mode {mode:?} counts as all of them"));
        modes = AccessModes { block: modes.block, ..ALL_MODES };
    }
    let claim = Claim {
        namespace: Arc::from(namespace_of(metadata)),
        name: Box::from(name_of(metadata)?),
        state,
        deleting: metadata.deletion_timestamp.is_some(),
        storage_class: class_of(metadata, spec.storage_class_name.as_ref()),
        request: storage(&spec.resources.requests, "requests", Round::Up, &mut warnings)?,
        modes,
        selector,
        selected_node: text(metadata.annotations.selected_node.as_ref()),
    };
    Ok(Translated { value: Change::Claim(Box::new(claim)), warnings })
}

/// Translates a storage class.
pub fn storage_class(object: &object::StorageClass<'_>) -> Result<Translated<Change>, Malformed> {
    let mut warnings = Vec::new();
    let wait_for_first_consumer = match &*object.volume_binding_mode {
        "WaitForFirstConsumer" => true,
        "" | "Immediate" => false,
        mode => {
            warnings.push(format!("unknown volumeBindingMode {mode:?} counts as Immediate"));
            false
        }
    };
    let class = StorageClass {
        name: Arc::from(name_of(&object.metadata)?),
        provisioner: Arc::from(csi_driver(&object.provisioner).unwrap_or(&object.provisioner)),
        wait_for_first_consumer,
        allowed_topologies: object.allowed_topologies.iter().map(topology_term).collect(),
    };
    Ok(Translated { value: Change::StorageClass(class), warnings })
}

/// The CSI driver of a volume that is written as it was before there were any.
fn driver_of(spec: &object::PersistentVolumeSpec<'_>) -> Option<&'static str> {
    let once = [
        ("kubernetes.io/aws-ebs", spec.aws_elastic_block_store.is_some()),
        ("kubernetes.io/azure-disk", spec.azure_disk.is_some()),
        ("kubernetes.io/azure-file", spec.azure_file.is_some()),
        ("kubernetes.io/cinder", spec.cinder.is_some()),
        ("kubernetes.io/gce-pd", spec.gce_persistent_disk.is_some()),
        ("kubernetes.io/portworx-volume", spec.portworx_volume.is_some()),
        ("kubernetes.io/vsphere-volume", spec.vsphere_volume.is_some()),
    ];
    once.iter().find(|(_, there)| *there).and_then(|(name, _)| csi_driver(name))
}

fn csi_driver(name: &str) -> Option<&'static str> {
    TAKEN_OVER.iter().find(|(once, _)| *once == name).map(|(_, driver)| *driver)
}

fn class_of(metadata: &object::Metadata<'_>, field: Option<&Text<'_>>) -> Box<str> {
    text(metadata.annotations.storage_class.as_ref()).or_else(|| text(field)).unwrap_or_default()
}

/// The bytes that a list calls `storage`.
fn storage(
    list: &Map<'_, Quantity<'_>>,
    place: &str,
    round: Round,
    warnings: &mut Vec<String>,
) -> Result<i64, Malformed> {
    let found = list.iter().find(|(name, _)| *name == "storage");
    found.map_or(Ok(0), |(name, quantity)| amount(name, quantity, round, || place.to_owned(), warnings))
}

/// The access modes, and the last of them that nobody knows.
fn modes<'s>(list: &'s [Text<'_>], volume_mode: &str) -> (AccessModes, Option<&'s str>) {
    let mut modes = AccessModes { block: volume_mode == "Block", ..AccessModes::default() };
    let mut odd = None;
    for mode in list {
        match &**mode {
            "ReadWriteOnce" => modes.read_write_once = true,
            "ReadOnlyMany" => modes.read_only_many = true,
            "ReadWriteMany" => modes.read_write_many = true,
            "ReadWriteOncePod" => modes.read_write_once_pod = true,
            mode => odd = Some(mode),
        }
    }
    (modes, odd)
}

/// A term without expressions holds for no node, here as in the API.
fn topology_term(object: &object::TopologySelectorTerm<'_>) -> NodeTerm {
    let expression = |requirement: &object::TopologyRequirement<'_>| Expression {
        key: Box::from(&*requirement.key),
        operator: Operator::In,
        values: texts(&requirement.values),
    };
    NodeTerm { labels: object.match_label_expressions.iter().map(expression).collect(), fields: Vec::new() }
}
