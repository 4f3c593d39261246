//! Why a node of a group that may shrink stays: a closed set, with numbers. Each such node has one.

use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::reason::{as_seconds, counted, short};
use super::{Placeholder, Replaces, Resource, Usage};
use crate::policy::Percent;
use crate::scheduling::Misfit;
use crate::snapshot::{Coverage, Kind};

/// Why a node stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Kept {
    /// Its group may not shrink, or nothing may now: another refusal says why.
    NotNow,
    /// Somebody asked that it stays.
    Annotated {
        /// The annotation's value.
        value: Box<str>,
    },
    /// It has not been usable yet.
    Starting {
        /// When it is no longer waited for.
        until: Timestamp,
    },
    /// It is not ready, and such nodes stay.
    Unready,
    /// It offers nothing of a resource, so that its share cannot be told.
    NoCapacity,
    /// Too much of it is in use.
    Busy {
        /// What is requested of the resource of which most is.
        usage: Box<Usage>,
        /// A node is idle up to this share.
        threshold: Percent,
    },
    /// Draining it was given up a short time ago.
    GivenUp {
        /// When it may be tried again.
        until: Timestamp,
    },
    /// One of its pods cannot be moved.
    Pod {
        /// The first such pod (`namespace/name`).
        pod: String,
        /// Why.
        because: Unmovable,
    },
    /// A kind of object that decides about its pods is not completely known.
    NotKnown {
        /// The kind.
        kind: Kind,
        /// How much is known.
        coverage: Coverage,
    },
    /// Its pods do not all fit on the other nodes.
    NoPlace {
        /// The first of the pods that do not (`namespace/name`).
        pod: String,
        /// How many like it do not.
        count: u32,
        /// What is in the way on the node that comes closest.
        misfit: Box<Misfit>,
    },
    /// The placeholders on it do not all fit on the other nodes: without it there would be less spare room than is wanted.
    HoldsSlack {
        /// What they stand for.
        of: Placeholder,
        /// How many do not.
        count: u32,
        /// What is in the way on the node that comes closest.
        misfit: Box<Misfit>,
    },
    /// Pods that wait for a node are expected on it.
    Awaited {
        /// How many.
        pods: u32,
    },
    /// Placeholders are expected on it.
    AwaitsSlack {
        /// How many.
        placeholders: u32,
    },
    /// Pods of other nodes that go are expected on it.
    TakesPods {
        /// How many.
        pods: u32,
    },
    /// One machine that costs less could take the place of it, but not for long enough.
    Replaceable {
        /// The group of the machine.
        group: Arc<str>,
        /// What it would take the place of.
        replaces: Box<Replaces>,
        /// It is bought then.
        until: Timestamp,
    },
    /// A machine that costs less was bought to take the place of it.
    AwaitsReplacement {
        /// The group of the machine.
        group: Arc<str>,
    },
    /// It was bought to take the place of nodes that cost more, and is expected to take their pods.
    Replacement {
        /// The nodes.
        nodes: Vec<Arc<str>>,
        /// Until then they should be gone.
        until: Timestamp,
    },
    /// It is not needed, but not for long enough.
    Young {
        /// For how long it has not been needed.
        #[serde(serialize_with = "as_seconds")]
        idle_for: SignedDuration,
        /// It goes then.
        until: Timestamp,
    },
    /// Its group has changed a short time ago.
    Cooling {
        /// What happened.
        after: Event,
        /// Until when the group is left alone.
        until: Timestamp,
    },
    /// The group would be smaller than its minimum.
    AtMin {
        /// The size without the nodes that are on their way out already.
        size: u32,
        /// The minimum.
        min: u32,
    },
    /// The cluster would have less than it keeps in any case.
    AtLeast {
        /// What it keeps.
        resource: Resource,
        /// What would be left.
        left: i128,
        /// What stays in any case.
        least: i64,
    },
    /// As many nodes are on their way out as a budget allows.
    Budget {
        /// The budget that is in force.
        nodes: u32,
        /// Nodes on their way out.
        going: u32,
        /// For all groups together.
        total: bool,
    },
    /// A budget whose window cannot be read allows nothing.
    BrokenBudget {
        /// What is wrong with it.
        problem: Box<str>,
    },
    /// The group shrinks as a whole or not at all, and not all of its nodes can go.
    NotWhole {
        /// Nodes that could.
        ready: u32,
        /// Nodes in all.
        nodes: u32,
    },
    /// It is on its way out: pods are still on it.
    Draining {
        /// How many.
        pods: u32,
        /// When the drain is given up unless one more pod goes.
        until: Timestamp,
        /// What it waits for.
        waits: Box<Waits>,
    },
    /// It is on its way out and empty; what may have come meanwhile would be seen by then.
    Settling {
        /// When it goes.
        until: Timestamp,
    },
}

/// What a drain waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Waits {
    /// A pod may not be evicted yet.
    Eviction {
        /// The first such pod (`namespace/name`).
        pod: String,
        /// The disruption budget that does not allow it.
        #[serde(skip_serializing_if = "Option::is_none")]
        budget: Option<Box<str>>,
    },
    /// A pod that was evicted has not ended.
    End {
        /// The first such pod (`namespace/name`).
        pod: String,
    },
}

/// What happened to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// It grew.
    Grown,
    /// A node of it was removed.
    Removed,
    /// A drain was given up.
    GivenUp,
}

/// Why a pod cannot be moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Unmovable {
    /// Its annotation says `false`.
    Unsafe,
    /// Its annotation says that it is to end by itself.
    OnCompletion,
    /// No controller would start it again.
    NotReplicated,
    /// Its controller is none of Kubernetes' own, so that nobody knows whether it would start it again.
    CustomController {
        /// Kind and name.
        controller: Box<str>,
    },
    /// It is a pod of `kube-system` that no disruption budget covers.
    System {
        /// When it is old enough to be moved all the same; None when its age is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// What it keeps on the node would be lost.
    LocalStorage {
        /// The volume.
        volume: Box<str>,
    },
    /// Its disruption budget allows no eviction now.
    Budget {
        /// The budget.
        budget: Box<str>,
        /// Pods that are ready.
        healthy: u32,
        /// Pods that must be.
        wanted: u32,
    },
    /// Other nodes that go use its disruption budget up.
    BudgetUsed {
        /// The budget.
        budget: Box<str>,
        /// Evictions that it allows.
        allowed: u32,
    },
    /// Several disruption budgets cover it, which the eviction API refuses.
    SeveralBudgets {
        /// Their names.
        budgets: Vec<Box<str>>,
    },
}

impl Kept {
    /// When this reason is over, as far as it is a matter of time.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Kept::Starting { until }
            | Kept::GivenUp { until }
            | Kept::Young { until, .. }
            | Kept::Cooling { until, .. }
            | Kept::Draining { until, .. }
            | Kept::Settling { until } => Some(*until),
            Kept::Pod { because: Unmovable::System { until }, .. } => *until,
            _ => None,
        }
    }

    /// What the user can do about it, when something can be done.
    pub fn hint(&self) -> Option<String> {
        match self {
            Kept::Pod { because, .. } => because.hint().map(str::to_owned),
            Kept::NotKnown { kind, .. } => {
                let kind = kind.kubectl_name();
                Some(format!("add {kind}: kubectl get nodes,pods,{kind} -A -o json"))
            }
            Kept::NoPlace { misfit, .. } | Kept::HoldsSlack { misfit, .. } => misfit.hint(),
            Kept::BrokenBudget { .. } => Some("mend schedule and timeZone of the budget".to_owned()),
            _ => None,
        }
    }
}

impl Unmovable {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Unmovable::NotReplicated | Unmovable::CustomController { .. } | Unmovable::LocalStorage { .. } => {
                Some("annotate the pod cluster-autoscaler.kubernetes.io/safe-to-evict=true if it may be moved")
            }
            Unmovable::System { .. } => Some("cover the pod by a PodDisruptionBudget if it may be moved"),
            Unmovable::SeveralBudgets { .. } => Some("leave one PodDisruptionBudget that selects the pod"),
            _ => None,
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kept::NotNow => f.write_str("stays while its group may not shrink"),
            Kept::Annotated { value } => write!(f, "stays as annotated ({value})"),
            Kept::Starting { until } => write!(f, "is starting, waited for until {until}"),
            Kept::Unready => f.write_str("is not ready, and such nodes stay"),
            Kept::NoCapacity => f.write_str("reports no cpu or no memory, so its share cannot be told"),
            Kept::Busy { usage, threshold } => write!(f, "{usage} is above {threshold}%"),
            Kept::GivenUp { until } => write!(f, "its drain was given up, not tried again before {until}"),
            Kept::Pod { pod, because } => write!(f, "pod {pod} {because}"),
            Kept::NotKnown { kind, .. } => write!(f, "not all {kind} are known, so its pods stay where they are"),
            Kept::NoPlace { pod, count, misfit } => {
                match count {
                    1 => write!(f, "pod {pod} fits on no other node: ")?,
                    _ => write!(f, "pod {pod} and {} like it fit on no other node: ", count.saturating_sub(1))?,
                }
                match &**misfit {
                    Misfit::Closed | Misfit::Unschedulable => f.write_str("there is none that takes new pods"),
                    misfit => misfit.fmt(f),
                }
            }
            Kept::HoldsSlack { of, count, misfit } => {
                let fit = if *count == 1 { "fits" } else { "fit" };
                write!(f, "{} ({of}) {fit} on no other node: {misfit}", counted(*count, "placeholder"))
            }
            Kept::Awaited { pods } => write!(f, "is expected to take {}", counted(*pods, "waiting pod")),
            Kept::AwaitsSlack { placeholders } => {
                write!(f, "is expected to take {}", counted(*placeholders, "placeholder"))
            }
            Kept::TakesPods { pods } => write!(f, "is expected to take {} of nodes that go", counted(*pods, "pod")),
            Kept::Replaceable { group, replaces, until } => {
                write!(f, "could be replaced: {group} gets {replaces}; waits until {until}")
            }
            Kept::AwaitsReplacement { group } => write!(f, "is to be replaced by a machine of {group}"),
            Kept::Replacement { nodes, until } => {
                write!(f, "takes the place of {}, waits for their pods until {until}", nodes.join(", "))
            }
            Kept::Young { idle_for, until } => write!(f, "not needed for {}, goes at {until}", short(*idle_for)),
            Kept::Cooling { after, until } => write!(f, "not needed; {after}, left alone until {until}"),
            Kept::AtMin { size, min } => write!(f, "not needed; the group keeps {min} and has {size}"),
            Kept::AtLeast { resource, left, least } => {
                let (left, least) = (resource.amount(*left), resource.amount((*least).into()));
                write!(f, "not needed; the cluster keeps {least} {resource} and would have {left}")
            }
            Kept::Budget { nodes, going, total } => {
                let whose = if *total { "all groups together" } else { "the group" };
                write!(f, "not needed; of {whose} {nodes} may be on their way out at once, and {going} are")
            }
            Kept::BrokenBudget { problem } => write!(f, "not needed; a budget allows nothing: {problem}"),
            Kept::NotWhole { ready, nodes } => {
                write!(f, "the group goes as a whole, and {ready} of its {nodes} nodes could go")
            }
            Kept::Draining { pods, until, waits } => {
                write!(f, "on its way out with {}, {waits}; given up at {until} unless one goes", counted(*pods, "pod"))
            }
            Kept::Settling { until } => write!(f, "on its way out and empty, goes at {until}"),
        }
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Waits::Eviction { pod, budget: Some(budget) } => {
                write!(f, "waits until disruption budget {budget} lets {pod} go")
            }
            Waits::Eviction { pod, budget: None } => write!(f, "waits until {pod} may be evicted"),
            Waits::End { pod } => write!(f, "waits for the end of {pod}"),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Event::Grown => "the group has grown",
            Event::Removed => "a node of the group was removed",
            Event::GivenUp => "a drain was given up",
        })
    }
}

impl fmt::Display for Unmovable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmovable::Unsafe => f.write_str("is annotated safe-to-evict=false"),
            Unmovable::OnCompletion => f.write_str("is annotated to end by itself"),
            Unmovable::NotReplicated => f.write_str("has no controller that would start it again"),
            Unmovable::CustomController { controller } => {
                write!(f, "belongs to {controller}, no controller of Kubernetes")
            }
            Unmovable::System { until: Some(until) } => {
                write!(f, "is of kube-system without a disruption budget, stays until {until}")
            }
            Unmovable::System { until: None } => f.write_str("is of kube-system without a disruption budget"),
            Unmovable::LocalStorage { volume } => write!(f, "keeps its volume {volume} on the node"),
            Unmovable::Budget { budget, healthy, wanted } => {
                write!(f, "may not be evicted by disruption budget {budget}: {healthy} ready, {wanted} must be")
            }
            Unmovable::BudgetUsed { budget, allowed } => {
                write!(f, "waits for disruption budget {budget}, whose {allowed} evictions other nodes use up")
            }
            Unmovable::SeveralBudgets { budgets } => {
                write!(f, "has the disruption budgets {}, so the API evicts it never", budgets.join(" and "))
            }
        }
    }
}
