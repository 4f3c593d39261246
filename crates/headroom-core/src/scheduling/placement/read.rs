//! Reads the classes of pods: what they need, their static side, and the labels that any of them asks about.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::class::{Class, Statics};
use super::table::Table;
use crate::scheduling::resources::Columns;
use crate::scheduling::{HOSTNAME, Volumes, node_affinity};
use crate::snapshot::{Labels, NodeTerm, PodSpec, Preference, SharedSpec, Snapshot, Toleration};

/// What is known of all classes before there is any node.
#[derive(Default)]
pub(super) struct Read {
    pub(super) classes: Table<Class>,
    pub(super) statics: Table<Statics>,
    pub(super) columns: Columns,
    /// The node labels that some class asks about, sorted, without the hostname.
    pub(super) labels: Vec<Box<str>>,
    /// The class of each extra pod.
    pub(super) extra: Vec<u32>,
}

/// Reads the classes of a snapshot and of some pods more.
pub(super) fn read<'a>(snapshot: &'a Snapshot, extra: impl Iterator<Item = &'a SharedSpec>) -> Read {
    let known = snapshot.classes();
    let known = known.filter_map(|class| Some((class.id.0, snapshot.spec(class.id)?, class.pending() > 0)));
    let mut specs: Vec<(u32, &SharedSpec, bool)> = known.collect();
    let mut next = u32::try_from(snapshot.class_slots()).unwrap_or(u32::MAX);
    let mut added: FxHashMap<&SharedSpec, u32> = FxHashMap::default();
    let mut read = Read::default();
    for spec in extra {
        let id = match snapshot.class_of(spec).map(|class| class.0).or_else(|| added.get(spec).copied()) {
            Some(id) => id,
            None => {
                added.insert(spec, next);
                specs.push((next, spec, false));
                next += 1;
                next - 1
            }
        };
        read.extra.push(id);
    }
    read.classes = Table::with_len(next as usize);
    for (_, spec, _) in &specs {
        read.columns.learn(&spec.requests);
    }
    let mut index: FxHashMap<StaticKey<'_>, u32> = FxHashMap::default();
    for (rank, (id, spec, waits)) in (0..).zip(&specs) {
        let statics = *index.entry(StaticKey::of(spec)).or_insert_with(|| read.statics.push(statics(snapshot, spec)));
        let need = read.columns.row(&spec.requests);
        let class = read.classes.at_mut(*id);
        (class.spec, class.need, class.rank, class.statics, class.waits) =
            ((*spec).clone(), need, rank, statics, *waits);
    }
    let asked = specs.iter().flat_map(|(_, spec, waits)| labels(spec, *waits));
    let asked = asked.chain(read.statics.iter().flat_map(|statics| statics.volumes.keys()));
    let asked: BTreeSet<&str> = asked.filter(|key| *key != HOSTNAME).collect();
    read.labels = asked.into_iter().map(Box::from).collect();
    read
}

/// All of a spec that static constraints and preferences look at.
#[derive(PartialEq, Eq, Hash)]
struct StaticKey<'a> {
    node_selector: &'a Labels,
    node_affinity: &'a [NodeTerm],
    preferred: &'a [Preference],
    tolerations: &'a [Toleration],
    resource_claims: usize,
    claims: Option<(&'a str, &'a [Box<str>])>,
}

impl<'a> StaticKey<'a> {
    fn of(spec: &'a PodSpec) -> Self {
        StaticKey {
            node_selector: &spec.node_selector,
            node_affinity: &spec.node_affinity,
            preferred: &spec.preferred_node_affinity,
            tolerations: &spec.tolerations,
            resource_claims: spec.resource_claims.len(),
            claims: (!spec.claims.is_empty()).then_some((&spec.namespace, &spec.claims)),
        }
    }
}

fn statics(snapshot: &Snapshot, spec: &SharedSpec) -> Statics {
    let volumes = Volumes::of(snapshot, spec);
    let by_node = node_affinity::spec_names_nodes(spec) || volumes.names_nodes();
    Statics { spec: spec.clone(), volumes: Arc::new(volumes), by_node, ..Statics::default() }
}

/// The node labels that a spec asks about, its volumes left out. What pods wish of the pods around them matters while they
/// wait.
fn labels(spec: &PodSpec, waits: bool) -> impl Iterator<Item = &str> {
    let selector = spec.node_selector.iter().map(|(key, _)| key);
    let required = node_affinity::keys(&spec.node_affinity);
    let preferred = spec.preferred_node_affinity.iter();
    let preferred = preferred.flat_map(|preference| node_affinity::keys(std::slice::from_ref(&preference.term)));
    let terms = spec.pod_affinity.iter().chain(&spec.pod_anti_affinity);
    let wishes = spec.preferred_pod_affinity.iter().chain(&spec.preferred_pod_anti_affinity);
    let terms = terms.chain(wishes.filter(move |_| waits).map(|preference| &preference.term));
    let spread = spec.spread.iter().chain(spec.preferred_spread.iter().filter(move |_| waits));
    let places = terms.map(|term| &*term.topology_key).chain(spread.map(|spread| &*spread.topology_key));
    selector.chain(required).chain(preferred).chain(places)
}
