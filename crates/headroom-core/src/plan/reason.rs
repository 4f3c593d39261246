//! Why something is done: a closed set, with numbers.

use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Serialize, Serializer};

use super::{Kept, Placeholder, Sizing};
use crate::policy::Percent;
use crate::quantity::{Bytes, MilliCpu, Money, Ratio};
use crate::snapshot::LaunchError;

/// The resource that a number is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Resource {
    /// In thousandths of a core.
    Cpu,
    /// In bytes.
    Memory,
    /// In bytes.
    EphemeralStorage,
    /// In pods.
    Pods,
    /// In nodes.
    Nodes,
    /// How busy cpus are, in hundredths of a percent of one server.
    Busy,
    /// In its own units.
    #[serde(untagged)]
    Extended(Arc<str>),
}

impl Resource {
    /// `amount` with its unit, as people write it.
    pub fn amount(&self, amount: i128) -> String {
        let amount = amount.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        match self {
            Resource::Cpu => MilliCpu(amount).to_string(),
            Resource::Memory | Resource::EphemeralStorage => Bytes(amount).to_string(),
            Resource::Pods | Resource::Nodes | Resource::Extended(_) => amount.to_string(),
            Resource::Busy => format!("{}%", Percent(u32::try_from(amount).unwrap_or(u32::MAX))),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Cpu => f.write_str("cpu"),
            Resource::Memory => f.write_str("memory"),
            Resource::EphemeralStorage => f.write_str("ephemeral-storage"),
            Resource::Pods => f.write_str("pods"),
            Resource::Nodes => f.write_str("nodes"),
            Resource::Busy => f.write_str("cpu load"),
            Resource::Extended(name) => f.write_str(name),
        }
    }
}

/// What is asked for of one resource, against what there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// The resource.
    pub resource: Resource,
    /// Sum of the requests that count.
    pub requests: i128,
    /// Sum of the capacity that counts, upcoming machines included.
    pub capacity: i128,
    /// The share; None without capacity.
    pub percent: Option<Ratio>,
}

impl Usage {
    /// Works out the share.
    pub fn new(resource: Resource, requests: i128, capacity: i128) -> Self {
        let percent = if capacity > 0 { Ratio::percent_of(requests, capacity) } else { None };
        Usage { resource, requests, capacity, percent }
    }
}

impl fmt::Display for Usage {
    /// `cpu 250% (5000m of 2000m)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (requests, capacity) = (self.resource.amount(self.requests), self.resource.amount(self.capacity));
        match self.percent {
            Some(percent) => write!(f, "{} {percent}% ({requests} of {capacity})", self.resource),
            None => write!(f, "{} {requests} requested, no capacity", self.resource),
        }
    }
}

/// Nodes whose pods fit on one machine that costs less, with the other nodes as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replaces {
    /// The nodes.
    pub nodes: Vec<Arc<str>>,
    /// What they cost in an hour.
    pub costs: Money,
    /// What the machine costs in an hour.
    pub price: Money,
    /// What is saved, in percent of what all nodes of groups that may shrink cost.
    pub saving_share: Ratio,
    /// What it takes to move the pods, in percent of what it would take to move every pod.
    pub disruption_share: Ratio,
}

impl fmt::Display for Replaces {
    /// `one machine of $0.10 for 2 nodes of $0.30 (a, b): saves 20% of what all cost for 5% of the disruption`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Replaces { nodes, costs, price, saving_share, disruption_share } = self;
        let count = counted(u32::try_from(nodes.len()).unwrap_or(u32::MAX), "node");
        write!(
            f,
            "one machine of {price} for {count} of {costs} an hour ({}): saves {saving_share}% of what all nodes cost for \
             {disruption_share}% of the disruption of moving every pod",
            nodes.join(", ")
        )
    }
}

/// Why an action is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Reason {
    /// Fewer nodes than the minimum.
    BelowMin {
        /// Nodes in service and machines on their way.
        have: u32,
        /// The minimum.
        min: u32,
    },
    /// Demand is above the threshold.
    AboveThreshold {
        /// The resource that decided.
        usage: Usage,
        /// The threshold.
        above: Percent,
        /// Nodes that count.
        nodes: u32,
        /// Nodes that are needed in addition.
        add: u32,
    },
    /// There is demand and no node.
    FromZero {
        /// The resource that decided.
        usage: Usage,
        /// The threshold.
        above: Percent,
        /// What one node offers of it.
        per_node: i128,
        /// Nodes that are needed.
        add: u32,
    },
    /// There is demand and no node, and nobody knows how big a node will be: one is bought to learn.
    UnknownSize {
        /// The demand.
        usage: Usage,
    },
    /// A waiting pod fits on no node of the group.
    Starved {
        /// `namespace/name`
        pod: String,
        /// What is short.
        resource: Resource,
        /// What the pod needs of it.
        needs: i128,
        /// The most that a node has free of it.
        free: i128,
    },
    /// A node is older than the group allows, while the group is at its minimum.
    TooOld {
        /// The oldest node.
        node: Arc<str>,
        /// Its age.
        #[serde(serialize_with = "as_seconds")]
        age: SignedDuration,
        /// The allowed age.
        #[serde(serialize_with = "as_seconds")]
        max_age: SignedDuration,
    },
    /// More nodes than the maximum.
    AboveMax {
        /// Nodes in service.
        have: u32,
        /// The maximum.
        max: u32,
    },
    /// Demand is below a removal threshold.
    BelowThreshold {
        /// The busiest resource.
        usage: Usage,
        /// The threshold.
        below: Percent,
        /// Nodes that one step removes in this band.
        rate: u32,
    },
    /// The node has not been ready for too long.
    Unhealthy {
        /// Since when.
        since: Timestamp,
        /// How long is too long.
        #[serde(serialize_with = "as_seconds")]
        grace: SignedDuration,
    },
    /// The node is marked for removal, empty, and its soft grace period is over.
    Empty {
        /// For how long it has been marked.
        #[serde(serialize_with = "as_seconds")]
        tainted_for: SignedDuration,
        /// The soft grace period.
        #[serde(serialize_with = "as_seconds")]
        soft_grace: SignedDuration,
    },
    /// The node is marked for removal and its hard grace period is over: its pods are evicted, and then it goes with what
    /// is left.
    HardGraceOver {
        /// For how long it has been marked.
        #[serde(serialize_with = "as_seconds")]
        tainted_for: SignedDuration,
        /// The hard grace period.
        #[serde(serialize_with = "as_seconds")]
        hard_grace: SignedDuration,
        /// Pods that are still on it.
        pods: u32,
    },
    /// Pods wait that fit on no node, and on new nodes of the group.
    PodsWaiting {
        /// The first of them (`namespace/name`).
        first: String,
        /// How many.
        pods: u64,
        /// What made this group the best of several options, and which one was next.
        #[serde(skip_serializing_if = "Option::is_none")]
        decided: Option<String>,
        /// How many placeholders get a place by it too.
        #[serde(skip_serializing_if = "is_zero")]
        placeholders: u64,
    },
    /// Spare room is short: placeholders fit on no node, and on new nodes of the group.
    SlackShort {
        /// What the first of them stands for.
        first: Placeholder,
        /// How many.
        placeholders: u64,
        /// What made this group the best of several options, and which one was next.
        #[serde(skip_serializing_if = "Option::is_none")]
        decided: Option<String>,
    },
    /// One machine that costs less takes the place of some nodes.
    Consolidates {
        /// The nodes, and what that saves.
        replaces: Box<Replaces>,
    },
    /// The pool is to have another number of servers.
    Sized {
        /// How many, and the numbers that this follows from.
        sizing: Box<Sizing>,
    },
    /// Machines were asked for and did not come in time.
    NeverCame {
        /// How many.
        machines: u32,
        /// How long each may take.
        #[serde(serialize_with = "as_seconds")]
        boot_timeout: SignedDuration,
    },
    /// The cloud says that it could not make machines.
    LaunchFailed {
        /// How many.
        machines: u32,
        /// What kept it from making them.
        error: Option<LaunchError>,
        /// In the cloud's own words.
        message: Box<str>,
    },
    /// The machine was removed before and is still there, and is no node.
    Leaked {
        /// For how long it should have been gone.
        #[serde(serialize_with = "as_seconds")]
        destroyed_for: SignedDuration,
        /// Its age.
        #[serde(serialize_with = "as_seconds")]
        age: SignedDuration,
    },
    /// Somebody has marked the server to be replaced, and the pool can do without it.
    ToBeReplaced {
        /// Servers that are so marked and in service, this one included.
        left: u32,
    },
    /// Somebody marked the node with the force taint, and it is empty.
    ForceTainted,
    /// The node has not been needed for long enough: it is empty, or its pods fit on other nodes.
    Idle {
        /// For how long it has not been needed.
        #[serde(serialize_with = "as_seconds")]
        idle_for: SignedDuration,
        /// How long is enough.
        #[serde(serialize_with = "as_seconds")]
        enough: SignedDuration,
        /// What is requested of the resource of which most is.
        usage: Usage,
        /// Pods that move.
        pods: u32,
        /// It is not ready.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        unready: bool,
    },
    /// The node is older than its group allows, and it is empty or its pods fit on other nodes.
    Expired {
        /// Its age.
        #[serde(serialize_with = "as_seconds")]
        age: SignedDuration,
        /// The allowed age.
        #[serde(serialize_with = "as_seconds")]
        expire_after: SignedDuration,
        /// What is requested of the resource of which most is.
        usage: Usage,
        /// Pods that move.
        pods: u32,
    },
    /// The node is marked and has pods that may be evicted now.
    Draining {
        /// Pods on it that must go.
        pods: u32,
        /// For how long it has been marked.
        #[serde(serialize_with = "as_seconds")]
        marked_for: SignedDuration,
    },
    /// The node is marked, and nothing is on it that has to run elsewhere.
    Drained {
        /// For how long it has been marked.
        #[serde(serialize_with = "as_seconds")]
        marked_for: SignedDuration,
    },
    /// Draining the node has taken too long.
    DrainGivenUp {
        /// The first pod that did not go (`namespace/name`).
        pod: String,
        /// The disruption budget that covers it.
        #[serde(skip_serializing_if = "Option::is_none")]
        budget: Option<Box<str>>,
        /// It was evicted and has not ended; otherwise its eviction was refused.
        ending: bool,
        /// How long no pod went.
        #[serde(serialize_with = "as_seconds")]
        waited: SignedDuration,
    },
    /// The node is marked and stays after all.
    Stays {
        /// Why.
        why: Box<Kept>,
    },
    /// The node is needed, or may not go, and carries the mark of one that is not.
    NeededAgain,
    /// The node is not needed; pods had better go elsewhere.
    Unneeded {
        /// For how long.
        #[serde(serialize_with = "as_seconds")]
        idle_for: SignedDuration,
    },
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(super) fn as_seconds<S: Serializer>(duration: &SignedDuration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(duration.as_secs())
}

/// `1 machine`, `2 machines`.
pub(crate) fn counted(count: u32, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// A duration in the words of the configuration, to the second: `1h30m`.
pub(crate) fn short(duration: SignedDuration) -> String {
    let total = duration.as_secs().max(0);
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    let mut text = String::new();
    for (amount, unit) in [(hours, "h"), (minutes, "m"), (seconds, "s")] {
        if amount > 0 {
            text.push_str(&format!("{amount}{unit}"));
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Consolidates { replaces } => replaces.fmt(f),
            Reason::BelowMin { have, min } => write!(f, "{have} nodes, at least {min} wanted"),
            Reason::AboveThreshold { usage, above, nodes, add } => {
                write!(f, "{usage} is above {above}%: {nodes} + {add} nodes needed")
            }
            Reason::FromZero { usage, above, per_node, add } => {
                let per_node = usage.resource.amount(*per_node);
                write!(f, "no node, {usage}: {add} nodes of {per_node} bring it to {above}% or less")
            }
            Reason::UnknownSize { usage } => write!(f, "no node, {usage}: size of a node unknown, so one to learn it"),
            Reason::Starved { pod, resource, needs, free } => {
                let (needs, free) = (resource.amount(*needs), resource.amount(*free));
                write!(f, "pod {pod} needs {needs} {resource}, at most {free} free on one node")
            }
            Reason::TooOld { node, age, max_age } => {
                write!(f, "{node} is {} old, at most {} wanted: one more to replace it", short(*age), short(*max_age))
            }
            Reason::AboveMax { have, max } => write!(f, "{have} nodes, at most {max} wanted"),
            Reason::BelowThreshold { usage, below, rate } => {
                write!(f, "{usage} is below {below}%: {rate} a step")
            }
            Reason::Unhealthy { since, grace } => {
                write!(f, "not ready since {since}, for longer than {}", short(*grace))
            }
            Reason::Empty { tainted_for, soft_grace } => {
                write!(f, "empty and marked for {}, soft grace {}", short(*tainted_for), short(*soft_grace))
            }
            Reason::HardGraceOver { tainted_for, hard_grace, pods } => {
                let (tainted_for, hard_grace) = (short(*tainted_for), short(*hard_grace));
                write!(f, "marked for {tainted_for}, hard grace {hard_grace} is over; {pods} pods are still on it")
            }
            Reason::PodsWaiting { first, pods, decided, placeholders } => {
                match pods {
                    1 => write!(f, "pod {first} waits")?,
                    _ => write!(f, "{pods} pods wait, {first} among them")?,
                }
                match placeholders {
                    0 => {}
                    1 => f.write_str(", and spare room is short by 1 placeholder")?,
                    _ => write!(f, ", and spare room is short by {placeholders} placeholders")?,
                }
                decided.as_ref().map_or(Ok(()), |decided| write!(f, "; best by {decided}"))
            }
            Reason::SlackShort { first, placeholders, decided } => {
                match placeholders {
                    1 => write!(f, "spare room is short: 1 placeholder ({first})")?,
                    _ => write!(f, "spare room is short: {placeholders} placeholders ({first})")?,
                }
                decided.as_ref().map_or(Ok(()), |decided| write!(f, "; best by {decided}"))
            }
            Reason::Sized { sizing } => sizing.fmt(f),
            Reason::NeverCame { machines, boot_timeout } => {
                write!(f, "{} did not come within {}", counted(*machines, "machine"), short(*boot_timeout))
            }
            Reason::LaunchFailed { machines, error, message } => {
                let (machines, error) = (counted(*machines, "machine"), error.map(|error| error.to_string()));
                let error = error.unwrap_or_else(|| "the cloud failed".to_owned());
                write!(f, "{machines} could not be made: {error}")?;
                if message.is_empty() { Ok(()) } else { write!(f, " ({message})") }
            }
            Reason::Leaked { destroyed_for, age } => {
                write!(f, "removed {} ago, {} old, and still there", short(*destroyed_for), short(*age))
            }
            Reason::ToBeReplaced { left } => write!(f, "marked to be replaced, as {} in all", counted(*left, "server")),
            Reason::ForceTainted => f.write_str("force taint and empty"),
            Reason::Idle { idle_for, enough, usage, pods, unready } => {
                let ready = if *unready { "not ready and " } else { "" };
                let (idle_for, enough) = (short(*idle_for), short(*enough));
                write!(f, "{ready}not needed for {idle_for}, {enough} is enough: {usage}")?;
                if *pods > 0 { write!(f, ", {} fit elsewhere", counted(*pods, "pod")) } else { Ok(()) }
            }
            Reason::Expired { age, expire_after, usage, pods } => {
                write!(f, "{} old, at most {} wanted: {usage}", short(*age), short(*expire_after))?;
                if *pods > 0 { write!(f, ", {} fit elsewhere", counted(*pods, "pod")) } else { Ok(()) }
            }
            Reason::Draining { pods, marked_for } => {
                write!(f, "marked for {}, {} to move", short(*marked_for), counted(*pods, "pod"))
            }
            Reason::Drained { marked_for } => write!(f, "marked for {} and empty", short(*marked_for)),
            Reason::DrainGivenUp { pod, budget, ending, waited } => {
                let what = if *ending { "has not ended" } else { "could not be evicted" };
                write!(f, "pod {pod} {what} for {}", short(*waited))?;
                budget.as_ref().map_or(Ok(()), |budget| write!(f, " under disruption budget {budget}"))
            }
            Reason::Stays { why } => write!(f, "it stays after all: {why}"),
            Reason::NeededAgain => f.write_str("it is needed, or may not go"),
            Reason::Unneeded { idle_for } => write!(f, "not needed for {}", short(*idle_for)),
        }
    }
}
