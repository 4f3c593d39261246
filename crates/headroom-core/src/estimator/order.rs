//! In which order pods are placed. No order is the best for all: several are tried.

use std::cmp::Reverse;

use crate::scheduling::{Placement, TemplateId};
use crate::snapshot::ClassId;

/// An order of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Order {
    /// By the sum of the shares of a machine's resources that a pod takes, the largest first.
    Size,
    /// By the largest such share, the largest first.
    LargestShare,
    /// Pods that cannot be together with others first, so that the others fill up their machines; then by size.
    BoundFirst,
    /// High priority first, then by size: what is left out when machines are short is what matters least.
    Priority,
}

impl Order {
    /// Sorts classes. Shares are of a machine of the template, or without one of the most that any node has free.
    /// Classes that are equal in this order stay in the order of their contents.
    pub fn sort(self, placement: &Placement, template: Option<TemplateId>, pods: &mut [(ClassId, u32)]) {
        let machine = placement.machine(template);
        pods.sort_by_cached_key(|(class, _)| {
            let shares = placement.shares(*class, &machine);
            let (sum, largest) = shares.fold((0_u128, 0), |(sum, largest), share| (sum + share, share.max(largest)));
            let spec = placement.spec(*class);
            let (first, size) = match self {
                Order::Size => (0, sum),
                Order::LargestShare => (0, largest),
                Order::BoundFirst => (i64::from(placement.needs_distance(*class)), sum),
                Order::Priority => (i64::from(spec.priority), sum),
            };
            (Reverse(first), Reverse(size), placement.rank(*class))
        });
    }
}
