//! What `decide` answers: actions in order, and a report that says why, and why not.

mod kept;
mod pool;
mod reason;
mod refusal;
mod report;
mod slack;
mod warning;

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

pub use kept::{Event, Kept, Unmovable, Waits};
pub use pool::{CpuNeed, MemoryNeed, SizedBy, Sizing};
pub use reason::{Reason, Replaces, Resource, Usage};
pub use refusal::{Refusal, Subject, Why};
pub use report::{BudgetUse, Counts, EqualPods, GroupReport, Report, ScaleUp, Waiting};
pub use slack::{EqualPlaceholders, Placeholder, Placeholders, Slack, SlackRate};
pub use warning::{BufferProblem, Warning};

use crate::keys::INELIGIBLE;
use crate::snapshot::Taint;

/// What to do now and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The instant that it was made for.
    pub at: Timestamp,
    /// In the order in which they are carried out.
    pub actions: Vec<Planned>,
    /// Everything that was found and weighed.
    pub report: Report,
    /// Without a change of the cluster, there is nothing else to carry out until this instant; None means for ever. The
    /// actions of this plan count as a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_at: Option<Timestamp>,
}

/// One action with its reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// The group that it is for.
    pub group: Arc<str>,
    /// What to do.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The group is in dry-run mode: the action is shown and not carried out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// One thing to do. Sizes are absolute, so that doing it twice is doing it once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Action {
    /// Take a removal taint off, so that the node takes pods again.
    Untaint {
        /// The node.
        node: Arc<str>,
        /// The taint's key.
        key: Box<str>,
    },
    /// Ask the cloud for another size.
    Resize {
        /// The size that the plan was made for; another one makes the action stale.
        from: u32,
        /// The size wanted.
        to: u32,
    },
    /// Mark a node for removal.
    Taint {
        /// The node.
        node: Arc<str>,
        /// The taint.
        taint: Taint,
    },
    /// Evict pods from a marked node, through the API that honours disruption budgets. Evicting again a pod that is on its
    /// way out changes nothing.
    Drain {
        /// The node.
        node: Arc<str>,
        /// The pods whose budgets allow it now, by namespace and name.
        pods: Vec<Evict>,
        /// Unless one more pod goes, the drain is over then: it is given up or, past the hard grace period, the node goes with
        /// what is left.
        until: Timestamp,
    },
    /// Remove the machine through its cloud, lowering the target by one, then delete the Node object.
    Remove {
        /// The node.
        node: Arc<str>,
        /// How the cloud knows the machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_id: Option<Box<str>>,
        /// The pods that are lost with it (`namespace/name`): none before the hard grace period and a drain are over.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pods: Vec<String>,
    },
    /// Remove a machine that never became a node, through its cloud.
    WriteOff {
        /// How the cloud knows the machine.
        provider_id: Box<str>,
        /// Whether the cloud is to make another one in its place: the target stays. Otherwise it is lowered by one.
        replace: bool,
    },
}

/// A pod that is to be evicted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evict {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Box<str>,
    /// The disruption budget that its eviction uses up by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Box<str>>,
}

impl Action {
    /// Whether it makes a group larger or smaller at once.
    pub(crate) fn changes_size(&self) -> bool {
        matches!(self, Action::Resize { .. } | Action::Remove { .. } | Action::WriteOff { .. })
    }

    /// By how many machines it makes a group smaller at once.
    pub(crate) fn lowers_by(&self) -> u32 {
        match self {
            Action::Resize { from, to } => from.saturating_sub(*to),
            Action::Remove { .. } | Action::WriteOff { replace: false, .. } => 1,
            Action::WriteOff { replace: true, .. }
            | Action::Untaint { .. }
            | Action::Taint { .. }
            | Action::Drain { .. } => 0,
        }
    }

    /// The node that it touches.
    pub fn node(&self) -> Option<&str> {
        match self {
            Action::Untaint { node, .. }
            | Action::Taint { node, .. }
            | Action::Drain { node, .. }
            | Action::Remove { node, .. } => Some(node),
            Action::Resize { .. } | Action::WriteOff { .. } => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Untaint { node, key } if **key == *INELIGIBLE => write!(f, "make {node} eligible"),
            Action::Untaint { node, key } => write!(f, "untaint {node} ({key})"),
            Action::Resize { from, to } => write!(f, "resize {from} -> {to}"),
            Action::Taint { node, taint } if *taint.key == *INELIGIBLE => write!(f, "make {node} ineligible"),
            Action::Taint { node, taint } => write!(f, "taint {node} {taint}"),
            Action::Drain { node, pods, .. } => match &**pods {
                [pod] => write!(f, "evict {}/{} from {node}", pod.namespace, pod.name),
                _ => write!(f, "evict {} pods from {node}", pods.len()),
            },
            Action::Remove { node, pods, .. } if pods.is_empty() => write!(f, "remove {node}"),
            Action::Remove { node, pods, .. } => write!(f, "remove {node} with {} pods", pods.len()),
            Action::WriteOff { provider_id, replace: false } => write!(f, "write off {provider_id}"),
            Action::WriteOff { provider_id, replace: true } => write!(f, "write off {provider_id} and get another"),
        }
    }
}

impl Plan {
    /// The actions that are to be carried out: those of groups in dry-run mode are left out.
    pub fn to_execute(&self) -> impl Iterator<Item = &Planned> {
        self.actions.iter().filter(|planned| !planned.dry_run)
    }
}
