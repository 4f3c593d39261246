//! Can this pod run on that node? The filters of kube-scheduler, one file each, as a library of values.
//!
//! A *static* constraint depends on what equal pods share and on what many nodes share: labels, taints, being cordoned.
//! They are a list of functions; each answers Ok or a [`Misfit`], once for a class of pods and a shape of nodes.
//! A *dynamic* constraint depends on the pods that are placed already: resources, shares of devices, host ports, attach limits, spread,
//! affinity and anti-affinity. [`Placement`] keeps what they need up to date while pods are placed.
//!
//! Preferences never keep a pod away; they decide between nodes that would all do.

mod attach_limits;
mod devices;
mod host;
mod host_ports;
mod misfit;
mod node_affinity;
mod placement;
mod pod_affinity;
mod preference;
mod resources;
mod selector;
mod shares;
mod spread;
mod taints;
mod volumes;

pub use host::{HOSTNAME, Host};
pub use misfit::Misfit;
pub use placement::{
    AtBest, Filled, Mark, NewNode, NewNodes, NodeId, Offer, Outlook, Placement, Setup, Standing, Supply, TemplateId,
    Unplaced,
};

pub(crate) use placement::Place;
pub(crate) use selector::selects;
pub use shares::{Devices, parts_of_device};
use volumes::Volumes;

use crate::snapshot::{Labels, PodSpec, Snapshot};

/// What a class of pods asks of a node, looked up.
#[derive(Clone, Copy, Debug)]
struct Demand<'a> {
    spec: &'a PodSpec,
    volumes: &'a Volumes,
}

/// A constraint that only looks at what equal pods share and at what many nodes share.
type StaticConstraint = fn(&Demand<'_>, &Host<'_>) -> Result<(), Misfit>;

/// Every static constraint. First what no node can change, then in the order in which kube-scheduler asks.
const STATIC: [StaticConstraint; 6] = [
    devices::check,
    volumes::check_claims,
    taints::check_unschedulable,
    taints::check,
    node_affinity::check,
    volumes::check,
];

fn check_static(demand: &Demand<'_>, host: &Host<'_>) -> Result<(), Misfit> {
    STATIC.iter().try_for_each(|constraint| constraint(demand, host))
}

/// The same where nobody asks why not, so that no refusal has to be put in words for the many nodes that do not fit.
fn fits_static(demand: &Demand<'_>, host: &Host<'_>) -> bool {
    node_affinity::holds_for(demand.spec, host)
        && taints::untolerated(&demand.spec.tolerations, host.taints).is_none()
        && check_static(demand, host).is_ok()
}

/// Whether pods with this spec could run on such a node if it were empty and large enough.
pub fn allows(snapshot: &Snapshot, spec: &PodSpec, host: &Host<'_>) -> Result<(), Misfit> {
    check_static(&Demand { spec, volumes: &Volumes::of(snapshot, spec) }, host)
}

/// The same where nobody asks why not.
pub(crate) fn welcomes(snapshot: &Snapshot, spec: &PodSpec, host: &Host<'_>) -> bool {
    fits_static(&Demand { spec, volumes: &Volumes::of(snapshot, spec) }, host)
}

/// Whether nodes with these labels could be meant, as far as the labels tell: a node may have others.
pub(crate) fn may_mean(spec: &PodSpec, labels: &Labels) -> bool {
    node_affinity::agrees(spec, labels)
}

/// The keys of the labels that pods with this spec ask of their node.
pub(crate) fn labels_asked(spec: &PodSpec) -> impl Iterator<Item = &str> {
    spec.node_selector.iter().map(|(key, _)| key).chain(node_affinity::keys(&spec.node_affinity))
}

/// How much pods with this spec would rather run on such a node than on another: the weights of the preferred node
/// affinity terms that hold, less a hundred for each `PreferNoSchedule` taint that they do not tolerate. Higher is better.
pub fn preference(spec: &PodSpec, host: &Host<'_>) -> i64 {
    preference::score(spec, host)
}

/// Whether pods with this spec ask for nodes by name or hostname, so that what holds for one node may not hold for
/// another one with the same labels and taints. Volumes are left aside.
pub fn asks_by_name(spec: &PodSpec) -> bool {
    node_affinity::spec_names_nodes(spec)
}
