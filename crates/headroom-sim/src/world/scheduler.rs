//! Places waiting pods on nodes, as kube-scheduler does: by priority, then first come first served.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::fit::{Answers, has_room, share};
use super::neighbours::{Neighbours, minds_others};
use super::*;

/// Pods without a node, by class: what is true of one pod's chances is true of all that are equal to it.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    classes: IndexMap<SharedSpec, Class, FxBuildHasher>,
    /// Classes that have waiting pods and may fit somewhere.
    hopeful: BTreeSet<usize>,
    /// Since the last turn some node has more room or takes pods that it did not take before.
    room_grew: bool,
}

#[derive(Debug, Default)]
struct Class {
    pods: BTreeSet<PodId>,
    answers: Answers,
}

/// Whose turn it is: the highest priority first, then the oldest pod. The number is that of the pod's class.
type Turn = (i32, Reverse<PodId>, usize);

impl Waiting {
    pub(super) fn push(&mut self, spec: SharedSpec, id: PodId) {
        let entry = self.classes.entry(spec);
        let index = entry.index();
        let class = entry.or_default();
        // Pods that were there already have been tried since room last grew, and this one is like them.
        if class.pods.is_empty() {
            self.hopeful.insert(index);
        }
        class.pods.insert(id);
    }

    pub(super) fn remove(&mut self, spec: &SharedSpec, id: PodId) {
        if let Some((index, _, class)) = self.classes.get_full_mut(spec) {
            class.pods.remove(&id);
            if class.pods.is_empty() {
                self.hopeful.remove(&index);
            }
        }
    }

    /// Notes that some node has more room, or takes pods that it did not take before: every pod may hope again.
    pub(super) fn room_grew(&mut self) {
        self.room_grew = true;
    }

    fn take_hopeful(&mut self) -> BTreeSet<usize> {
        let mut hopeful = std::mem::take(&mut self.hopeful);
        let grew = std::mem::take(&mut self.room_grew);
        let waiting = self.classes.iter().enumerate().filter(|(_, (_, class))| !class.pods.is_empty());
        // With a pod that comes, others may fit that want to be near it, or spread over more of its kind.
        let comes = !hopeful.is_empty();
        hopeful.extend(waiting.filter(|(_, (spec, _))| grew || comes && minds_others(spec)).map(|(index, _)| index));
        hopeful
    }

    fn spec(&self, class: usize) -> Option<SharedSpec> {
        self.classes.get_index(class).map(|(spec, _)| spec.clone())
    }

    /// The next pod of a class.
    fn turn(&self, class: usize) -> Option<Turn> {
        let (spec, state) = self.classes.get_index(class)?;
        Some((spec.priority, Reverse(*state.pods.first()?), class))
    }
}

impl World {
    /// Places every pod that fits somewhere.
    pub(super) fn schedule(&mut self) {
        let hopeful = self.waiting.take_hopeful();
        let mut turns: BinaryHeap<Turn> = hopeful.iter().filter_map(|class| self.waiting.turn(*class)).collect();
        let mut neighbours: Option<Neighbours> = None;
        // Classes that fit nowhere and may do so once another pod has a node.
        let mut stuck: Vec<usize> = Vec::new();
        while let Some((_, Reverse(pod), class)) = turns.pop() {
            let Some(spec) = self.waiting.spec(class) else { continue };
            let minds = self.shunning || minds_others(&spec);
            if minds && neighbours.is_none() {
                let specs = hopeful.iter().filter_map(|class| Some((*class, self.waiting.spec(*class)?)));
                let specs: Vec<_> = specs.collect();
                neighbours = Some(self.neighbours(&specs));
            }
            let allowed = neighbours.as_ref().filter(|_| minds);
            // A class of which one pod fits nowhere is out until there is more room.
            let Some(machine) = self.best_node(class, &spec, allowed) else {
                stuck.extend(minds_others(&spec).then_some(class));
                continue;
            };
            self.waiting.remove(&spec, pod);
            self.bind(pod, machine);
            if let (Some(neighbours), Some(machine)) = (&mut neighbours, self.machines.get(&machine)) {
                neighbours.place(class, &machine.name);
            }
            turns.extend(self.waiting.turn(class));
            turns.extend(stuck.drain(..).filter_map(|class| self.waiting.turn(class)));
        }
    }

    fn best_node(&mut self, class: usize, spec: &SharedSpec, neighbours: Option<&Neighbours>) -> Option<MachineId> {
        let placement = self.placement;
        let (_, Class { answers, .. }) = self.waiting.classes.get_index_mut(class)?;
        let nodes = self.machines.iter().filter_map(|(id, machine)| Some((*id, machine.node.as_ref()?)));
        let scored = nodes.filter_map(|(id, node)| {
            let Registered { object, used, shape, .. } = node;
            if !has_room(&spec.requests, &object.allocatable, used) {
                return None;
            }
            let shares = node.devices.iter();
            if !shares.into_iter().all(|(resource, devices)| devices.room(spec.requests.extended(resource)) > 0) {
                return None;
            }
            let liked = answers.ask(spec, object, *shape)?;
            let allowed = neighbours.is_none_or(|neighbours| neighbours.allow(class, &object.name));
            allowed.then(|| ((liked, share(placement, &spec.requests, &object.allocatable, used)), object, id))
        });
        let best = scored.max_by(|(a, first, _), (b, second, _)| a.cmp(b).then_with(|| second.name.cmp(&first.name)));
        best.map(|(.., id)| id)
    }
}
