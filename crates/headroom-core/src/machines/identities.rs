//! Which machine is which node.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

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

/// The machines that the cloud of a group lists, by what nodes know them by. The maps are made when they are first asked for.
#[derive(Debug, Default)]
pub struct Listed<'c> {
    machines: Option<&'c [Instance]>,
    by: OnceCell<ByName<'c>>,
}

#[derive(Debug, Default)]
struct ByName<'c> {
    provider_ids: FxHashMap<&'c str, Found<'c>>,
    addresses: FxHashMap<&'c str, Found<'c>>,
}

#[derive(Clone, Copy, Debug)]
enum Found<'c> {
    One(&'c Instance),
    Several,
}

impl<'c> Listed<'c> {
    /// Of this group.
    pub fn of(cloud: Option<&'c CloudGroup>) -> Self {
        Listed { machines: cloud.and_then(|cloud| cloud.instances.as_deref()), by: OnceCell::new() }
    }

    /// The one machine that a node is.
    pub fn machine(&self, node: &Node) -> Option<&'c Instance> {
        match self.find(node)? {
            Found::One(machine) => Some(machine),
            Found::Several => None,
        }
    }

    /// Whether a node is one of the machines, whichever.
    pub(super) fn has(&self, node: &Node) -> bool {
        self.find(node).is_some()
    }

    /// How the cloud knows a node's machine: as the node itself says, or by the one machine that has one of its names. Nodes
    /// of Nomad do not say it themselves.
    pub fn provider_id(&self, node: &Node) -> Option<Box<str>> {
        node.provider_id.clone().or_else(|| self.machine(node).map(|machine| machine.provider_id.clone()))
    }

    /// Whether it is not known which of the machines a node is, although they are listed: it could not be told to go.
    pub fn is_stranger(&self, node: &Node) -> bool {
        node.provider_id.is_none() && self.machines.is_some() && self.machine(node).is_none()
    }

    fn find(&self, node: &Node) -> Option<Found<'c>> {
        let by = self.by.get_or_init(|| ByName::of(self.machines.unwrap_or_default()));
        let id = node.provider_id.as_deref().and_then(|id| by.provider_ids.get(id));
        let named = names(node).filter_map(|name| by.addresses.get(name));
        id.into_iter().chain(named).copied().reduce(Found::and)
    }
}

impl<'c> ByName<'c> {
    fn of(machines: &'c [Instance]) -> Self {
        let mut by = ByName::default();
        for machine in machines {
            let found = Found::One(machine);
            let put = |known: &mut Found<'c>| *known = known.and(found);
            by.provider_ids.entry(&machine.provider_id).and_modify(put).or_insert(found);
            for address in &machine.addresses {
                by.addresses.entry(address).and_modify(put).or_insert(found);
            }
        }
        by
    }
}

impl Found<'_> {
    /// What is found by two names together.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Found::One(one), Found::One(same)) if std::ptr::eq(one, same) => self,
            _ => Found::Several,
        }
    }
}

fn names(node: &Node) -> impl Iterator<Item = &str> {
    let addresses = node.addresses.iter().map(|address| &**address);
    std::iter::once(&*node.name).chain(node.labels.get(HOSTNAME)).chain(addresses)
}
