//! How many servers the memory of the tasks needs: `ceil(used / D) + error + margin`, D being what a server of the first
//! hardware offers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Pass;
use super::unplaced::NewServer;
use crate::memory::GroupMemory;
use crate::plan::{MemoryNeed, SizedBy, Why};
use crate::policy::{Hardware, MemoryPool};
use crate::quantity::{Resources, ceil_div};
use crate::round::Round;
use crate::snapshot::NodeView;
use crate::strategy::utilization::{Members, replaced_on};

/// A server that does not say what hardware it is counts as one of the list when it offers what that does, as nearly as
/// this share of it, in percent.
const SAME_WITHIN: i64 = 10;

impl<'a> Pass<'_, 'a> {
    /// How many servers are wanted and by which numbers, or why nobody knows.
    pub(super) fn by_memory(
        &mut self,
        round: &mut Round<'a>,
        settings: &MemoryPool,
        members: &Members<'_, 'a>,
    ) -> Result<(SizedBy, u32), Why> {
        measure(settings, members.nodes, self.memory);
        let first = settings.hardware.first().ok_or(Why::NoHardware)?;
        let (expected, measured) = offer(settings, first, &self.memory.measured);
        let per_server = expected.memory;
        if per_server <= 0 {
            return Err(Why::NoHardware);
        }
        let of_server = |view: &NodeView<'_>| match offered_by(settings, view, &self.memory.measured) {
            0 => per_server,
            offers => offers,
        };
        let mut offers: Vec<i64> = self.servers.counting().map(of_server).collect();
        offers.resize(offers.len() + self.servers.unregistered as usize, per_server);
        let used = members.nodes.iter().map(used_on).sum();
        let new = NewServer { memory: per_server, cpu: Some(expected.cpu).filter(|cpu| *cpu > 0) };
        let unplaced = self.place_waiting(round, members.classes, Some(new));
        let need = MemoryNeed {
            used,
            per_server,
            hardware: Arc::clone(&first.name),
            measured,
            total: offers.iter().copied().map(i128::from).sum(),
            error: error(per_server, &offers),
            usage: servers_for(used, per_server),
            margin: settings.margin,
            unplaced: unplaced.tasks,
            unplaced_servers: unplaced.servers,
        };
        let wanted = match unplaced.servers {
            0 => need.formula(),
            more => need.formula().max(self.servers.count().saturating_add(more)),
        };
        Ok((SizedBy::Memory(need), wanted))
    }
}

/// The memory that tasks on a server have, as far as it is wanted there or elsewhere.
fn used_on(view: &NodeView<'_>) -> i128 {
    view.sums.used.memory - view.sums.daemon_sets.memory - replaced_on(view).memory
}

/// How many servers make up for those that offer less than expected. What larger ones have beyond it makes up for
/// nothing: a server too many would go, and the next one be as large again.
fn error(per_server: i64, offers: &[i64]) -> u32 {
    let short = offers.iter().map(|offers| i128::from(per_server - offers).max(0)).sum();
    servers_for(short, per_server)
}

fn servers_for(memory: i128, per_server: i64) -> u32 {
    u32::try_from(ceil_div(memory.max(0), i128::from(per_server))).unwrap_or(u32::MAX)
}

/// Notes what servers of each kind of hardware offer: the least of those that are there, so that a difference of a few
/// bytes between them is no error.
fn measure(settings: &MemoryPool, nodes: &[NodeView<'_>], memory: &mut GroupMemory) {
    let mut measured: BTreeMap<Arc<str>, Resources> = BTreeMap::new();
    for view in nodes {
        let own = own(view);
        if let (Some(name), true) = (hardware(settings, view), own.memory > 0) {
            let least = measured.get(name).map_or_else(|| own.clone(), |least| least.min_each(&own));
            measured.insert(Arc::from(name), least);
        }
    }
    memory.measured.extend(measured);
}

/// What a server of this hardware offers, and whether that is measured.
fn offer(settings: &MemoryPool, hardware: &Hardware, measured: &BTreeMap<Arc<str>, Resources>) -> (Resources, bool) {
    match measured.get(&hardware.name) {
        Some(measured) => (measured.clone(), true),
        None => (Resources::new(hardware.cpu.unwrap_or(0), hardware.memory - settings.reserve), false),
    }
}

/// The memory that a server offers, on the scale on which D is read: zero when nobody knows.
fn offered_by(settings: &MemoryPool, view: &NodeView<'_>, measured: &BTreeMap<Arc<str>, Resources>) -> i64 {
    let known = hardware(settings, view);
    if let Some(measured) = known.and_then(|name| measured.get(name)) {
        return measured.memory;
    }
    let listed = settings.hardware.iter().find(|hardware| known == Some(&*hardware.name));
    listed.map_or_else(|| own(view).memory.max(0), |hardware| hardware.memory - settings.reserve)
}

/// The hardware of a server: what it says, or else the nearest of the list.
fn hardware<'s>(settings: &'s MemoryPool, view: &NodeView<'s>) -> Option<&'s str> {
    if let Some(name) = view.node.labels.get(MemoryPool::HARDWARE) {
        return Some(name);
    }
    let own = own(view).memory;
    let apart = |hardware: &Hardware| (hardware.memory - settings.reserve).abs_diff(own);
    let same = |hardware: &&Hardware| {
        let expected = hardware.memory - settings.reserve;
        own > 0 && apart(hardware) <= expected.saturating_mul(SAME_WITHIN).unsigned_abs() / 100
    };
    let nearest = settings.hardware.iter().filter(same).min_by_key(|hardware| apart(hardware));
    nearest.map(|hardware| &*hardware.name)
}

/// What a server has for tasks: system jobs have theirs first.
fn own(view: &NodeView<'_>) -> Resources {
    view.sums.daemon_sets.left_of(&view.node.allocatable)
}
