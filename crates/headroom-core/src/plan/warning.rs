//! What a decision rests on that may not hold.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::Resource;
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
    /// Pods run on the group's nodes that do not count as its demand.
    ForeignPods {
        /// The group.
        group: Arc<str>,
        /// At least so many.
        pods: u64,
    },
    /// Where waiting pods can run depends on objects of a kind that is not completely known. What is missing is not taken
    /// into account.
    Unknown {
        /// The kind.
        kind: Kind,
        /// How much of it is known.
        coverage: Coverage,
        /// `namespace/name` of one of the pods.
        first: String,
        /// How many, that one included.
        pods: u64,
    },
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
            Warning::ForeignPods { group, pods } => write!(
                f,
                "group {group}: at least {pods} pods run on its nodes without asking for it; they keep their node and \
                 do not count as demand"
            ),
            Warning::Unknown { kind, coverage, first, pods } => {
                let all = if *coverage == Coverage::Absent { "" } else { "all " };
                let depend = match pods {
                    1 => format!("pod {first} depends"),
                    _ => format!("{pods} pods, {first} among them, depend"),
                };
                write!(
                    f,
                    "{depend} on {kind}, which are not {all}known: what is missing is not taken into account; \
                     hint: add {kind} to the dump"
                )
            }
        }
    }
}
