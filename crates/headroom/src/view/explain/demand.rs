//! The pods that a group counts, by what they have in common.

use std::collections::BTreeMap;

use headroom_core::membership::Membership;
use headroom_core::policy::{CountPods, Group, Strategy};
use headroom_core::quantity::{Bytes, MilliCpu};
use headroom_core::snapshot::{ClassView, NodeView, PodKind, PodSpec};
use headroom_core::strategy::utilization::counts_on;

use super::standing::counts;
use crate::dump::Round;
use crate::view::columns::{columns, row};

/// A table of the group's demand: how many equal pods, what each asks for, and who keeps them.
pub(super) fn demand(round: &Round, group: &Group) -> Vec<String> {
    let mut rows = vec![row(["PODS", "WAITING", "CPU EACH", "MEMORY EACH", "OF"])];
    for (spec, Pods { running, waiting }) in counted(round, group) {
        rows.push(vec![
            (running + waiting).to_string(),
            waiting.to_string(),
            MilliCpu(spec.requests.cpu).to_string(),
            Bytes(spec.requests.memory).to_string(),
            owner(spec),
        ]);
    }
    if rows.len() == 1 { Vec::new() } else { columns(&rows) }
}

/// `ReplicaSet/web-7c5d in shop`
fn owner(spec: &PodSpec) -> String {
    format!("{} in {}", spec.controller.as_deref().unwrap_or("no controller"), spec.namespace)
}

#[derive(Default)]
struct Pods {
    running: u32,
    waiting: u32,
}

fn counted<'r>(round: &'r Round, group: &Group) -> BTreeMap<&'r PodSpec, Pods> {
    let membership = Membership::of(round.snapshot(), &round.policy);
    let mut counted: BTreeMap<&PodSpec, Pods> = BTreeMap::new();
    let Some(at) = round.policy.groups.iter().position(|known| known.name == group.name) else { return counted };
    let nodes = membership.nodes.get(at).map_or(&[][..], Vec::as_slice);
    let asking = membership.classes.get(at).map_or(&[][..], Vec::as_slice);
    let asking_others_too = membership.disputed_classes.iter().filter(|(_, groups)| groups.contains(&at));
    let asking_others_too: Vec<ClassView<'r>> = asking_others_too.map(|(class, _)| *class).collect();
    let placed = counts(group) == Some(CountPods::Placed);
    for class in asking {
        let pods = counted.entry(class.spec).or_default();
        pods.waiting += class.pending();
        pods.running += if placed { 0 } else { class.bound };
    }
    for class in &asking_others_too {
        counted.entry(class.spec).or_default().waiting += class.pending();
    }
    // Of what asks for several groups only what runs here counts here.
    let counts_here = |spec: &PodSpec| {
        let own = spec.kind != PodKind::DaemonSet;
        own && (placed || asking_others_too.iter().any(|class| std::ptr::eq(class.spec, spec)))
    };
    let memory = round.memory.groups.get(&group.name);
    let counts_on = |view: &&NodeView<'_>| match (&group.strategy, memory) {
        (Strategy::Utilization(settings), Some(memory)) => counts_on(settings, &memory.marked, view),
        _ => true,
    };
    for pod in nodes.iter().filter(counts_on).flat_map(|view| view.pods()).filter(|pod| counts_here(pod.spec)) {
        counted.entry(pod.spec).or_default().running += 1;
    }
    counted.retain(|_, pods| pods.running + pods.waiting > 0);
    counted
}
