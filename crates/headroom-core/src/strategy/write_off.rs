//! Machines that were asked for and never came are written off, each alone.
//!
//! A machine that runs without its node being recognised must never be taken for one that did not come. So nothing is
//! written off unless all nodes are known, none of them is the machine, no node of the group is without a machine (that
//! would be the same machines under other names), and it is known that this cloud's machines become nodes under the ids
//! that it lists: another machine of the group did, or Headroom asked for this one and nobody else can have meant it.
//! Otherwise one goes only if it has leaked: Headroom removed it long ago, and it is still there.

use jiff::{SignedDuration, Timestamp};

use crate::guard::Limits;
use crate::machines::{Lost, Machines, Observed};
use crate::memory::{GroupMemory, Request};
use crate::plan::{Action, Reason, Why};
use crate::policy::Group;
use crate::round::Round;
use crate::snapshot::CloudGroup;

/// A machine that is younger has not leaked, whatever is remembered of it.
const LEAK_GRACE: SignedDuration = SignedDuration::from_hours(12);

/// Gives up what never came, and says by how much the target is lowered for it. None when there is nothing, or when it is not
/// certain; then a refusal says why.
pub(super) fn write_off(
    round: &mut Round<'_>,
    observed: &Observed<'_, '_>,
    all_or_nothing: bool,
    limits: Limits,
    machines: &Machines,
    memory: &GroupMemory,
) -> Option<u32> {
    let Observed { group, cloud, nodes, .. } = observed;
    let count = machines.never_came();
    let cloud = cloud.filter(|_| count > 0)?;
    if cloud.instances.is_none() {
        let (target, boot_timeout) = (cloud.target, group.boot_timeout);
        round.refuse_group(group, Why::NeverCame { count, target, boot_timeout });
        return None;
    }
    if let Err(why) = round.may_remove(group) {
        round.refuse_group(group, why);
        return None;
    }
    let reasons = machines.lost.iter().filter_map(|lost| {
        let certain = is_certain(lost, machines, memory.request).then(|| reason(group, cloud, 1, lost.failed));
        Some((lost, certain.or_else(|| leaked(lost, memory, round.now))?))
    });
    let lost: Vec<(&Lost, Reason)> = reasons.collect();
    let missing = if is_known(machines, machines.missing_since, memory.request) { machines.missing } else { 0 };
    let unclear = count.saturating_sub(missing).saturating_sub(lost.len() as u32);
    if unclear > 0 {
        let (matched, strangers) = (machines.matched, machines.strangers);
        let why = Why::MachinesUnclear { group: group.name.clone(), machines: unclear, matched, strangers };
        round.refuse_group(group, why);
    }
    if lost.is_empty() && missing == 0 {
        return None;
    }
    // What only works as a whole goes as a whole; otherwise the cloud makes again what did not come.
    let whole = lost.len() as u32 + missing == cloud.target && nodes.is_empty() && limits.min == 0;
    let keeps_size = all_or_nothing && !whole;
    let mut room = if keeps_size { 0 } else { cloud.target.saturating_sub(limits.min) };
    let mut lowered = 0;
    let owed = missing.min(room);
    if owed > 0 {
        let to = cloud.target - owed;
        let since = machines.missing_since;
        let in_time = since.is_some_and(|since| round.now.duration_since(since) < group.boot_timeout);
        round.act(group, Action::Resize { from: cloud.target, to }, reason(group, cloud, owed, in_time));
        (lowered, room) = (owed, room - owed);
    }
    for (lost, reason) in lost {
        let replace = room == 0;
        let action = Action::WriteOff { provider_id: lost.provider_id.clone(), replace };
        round.act(group, action, reason);
        if !replace {
            (lowered, room) = (lowered + 1, room - 1);
        }
    }
    Some(lowered)
}

/// Why this machine has leaked, if it has.
fn leaked(lost: &Lost, memory: &GroupMemory, now: Timestamp) -> Option<Reason> {
    let destroyed = memory.destroyed.get(&lost.provider_id)?;
    let age = now.duration_since(lost.since);
    (age >= LEAK_GRACE).then(|| Reason::Leaked { destroyed_for: now.duration_since(*destroyed), age })
}

/// Whether this machine never came, beyond doubt.
fn is_certain(lost: &Lost, machines: &Machines, request: Option<Request>) -> bool {
    lost.failed || is_known(machines, Some(lost.since), request)
}

/// Whether it is known under which ids the group's machines become nodes, or that Headroom asked for what is waited for
/// since then.
fn is_known(machines: &Machines, since: Option<Timestamp>, request: Option<Request>) -> bool {
    let ours = request.zip(since).is_some_and(|(request, since)| since >= request.first);
    machines.strangers == 0 && (machines.matched > 0 || ours)
}

fn reason(group: &Group, cloud: &CloudGroup, machines: u32, failed: bool) -> Reason {
    if !failed {
        return Reason::NeverCame { machines, boot_timeout: group.boot_timeout };
    }
    let failure = cloud.failure.as_ref();
    let message = failure.map(|failure| failure.message.clone()).unwrap_or_default();
    Reason::LaunchFailed { machines, error: failure.map(|failure| failure.error), message }
}
