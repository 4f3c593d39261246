//! Which pods can be moved off a node (`spec/cluster-autoscaler.md` 4.5): a list of rules, the first decision wins.

use std::cell::OnceCell;

use jiff::{SignedDuration, Timestamp};

use super::disruptions::Disruptions;
use crate::plan::Unmovable;
use crate::policy::ScaleDownPolicy;
use crate::snapshot::{ClassId, Eviction, Pod, PodKind, PodSpec, PodView, Snapshot};

/// A pod that is still there so long after its time to end was over will not end any more.
pub(super) const STUCK_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// Controllers that start a lost pod again.
const CONTROLLERS: [&str; 4] = ["ReplicationController", "Job", "ReplicaSet", "StatefulSet"];

/// What the rules say of the pods of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They belong to their node.
    Belongs,
    /// They can be moved.
    Moves,
    /// The young ones stay, and of others the rules below decide: pods of kube-system.
    OnceOld,
    /// They stay, and their node with them.
    Stays(Unmovable),
}

/// What a rule is asked about.
struct Case<'a> {
    spec: &'a PodSpec,
    policy: &'a ScaleDownPolicy,
    budgets: &'a [u32],
    /// Its priority is so low that it holds no node.
    expendable: bool,
}

/// Every rule, in the order in which they are asked.
const RULES: [fn(&Case<'_>) -> Option<Verdict>; 8] =
    [belongs, expendable, safe, on_completion, replicated, system, not_safe, local_storage];

fn belongs(case: &Case<'_>) -> Option<Verdict> {
    (case.spec.kind != PodKind::Workload).then_some(Verdict::Belongs)
}

fn expendable(case: &Case<'_>) -> Option<Verdict> {
    case.expendable.then_some(Verdict::Moves)
}

fn safe(case: &Case<'_>) -> Option<Verdict> {
    (case.spec.eviction == Eviction::Safe).then_some(Verdict::Moves)
}

fn on_completion(case: &Case<'_>) -> Option<Verdict> {
    (case.spec.eviction == Eviction::OnCompletion).then_some(Verdict::Stays(Unmovable::OnCompletion))
}

fn replicated(case: &Case<'_>) -> Option<Verdict> {
    let Some(controller) = &case.spec.controller else { return Some(Verdict::Stays(Unmovable::NotReplicated)) };
    let known = CONTROLLERS.contains(&kind(controller)) || !case.policy.keep_for_custom_controllers;
    (!known).then(|| Verdict::Stays(Unmovable::CustomController { controller: controller.clone() }))
}

fn system(case: &Case<'_>) -> Option<Verdict> {
    let alone = &*case.spec.namespace == "kube-system" && case.budgets.is_empty();
    (alone && case.policy.keep_for_system_pods).then_some(Verdict::OnceOld)
}

fn not_safe(case: &Case<'_>) -> Option<Verdict> {
    (case.spec.eviction == Eviction::Unsafe).then_some(Verdict::Stays(Unmovable::Unsafe))
}

fn local_storage(case: &Case<'_>) -> Option<Verdict> {
    let volume = case.spec.local_storage.clone().filter(|_| case.policy.keep_for_local_storage)?;
    Some(Verdict::Stays(Unmovable::LocalStorage { volume }))
}

/// The verdict on each class, worked out once, when it is first asked for: most pods are on nodes that are not idle.
pub(super) struct Rulings<'a> {
    snapshot: &'a Snapshot,
    policy: &'a ScaleDownPolicy,
    expendable_below: i32,
    of_class: Vec<OnceCell<Ruling>>,
    unknown: Ruling,
}

/// What is known of the pods of one class.
#[derive(Clone, Debug)]
pub(super) struct Ruling {
    /// Never [`Verdict::OnceOld`].
    pub(super) verdict: Verdict,
    /// The verdict is on those that are old enough; younger ones stay.
    pub(super) once_old: bool,
    /// The disruption budgets that cover them, by number.
    pub(super) budgets: Vec<u32>,
    /// Pods of so low a priority need no place.
    pub(super) expendable: bool,
    /// A pod that is being deleted comes back only when it has ended, so that nothing else holds its place.
    pub(super) comes_back: bool,
    /// How much it takes to move one, in units of an ordinary pod's [`COST`].
    pub(super) cost: i64,
}

impl Ruling {
    /// Whether the class alone tells that a pod can be moved, and that nothing is used up by it.
    pub(super) fn tells(&self, deleting: bool) -> bool {
        !deleting && !self.once_old && self.verdict == Verdict::Moves && self.budgets.is_empty()
    }

    /// Whether one has to look at the pod itself.
    pub(super) fn asks(&self, deleting: bool) -> bool {
        self.verdict != Verdict::Belongs && !self.tells(deleting)
    }
}

/// What it takes to move a pod of priority 0. A pod's priority adds to it, and at most ten times as much; so Karpenter
/// reckons (`spec/karpenter-and-users.md` 1.1).
pub(super) const COST: i64 = 1 << 25;

impl<'a> Rulings<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, policy: &'a ScaleDownPolicy, expendable_below: i32) -> Self {
        let unknown = Ruling {
            verdict: Verdict::Stays(Unmovable::NotReplicated),
            once_old: false,
            budgets: Vec::new(),
            expendable: false,
            comes_back: false,
            cost: COST,
        };
        let of_class = vec![OnceCell::new(); snapshot.class_slots()];
        Rulings { snapshot, policy, expendable_below, of_class, unknown }
    }

    pub(super) fn of(&self, class: ClassId, disruptions: &Disruptions<'_>) -> &Ruling {
        let slot = self.of_class.get(class.0 as usize).zip(self.snapshot.spec(class));
        slot.map_or(&self.unknown, |(slot, spec)| slot.get_or_init(|| self.rule(spec, disruptions.of(spec))))
    }

    fn rule(&self, spec: &PodSpec, budgets: Vec<u32>) -> Ruling {
        let expendable = spec.priority < self.expendable_below;
        let case = Case { spec, policy: self.policy, budgets: &budgets, expendable };
        let mut decisions = RULES.iter().filter_map(|rule| rule(&case));
        let mut verdict = decisions.next().unwrap_or(Verdict::Moves);
        let once_old = verdict == Verdict::OnceOld;
        if once_old {
            verdict = decisions.next().unwrap_or(Verdict::Moves);
        }
        let stateful = spec.controller.as_ref().is_some_and(|controller| kind(controller) == "StatefulSet");
        Ruling {
            verdict,
            once_old,
            budgets,
            expendable,
            comes_back: stateful,
            cost: (COST + i64::from(spec.priority)).clamp(0, 11 * COST),
        }
    }
}

/// Whether somebody would miss `pod` if its node went now: it does not belong to the node, has not ended, and is not stuck
/// on its way out.
pub fn lost_with_its_node(pod: &Pod, now: Timestamp) -> bool {
    pod.spec.kind == PodKind::Workload && !pod.ended() && !(pod.deleting && overdue(pod.ends_by, now))
}

/// Whether a pod that is being deleted will not end any more, so that it holds nothing and nobody.
pub(crate) fn stuck(pod: &PodView<'_>, now: Timestamp) -> bool {
    pod.deleting && overdue(pod.ends_by, now)
}

fn overdue(ends_by: Option<Timestamp>, now: Timestamp) -> bool {
    ends_by.is_some_and(|ends_by| now.duration_since(ends_by) > STUCK_AFTER)
}

/// Whether a pod of kube-system is old enough to be moved, or else when it will be.
pub(super) fn old_enough(pod: &PodView<'_>, policy: &ScaleDownPolicy, now: Timestamp) -> Result<(), Unmovable> {
    let until = pod.created.and_then(|created| created.saturating_add(policy.system_pods_for).ok());
    match until {
        Some(until) if now >= until => Ok(()),
        until => Err(Unmovable::System { until }),
    }
}

fn kind(controller: &str) -> &str {
    controller.split('/').next().unwrap_or_default()
}
