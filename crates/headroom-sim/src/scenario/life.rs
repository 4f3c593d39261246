//! How pods start and end.

use headroom_core::policy::Percent;

use super::Span;

/// How the pods of a workload start and end, and how many of them may be down at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// From the time when a pod gets a node until it is ready.
    pub ready_after: Span,
    /// From its eviction until it has ended; the longest is its grace period.
    pub stops_in: Span,
    /// The workload's disruption budget.
    pub budget: Option<PodBudget>,
}

/// How many pods of a workload must be ready, or may be down: the eviction API refuses what goes beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodBudget {
    /// At least so many are ready.
    MinAvailable(PodShare),
    /// At most so many are not.
    MaxUnavailable(PodShare),
}

/// A number of pods, or a share of a workload's pods that is rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodShare {
    /// So many.
    Pods(u32),
    /// This percentage.
    Percent(Percent),
}

impl PodBudget {
    /// How many of so many pods must be ready.
    pub(crate) fn wanted(self, pods: u32) -> u32 {
        match self {
            PodBudget::MinAvailable(share) => share.of(pods),
            PodBudget::MaxUnavailable(share) => pods.saturating_sub(share.of(pods)),
        }
    }
}

impl PodShare {
    fn of(self, pods: u32) -> u32 {
        match self {
            PodShare::Pods(number) => number,
            PodShare::Percent(percent) => {
                let share = (u64::from(pods) * u64::from(percent.0)).div_ceil(10_000);
                u32::try_from(share).unwrap_or(u32::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_up() {
        let (half, two) = (PodShare::Percent(Percent::whole(50)), PodShare::Pods(2));
        let wanted = |pods| {
            [PodBudget::MinAvailable(half), PodBudget::MaxUnavailable(half), PodBudget::MinAvailable(two)]
                .map(|budget| budget.wanted(pods))
        };
        assert_eq!(wanted(5), [3, 2, 2]);
        assert_eq!(wanted(1), [1, 0, 2]);
        assert_eq!(wanted(0), [0, 0, 2]);
    }
}
