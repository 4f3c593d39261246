//! Which machine is which node.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::scheduling::HOSTNAME;
use crate::snapshot::{CloudGroup, Instance, Node};

/// What some nodes are known by. The sets are made when they are first asked for: in a healthy cluster every machine is
/// found among the nodes of its own group, by its provider id.
pub struct Identities<'a> {
    nodes: Vec<&'a Node>,
    provider_ids: OnceCell<FxHashSet<&'a str>>,
    /// Names, host names and addresses.
    names: OnceCell<FxHashSet<&'a str>>,
}

impl<'a> Identities<'a> {
    /// Of these nodes.
    pub fn of(nodes: impl Iterator<Item = &'a Node>) -> Self {
        Identities { nodes: nodes.collect(), provider_ids: OnceCell::new(), names: OnceCell::new() }
    }

    /// Whether one of the nodes is this machine: it has its provider id or, where the cloud gives them, its host name or
    /// address.
    pub(super) fn has(&self, machine: &Instance) -> bool {
        let ids = || self.all(self.nodes.iter().filter_map(|node| node.provider_id.as_deref()));
        let names = || self.all(self.nodes.iter().flat_map(|node| names(node)));
        self.provider_ids.get_or_init(ids).contains(&*machine.provider_id)
            || machine.addresses.iter().any(|address| self.names.get_or_init(names).contains(&**address))
    }

    fn all(&self, names: impl Iterator<Item = &'a str>) -> FxHashSet<&'a str> {
        let mut all = FxHashSet::with_capacity_and_hasher(self.nodes.len(), Default::default());
        all.extend(names);
        all
    }
}

/// Whether `node` is this machine.
pub fn is_node(machine: &Instance, node: &Node) -> bool {
    node.provider_id.as_ref() == Some(&machine.provider_id)
        || names(node).any(|name| machine.addresses.iter().any(|address| **address == *name))
}

/// How the cloud of its group knows a node's machine: as the node itself says, or by the one machine in the cloud's list
/// that has one of its names. Nodes of Nomad do not say it themselves.
pub fn provider_id(node: &Node, cloud: Option<&CloudGroup>) -> Option<Box<str>> {
    node.provider_id.clone().or_else(|| machine_of(node, cloud).map(|machine| machine.provider_id.clone()))
}

/// The one machine in the list of its group's cloud that a node is.
pub fn machine_of<'c>(node: &Node, cloud: Option<&'c CloudGroup>) -> Option<&'c Instance> {
    let listed = cloud.and_then(|cloud| cloud.instances.as_ref());
    let mut same = listed.into_iter().flatten().filter(|machine| is_node(machine, node));
    match (same.next(), same.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// How many of `nodes` are none of `machines`.
pub(super) fn strangers<'a>(nodes: impl Iterator<Item = &'a Node>, machines: &[Instance]) -> u32 {
    let ids: BTreeSet<&str> = machines.iter().map(|machine| &*machine.provider_id).collect();
    let addresses: BTreeSet<&str> =
        machines.iter().flat_map(|machine| &machine.addresses).map(|address| &**address).collect();
    let known = |node: &&Node| {
        node.provider_id.as_deref().is_some_and(|id| ids.contains(id))
            || names(node).any(|name| addresses.contains(name))
    };
    u32::try_from(nodes.filter(|node| !known(node)).count()).unwrap_or(u32::MAX)
}

fn names(node: &Node) -> impl Iterator<Item = &str> {
    let addresses = node.addresses.iter().map(|address| &**address);
    std::iter::once(&*node.name).chain(node.labels.get(HOSTNAME)).chain(addresses)
}
