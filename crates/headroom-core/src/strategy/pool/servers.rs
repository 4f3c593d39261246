//! What the servers of a pool are good for.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::keys::{DRAINING, META, REPLACE};
use crate::machines::Machines;
use crate::memory::GroupMemory;
use crate::plan::Counts;
use crate::policy::Group;
use crate::snapshot::{Node, NodeView, Readiness};
use crate::strategy::utilization::is_out_of_service;
use crate::wake::Wake;

/// A mark that does not show after this time was refused, or somebody took it back.
const MARK_SHOWS: SignedDuration = SignedDuration::from_mins(1);

/// The servers of a pool, each in one list, by name.
#[derive(Debug, Default)]
pub(super) struct Servers<'a> {
    /// Ready and eligible.
    pub(super) in_service: Vec<NodeView<'a>>,
    /// In service, and somebody wants them replaced: they do not count.
    pub(super) to_replace: Vec<NodeView<'a>>,
    /// Registered, and never ready yet.
    pub(super) booting: Vec<NodeView<'a>>,
    /// Not ready, for less time than another server would take to come.
    pub(super) silent: Vec<NodeView<'a>>,
    /// Not ready for longer.
    pub(super) lost: Vec<NodeView<'a>>,
    /// Made ineligible by Headroom, and when.
    pub(super) leaving: Vec<(NodeView<'a>, Timestamp)>,
    /// Made ineligible, or drained, by somebody else.
    pub(super) withdrawn: Vec<NodeView<'a>>,
    /// Machines that were asked for and are no node yet.
    pub(super) unregistered: u32,
}

impl<'a> Servers<'a> {
    /// Sorts the nodes of a pool. Those that are being deleted are left out.
    pub(super) fn sort(
        group: &Group,
        nodes: &[NodeView<'a>],
        machines: &Machines,
        not_ready_since: &BTreeMap<Arc<str>, Timestamp>,
        marked: &BTreeMap<Arc<str>, Timestamp>,
        now: Timestamp,
        wake: &mut Wake,
    ) -> Self {
        let mut servers = Servers { unregistered: machines.unregistered, ..Servers::default() };
        for view in nodes.iter().filter(|view| !view.node.deleting) {
            let (node, name) = (view.node, &view.node.name);
            let list = if is_out_of_service(node) {
                match marked.get(name) {
                    Some(at) => {
                        servers.leaving.push((*view, *at));
                        continue;
                    }
                    None => &mut servers.withdrawn,
                }
            } else if machines.booting.contains(name) {
                &mut servers.booting
            } else if node.readiness == Readiness::Ready && is_to_be_replaced(node) {
                &mut servers.to_replace
            } else if node.readiness == Readiness::Ready {
                &mut servers.in_service
            } else {
                let deadline = group.deadline(not_ready_since.get(name).copied().unwrap_or(now));
                wake.at(deadline);
                if now < deadline { &mut servers.silent } else { &mut servers.lost }
            };
            list.push(*view);
        }
        servers
    }

    /// Those that count for the size of the pool, as far as they are nodes.
    pub(super) fn counting(&self) -> impl Iterator<Item = &NodeView<'a>> {
        self.in_service.iter().chain(&self.booting).chain(&self.silent)
    }

    /// How many servers the pool has or will have: the formula's n.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.counting().count()).unwrap_or(u32::MAX).saturating_add(self.unregistered)
    }

    /// How many are nodes, whatever they are good for.
    pub(super) fn present(&self) -> u32 {
        let lists = [&self.in_service, &self.to_replace, &self.booting, &self.silent, &self.lost, &self.withdrawn];
        lists.into_iter().fold(number(&self.leaving), |sum, list| sum.saturating_add(number(list)))
    }

    /// How many are in each list.
    pub(super) fn counts(&self) -> Counts {
        Counts {
            in_service: number(&self.in_service),
            not_ready: number(&self.silent).saturating_add(number(&self.lost)),
            upcoming: number(&self.booting).saturating_add(self.unregistered),
            tainted: number(&self.leaving).saturating_add(number(&self.to_replace)),
            cordoned: number(&self.withdrawn),
            ..Counts::default()
        }
    }
}

/// Whether somebody wants another server in the place of this one.
pub(super) fn is_to_be_replaced(node: &Node) -> bool {
    node.labels.iter().any(|(key, value)| key.strip_prefix(META) == Some(REPLACE) && value == "true")
}

/// Whether its tasks are being moved off a server.
pub(super) fn is_draining(node: &Node) -> bool {
    node.taint(DRAINING).is_some()
}

/// Forgets marks of servers that are gone, or that are eligible after all, and the machines of nodes that are gone.
pub(crate) fn forget_marks(memory: &mut GroupMemory, nodes: &[NodeView<'_>], now: Timestamp, wake: &mut Wake) {
    memory.marked.retain(|name, at| {
        let Some(view) = nodes.iter().find(|view| view.node.name == *name) else { return false };
        let shows_until = at.saturating_add(MARK_SHOWS).unwrap_or(Timestamp::MAX);
        wake.at(shows_until);
        is_out_of_service(view.node) || now < shows_until
    });
    memory.removed.retain(|name, _| nodes.iter().any(|view| view.node.name == *name));
}

/// How many there are.
pub(super) fn number<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}
