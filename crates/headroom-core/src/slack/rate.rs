//! Room for a share of the cluster, in placeholders of one size: the seed's version 1.

use super::ground::Ground;
use super::{Wanted, plain};
use crate::plan::{Placeholder, SlackRate};
use crate::policy::{Basis, Percent, SlackPolicy};
use crate::quantity::{Resources, Totals, ceil_div};

/// Hundredths of a percent in one.
const WHOLE: i128 = 10_000;

/// The placeholders that keep `rate` of the basis free, less what others keep free already. Of each resource one is as large
/// as the average node by the granularity, but no larger than the largest pod, so that it fits on a node (S3) and makes none
/// larger than a real pod would (S6).
pub(super) fn wanted(ground: &Ground<'_>, slack: &SlackPolicy, rate: Percent, counted: &Totals) -> Option<Wanted> {
    let size = size(ground, slack.granularity)?;
    let basis = basis(ground, slack.basis);
    let count = |basis: i128, size: i64, counted: i128| {
        let rest = basis.saturating_mul(rate.0.into()).saturating_sub(counted.saturating_mul(WHOLE));
        if size > 0 { ceil_div(rest.max(0), i128::from(size).saturating_mul(WHOLE)) } else { 0 }
    };
    let count = count(basis.cpu, size.cpu, counted.cpu).max(count(basis.memory, size.memory, counted.memory));
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    Some(Wanted { of: Placeholder::Rate, spec: plain(size), count })
}

/// What the rate comes to.
pub(super) fn report(ground: &Ground<'_>, basis_of: Basis, percent: Percent) -> SlackRate {
    let Totals { cpu, memory, .. } = *basis(ground, basis_of);
    SlackRate { percent, basis: basis_of, cpu, memory }
}

fn basis<'g>(ground: &'g Ground<'_>, basis: Basis) -> &'g Totals {
    match basis {
        Basis::Requested => &ground.requested,
        Basis::Capacity => &ground.offered,
    }
}

fn size(ground: &Ground<'_>, granularity: u32) -> Option<Resources> {
    let (cpu, memory) = ground.average_node()?;
    let part = |average: i128| {
        let part = (average / i128::from(granularity.max(1))).max(1);
        i64::try_from(part).unwrap_or(i64::MAX)
    };
    let most = ground.pods.iter().fold(Resources::default(), |most, (class, _)| most.max_each(&class.spec.requests));
    // A resource that no pod requests is left out; without pods nobody knows which ones that will be.
    let bounded = |part: i64, most: i64| if ground.pods.is_empty() { part } else { part.min(most) };
    Some(Resources::new(bounded(part(cpu), most.cpu), bounded(part(memory), most.memory)))
}
