//! What keeps every group from shrinking: too many nodes that are not ready, and a cluster that has become much smaller all
//! at once, which may be a fault of what shows it.

use jiff::{SignedDuration, Timestamp};

use crate::memory::Level;
use crate::plan::{Resource, Why};
use crate::policy::ScaleDownPolicy;
use crate::quantity::Totals;
use crate::snapshot::{Node, Readiness, Snapshot};

/// A node that is not ready counts as one that starts until it is so old (Cluster Autoscaler's `MaxNodeStartupTime`).
const STARTS_WITHIN: SignedDuration = SignedDuration::from_mins(15);

/// Too many nodes are not ready (Cluster Autoscaler's rule: more than a number, and more than a share). Nodes that may still
/// be starting count as nodes, and not as unready ones.
pub(crate) fn many_unready(snapshot: &Snapshot, policy: &ScaleDownPolicy, now: Timestamp) -> Option<Why> {
    let nodes = u32::try_from(snapshot.node_count()).unwrap_or(u32::MAX);
    let starts = |node: &Node| node.created.is_some_and(|created| now.duration_since(created) < STARTS_WITHIN);
    let is_unready = |node: &Node| node.readiness != Readiness::Ready && !starts(node);
    let not_ready = snapshot.nodes().filter(|view| is_unready(view.node)).count();
    let unready = u32::try_from(not_ready).unwrap_or(u32::MAX);
    let share = u64::from(unready) * 10_000 > u64::from(nodes) * u64::from(policy.max_unready.0);
    (unready > policy.ok_unready && share).then_some(Why::ManyUnready { unready, nodes })
}

/// What is to be remembered of the cluster's size, and why nothing may be removed, if so.
///
/// The size is compared with the remembered one, not with that of a number of rounds before: however many rounds there are,
/// a fall by more than half is doubted for the same time. Small changes are not remembered, so that memory does not change
/// with every pod.
pub(super) fn sudden_drop(
    snapshot: &Snapshot,
    before: Option<&Level>,
    doubt: SignedDuration,
    now: Timestamp,
) -> (Level, Option<Why>) {
    doubt_fall(measure(snapshot), before, doubt, now)
}

/// The same for any level: that to be remembered, and why nothing may be removed while it has fallen by more than half.
pub(crate) fn doubt_fall(
    level: Level,
    before: Option<&Level>,
    doubt: SignedDuration,
    now: Timestamp,
) -> (Level, Option<Why>) {
    let Some(before) = before else { return (level, None) };
    let level = Level { busy: level.busy.or(before.busy), ..level };
    let busy = |level: &Level| i128::from(level.busy.unwrap_or_default());
    let pairs = [
        (Resource::Nodes, i128::from(before.nodes), i128::from(level.nodes)),
        (Resource::Cpu, before.cpu, level.cpu),
        (Resource::Memory, before.memory, level.memory),
        (Resource::Busy, busy(before), busy(&level)),
    ];
    let fallen = pairs.iter().find(|(_, from, to)| to.saturating_mul(2) < *from);
    let Some((what, from, to)) = fallen else {
        let moved = |(_, from, to): &(Resource, i128, i128)| (from - to).abs().saturating_mul(10) > *from;
        let level = if pairs.iter().any(moved) { level } else { Level { fell_at: None, ..before.clone() } };
        return (level, None);
    };
    let fell_at = before.fell_at.unwrap_or(now);
    let until = fell_at.saturating_add(doubt).unwrap_or(Timestamp::MAX);
    if now >= until {
        return (level, None);
    }
    let why = Why::SuddenDrop { what: what.clone(), from: *from, to: *to, until };
    (Level { fell_at: Some(fell_at), ..before.clone() }, Some(why))
}

fn measure(snapshot: &Snapshot) -> Level {
    let mut requests = Totals::default();
    for class in snapshot.classes() {
        let count = i128::from(class.bound) + i128::from(class.pending()) + i128::from(class.aside);
        requests.cpu += i128::from(class.spec.requests.cpu) * count;
        requests.memory += i128::from(class.spec.requests.memory) * count;
    }
    let nodes = u32::try_from(snapshot.node_count()).unwrap_or(u32::MAX);
    Level { nodes, cpu: requests.cpu, memory: requests.memory, busy: None, fell_at: None }
}
