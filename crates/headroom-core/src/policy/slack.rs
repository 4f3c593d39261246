//! How much spare room is kept for pods to come.

use serde::{Deserialize, Serialize};

use super::Percent;
use crate::quantity::Resources;

/// Which placeholders keep room in the whole cluster (`seeds/resource-slack.md`). By default there are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SlackPolicy {
    /// Room for this share of `basis`; None: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Percent>,
    /// What `rate` is a share of.
    pub basis: Basis,
    /// A placeholder of `rate` is at most the average node divided by this.
    pub granularity: u32,
    /// Room for one more of the largest pods.
    pub largest: Largest,
    /// Room for the copies that workloads ask for by annotation.
    pub marked: bool,
    /// Room for CapacityBuffer objects.
    pub buffers: bool,
}

impl Default for SlackPolicy {
    fn default() -> Self {
        SlackPolicy {
            rate: None,
            basis: Basis::default(),
            granularity: 5,
            largest: Largest::default(),
            marked: false,
            buffers: false,
        }
    }
}

impl SlackPolicy {
    /// Whether no placeholder can come of it.
    pub fn is_off(&self) -> bool {
        self.rate.is_none() && self.largest == Largest::Off && !self.marked && !self.buffers
    }
}

/// What the rate is a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Basis {
    /// What pods request.
    #[default]
    Requested,
    /// What nodes offer. Spare room is part of it, so that the cluster settles at the requests / (1 - rate).
    Capacity,
}

/// Room for one more of the largest pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Largest {
    /// None.
    #[default]
    Off,
    /// Of the one that requests most cpu, and of the one that requests most memory.
    Pods,
    /// Of a pod that nobody has: with the most cpu of the one and the most memory of the other.
    Combined,
}

/// The room that one group keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spare {
    /// So many empty nodes.
    pub nodes: u32,
    /// So many pods.
    pub pods: u32,
    /// What one of these pods requests; None: the largest cpu and memory that a pod of the group's nodes requests, but at
    /// most a fifth of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<Resources>,
}
