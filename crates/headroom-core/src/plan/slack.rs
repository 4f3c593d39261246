//! The spare room that a round keeps.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::Resource;
use crate::policy::{Basis, Percent};
use crate::quantity::Resources;

/// Pods that live only inside Headroom and keep room for others, by what they stand for. Equal ones are like the pods of
/// one ReplicaSet. The order is that in which they get their places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Placeholder {
    /// An empty node of a group.
    SpareNode {
        /// The group.
        group: Arc<str>,
    },
    /// A pod on the nodes of a group.
    SparePod {
        /// The group.
        group: Arc<str>,
    },
    /// A pod of a CapacityBuffer.
    Buffer {
        /// `namespace/name`
        buffer: Box<str>,
    },
    /// A spare copy that a workload asks for by annotation.
    Copy {
        /// `namespace/Kind/name`
        of: Box<str>,
    },
    /// One more of the pod that requests most cpu.
    LargestCpu,
    /// One more of the pod that requests most memory.
    LargestMemory,
    /// A pod with the most cpu of one and the most memory of another.
    LargestCombined,
    /// A part of the rate.
    Rate,
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placeholder::SpareNode { group } => write!(f, "spare node of {group}"),
            Placeholder::SparePod { group } => write!(f, "spare pod of {group}"),
            Placeholder::Buffer { buffer } => write!(f, "buffer {buffer}"),
            Placeholder::Copy { of } => write!(f, "spare copy of {of}"),
            Placeholder::LargestCpu => f.write_str("largest pod by cpu"),
            Placeholder::LargestMemory => f.write_str("largest pod by memory"),
            Placeholder::LargestCombined => f.write_str("largest cpu with largest memory"),
            Placeholder::Rate => f.write_str("rate"),
        }
    }
}

/// The spare room that a round keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Slack {
    /// What the rate comes to, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<SlackRate>,
    /// Every kind of placeholder that is wanted, in the order in which they get their places.
    pub placeholders: Vec<Placeholders>,
}

/// A share of the cluster for which room is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlackRate {
    /// The share.
    pub percent: Percent,
    /// What it is a share of.
    pub basis: Basis,
    /// The basis: cpu in thousandths of a core.
    pub cpu: i128,
    /// The basis: memory in bytes.
    pub memory: i128,
}

impl fmt::Display for SlackRate {
    /// `10% of the requested 12000m cpu and 24Gi memory`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cpu, memory) = (Resource::Cpu.amount(self.cpu), Resource::Memory.amount(self.memory));
        match self.basis {
            Basis::Requested => write!(f, "{}% of the requested {cpu} cpu and {memory} memory", self.percent),
            Basis::Capacity => write!(f, "{}% of the {cpu} cpu and {memory} memory of the nodes", self.percent),
        }
    }
}

/// Equal placeholders, by what becomes of them: each is in one of the counts after `wanted`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Placeholders {
    /// What they stand for.
    pub of: Placeholder,
    /// What each requests.
    pub requests: Resources,
    /// How many are wanted.
    pub wanted: u32,
    /// Stay on the nodes on which they were.
    pub kept: u32,
    /// Get a place on nodes that are there.
    pub placed: u32,
    /// Get one on machines that are on their way.
    pub on_upcoming: u32,
    /// Get one by the new nodes of this round.
    pub on_new: u32,
    /// Get none: they are in a refusal.
    pub refused: u32,
}

impl fmt::Display for Placeholders {
    /// `3 x rate (500m cpu, 1Gi memory): 2 kept, 1 on new nodes`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Resources { cpu, memory, .. } = self.requests;
        let (cpu, memory) = (Resource::Cpu.amount(cpu.into()), Resource::Memory.amount(memory.into()));
        write!(f, "{} x {} ({cpu} cpu, {memory} memory):", self.wanted, self.of)?;
        let counts = [
            (self.kept, "kept"),
            (self.placed, "placed"),
            (self.on_upcoming, "on machines on their way"),
            (self.on_new, "on new nodes"),
            (self.refused, "without a place"),
        ];
        for (at, (count, what)) in counts.into_iter().filter(|(count, _)| *count > 0).enumerate() {
            write!(f, "{} {count} {what}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

/// Equal placeholders that find a place by an enlargement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EqualPlaceholders {
    /// What they stand for.
    pub of: Placeholder,
    /// How many.
    pub count: u32,
}
