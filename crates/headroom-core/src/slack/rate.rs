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
    let rest = |basis: i128, counted: i128| {
        let rest = basis.saturating_mul(rate.0.into()).saturating_sub(counted.saturating_mul(WHOLE));
        rest.max(0)
    };
    let rest = Rest { cpu: rest(basis.cpu, counted.cpu), memory: rest(basis.memory, counted.memory) };
    let size = fitting(size, ground, &rest);
    let count = rest.placeholders(&size);
    Some(Wanted { of: Placeholder::Rate, spec: plain(size), count })
}

/// Room that is wanted in addition, in hundredths of a percent of the basis' units.
struct Rest {
    cpu: i128,
    memory: i128,
}

impl Rest {
    /// How many placeholders of a size keep it; a resource of which they have nothing is left out.
    fn placeholders(&self, size: &Resources) -> u32 {
        let count = |rest: i128, size: i64| {
            if size > 0 { ceil_div(rest, i128::from(size).saturating_mul(WHOLE)) } else { 0 }
        };
        let count = count(self.cpu, size.cpu).max(count(self.memory, size.memory));
        u32::try_from(count).unwrap_or(u32::MAX)
    }
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

/// The same where a node can be bought for it. Otherwise what fits on the kind of node of which the fewest placeholders are
/// needed: where nodes differ much, none is like the average, and DaemonSets may leave little of a small one (S3).
fn fitting(size: Resources, ground: &Ground<'_>, rest: &Rest) -> Resources {
    if ground.empty.iter().any(|(cpu, memory)| size.cpu <= *cpu && size.memory <= *memory) {
        return size;
    }
    let kinds = ground.empty.iter().filter(|(cpu, memory)| *cpu > 0 && *memory > 0);
    let cut = kinds.map(|(cpu, memory)| Resources::new(size.cpu.min(*cpu), size.memory.min(*memory)));
    cut.min_by_key(|size| rest.placeholders(size)).unwrap_or(size)
}
