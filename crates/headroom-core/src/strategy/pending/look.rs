//! What is known of a group before pods are placed.

use std::sync::Arc;

use super::daemon_sets::DaemonSets;
use super::open::Open;
use super::suffices;
use super::template::new_machine;
use crate::backoff::{Backoffs, Key};
use crate::guard;
use crate::limits::Bound;
use crate::machines::{Machines, Observed, machines};
use crate::memory::GroupMemory;
use crate::plan::{Counts, GroupReport, Resource, Usage, Why};
use crate::policy::{Group, Pending};
use crate::pricing::Offering;
use crate::quantity::Totals;
use crate::round::Round;
use crate::scale_down::DELETION_TAINT;
use crate::snapshot::{Kind, NodeView, Readiness};
use crate::strategy::arrivals;
use crate::strategy::write_off::write_off;

/// A group to be looked at.
pub(super) struct Look<'l, 's, 'p> {
    /// Its position in the policy.
    pub(super) at: usize,
    pub(super) group: &'p Group,
    pub(super) settings: &'p Pending,
    pub(super) observed: &'l Observed<'l, 's>,
    pub(super) daemon_sets: &'l DaemonSets,
}

impl<'p> Look<'_, '_, 'p> {
    /// Its report and, where it may grow, what it needs for that. Whatever keeps it from growing is refused here.
    pub(super) fn open(
        &self,
        round: &mut Round<'_>,
        memory: &mut GroupMemory,
        backoffs: &mut Backoffs,
    ) -> (GroupReport, Option<Open<'p>>) {
        let Look { at, group, settings, observed, daemon_sets } = *self;
        let Observed { cloud, nodes, .. } = *observed;
        let machines = machines(observed, memory, round.now, &mut round.wake);
        let present = nodes.iter().filter(|view| !view.node.deleting).count() as u32;
        let size = cloud.map_or(present, |cloud| cloud.target);
        let known = [Kind::Nodes, Kind::Pods].into_iter().all(|kind| suffices(kind, round.snapshot.coverage(kind)));
        let mut report = GroupReport {
            name: Arc::clone(&group.name),
            strategy: "pending",
            nodes: counts(observed, &machines),
            size,
            planned: size,
            pods: nodes.iter().map(|view| u64::from(view.sums.blocking)).sum(),
            usage: if known { usage(nodes) } else { Vec::new() },
            ..GroupReport::default()
        };
        let limits = match guard::Limits::of(group, cloud) {
            Ok(limits) => limits,
            Err(why) => {
                round.refuse_group(group, why);
                return (report, None);
            }
        };
        (report.min, report.max) = (Some(limits.min), Some(limits.max));
        if size > limits.max {
            round.refuse_group(group, Why::AboveMax { size, max: limits.max });
        }
        let written_off = write_off(round, observed, settings.all_or_nothing, limits, &machines, memory);
        let size_left = size - written_off.unwrap_or(0);
        report.planned = size_left;
        let Some(machine) = new_machine(round, observed, daemon_sets, memory) else {
            round.refuse_group(group, Why::NoTemplate);
            return (report, None);
        };
        let key = Key { group: Arc::clone(&group.name), offering: Offering::of(&machine.template.labels) };
        arrivals::learn(observed, &machines, memory, backoffs, &key, &round.policy.pending.backoff, round.now);
        let mut free = machine.template.allocatable.clone();
        machine.daemon_sets.iter().for_each(|spec| free = free.saturating_sub(&spec.requests));
        let mut room = if written_off.is_some() { 0 } else { limits.max.saturating_sub(size) };
        let bound = (limits.max <= size).then_some(Bound::GroupMax { max: limits.max, size });
        if let Some(backoff) = backoffs.active(&key, round.now) {
            round.wake.at(backoff.until());
            round.refuse_group(group, Why::BackingOff { until: backoff.until(), cause: backoff.cause });
            room = 0;
        }
        let from_cloud = cloud.and_then(|cloud| cloud.price);
        let price = round.policy.pending.prices.quote(group.price, &key.offering, from_cloud);
        let own = |key: &str| group.select.labels.get(key).is_some();
        let labels = machine.template.labels.iter().filter(|(key, _)| !own(key)).collect();
        let guard::Limits { min, max } = limits;
        let open = Open {
            at,
            group,
            settings,
            machine,
            free,
            machines,
            size,
            planned: size_left,
            for_min: 0,
            min,
            max,
            room,
            bound,
            price,
            labels,
        };
        (report, Some(open))
    }
}

/// The nodes that are not being deleted, each by the first of: cordoned, marked, booting, not ready, in service.
fn counts(observed: &Observed<'_, '_>, machines: &Machines) -> Counts {
    let mut counts = Counts {
        upcoming: machines.unregistered,
        never_came: machines.never_came(),
        disputed: observed.disputed.len() as u32,
        ..Counts::default()
    };
    for node in observed.nodes.iter().map(|view| view.node).filter(|node| !node.deleting) {
        let count = if node.unschedulable {
            &mut counts.cordoned
        } else if node.taint(DELETION_TAINT).is_some() {
            &mut counts.tainted
        } else if machines.booting.contains(&node.name) {
            &mut counts.upcoming
        } else if node.readiness != Readiness::Ready {
            &mut counts.not_ready
        } else {
            &mut counts.in_service
        };
        *count = count.saturating_add(1);
    }
    counts
}

/// What the pods on some nodes request; empty without a node.
fn usage(nodes: &[NodeView<'_>]) -> Vec<Usage> {
    let (mut used, mut offered) = (Totals::default(), Totals::default());
    for view in nodes {
        used.cpu += view.sums.used.cpu;
        used.memory += view.sums.used.memory;
        offered += &view.node.allocatable;
    }
    let of = |resource, used, offered| Usage::new(resource, used, offered);
    let both = [of(Resource::Cpu, used.cpu, offered.cpu), of(Resource::Memory, used.memory, offered.memory)];
    both.into_iter().filter(|_| !nodes.is_empty()).collect()
}
