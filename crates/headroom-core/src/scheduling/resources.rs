//! Resources: cpu, memory, ephemeral storage, the number of pods, extended resources.
//!
//! Amounts of one pod or node are a row of numbers, one column each, so that comparing two is a walk over two slices.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::plan::Resource;
use crate::quantity::{Resources, Totals};

/// Columns that are always there: cpu, memory, ephemeral storage, pods.
pub(super) const FIXED: usize = 4;

/// Amounts of each resource, one column each.
pub(super) type Row = SmallVec<[i64; 6]>;

/// Which column is which resource. Extended resources that no pod asks for have none.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    extended: Vec<Arc<str>>,
}

impl Columns {
    /// Adds columns for the extended resources of one pod.
    pub(super) fn learn(&mut self, requests: &Resources) {
        for (name, _) in &requests.extended {
            if let Err(at) = self.extended.binary_search(name) {
                self.extended.insert(at, Arc::clone(name));
            }
        }
    }

    /// How many columns a row has.
    pub(super) fn count(&self) -> usize {
        FIXED + self.extended.len()
    }

    /// The resource of a column.
    pub(super) fn resource(&self, column: usize) -> Resource {
        match column {
            0 => Resource::Cpu,
            1 => Resource::Memory,
            2 => Resource::EphemeralStorage,
            3 => Resource::Pods,
            _ => Resource::Extended(self.extended.get(column - FIXED).map(Arc::clone).unwrap_or_default()),
        }
    }

    /// A pod's requests or a node's resources as a row.
    pub(super) fn row(&self, amounts: &Resources) -> Row {
        let fixed = [amounts.cpu, amounts.memory, amounts.ephemeral_storage, amounts.pods];
        self.extend(fixed, |name| amounts.extended(name))
    }

    /// What is left of a node's resources as a row. Negative where more is used than there is, since a pod that asks
    /// for nothing of that resource can still come.
    pub(super) fn row_left(&self, has: &Resources, used: &Totals) -> Row {
        let left = |has: i64, used: i128| clamp(i128::from(has) - used);
        let fixed = [
            left(has.cpu, used.cpu),
            left(has.memory, used.memory),
            left(has.ephemeral_storage, used.ephemeral_storage),
            left(has.pods, used.pods),
        ];
        self.extend(fixed, |name| left(has.extended(name), used.extended(name)))
    }

    /// Sums over pods as a row.
    pub(super) fn row_of_totals(&self, totals: &Totals) -> Row {
        let fixed = [totals.cpu, totals.memory, totals.ephemeral_storage, totals.pods];
        self.extend(fixed.map(clamp), |name| clamp(totals.extended(name)))
    }

    fn extend(&self, fixed: [i64; FIXED], extended: impl Fn(&str) -> i64) -> Row {
        let mut row = Row::from_slice(&fixed);
        row.extend(self.extended.iter().map(|name| extended(name)));
        row
    }
}

fn clamp(amount: i128) -> i64 {
    amount.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// Whether one pod fits. Of a resource that it does not ask for, even less than nothing may be left.
#[inline]
pub(super) fn covers(free: &[i64], need: &[i64]) -> bool {
    free.len() == need.len() && need.iter().zip(free).all(|(need, free)| *need <= 0 || need <= free)
}

/// How many equal pods fit, as far as `wanted` goes.
pub(super) fn times(free: &[i64], need: &[i64], wanted: u32) -> u32 {
    // Most often one pod is asked about, which takes no division.
    if wanted <= 1 {
        return u32::from(wanted == 1 && covers(free, need));
    }
    let each = need.iter().zip(free).filter(|(need, _)| **need > 0).map(|(need, free)| (*free).max(0) / need);
    each.min().map_or(wanted, |times| u32::try_from(times).map_or(wanted, |times| times.min(wanted)))
}

/// The first column of which there is not enough.
pub(super) fn shortage(free: &[i64], need: &[i64]) -> Option<usize> {
    need.iter().zip(free).position(|(need, free)| *need > 0 && need > free)
}
