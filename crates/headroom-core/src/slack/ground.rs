//! What the placeholders of a round are worked out from.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::policy::{Group, Spare};
use crate::quantity::{Resources, Totals};
use crate::round::Round;
use crate::scheduling::{Host, welcomes};
use crate::snapshot::{ClassId, ClassView, Effect, Node, NodeView, PodKind, PodSpec, Snapshot, Taint, Template};
use crate::strategy::pending::stays_on_nodes;

/// What is known of one group.
pub(crate) struct GroupGround<'g> {
    pub(crate) group: &'g Group,
    pub(crate) spare: &'g Spare,
    /// What a new node is like.
    pub(crate) template: &'g Template,
    /// What DaemonSets leave free of one.
    pub(crate) free: &'g Resources,
    /// Its nodes.
    pub(crate) nodes: &'g [NodeView<'g>],
}

impl GroupGround<'_> {
    /// Whether a new node would take the pod, whatever else runs there.
    fn holds(&self, snapshot: &Snapshot, spec: &PodSpec) -> bool {
        let Resources { cpu, memory, ephemeral_storage, extended, .. } = &spec.requests;
        let fits = *cpu <= self.free.cpu
            && *memory <= self.free.memory
            && *ephemeral_storage <= self.free.ephemeral_storage
            && extended.iter().all(|(name, needs)| *needs <= self.free.extended(name));
        fits && welcomes(snapshot, spec, &Host::new(self.template))
    }
}

/// The cluster as a plain pod sees it: without the groups whose taints it does not tolerate, which keep room of their own.
pub(super) struct Ground<'a> {
    /// The pods that count, by class with their number: those that run, and those that wait and may run.
    pub(super) pods: Vec<(ClassView<'a>, u32)>,
    /// What these pods request.
    pub(super) requested: Totals,
    /// What the nodes offer, and how many there are.
    pub(super) offered: Totals,
    pub(super) nodes: u32,
    /// The cpu and memory that DaemonSets leave free of each kind of node that may be bought.
    pub(super) empty: Vec<(i64, i64)>,
    /// The same of the templates, for when there is no node.
    pub(super) offered_new: Totals,
    pub(super) templates: u32,
    pub(super) snapshot: &'a Snapshot,
}

impl<'a> Ground<'a> {
    pub(super) fn new(round: &Round<'a>, groups: &[GroupGround<'_>]) -> Self {
        let snapshot = round.snapshot;
        let starting: BTreeSet<&str> =
            round.policy.groups.iter().flat_map(|group| &group.startup_taints).map(|taint| &**taint).collect();
        let lasting = |taint: &&Taint| stays_on_nodes(taint) && !starting.contains(&*taint.key);
        let is_plain = |node: &Node| !node.taints.iter().filter(lasting).any(keeps_away);
        let mut ground = Ground {
            pods: Vec::new(),
            requested: Totals::default(),
            offered: Totals::default(),
            nodes: 0,
            empty: Vec::new(),
            offered_new: Totals::default(),
            templates: 0,
            snapshot,
        };
        let mut elsewhere: FxHashMap<ClassId, u32> = FxHashMap::default();
        for view in snapshot.nodes() {
            if is_plain(view.node) {
                if !view.node.deleting && view.node.allocatable.cpu > 0 {
                    ground.offered += &view.node.allocatable;
                    ground.nodes += 1;
                }
                continue;
            }
            view.classes().for_each(|(class, _)| *elsewhere.entry(class).or_default() += 1);
        }
        let plain: Vec<&GroupGround<'_>> =
            groups.iter().filter(|ground| !ground.template.taints.iter().any(keeps_away)).collect();
        for group in &plain {
            ground.empty.push((group.free.cpu, group.free.memory));
            ground.offered_new += &group.template.allocatable;
            ground.templates += 1;
        }
        let least = round.policy.pending.expendable_below;
        for class in snapshot.classes() {
            if class.spec.kind != PodKind::Workload || class.spec.priority < least {
                continue;
            }
            let bound = class.bound.saturating_sub(elsewhere.get(&class.id).copied().unwrap_or(0));
            // Room for a share of pods that never run would be bought for nothing.
            let may_run = class.pending() > 0 && plain.iter().any(|ground| ground.holds(snapshot, class.spec));
            let pending = if may_run { class.pending() } else { 0 };
            let count = bound.saturating_add(pending);
            if count > 0 {
                ground.requested.add_times(&class.spec.requests, count.into());
                ground.pods.push((class, count));
            }
        }
        ground
    }

    /// What the average node offers, or without a node the average new one; None when nothing is known of either.
    pub(super) fn average_node(&self) -> Option<(i128, i128)> {
        let (sum, count) =
            if self.nodes > 0 { (&self.offered, self.nodes) } else { (&self.offered_new, self.templates) };
        (count > 0).then(|| (sum.cpu / i128::from(count), sum.memory / i128::from(count)))
    }
}

/// Whether a pod without tolerations stays away.
fn keeps_away(taint: &Taint) -> bool {
    taint.effect != Effect::PreferNoSchedule
}
