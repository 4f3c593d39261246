//! Nodes that are not ready, and groups with too many of them (`spec/escalator.md` 2.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::nodes::newest_first;
use crate::memory::{GroupMemory, Memory};
use crate::plan::Why;
use crate::policy::{Percent, Unhealthy};
use crate::snapshot::{Node, NodeView, Readiness};
use crate::wake::Wake;

/// The outcome of a group's health check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupHealth {
    /// Unhealthy ones among those tested.
    pub unhealthy: u32,
    /// The newest share of the nodes that are old enough.
    pub tested: u32,
    /// Whether the share of unhealthy ones is allowed.
    pub healthy: bool,
}

impl GroupHealth {
    /// Why a group whose share is above `max` is left alone.
    pub fn refusal(&self, max: Percent) -> Why {
        Why::GroupUnhealthy { unhealthy: self.unhealthy, tested: self.tested, max }
    }
}

/// Since when a node is unhealthy: it is at least `grace` old, not cordoned, and has not been ready for at least
/// `grace`. None when it is not.
///
/// Escalator's grace period is only a minimum age, so that an old node which is not ready for one moment is marked at
/// once. Here the node must have been unready all the time. Exactly at the end of the period counts as over, which is
/// what Escalator's strict comparison amounts to on its clock with fractions of a second.
pub fn unhealthy_since(
    node: &Node,
    since: Option<Timestamp>,
    settings: &Unhealthy,
    now: Timestamp,
) -> Option<Timestamp> {
    let Readiness::NotReady { .. } = node.readiness else { return None };
    let past = |instant: Timestamp| now.duration_since(instant) >= settings.grace;
    let since = since?;
    (!node.unschedulable && past(since) && node.created.is_none_or(past)).then_some(since)
}

/// Since when each node that is not ready has been so, from the node itself or from memory, by name.
pub(crate) fn not_ready_since(
    nodes: &[NodeView<'_>],
    before: &Memory,
    memory: &mut GroupMemory,
    now: Timestamp,
) -> BTreeMap<Arc<str>, Timestamp> {
    let mut since_by_name = BTreeMap::new();
    let mut undated = BTreeMap::new();
    for view in nodes {
        let Readiness::NotReady { since } = view.node.readiness else { continue };
        let name = Arc::clone(&view.node.name);
        let known = since.or_else(|| memory.not_ready_since.get(&name).copied());
        let settled = before.since.is_none().then_some(Timestamp::MIN);
        let first_seen = known.or(settled).unwrap_or(now);
        if since.is_none() && first_seen > Timestamp::MIN {
            undated.insert(Arc::clone(&name), first_seen);
        }
        since_by_name.insert(name, first_seen);
    }
    memory.not_ready_since = undated;
    since_by_name
}

/// Tests the newest nodes that are at least the grace period old. A group with none of them is healthy.
///
/// The share is compared in whole percents, rounded down, as Escalator does.
pub fn group_health(
    nodes: &[NodeView<'_>],
    since: &BTreeMap<Arc<str>, Timestamp>,
    settings: &Unhealthy,
    now: Timestamp,
    wake: &mut Wake,
) -> GroupHealth {
    let mut old_enough: Vec<NodeView<'_>> = Vec::new();
    for view in nodes {
        match view.node.created.and_then(|created| created.saturating_add(settings.grace).ok()) {
            Some(until) if now < until => wake.at(until),
            _ => old_enough.push(*view),
        }
    }
    newest_first(&mut old_enough);
    let share = (old_enough.len() as u64).saturating_mul(u64::from(settings.newest.0)).div_ceil(10_000);
    let tested = old_enough.iter().take(usize::try_from(share).unwrap_or(usize::MAX));
    let (mut count, mut unhealthy) = (0_u32, 0_u32);
    for view in tested {
        count += 1;
        let since = since.get(&view.node.name).copied();
        unhealthy += u32::from(unhealthy_since(view.node, since, settings, now).is_some());
    }
    let percent = u64::from(unhealthy) * 100 / u64::from(count.max(1));
    GroupHealth { unhealthy, tested: count, healthy: percent <= u64::from(settings.max.0 / 100) }
}
