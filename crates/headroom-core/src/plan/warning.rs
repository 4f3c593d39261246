//! What a decision rests on that may not hold.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::Resource;
use crate::keys::SPARE_COPIES;
use crate::quantity::Ratio;
use crate::snapshot::{Coverage, Kind};

/// Something that weakens a decision without stopping it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Warning {
    /// The nodes of a group differ in size.
    MixedSizes {
        /// The group.
        group: Arc<str>,
        /// The resource that differs.
        resource: Resource,
        /// The least that a node offers.
        smallest: i64,
        /// The most that a node offers.
        largest: i64,
        /// What a new node is taken to offer.
        new: i64,
    },
    /// Pods that request neither cpu nor memory count as nothing.
    WithoutRequests {
        /// The group.
        group: Arc<str>,
        /// How many.
        pods: u64,
    },
    /// DaemonSets use more of a node than the scale-up threshold leaves free.
    LargeDaemonSets {
        /// The group.
        group: Arc<str>,
        /// The node on which it is most.
        node: Arc<str>,
        /// The resource.
        resource: Resource,
        /// Their share of the node.
        percent: Ratio,
        /// What the threshold leaves free.
        left: Ratio,
        /// The threshold that would leave enough.
        enough: Ratio,
    },
    /// The value of the annotation that asks for spare copies is neither a number nor a percentage.
    SpareCopiesUnreadable {
        /// The workload or pod (`namespace/Kind/name`).
        of: Box<str>,
        /// The value.
        value: Box<str>,
    },
    /// The group keeps spare room, and its nodes are told apart by their capacity alone, so that no pod can ask for them.
    SpareWithoutLabel {
        /// The group.
        group: Arc<str>,
    },
    /// Room is to be kept for what objects of a kind ask for, and not all of them are known.
    SlackNotKnown {
        /// The kind.
        kind: Kind,
        /// How much is known.
        coverage: Coverage,
    },
    /// A capacity buffer keeps no room.
    BufferKeepsNothing {
        /// `namespace/name`
        buffer: Box<str>,
        /// Why.
        problem: BufferProblem,
    },
    /// Pods run on the group's nodes that do not count as its demand.
    ForeignPods {
        /// The group.
        group: Arc<str>,
        /// At least so many.
        pods: u64,
    },
}

/// What is wrong with a capacity buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum BufferProblem {
    /// It must name a pod template or something scalable, and not both.
    NotOneReference,
    /// What it names is not known.
    NotFound {
        /// `Kind/name`
        reference: Box<str>,
    },
    /// Neither a number, nor a percentage of something scalable, nor limits say how many pods it stands for.
    NoCount,
}

impl Warning {
    /// What the user can do about it, when the text does not say so.
    pub fn hint(&self) -> Option<String> {
        match self {
            Warning::SlackNotKnown { kind, .. } => {
                let setting = if *kind == Kind::Workloads { "marked" } else { "capacityBuffers" };
                Some(format!("{}, or set slack: {{ {setting}: false }}", add(kind.kubectl_name())))
            }
            Warning::BufferKeepsNothing { problem: BufferProblem::NotFound { reference }, .. } => {
                Some(match reference.split_once('/').map_or(&**reference, |(kind, _)| kind) {
                    "PodTemplate" => format!("{}, or correct podTemplateRef", add("podtemplates")),
                    "Deployment" | "ReplicaSet" | "StatefulSet" | "Job" | "ReplicationController" => {
                        format!("{}, or correct scalableRef", add(Kind::Workloads.kubectl_name()))
                    }
                    other => format!(
                        "in a cluster the scale of a {other} and one of its pods are read, if \
                         deploy/capacity-buffers.yaml is applied; or name a PodTemplate by podTemplateRef"
                    ),
                })
            }
            _ => None,
        }
    }
}

/// How a dump gets such objects.
fn add(kubectl_name: &str) -> String {
    format!("add {kubectl_name}: kubectl get nodes,pods,{kubectl_name} -A -o json")
}

impl fmt::Display for BufferProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferProblem::NotOneReference => f.write_str("set one of podTemplateRef and scalableRef"),
            BufferProblem::NotFound { reference } => write!(f, "{reference} is not known"),
            BufferProblem::NoCount => f.write_str("set replicas, limits, or percentage with scalableRef"),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::MixedSizes { group, resource, smallest, largest, new } => {
                let amount = |amount: &i64| resource.amount(i128::from(*amount));
                let (smallest, largest, new) = (amount(smallest), amount(largest), amount(new));
                write!(f, "group {group}: nodes offer from {smallest} to {largest} {resource}; new ones count as {new}")
            }
            Warning::WithoutRequests { group, pods } => {
                write!(f, "group {group}: {pods} pods request neither cpu nor memory and count as nothing")
            }
            Warning::LargeDaemonSets { group, node, resource, percent, left, enough } => write!(
                f,
                "group {group}: DaemonSets request {percent}% of the {resource} of {node}, the threshold leaves {left}%; \
                 scaleUpAbove {enough} would leave enough, or set daemonSets: subtract"
            ),
            Warning::SpareCopiesUnreadable { of, value } => write!(
                f,
                "{of}: annotation {SPARE_COPIES} is {value:?} and keeps no room; write a number or a percentage"
            ),
            Warning::SpareWithoutLabel { group } => write!(
                f,
                "group {group}: keeps no spare room, since no label tells its nodes apart; select them by a label"
            ),
            Warning::SlackNotKnown { kind, coverage } => {
                let what = if *kind == Kind::Workloads { "the spare copies that they ask for" } else { "them" };
                match coverage {
                    Coverage::Absent => write!(f, "{kind} are not known, so no room is kept for {what}"),
                    _ => write!(f, "not all {kind} are known, so room for {what} may be missing"),
                }
            }
            Warning::BufferKeepsNothing { buffer, problem } => {
                write!(f, "capacity buffer {buffer} keeps no room: {problem}")
            }
            Warning::ForeignPods { group, pods } => write!(
                f,
                "group {group}: at least {pods} pods run on its nodes without asking for it; they keep their node and \
                 do not count as demand"
            ),
        }
    }
}
