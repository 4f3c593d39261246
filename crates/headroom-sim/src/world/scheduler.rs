//! Places waiting pods on nodes, as kube-scheduler does: by priority, then first come first served.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::fit::{fits, score};
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
}

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
        let hopeful = std::mem::take(&mut self.hopeful);
        if !std::mem::take(&mut self.room_grew) {
            return hopeful;
        }
        self.classes.values().enumerate().filter(|(_, class)| !class.pods.is_empty()).map(|(index, _)| index).collect()
    }
}

impl World {
    /// Places every pod that fits somewhere.
    pub(super) fn schedule(&mut self) {
        let mut turns: BinaryHeap<_> =
            self.waiting.take_hopeful().into_iter().filter_map(|class| self.turn(class)).collect();
        while let Some((_, Reverse(pod), class)) = turns.pop() {
            let Some((spec, _)) = self.waiting.classes.get_index(class) else { continue };
            let spec = spec.clone();
            // A class of which one pod fits nowhere is out until there is more room.
            let Some(machine) = self.best_node(&spec) else { continue };
            self.waiting.remove(&spec, pod);
            self.bind(pod, machine);
            turns.extend(self.turn(class));
        }
    }

    /// The next pod of a class, in the order of turns.
    fn turn(&self, class: usize) -> Option<(i32, Reverse<PodId>, usize)> {
        let (spec, state) = self.waiting.classes.get_index(class)?;
        Some((spec.priority, Reverse(*state.pods.first()?), class))
    }

    fn best_node(&self, spec: &SharedSpec) -> Option<MachineId> {
        let nodes = self.machines.iter().filter_map(|(id, machine)| Some((*id, machine.node.as_ref()?)));
        let fitting = nodes.filter(|(_, node)| fits(spec, &node.object, &node.used));
        let best = fitting.max_by(|(_, a), (_, b)| {
            let of = |node: &Registered| score(self.placement, spec, &node.object, &node.used);
            of(a).cmp(&of(b)).then_with(|| b.object.name.cmp(&a.object.name))
        });
        best.map(|(id, _)| id)
    }
}
