//! What is on a node, as far as its removal is concerned.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::disruptions::{Disruptions, Use};
use super::drain_rules::{Ruling, Rulings, Verdict, old_enough, stuck};
use crate::plan::{Kept, Planned, Unmovable};
use crate::policy::{Policy, ScaleDownPolicy};
use crate::snapshot::{ClassId, NodeView, PodView, Snapshot};

/// What is on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// Pods that need a place elsewhere, by class.
    pub(super) moves: Vec<(ClassId, u32)>,
    /// Pods that are on their way out and come back once they have ended: they need a place and give none up.
    pub(super) returns: Vec<(ClassId, u32)>,
    /// Pods that must be evicted, those that need no place included.
    pub(super) evictions: u32,
    /// Pods that are on their way out and have not ended.
    pub(super) ending: u32,
    /// What the evictions use up.
    pub(super) budgets: Use,
    /// What it takes to move them all.
    pub(super) cost: i64,
}

impl Load {
    /// Whether nothing is on the node that has to run elsewhere.
    pub(super) fn is_empty(&self) -> bool {
        self.evictions == 0 && self.ending == 0
    }
}

/// What decides about every pod.
pub(super) struct Judge<'a> {
    pub(super) policy: &'a ScaleDownPolicy,
    rulings: Rulings<'a>,
    pub(super) disruptions: Disruptions<'a>,
    pub(super) now: Timestamp,
}

impl<'a> Judge<'a> {
    /// A judge of this cluster, in which these actions are carried out; None when scale-down is off.
    pub(super) fn new(snapshot: &'a Snapshot, policy: &'a Policy, actions: &[Planned], now: Timestamp) -> Option<Self> {
        let shared = policy.scale_down.as_ref()?;
        let rulings = Rulings::new(snapshot, shared, policy.pending.expendable_below);
        Some(Judge { policy: shared, rulings, disruptions: Disruptions::after(snapshot, actions), now })
    }

    /// What is known of the pods of a class.
    pub(super) fn ruling(&self, class: ClassId) -> &Ruling {
        self.rulings.of(class, &self.disruptions)
    }
}

/// The pods on a node that cannot be moved now (`namespace/name`), and why not. None when nothing is moved at all.
pub fn unmovable(
    snapshot: &Snapshot,
    policy: &Policy,
    node: &NodeView<'_>,
    now: Timestamp,
) -> Option<BTreeMap<String, Unmovable>> {
    let judge = Judge::new(snapshot, policy, &[], now)?;
    let in_the_way = |pod: &PodView<'_>| pod.blocks_removal() && !pod.deleting;
    let pods = node.pods_unsorted().filter(in_the_way);
    Some(pods.filter_map(|pod| Some((pod.full_name(), judge.movable(&pod).err()?))).collect())
}

impl Judge<'_> {
    /// What is on the node, or which of its pods keeps it.
    pub(super) fn load(&self, view: &NodeView<'_>) -> Result<Load, Kept> {
        self.load_when(view, false)
    }

    /// The same for a node that is being drained: there a disruption budget that allows nothing is waited for.
    pub(super) fn drain_load(&self, view: &NodeView<'_>) -> Result<Load, Kept> {
        self.load_when(view, true)
    }

    fn load_when(&self, view: &NodeView<'_>, draining: bool) -> Result<Load, Kept> {
        let mut load = Load::default();
        if view.sums.blocking == 0 {
            return Ok(load);
        }
        let (mut moves, mut returns) = (Vec::with_capacity(view.sums.blocking as usize), Vec::new());
        let mut evict = |load: &mut Load, class: ClassId, ruling: &Ruling| {
            load.evictions += 1;
            load.cost = load.cost.saturating_add(ruling.cost);
            if !ruling.expendable {
                moves.push(class);
            }
        };
        for (class, deleting) in view.classes() {
            let ruling = self.ruling(class);
            if ruling.tells(deleting) {
                evict(&mut load, class, ruling);
            }
        }
        let mut blocked: Option<(String, Unmovable)> = None;
        for pod in view.pods_where(|class, deleting| self.ruling(class).asks(deleting)) {
            let ruling = self.ruling(pod.class);
            if stuck(&pod, self.now) {
                continue;
            }
            if pod.deleting {
                load.ending += 1;
                if ruling.comes_back && !ruling.expendable {
                    returns.push(pod.class);
                }
                continue;
            }
            match self.movable(&pod) {
                Ok(budget) => {
                    evict(&mut load, pod.class, ruling);
                    budget.into_iter().for_each(|budget| count(&mut load.budgets, budget));
                }
                Err(Unmovable::Budget { .. }) if draining => evict(&mut load, pod.class, ruling),
                Err(because) => {
                    let name = pod.full_name();
                    if blocked.as_ref().is_none_or(|(first, _)| name < *first) {
                        blocked = Some((name, because));
                    }
                }
            }
        }
        if let Some((pod, because)) = blocked {
            return Err(Kept::Pod { pod, because });
        }
        (load.moves, load.returns) = (counted(moves), counted(returns));
        Ok(load)
    }

    /// The disruption budget that moving the pod uses up, or why it cannot be moved.
    pub(super) fn movable(&self, pod: &PodView<'_>) -> Result<Option<u32>, Unmovable> {
        let ruling = self.ruling(pod.class);
        if ruling.once_old {
            old_enough(pod, self.policy, self.now)?;
        }
        if let Verdict::Stays(because) = &ruling.verdict {
            return Err(because.clone());
        }
        self.disruptions.asked(pod, &ruling.budgets)
    }
}

impl Judge<'_> {
    /// The first pod on the node whose eviction uses a disruption budget up (`namespace/name`).
    pub(super) fn first_under(&self, view: &NodeView<'_>, budget: u32) -> String {
        let under = |pod: &PodView<'_>| {
            let asked = self.disruptions.asked(pod, &self.ruling(pod.class).budgets);
            pod.blocks_removal() && asked == Ok(Some(budget))
        };
        let covered = |class, _| self.ruling(class).budgets.contains(&budget);
        view.pods_where(covered).filter(under).map(|pod| pod.full_name()).min().unwrap_or_default()
    }
}

fn count(budgets: &mut Use, budget: u32) {
    match budgets.iter_mut().find(|(known, _)| *known == budget) {
        Some((_, count)) => *count += 1,
        None => budgets.push((budget, 1)),
    }
}

fn counted(mut classes: Vec<ClassId>) -> Vec<(ClassId, u32)> {
    classes.sort_unstable();
    let mut counted: Vec<(ClassId, u32)> = Vec::with_capacity(classes.len());
    for class in classes {
        match counted.last_mut() {
            Some((last, count)) if *last == class => *count += 1,
            _ => counted.push((class, 1)),
        }
    }
    counted
}
