//! How many nodes may be added before a limit is reached.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::quantity::{Bytes, MilliCpu, Resources, Totals};

/// Limits of the whole cluster. None is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Limits {
    /// Nodes in all (Cluster Autoscaler's `max-nodes-total`).
    pub nodes: Option<u32>,
    /// Nodes added in one round (`max-nodes-per-scaleup`, 1000).
    pub nodes_per_scale_up: Option<u32>,
    /// Cpu of all nodes, by capacity (`cores-total`).
    pub cpu: Option<MilliCpu>,
    /// Memory of all nodes, by capacity (`memory-total`).
    pub memory: Option<Bytes>,
    /// Extended resources of all nodes by name, such as GPUs (`gpu-total`).
    pub extended: BTreeMap<Arc<str>, i64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { nodes: None, nodes_per_scale_up: Some(1_000), cpu: None, memory: None, extended: BTreeMap::new() }
    }
}

/// What counts against the limits of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// Nodes that exist, are on their way, or were decided on earlier in this round.
    pub nodes: u32,
    /// Those of them that were decided on in this round.
    pub added: u32,
    /// Their capacity, of all of `nodes`.
    pub capacity: Totals,
}

/// How many nodes may be added, and what keeps it from being more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Room {
    /// So many.
    pub nodes: u32,
    /// The limit.
    pub bound: Bound,
}

/// A limit, with what is there already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Bound {
    /// The group's maximum.
    GroupMax {
        /// The maximum.
        max: u32,
        /// The group's size.
        size: u32,
    },
    /// Nodes in the whole cluster.
    Nodes {
        /// The limit.
        limit: u32,
        /// Nodes there.
        present: u32,
    },
    /// Nodes in one round.
    NodesPerScaleUp {
        /// The limit.
        limit: u32,
        /// Nodes added before.
        added: u32,
    },
    /// A resource of all nodes.
    Resource {
        /// Its name.
        resource: Arc<str>,
        /// The limit.
        limit: i64,
        /// What the nodes there have.
        present: i128,
        /// What one new node has.
        each: i64,
    },
}

impl Limits {
    /// How many nodes with this capacity a group of `size`, which may have `max`, can get. Of several limits that allow the
    /// same number, the first in the order of [`Bound`] is named.
    ///
    /// For a share-out among similar groups, `capacity` is the larger of theirs in each resource and `max` the sum.
    pub fn room(&self, size: u32, max: u32, capacity: &Resources, present: &Present) -> Room {
        let group = Room { nodes: max.saturating_sub(size), bound: Bound::GroupMax { max, size } };
        let nodes = self.nodes.map(|limit| Room {
            nodes: limit.saturating_sub(present.nodes),
            bound: Bound::Nodes { limit, present: present.nodes },
        });
        let per_scale_up = self.nodes_per_scale_up.map(|limit| Room {
            nodes: limit.saturating_sub(present.added),
            bound: Bound::NodesPerScaleUp { limit, added: present.added },
        });
        let own = [
            self.cpu.map(|limit| resource("cpu".into(), limit.0, present.capacity.cpu, capacity.cpu)),
            self.memory.map(|limit| resource("memory".into(), limit.0, present.capacity.memory, capacity.memory)),
        ];
        let extended = self.extended.iter().map(|(name, limit)| {
            resource(Arc::clone(name), *limit, present.capacity.extended(name), capacity.extended(name))
        });
        let others = [nodes, per_scale_up].into_iter().chain(own).flatten().chain(extended);
        others.fold(group, |tightest, room| if room.nodes < tightest.nodes { room } else { tightest })
    }
}

/// The room that a limit on a resource leaves: endless for nodes that have none of it.
fn resource(resource: Arc<str>, limit: i64, present: i128, each: i64) -> Room {
    let left = i128::from(limit).saturating_sub(present).max(0);
    let nodes = if each > 0 { u32::try_from(left / i128::from(each)).unwrap_or(u32::MAX) } else { u32::MAX };
    Room { nodes, bound: Bound::Resource { resource, limit, present, each } }
}

impl fmt::Display for Room {
    /// `room for 3 more: the cluster may have 100 and has 97`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "room for {} more: {}", self.nodes, self.bound)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::GroupMax { max, size } => write!(f, "the group may have {max} and has {size}"),
            Bound::Nodes { limit, present } => write!(f, "the cluster may have {limit} and has {present}"),
            Bound::NodesPerScaleUp { limit, added } => write!(f, "one round may add {limit} and has added {added}"),
            Bound::Resource { resource, limit, present, each } => {
                let amount = |value: i128| {
                    let small = i64::try_from(value).unwrap_or(i64::MAX);
                    match &**resource {
                        "cpu" => MilliCpu(small).to_string(),
                        "memory" => Bytes(small).to_string(),
                        _ => value.to_string(),
                    }
                };
                let (limit, present, each) = (amount((*limit).into()), amount(*present), amount((*each).into()));
                write!(f, "all nodes may have {limit} {resource} and have {present}, a new one has {each}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn present() -> Present {
        let mut capacity = Totals::default();
        let mut gpu = Resources::new(8_000, 32 << 30);
        gpu.set_extended("nvidia.com/gpu", 1);
        capacity.add_times(&gpu, 10);
        Present { nodes: 10, added: 4, capacity }
    }

    #[test]
    fn the_tightest_limit_is_named() {
        let mut new = Resources::new(8_000, 32 << 30);
        new.set_extended("nvidia.com/gpu", 2);
        let none = Limits { nodes_per_scale_up: None, ..Limits::default() };
        let table = [
            (none.clone(), "room for 5 more: the group may have 7 and has 2"),
            (Limits { nodes: Some(13), ..none.clone() }, "room for 3 more: the cluster may have 13 and has 10"),
            // A tie goes to the limit that is nearest to the group.
            (Limits { nodes: Some(15), ..none.clone() }, "room for 5 more: the group may have 7 and has 2"),
            (
                Limits { nodes_per_scale_up: Some(6), ..none.clone() },
                "room for 2 more: one round may add 6 and has added 4",
            ),
            (
                Limits { cpu: Some(MilliCpu(99_999)), ..none.clone() },
                "room for 2 more: all nodes may have 99999m cpu and have 80, a new one has 8",
            ),
            (
                Limits { memory: Some(Bytes(300 << 30)), ..none.clone() },
                "room for 0 more: all nodes may have 300Gi memory and have 320Gi, a new one has 32Gi",
            ),
            (
                Limits { extended: [("nvidia.com/gpu".into(), 13)].into(), ..none.clone() },
                "room for 1 more: all nodes may have 13 nvidia.com/gpu and have 10, a new one has 2",
            ),
            (
                Limits { extended: [("amd.com/gpu".into(), 0)].into(), ..none },
                "room for 5 more: the group may have 7 and has 2",
            ),
        ];
        for (limits, expected) in table {
            assert_eq!(limits.room(2, 7, &new, &present()).to_string(), expected);
        }
        assert_eq!(Limits::default().room(0, u32::MAX, &new, &present()).nodes, 996);
    }

    proptest! {
        /// Adding what there is room for keeps every limit, and one node more would not.
        #[test]
        fn room_is_exact(limit in 0_i64..1_000, each in 1_i64..100, present in 0_i64..1_000, max in 0_u32..100) {
            let limits = Limits { cpu: Some(MilliCpu(limit)), ..Limits::default() };
            let mut there = Present::default();
            there.capacity.add_times(&Resources::new(present, 0), 1);
            let nodes = limits.room(0, max, &Resources::new(each, 0), &there).nodes;
            prop_assert!(nodes == 0 || present + i64::from(nodes) * each <= limit);
            prop_assert!(nodes == max || present + i64::from(nodes + 1) * each > limit);
        }
    }
}
