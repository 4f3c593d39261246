//! Which workload a pod belongs to: its ReplicaSet and that one's Deployment, its Job and that one's CronJob.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::snapshot::{PodKind, SharedSpec, Snapshot, Workload};

/// How many owners above each other are looked at. Kubernetes' own workloads have two; a circle has no end.
const LEVELS: usize = 4;

/// The workloads that own what has this controller, the nearest first, as far as they are known.
pub(super) fn owners<'s>(
    snapshot: &'s Snapshot,
    namespace: &str,
    controller: Option<&str>,
) -> impl Iterator<Item = &'s Workload> {
    let first = controller.and_then(|reference| snapshot.workload(namespace, reference));
    let above = |workload: &&'s Workload| {
        let controller = workload.controller.as_deref()?;
        snapshot.workload(&workload.spec.namespace, controller)
    };
    std::iter::successors(first, above).take(LEVELS)
}

/// The workload above all others of those. What it says about spare copies holds for all that it makes: a Deployment's
/// annotations are copied to its ReplicaSets, and stay there when the Deployment loses them.
pub(super) fn top<'s>(snapshot: &'s Snapshot, namespace: &str, controller: Option<&str>) -> Option<&'s Workload> {
    owners(snapshot, namespace, controller).last()
}

/// Namespace and `Kind/name`.
pub(super) type Reference = (Arc<str>, Box<str>);

/// What the pods of some workloads are like once admission has added to them: of each those of which there are most.
pub(super) fn running<'s>(
    snapshot: &'s Snapshot,
    asked: impl Fn(&Workload) -> bool,
) -> BTreeMap<Reference, SharedSpec> {
    let mut most: BTreeMap<Reference, (u32, &'s SharedSpec)> = BTreeMap::new();
    for class in snapshot.classes().filter(|class| class.spec.kind == PodKind::Workload) {
        let Some(spec) = snapshot.spec(class.id) else { continue };
        let count = class.bound.saturating_add(class.pending());
        for workload in owners(snapshot, &spec.namespace, spec.controller.as_deref()).filter(|workload| asked(workload))
        {
            let known = most.entry((Arc::clone(&spec.namespace), workload.reference().into())).or_insert((count, spec));
            if known.0 < count {
                *known = (count, spec);
            }
        }
    }
    most.into_iter().map(|(workload, (_, spec))| (workload, spec.clone())).collect()
}
