//! The pods that a new machine runs because it is there: those of DaemonSets, and static ones.

use std::collections::{BTreeMap, BTreeSet};

use crate::quantity::Resources;
use crate::scheduling::{Host, welcomes};
use crate::snapshot::{Coverage, Kind, NodeView, PodKind, PodSpec, SharedSpec, Snapshot, Template};

/// What one pod of each DaemonSet is like. Where it has pods, it asks for what these really get: that may be more than
/// the DaemonSet says.
pub(super) struct DaemonSets {
    known: Vec<SharedSpec>,
    /// Whatever keeps a pod on nodes and is not among the DaemonSets that are known.
    others: Vec<SharedSpec>,
}

/// Namespace and controller.
type Owner<'a> = (&'a str, Option<&'a str>);

impl DaemonSets {
    /// Looks the DaemonSets up, and the pods that they run.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut running = running(snapshot);
        let known = snapshot.daemon_sets().map(|spec| {
            let pods = running.remove(&owner(spec));
            pods.map_or_else(|| spec.clone(), |(_, requests)| with(spec, requests))
        });
        let known = known.collect();
        // Where all are known, pods of one that is not have been left behind.
        let complete = snapshot.coverage(Kind::DaemonSets) == Coverage::Complete;
        let is_gone = |controller: Option<&str>| complete && controller.is_none_or(|it| it.starts_with("DaemonSet/"));
        let others = running.into_iter().filter(|((_, controller), _)| !is_gone(*controller));
        DaemonSets { known, others: others.map(|(_, (spec, requests))| with(spec, requests)).collect() }
    }

    /// The pods on a new machine: those on a node that is like it, and one of each DaemonSet that allows the machine and
    /// has none there yet.
    pub(super) fn on(&self, snapshot: &Snapshot, template: &Template, like: Option<&NodeView<'_>>) -> Vec<SharedSpec> {
        let pods = like.map(NodeView::pods).unwrap_or_default().into_iter();
        let present = pods.filter(|pod| !pod.blocks_removal() && !pod.deleting);
        let mut all: Vec<SharedSpec> = present.map(|pod| SharedSpec::new(pod.spec.clone())).collect();
        // Only a node can tell that what is not known does not run there.
        let others = if like.is_some() { &[][..] } else { &self.others };
        let host = Host::new(template);
        let missing: Vec<SharedSpec> = {
            let owners: BTreeSet<Owner<'_>> = all.iter().map(|spec| owner(spec)).collect();
            let missing = self.known.iter().chain(others).filter(|spec| !owners.contains(&owner(spec)));
            missing.filter(|spec| welcomes(snapshot, spec, &host)).cloned().collect()
        };
        all.extend(missing);
        all
    }
}

/// By owner, one of the pods that run on nodes, and the most that any of them asks for.
fn running(snapshot: &Snapshot) -> BTreeMap<Owner<'_>, (&PodSpec, Resources)> {
    let mut running: BTreeMap<_, (&PodSpec, Resources)> = BTreeMap::new();
    for class in snapshot.classes().filter(|class| class.spec.kind == PodKind::DaemonSet && class.bound > 0) {
        let spec = class.spec;
        let (_, most) = running.entry(owner(spec)).or_insert_with(|| (spec, spec.requests.clone()));
        *most = most.max_each(&spec.requests);
    }
    running
}

fn owner(spec: &PodSpec) -> Owner<'_> {
    (&spec.namespace, spec.controller.as_deref())
}

fn with(spec: &PodSpec, requests: Resources) -> SharedSpec {
    SharedSpec::new(PodSpec { requests, ..spec.clone() })
}
