//! What came of a simulation.

use std::sync::Arc;

use headroom_core::quantity::{Money, Ratio};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::chart::Chart;
use crate::ledger::{Account, Ledger, Sums};

const HOUR_IN_MILLIS: i128 = 3_600_000;

/// What came of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// When it started.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// What its random draws came from.
    pub seed: u64,
    /// How often was decided.
    pub rounds: Rounds,
    /// All groups together.
    pub total: Nodes,
    /// One for each node group of the scenario.
    pub groups: Vec<GroupSummary>,
    /// What pods met.
    pub pods: Pods,
    /// What Headroom did.
    pub scaling: Scaling,
    /// Machines wanted and nodes used over time.
    pub chart: Chart,
}

/// How often was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rounds {
    /// Rounds in which `decide` was asked.
    pub decided: u64,
    /// Rounds that were left out, as nothing could have come of them.
    pub skipped: u64,
}

/// One node group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupSummary {
    /// The group.
    pub name: Arc<str>,
    /// Its machines.
    pub node_type: Arc<str>,
    /// What it came to.
    pub nodes: Nodes,
}

/// What machines cost and how well they were used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Nodes {
    /// The fewest machines at any time; of all groups together the sum of these.
    pub fewest: u32,
    /// The most machines at any time; of all groups together the sum of these.
    pub most: u32,
    /// Machines that are there at the end.
    pub last: u32,
    /// Machine hours that the cloud charges for: from the launch on.
    pub node_hours: Ratio,
    /// What they cost, in nano-dollars.
    pub cost: Money,
    /// What pods requested of the cpu of the registered nodes, in percent over time; None without nodes.
    pub cpu_percent: Option<Ratio>,
    /// The same of memory.
    pub memory_percent: Option<Ratio>,
}

/// What pods met. Pods of DaemonSets are not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pods {
    /// Pods that came, those made again included.
    pub arrived: u64,
    /// Pods that got a node.
    pub ran: u64,
    /// Pods that ended, or the simulation with them, before they got one.
    pub never_ran: u64,
    /// Pods that lost their node while they ran.
    pub lost: u64,
    /// How long those that got a node had waited for it.
    pub wait: Waits,
    /// The same of all of them together, in seconds.
    pub waited: i64,
}

/// Waiting times in seconds, by nearest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waits {
    /// Half of the pods waited no longer.
    pub p50: i64,
    /// 95 % waited no longer.
    pub p95: i64,
    /// 99 % waited no longer.
    pub p99: i64,
    /// The longest.
    pub max: i64,
}

/// What Headroom did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scaling {
    /// Enlargements of a group.
    pub scale_ups: u64,
    /// Machines that they asked for.
    pub nodes_requested: u64,
    /// Machines removed.
    pub nodes_removed: u64,
    /// Nodes marked for removal.
    pub nodes_marked: u64,
    /// Nodes whose mark was taken off again.
    pub nodes_unmarked: u64,
    /// Actions that the cluster or the cloud refused.
    pub refused: u64,
    /// Machines that never became a node.
    pub boot_failures: u64,
}

impl Summary {
    pub(crate) fn of(
        ledger: &Ledger,
        groups: impl Iterator<Item = (Arc<str>, Arc<str>)>,
        (start, end): (Timestamp, Timestamp),
        seed: u64,
        rounds: Rounds,
        refused: u64,
    ) -> Self {
        let counts = ledger.counts;
        let waits = ledger.sorted_waits();
        let ran = waits.len() as u64;
        let group = |((name, node_type), account): ((Arc<str>, Arc<str>), &Account)| GroupSummary {
            name,
            node_type,
            nodes: nodes([account].into_iter()),
        };
        Summary {
            start,
            end,
            seed,
            rounds,
            total: nodes(ledger.accounts().iter()),
            groups: groups.zip(ledger.accounts()).map(group).collect(),
            pods: Pods {
                arrived: counts.arrived,
                ran,
                never_ran: counts.arrived.saturating_sub(ran),
                lost: counts.lost,
                wait: Waits::of(&waits),
                waited: waits.iter().map(SignedDuration::as_secs).sum(),
            },
            scaling: Scaling {
                scale_ups: counts.scale_ups,
                nodes_requested: counts.requested,
                nodes_removed: counts.removed,
                nodes_marked: counts.marked,
                nodes_unmarked: counts.unmarked,
                refused,
                boot_failures: counts.failed_boots,
            },
            chart: Chart::new(start, end, ledger.columns()),
        }
    }
}

impl Waits {
    /// The nearest ranks of times in ascending order.
    fn of(sorted: &[SignedDuration]) -> Self {
        let rank = |percent: usize| {
            let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            sorted.get(at).map_or(0, SignedDuration::as_secs)
        };
        Waits { p50: rank(50), p95: rank(95), p99: rank(99), max: rank(100) }
    }
}

fn nodes<'a>(accounts: impl Iterator<Item = &'a Account> + Clone) -> Nodes {
    let total = |of: fn(&Sums) -> i128| accounts.clone().map(|account| of(&account.sums)).sum::<i128>();
    let add = |of: fn(&Account) -> u32| accounts.clone().map(of).fold(0, u32::saturating_add);
    let cost: i128 = accounts.clone().map(|account| account.sums.machines * i128::from(account.price.0)).sum();
    Nodes {
        fewest: add(|account| account.fewest.min(account.most)),
        most: add(|account| account.most),
        last: add(|account| account.levels.machines),
        node_hours: Ratio::new(total(|sums| sums.machines), HOUR_IN_MILLIS).expect("an hour is not zero"),
        cost: Money(i64::try_from(cost / HOUR_IN_MILLIS).unwrap_or(i64::MAX)),
        cpu_percent: Ratio::percent_of(total(|sums| sums.cpu_requested), total(|sums| sums.cpu_capacity)),
        memory_percent: Ratio::percent_of(total(|sums| sums.memory_requested), total(|sums| sums.memory_capacity)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_nearest_ranks() {
        let seconds = |all: std::ops::RangeInclusive<i64>| all.map(SignedDuration::from_secs).collect::<Vec<_>>();
        assert_eq!(Waits::of(&seconds(1..=100)), Waits { p50: 50, p95: 95, p99: 99, max: 100 });
        assert_eq!(Waits::of(&seconds(7..=7)), Waits { p50: 7, p95: 7, p99: 7, max: 7 });
        assert_eq!(Waits::of(&[]), Waits::default());
    }
}
