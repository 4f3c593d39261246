//! Size a pool of servers as a whole, and drain servers before they go (`seeds/nomad-pools.md`; docs/nomad.md says what is
//! different).
//!
//! A pool has a desired number of servers, from the memory of its tasks (`memory`) or from how busy its cpus are (`cpu`).
//! With too few, servers on their way out come back before others are made (`grow`); with too many, the least loaded are
//! made ineligible (`shrink`), then drained, and removed once all of their tasks have ended (`leave`). So are those that have
//! been down for long (`lost`) and those that somebody wants replaced (`replace`).

mod cpu;
mod grow;
mod leave;
mod lost;
mod memory;
mod replace;
mod servers;
mod shrink;
mod unplaced;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::utilization::{Members, not_ready_since};
use super::{arrivals, level};
use crate::backoff::{Backoffs, Key};
use crate::guard::{self, Limits};
use crate::machines::{Listed, Machines, Observed, machines};
use crate::memory::GroupMemory;
use crate::plan::{Counts, GroupReport, Reason, Resource, SizedBy, Sizing, Usage, Why};
use crate::policy::{CpuPool, Group, MemoryPool, ServerLife};
use crate::pricing::Offering;
use crate::round::Round;
use crate::snapshot::Template;
use servers::Servers;
pub(crate) use servers::forget_marks;
use unplaced::Free;

/// By which rule a pool is sized.
#[derive(Clone, Copy)]
pub(crate) enum Rule<'p> {
    /// By the memory of its tasks.
    Memory(&'p MemoryPool),
    /// By how busy the cpus of its servers are.
    Cpu(&'p CpuPool),
}

/// One pass over one pool.
struct Pass<'p, 'a> {
    group: &'p Group,
    limits: Limits,
    servers: Servers<'a>,
    /// The machines that its cloud lists.
    listed: &'p Listed<'a>,
    /// Places that are free on servers that are there or on their way, once waiting tasks have taken theirs.
    free: Vec<Free<'a>>,
    /// The cloud's target.
    size: u32,
    planned: u32,
    drain_deadline: SignedDuration,
    life: ServerLife,
    /// Since when servers that are not ready have not been.
    not_ready_since: BTreeMap<Arc<str>, Timestamp>,
    memory: &'p mut GroupMemory,
    /// Why nothing may be removed from this pool for now, if so.
    fell: Option<Why>,
    /// Why no server may be asked for for now, if so.
    backoff: Option<Why>,
    /// The reason against removing anything has been given.
    said_no_removal: bool,
}

/// Decides about one pool.
pub(crate) fn pass<'a>(
    round: &mut Round<'a>,
    group: &Group,
    rule: Rule<'_>,
    members: &Members<'_, 'a>,
    memory: &mut GroupMemory,
    backoffs: &mut Backoffs,
) -> GroupReport {
    let cloud = round.snapshot.group(&group.name);
    let everywhere = Rc::clone(&round.identities);
    let observed =
        Observed { group, cloud, nodes: members.nodes, disputed: &members.disputed_nodes, everywhere: &everywhere };
    let machines = machines(&observed, memory, round.now, &mut round.wake);
    let since = not_ready_since(members.nodes, round.memory, memory, round.now);
    servers::forget_marks(memory, members.nodes, round.now, &mut round.wake);
    let servers = Servers::sort(group, members.nodes, &machines, &since, &memory.marked, round.now, &mut round.wake);
    if let Some(newest) = servers.in_service.iter().max_by_key(|view| (view.node.created, &view.node.name)) {
        memory.template = Some(Template { labels: newest.node.labels.clone(), ..Template::default() });
    }
    let size = cloud.map_or(servers.present(), |cloud| cloud.target);
    let mut report = GroupReport {
        name: Arc::clone(&group.name),
        strategy: group.strategy.name(),
        nodes: Counts {
            never_came: machines.never_came(),
            disputed: servers::number(&members.disputed_nodes),
            ..servers.counts()
        },
        size,
        planned: size,
        pods: members.nodes.iter().map(|view| u64::from(view.sums.blocking)).sum(),
        ..GroupReport::default()
    };
    let Some(limits) = guard::judge(round, group, cloud, &mut report) else { return report };
    let (drain_deadline, step_interval, life) = match rule {
        Rule::Memory(settings) => (settings.drain_deadline, SignedDuration::ZERO, settings.life),
        Rule::Cpu(settings) => (settings.drain_deadline, settings.step_interval, settings.life),
    };
    let free = unplaced::free(&servers);
    let fell = level::fell(round, members, memory);
    let mut pass = Pass {
        group,
        limits,
        servers,
        listed: members.listed,
        free,
        size,
        planned: size,
        drain_deadline,
        life,
        not_ready_since: since,
        memory,
        fell,
        backoff: None,
        said_no_removal: false,
    };
    let before = round.actions.len();
    pass.learn(round, &observed, &machines, backoffs);
    // The size is another one then: what else is to change waits for the next round.
    let gave_up = pass.give_up(round, &observed, &machines);
    let sized = match rule {
        Rule::Memory(settings) => pass.by_memory(round, settings, members),
        Rule::Cpu(settings) => Ok(pass.by_cpu(round, settings, members)),
    };
    match sized {
        Ok((by, wanted)) => {
            if let SizedBy::Memory(need) = &by {
                report.usage = vec![Usage::new(Resource::Memory, need.used, need.total)];
            }
            let desired = wanted.clamp(limits.min, limits.max);
            let sizing = Sizing { by, servers: pass.servers.count(), wanted, desired, limits };
            report.wanted = i64::from(desired) - i64::from(sizing.servers);
            report.sizing = Some(sizing.clone());
            if !gave_up {
                pass.resize(round, sizing, step_interval);
                pass.replace(round, desired);
            }
        }
        Err(why) => round.refuse_group(group, why),
    }
    pass.retire(round);
    pass.leave(round);
    report.planned = pass.planned;
    lost::remember(pass.memory, round.actions.get(before..).unwrap_or_default(), cloud, round.now);
    report
}

impl<'a> Pass<'_, 'a> {
    /// Learns from what came, and from what did not, whether the pool is left alone for now: a cloud that is sold out is not
    /// asked again in every round.
    fn learn(
        &mut self,
        round: &mut Round<'_>,
        observed: &Observed<'_, '_>,
        machines: &Machines,
        backoffs: &mut Backoffs,
    ) {
        // Whichever hardware of its list there is, the pool takes.
        let key = Key { group: Arc::clone(&self.group.name), offering: Offering::default() };
        let settings = &round.policy.pending.backoff;
        arrivals::learn(observed, machines, self.memory, backoffs, &key, settings, round.now);
        let active = backoffs.active(&key, round.now);
        self.backoff = active.map(|backoff| Why::BackingOff { until: backoff.until(), cause: backoff.cause });
        if let Some(backoff) = active {
            round.wake.at(backoff.until());
        }
    }

    /// Brings the pool to the size that is desired, at most one step in each interval.
    fn resize(&mut self, round: &mut Round<'a>, sizing: Sizing, step_interval: SignedDuration) {
        let (have, desired) = (sizing.servers, sizing.desired);
        let in_service = servers::number(&self.servers.in_service);
        // Servers on their way never make one in service go: they may not come.
        let (add, surplus) = (desired.saturating_sub(have), in_service.saturating_sub(desired));
        if add == 0 && surplus == 0 {
            return;
        }
        let reason = Reason::Sized { sizing: Box::new(sizing) };
        let last = self.memory.last_step;
        // What is remembered from before a restart holds back removal alone.
        let waits = match add {
            0 => round.memory.elapsed(last, step_interval, round.now).err(),
            _ if have < self.limits.min => None,
            _ => last.and_then(|last| last.saturating_add(step_interval).ok()).filter(|until| round.now < *until),
        };
        if let Some(until) = waits {
            round.wake.at(until);
            let wanted = if add > 0 { i64::from(add) } else { -i64::from(surplus) };
            round.refuse_group(self.group, Why::CoolingDown { wanted, until });
            return;
        }
        let before = round.actions.len();
        if add > 0 {
            self.grow(round, add, &reason);
        } else {
            self.shrink(round, surplus, &reason);
        }
        if step_interval.is_positive() && round.actions.len() > before {
            self.memory.last_step = Some(round.now);
        }
    }

    /// Whether anything may be removed; the reason against it is given once.
    fn may_remove(&mut self, round: &mut Round<'_>) -> bool {
        match self.fell.clone().map_or_else(|| round.may_remove(self.group), Err) {
            Ok(()) => true,
            Err(why) => {
                if !std::mem::replace(&mut self.said_no_removal, true) {
                    round.refuse_group(self.group, why);
                }
                false
            }
        }
    }
}
