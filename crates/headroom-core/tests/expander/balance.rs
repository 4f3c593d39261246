//! Balancing: how new nodes are shared out, and among whom.

use std::collections::BTreeMap;

use headroom_core::balance::{Member, Part, Shape, Similarity, partners, share_out};
use headroom_core::quantity::Resources;
use headroom_core::snapshot::Labels;
use serde::Deserialize;

use crate::{Case, read};

pub(crate) const SHARES: &str = include_str!("balance.json");
pub(crate) const ALIKE: &str = include_str!("similarity.json");
pub(crate) const PARTNERS: &str = include_str!("partners.json");

#[derive(Deserialize)]
pub(crate) struct Shares {
    /// Name, size and maximum of each.
    groups: Vec<(String, u32, u32)>,
    nodes: u32,
    /// The new sizes of groups that grow.
    expected: BTreeMap<String, u32>,
}

#[test]
fn nodes_are_shared_out_evenly() {
    for Case { case, input, .. } in read::<Case<Shares>>(SHARES) {
        let part = |(group, size, max): &(String, u32, u32)| Part { group: (**group).into(), size: *size, max: *max };
        let parts: Vec<Part> = input.groups.iter().map(part).collect();
        let shares = share_out(&parts, input.nodes);
        let found: BTreeMap<String, u32> = shares.iter().map(|share| (share.group.to_string(), share.to)).collect();
        assert_eq!(found, input.expected, "{case}");
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Alike {
    nodes: [Machine; 2],
    #[serde(default)]
    ignore_labels: Vec<Box<str>>,
    expected: bool,
}

/// Cpu and memory of a node.
#[derive(Deserialize)]
struct Machine {
    capacity: (i64, i64),
    allocatable: (i64, i64),
    #[serde(default)]
    used: (i64, i64),
    #[serde(default)]
    gpu: i64,
    #[serde(default)]
    labels: Labels,
}

#[test]
fn nodes_are_alike_or_not() {
    for Case { case, input, .. } in read::<Case<Alike>>(ALIKE) {
        let similarity = Similarity { ignore_labels: input.ignore_labels, ..Similarity::default() };
        let resources = input.nodes.each_ref().map(|machine| {
            let sizes = [machine.capacity, machine.allocatable].map(|(cpu, memory)| {
                let mut resources = Resources::new(cpu, memory);
                resources.set_extended("nvidia.com/gpu", machine.gpu);
                resources
            });
            let free = sizes[1].saturating_sub(&Resources::new(machine.used.0, machine.used.1));
            (sizes, free)
        });
        let shape = |at: usize| {
            let ([capacity, allocatable], free) = &resources[at];
            Shape { capacity, allocatable, free, labels: &input.nodes[at].labels }
        };
        assert_eq!(similarity.compare(&shape(0), &shape(1)).is_ok(), input.expected, "{case}");
        assert_eq!(similarity.compare(&shape(1), &shape(0)).is_ok(), input.expected, "{case}, the other way round");
    }
}

#[derive(Deserialize)]
pub(crate) struct Partners {
    balance: bool,
    chosen: Hosts,
    others: Vec<Hosts>,
    expected: Vec<String>,
}

#[derive(Deserialize)]
struct Hosts {
    group: String,
    hosts: Vec<u32>,
}

#[test]
fn groups_share_when_they_host_the_same_pods() {
    let (resources, labels) = (Resources::new(4_000, 16 << 30), Labels::default());
    let shape = Shape { capacity: &resources, allocatable: &resources, free: &resources, labels: &labels };
    for Case { case, input, .. } in read::<Case<Partners>>(PARTNERS) {
        let member = |of| {
            let Hosts { group, hosts }: &Hosts = of;
            Member { group: (**group).into(), shape, hosts }
        };
        let others: Vec<Member<'_>> = input.others.iter().map(member).collect();
        let similarity = Similarity::default();
        let found = partners(&member(&input.chosen), &others, input.balance.then_some(&similarity));
        let sharing: Vec<&str> =
            found.iter().filter(|(_, apart)| apart.is_ok()).map(|(other, _)| &*other.group).collect();
        assert_eq!(sharing, input.expected, "{case}");
    }
}
