//! Why something is not done: a closed set, with numbers.

use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::reason::{counted, short};
use super::{Kept, Placeholder, Resource};
use crate::backoff;
use crate::limits::Bound;
use crate::policy::{Percent, RunsOn};
use crate::scheduling::Misfit;
use crate::snapshot::{Coverage, Kind};

/// What a refusal is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Subject {
    /// The whole cluster.
    Cluster,
    /// A group.
    Group(Arc<str>),
    /// A node.
    Node(Arc<str>),
    /// `count` equal pods, of which `first` (`namespace/name`) is the first by name.
    Pods {
        /// `namespace/name`
        first: String,
        /// How many are like it, itself included.
        count: u32,
    },
    /// Equal placeholders.
    Placeholders {
        /// What they stand for.
        of: Placeholder,
        /// How many.
        count: u32,
    },
}

impl Subject {
    /// Its place in a report: the cluster first, then groups, nodes, pods and placeholders.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Subject::Cluster => 0,
            Subject::Group(_) => 1,
            Subject::Node(_) => 2,
            Subject::Pods { .. } => 3,
            Subject::Placeholders { .. } => 4,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Cluster => f.write_str("cluster"),
            Subject::Group(name) => write!(f, "group {name}"),
            Subject::Node(name) => write!(f, "node {name}"),
            Subject::Pods { first, count: 1 } => write!(f, "pod {first}"),
            Subject::Placeholders { of, count: 1 } => write!(f, "placeholder ({of})"),
            Subject::Placeholders { of, count } => write!(f, "{count} placeholders ({of})"),
            Subject::Pods { first, count } => write!(f, "pod {first} and {} like it", count - 1),
        }
    }
}

/// Something that is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// What it is about.
    pub subject: Subject,
    /// Why.
    pub why: Why,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.why)
    }
}

/// Why something is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Why {
    /// The group's mode is `off`.
    ModeOff,
    /// The group's mode is `growOnly`, and this would remove something.
    GrowOnly,
    /// A kind of object is not known well enough to remove anything.
    NotKnown {
        /// The kind.
        kind: Kind,
        /// How much is known.
        coverage: Coverage,
    },
    /// Nodes are not replaced by cheaper machines: nobody says what some of them cost.
    PriceUnknown {
        /// The first of them.
        node: Arc<str>,
        /// How many.
        nodes: u32,
    },
    /// A kind of object is not known well enough to judge the group at all.
    CannotJudge {
        /// The kind.
        kind: Kind,
        /// How much is known.
        coverage: Coverage,
    },
    /// The cloud group's limits are not known and the configuration has none.
    NoLimits,
    /// The minimum is above the maximum.
    MinAboveMax {
        /// The minimum.
        min: u32,
        /// The maximum.
        max: u32,
    },
    /// A node or pod matches several groups, so that none of them may touch it.
    SeveralGroups {
        /// Their names.
        groups: Vec<Arc<str>>,
    },
    /// A waiting pod asks for no group.
    NoGroup,
    /// No group with the strategy `pending` may grow now; other refusals say what holds each.
    NoGroupGrows,
    /// The waiting pod had a place on machines on their way that others have taken. When they are there it shows how many
    /// more are needed.
    Stranded {
        /// It waits no longer than this.
        until: Timestamp,
    },
    /// Nobody knows what a new node of the group would be like.
    NoTemplate,
    /// The group is left alone because machines that it asked for did not come.
    BackingOff {
        /// Until when.
        until: Timestamp,
        /// What went wrong.
        cause: backoff::Cause,
    },
    /// The waiting pod fits on new nodes of the group, which may not grow.
    GroupCannotGrow {
        /// The group.
        group: Arc<str>,
        /// The limit that holds it; otherwise another refusal says what does.
        #[serde(skip_serializing_if = "Option::is_none")]
        bound: Option<Bound>,
    },
    /// The waiting pod fits on new nodes of no group.
    FitsNoGroup {
        /// The group that comes closest.
        group: Arc<str>,
        /// What is in the way there.
        misfit: Misfit,
    },
    /// The nodes report no capacity.
    NoCapacity {
        /// How many nodes.
        nodes: u32,
    },
    /// Machines are on their way and nobody knows how big they will be.
    UpcomingOfUnknownSize {
        /// How many.
        upcoming: u32,
    },
    /// The group was enlarged a short time ago.
    CoolingDown {
        /// How many nodes it would get now (negative: lose).
        wanted: i64,
        /// Until when.
        until: Timestamp,
    },
    /// Removal has moved a step a short time ago.
    StepTaken {
        /// How many nodes the next step would mark.
        wanted: u32,
        /// When the next step may come.
        until: Timestamp,
    },
    /// The group has reached its maximum.
    AtMax {
        /// Nodes wanted in addition.
        wanted: u32,
        /// Nodes allowed in addition.
        allowed: u32,
        /// The maximum.
        max: u32,
    },
    /// The group has fewer nodes than its minimum and gets no more.
    HeldBelowMin {
        /// The minimum.
        min: u32,
        /// The size that it has or gets.
        size: u32,
        /// The limit that holds it.
        bound: Bound,
    },
    /// The group has more nodes than its maximum, and none is removed for that alone.
    AboveMax {
        /// Its size.
        size: u32,
        /// The maximum.
        max: u32,
    },
    /// The group has reached its minimum.
    AtMin {
        /// Nodes that would go.
        wanted: u32,
        /// Nodes that may go.
        allowed: u32,
        /// The minimum.
        min: u32,
    },
    /// Without these nodes the rest would be so busy that the group grows again.
    WouldGrowAgain {
        /// Nodes that a step would mark.
        wanted: u32,
        /// Nodes that can be marked for good.
        allowed: u32,
        /// The threshold above which it grows.
        above: Percent,
    },
    /// The cloud already owes the machines that are wanted: they were asked for and never came.
    NeverCame {
        /// How many are past their time.
        count: u32,
        /// The cloud's target.
        target: u32,
        /// How long each may take.
        #[serde(skip)]
        boot_timeout: SignedDuration,
    },
    /// Machines of the cloud and nodes cannot be told to belong together, so no machine counts as one that never came.
    MachinesUnclear {
        /// The group.
        group: Arc<str>,
        /// Machines that the cloud owes or lists, past their time, that are no node.
        machines: u32,
        /// Machines that are nodes of the group.
        matched: u32,
        /// Nodes of the group that are no machine that the cloud lists.
        strangers: u32,
    },
    /// Enlargements brought nothing several times in a row.
    BreakerOpen {
        /// How often.
        failures: u32,
        /// The number of nodes that does not grow.
        nodes: u32,
    },
    /// Too many of the group's newest nodes are not ready.
    GroupUnhealthy {
        /// Of those looked at.
        unhealthy: u32,
        /// Looked at.
        tested: u32,
        /// The share allowed.
        max: Percent,
    },
    /// So many nodes turned unready at once that the fault is likely elsewhere.
    ManyUnready {
        /// Nodes not ready.
        unready: u32,
        /// Nodes in all.
        nodes: u32,
    },
    /// The pool's list of hardware is empty, or the first of it has no more memory than is reserved.
    NoHardware,
    /// How busy servers of the pool are is not known, and no data is not no load.
    UsageNotKnown {
        /// Of how many it is not.
        unknown: u32,
        /// Servers in service.
        servers: u32,
    },
    /// The server is not drained: the rest of the pool has no place for one of its tasks.
    NoPlaceElsewhere {
        /// The first such task (`namespace/name`).
        pod: String,
    },
    /// The server is drained, and tasks on it have not ended.
    NotDrained {
        /// How many.
        pods: u32,
        /// When they are told to stop.
        deadline: Timestamp,
    },
    /// The server is drained, and kept as long as it is paid for: it comes back before another is made.
    Paid {
        /// When it goes.
        until: Timestamp,
    },
    /// The waiting task asks for something that no server of the pool has.
    ConstraintUnmet {
        /// The pool.
        group: Arc<str>,
        /// What it asks for.
        constraint: String,
    },
    /// The waiting pod is larger than a new node of the group.
    LargerThanNode {
        /// The group.
        group: Arc<str>,
        /// What is short.
        resource: super::Resource,
        /// What the pod needs.
        needs: i128,
        /// What a new node offers.
        offers: i128,
    },
    /// A marked node is not empty, and its hard grace period, or the drain after it, is not over.
    NotEmpty {
        /// Pods on it.
        pods: u32,
        /// When it goes in any case.
        until: Timestamp,
    },
    /// A marked node's soft grace period is not over.
    SoftGrace {
        /// When it is.
        until: Timestamp,
    },
    /// A node with the force taint still has pods.
    ForceTaintedNotEmpty {
        /// Pods on it.
        pods: u32,
    },
    /// Somebody asked that the node is not removed.
    NoDelete {
        /// The annotation's value.
        value: Box<str>,
    },
    /// It is none of the machines that its group's cloud lists, or not clear which, so that it could not be told to go.
    NoMachine,
    /// Its machine was removed, and the cluster has not noticed yet.
    MachineGone,
    /// The value of the removal taint is no time.
    TaintUnreadable {
        /// The value.
        value: Box<str>,
    },
    /// The node stays although its group may shrink.
    Kept {
        /// Why.
        why: Box<Kept>,
    },
    /// The cluster has become much smaller at once: what is seen may be wrong.
    SuddenDrop {
        /// What fell: `nodes`, or a resource of which less is requested.
        what: Resource,
        /// From so much.
        from: i128,
        /// To so much.
        to: i128,
        /// Nothing is removed before this instant.
        until: Timestamp,
    },
    /// `check` rejected an action: a fault in Headroom.
    Rejected {
        /// The action.
        action: String,
        /// The invariant that it breaks.
        violation: String,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::ModeOff => f.write_str("mode is off"),
            Why::GrowOnly => f.write_str("mode is growOnly, nothing is removed"),
            Why::NotKnown { kind, coverage: Coverage::Absent } => {
                write!(f, "{kind} are not known, so nothing is removed")
            }
            Why::NotKnown { kind, .. } => write!(f, "not all {kind} are known, so nothing is removed"),
            Why::CannotJudge { kind, coverage: Coverage::Absent } => {
                write!(f, "{kind} are not known, so it is not judged")
            }
            Why::CannotJudge { kind, .. } => write!(f, "not all {kind} are known, so it is not judged"),
            Why::NoLimits => f.write_str("no size limits: neither the configuration nor the cloud gives them"),
            Why::MinAboveMax { min, max } => write!(f, "minimum {min} is above maximum {max}"),
            Why::SeveralGroups { groups } => {
                write!(f, "matches the groups {}, so none of them acts on it", groups.join(" and "))
            }
            Why::NoGroup => f.write_str("asks for no group, so no group grows for it"),
            Why::NoGroupGrows => f.write_str("fits on no node that is there, and no group may grow now"),
            Why::Stranded { until } => {
                write!(
                    f,
                    "lost its place on machines on their way to others; more are bought when these are there, or {until}"
                )
            }
            Why::NoTemplate => f.write_str("has no node to learn from, so nobody knows what a new one is like"),
            Why::BackingOff { until, cause } => write!(f, "left alone until {until}: {cause}"),
            Why::GroupCannotGrow { group, bound: Some(bound) } => {
                write!(f, "would fit on a new node of {group}, which gets no more: {bound}")
            }
            Why::GroupCannotGrow { group, bound: None } => {
                write!(f, "would fit on a new node of {group}, which may not grow now")
            }
            Why::FitsNoGroup { group, misfit } => write!(f, "fits on no new node; closest is {group}: {misfit}"),
            Why::NoCapacity { nodes } => write!(f, "{nodes} nodes report no cpu or no memory, so there is no share"),
            Why::UpcomingOfUnknownSize { upcoming } => {
                write!(f, "{upcoming} machines on their way, their size unknown: waiting for the first")
            }
            Why::CoolingDown { wanted, until } => write!(f, "wants {wanted:+} nodes, cooling down until {until}"),
            Why::StepTaken { wanted, until } => {
                write!(f, "would mark {wanted} nodes for removal, next step at {until}")
            }
            Why::AtMax { wanted, allowed, max } => {
                write!(f, "wants {wanted} more nodes, at most {allowed} allowed by maximum {max}")
            }
            Why::HeldBelowMin { min, size, bound } => write!(f, "wants at least {min} nodes, {size} allowed: {bound}"),
            Why::AboveMax { size, max } => {
                write!(f, "has {size} nodes, at most {max} wanted; none is removed for that alone")
            }
            Why::AtMin { wanted, allowed, min } => {
                write!(f, "would lose {wanted} nodes, at most {allowed} allowed by minimum {min}")
            }
            Why::WouldGrowAgain { wanted, allowed, above } => {
                write!(f, "would mark {wanted} nodes for removal, {allowed} of them leave the rest at {above}% or less")
            }
            Why::NeverCame { count, target, boot_timeout } => write!(
                f,
                "{count} machines that were asked for did not come within {}; the cloud's target is {target} already",
                short(*boot_timeout)
            ),
            Why::MachinesUnclear { machines, matched, strangers, .. } => write!(
                f,
                "{} in the cloud came to no node in time, {matched} did, {} no machine there: too unclear to write off",
                counted(*machines, "machine"),
                if *strangers == 1 { "1 node has".to_owned() } else { format!("{strangers} nodes have") }
            ),
            Why::BreakerOpen { failures, nodes } => {
                write!(f, "{failures} enlargements in a row brought no node beyond {nodes}: not asking for more")
            }
            Why::GroupUnhealthy { unhealthy, tested, max } => {
                write!(f, "{unhealthy} of the {tested} newest nodes are not ready, at most {max}% allowed")
            }
            Why::ManyUnready { unready, nodes } => {
                write!(f, "{unready} of {nodes} nodes are not ready at once, so that none is removed")
            }
            Why::LargerThanNode { group, resource, needs, offers } => {
                let (needs, offers) = (resource.amount(*needs), resource.amount(*offers));
                write!(f, "needs {needs} {resource}, a new node of {group} offers {offers}")
            }
            Why::NoHardware => f.write_str("nobody knows how much memory a server of it has"),
            Why::UsageNotKnown { unknown, servers } => {
                write!(f, "how busy {unknown} of {} are is not known, so its size stays", counted(*servers, "server"))
            }
            Why::NoPlaceElsewhere { pod } => write!(f, "kept, task {pod} has no place on the rest of the pool"),
            Why::NotDrained { pods: 0, deadline } => write!(f, "its drain is not over, which it is at {deadline}"),
            Why::NotDrained { pods, deadline } => {
                write!(f, "drained, {} not ended, told to stop at {deadline}", counted(*pods, "task"))
            }
            Why::Paid { until } => write!(f, "drained, kept until {until} since its hour is paid for"),
            Why::ConstraintUnmet { group, constraint } => {
                write!(f, "no server of {group} has the {constraint} that it asks for")
            }
            Why::NotEmpty { pods, until } => {
                write!(f, "marked, {pods} pods on it, kept until they end or until {until}")
            }
            Why::SoftGrace { until } => write!(f, "marked, kept until {until}"),
            Why::ForceTaintedNotEmpty { pods } => write!(f, "force taint, kept until its {pods} pods end"),
            Why::NoDelete { value } => write!(f, "annotated no-delete ({value})"),
            Why::NoMachine => f.write_str("kept, which machine of its cloud it is is not known"),
            Why::MachineGone => f.write_str("its machine was removed, and it goes once it is down and empty"),
            Why::TaintUnreadable { value } => write!(f, "the removal taint's value {value:?} is no unix time"),
            Why::Kept { why } => why.fmt(f),
            Why::SuddenDrop { what, from, to, until } => {
                let (from, to) = (what.amount(*from), what.amount(*to));
                write!(f, "{what} fell from {from} to {to} at once, so nothing is removed before {until}")
            }
            Why::PriceUnknown { node, nodes: 1 } => {
                write!(f, "nothing is consolidated: the price of {node} is not known")
            }
            Why::PriceUnknown { node, nodes } => {
                write!(f, "nothing is consolidated: the prices of {nodes} nodes are not known, the first is {node}")
            }
            Why::Rejected { action, violation } => write!(f, "{action} was taken out of the plan: {violation}"),
        }
    }
}

impl Why {
    /// What the user of such a cluster can do about it, when something can be done.
    pub fn hint(&self, on: RunsOn) -> Option<String> {
        let hint = match self {
            Why::NotKnown { kind, coverage } | Why::CannotJudge { kind, coverage } => add(*kind, *coverage, on),
            Why::PriceUnknown { .. } => "set price for the group, or prices for its machine types".to_owned(),
            Why::NoTemplate => "set template: { cpu: .., memory: .. } for the group".to_owned(),
            Why::FitsNoGroup { misfit: Misfit::Resource { resource, needs, free, .. }, .. } if *free > 0 => {
                let needs = resource.amount(i128::from(*needs));
                format!("add a group whose nodes offer {needs} {resource} beside their DaemonSets")
            }
            Why::FitsNoGroup { misfit, .. } => return misfit.hint(),
            Why::GroupCannotGrow { group, bound: Some(bound) } => match bound {
                Bound::GroupMax { .. } => format!("raise size.max of {group}"),
                Bound::Nodes { .. } => "raise limits.nodes".to_owned(),
                Bound::NodesPerScaleUp { .. } => "the next round adds more".to_owned(),
                Bound::Resource { resource, .. } if matches!(&**resource, "cpu" | "memory") => {
                    format!("raise limits.{resource}")
                }
                Bound::Resource { resource, .. } => format!("raise {resource} of limits.extended"),
            },
            Why::NoLimits => "set size: { min: .., max: .. } for the group".to_owned(),
            Why::MinAboveMax { .. } => "set size so that min is at most max".to_owned(),
            Why::SeveralGroups { .. } => "give the groups labels that no node or pod carries together".to_owned(),
            Why::NoGroup => {
                "add a nodeSelector with the label of a group, or a group with countPods: unconstrained".to_owned()
            }
            Why::AtMax { .. } => "raise size.max".to_owned(),
            Why::NoMachine if on == RunsOn::Kubernetes => {
                "set spec.providerID of the node, or take it out of the group's select".to_owned()
            }
            Why::NoMachine => {
                "give the node a name or address that its machine has in the cloud, or take it out of the group's select"
                    .to_owned()
            }
            Why::Kept { why } => return why.hint(),
            Why::NoHardware => "set hardware for the pool, each with more memory than reserve".to_owned(),
            Why::LargerThanNode { .. } => "use a group with larger machines".to_owned(),
            Why::NeverCame { .. } => "look for quota or stock errors of the cloud group".to_owned(),
            Why::MachinesUnclear { group, .. } => {
                format!("provider ids of {group} match no node: give the nodes the ids that the cloud lists")
            }
            Why::TaintUnreadable { .. } => "remove the taint from the node, or set a unix time as its value".to_owned(),
            Why::Rejected { .. } => "this is a fault in Headroom; please report it with a recording".to_owned(),
            _ => return None,
        };
        Some(hint)
    }
}

/// How to read what of a kind is not known.
fn add(kind: Kind, coverage: Coverage, on: RunsOn) -> String {
    match (on, kind) {
        (RunsOn::Nomad, Kind::Nodes) => "add nodes: nomad operator api '/v1/nodes?resources=true'".to_owned(),
        (RunsOn::Nomad, _) => {
            "add allocations of every namespace: nomad operator api '/v1/allocations?resources=true&namespace=*'"
                .to_owned()
        }
        (RunsOn::Kubernetes, _) if coverage == Coverage::Partial => {
            "add -A: kubectl get nodes,pods -A -o json".to_owned()
        }
        (RunsOn::Kubernetes, Kind::Nodes) => format!("add {kind}: kubectl get nodes,pods -A -o json"),
        (RunsOn::Kubernetes, _) => format!("add {kind}: kubectl get nodes,{} -A -o json", kind.kubectl_name()),
    }
}
