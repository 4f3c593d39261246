//! The room that one group keeps: empty nodes, or pods.

use super::ground::GroupGround;
use super::{Wanted, plain};
use crate::plan::{Placeholder, Warning};
use crate::quantity::Resources;
use crate::round::Round;
use crate::snapshot::{PodKind, PodSpec, SharedSpec, Toleration};

/// A pod of unknown size is at most this part of a node, as with a rate.
const PART_OF_NODE: i64 = 5;

/// The spare nodes and then the spare pods of every group that keeps some.
pub(super) fn wanted(round: &mut Round<'_>, groups: &[GroupGround<'_>]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for ground in groups.iter().filter(|ground| ground.spare.nodes > 0 || ground.spare.pods > 0) {
        let group = &ground.group.name;
        if ground.group.select.labels.is_empty() {
            round.warn(Warning::SpareWithoutLabel { group: group.clone() });
            continue;
        }
        let whole = smallest_node(ground);
        let part = ground.spare.pod.clone().unwrap_or_else(|| part_of(&whole, ground));
        let of = Placeholder::SpareNode { group: group.clone() };
        wanted.push(Wanted { of, spec: on(ground, whole), count: ground.spare.nodes });
        let of = Placeholder::SparePod { group: group.clone() };
        wanted.push(Wanted { of, spec: on(ground, part), count: ground.spare.pods });
    }
    wanted
}

/// A pod that runs on the nodes of the group and nowhere else.
fn on(ground: &GroupGround<'_>, requests: Resources) -> SharedSpec {
    let tolerated = ground.template.taints.iter().map(|taint| Toleration {
        key: taint.key.clone(),
        exists: false,
        value: taint.value.clone(),
        effect: Some(taint.effect),
    });
    SharedSpec::new(PodSpec {
        node_selector: ground.group.select.labels.clone(),
        tolerations: tolerated.collect(),
        ..PodSpec::clone(&plain(requests))
    })
}

/// What DaemonSets leave free of the smallest node: nodes of one kind differ by some memory, and any of them may be the
/// spare one.
fn smallest_node(ground: &GroupGround<'_>) -> Resources {
    let there = ground.nodes.iter().filter(|view| !view.node.deleting && view.node.allocatable.cpu > 0);
    let free = there.map(|view| view.sums.daemon_sets.left_of(&view.node.allocatable));
    free.fold(ground.free.clone(), |least, free| least.min_each(&free))
}

fn part_of(whole: &Resources, ground: &GroupGround<'_>) -> Resources {
    let pods = ground.nodes.iter().flat_map(|view| view.pods_unsorted());
    let pods = pods.filter(|pod| pod.spec.kind == PodKind::Workload);
    let most = pods.fold(Resources::default(), |most, pod| most.max_each(&pod.spec.requests));
    let part = |whole: i64, most: i64| if most > 0 { most.min(whole / PART_OF_NODE) } else { whole / PART_OF_NODE };
    Resources::new(part(whole.cpu, most.cpu), part(whole.memory, most.memory))
}
