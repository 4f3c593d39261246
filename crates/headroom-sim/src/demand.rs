//! Turns a workload into pods, one step at a time.

use headroom_core::snapshot::SharedSpec;
use jiff::{SignedDuration, Timestamp};

use crate::random::Stream;
use crate::scenario::{Arrival, Demand, Schedule, Workload};

/// Draws are made so often within the time in which one pod is expected: enough that the number of pods in a second
/// varies as it does for independent arrivals.
const SLOTS_FOR_EACH_POD: u128 = 8;

/// What a workload does at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// So many new pods.
    Pods(u32),
    /// So many pods in all.
    Replicas(u32),
    /// The recorded pods up to this one.
    RecordedUntil(usize),
}

/// A workload with the state of its draws.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    workload: Workload,
    stream: Stream,
    end: Timestamp,
    start: Timestamp,
    /// How many recorded pods have come.
    recorded: usize,
}

impl Source {
    pub(crate) fn new(mut workload: Workload, seed: u64, start: Timestamp, end: Timestamp) -> Self {
        if let Demand::Recorded(arrivals) = &mut workload.demand {
            arrivals.sort_by_key(|arrival| arrival.at);
        }
        let stream = Stream::new(seed, &format!("workload/{}", workload.name));
        Source { workload, stream, start, end, recorded: 0 }
    }

    pub(crate) fn name(&self) -> &str {
        &self.workload.name
    }

    /// What the workload does next, at `from` or later.
    pub(crate) fn next(&mut self, from: Timestamp) -> Option<(Timestamp, Step)> {
        let next = match &self.workload.demand {
            Demand::Replicas(schedule) if from == self.start => Some((from, Step::Replicas(schedule.whole_at(from)))),
            Demand::Replicas(schedule) => {
                let before = from.saturating_sub(SignedDuration::from_secs(1)).unwrap_or(from);
                let at = schedule.next_change(before, self.end)?;
                Some((at, Step::Replicas(schedule.whole_at(at))))
            }
            Demand::Arrivals(schedule) => next_arrivals(schedule, &mut self.stream, from, self.end),
            Demand::Bursts(bursts) => {
                let next = |at: crate::scenario::When| at.next(self.start, from);
                let at = bursts.iter().filter_map(|burst| next(burst.at)).min()?;
                let pods = bursts.iter().filter(|burst| next(burst.at) == Some(at)).map(|burst| burst.pods);
                Some((at, Step::Pods(pods.fold(0, u32::saturating_add))))
            }
            Demand::Recorded(arrivals) => {
                let at = arrivals.get(self.recorded)?.at.max(self.start);
                let rest = arrivals.get(self.recorded..).unwrap_or_default();
                let until = self.recorded + rest.partition_point(|arrival| arrival.at <= at);
                Some((at, Step::RecordedUntil(until)))
            }
        };
        next.filter(|(at, _)| *at < self.end)
    }

    /// The recorded pods that have not come, up to `until`.
    pub(crate) fn take_recorded(&mut self, until: usize) -> Vec<Arrival> {
        let Demand::Recorded(arrivals) = &self.workload.demand else { return Vec::new() };
        let taken = arrivals.get(self.recorded..until).unwrap_or_default().to_vec();
        self.recorded = until;
        taken
    }

    /// Draws what the next pod is like and how long it runs.
    pub(crate) fn draw(&mut self) -> Option<(SharedSpec, Option<SignedDuration>)> {
        let shapes = &self.workload.shapes;
        let total: u128 = shapes.iter().map(|shape| u128::from(shape.weight)).sum();
        let mut drawn = self.stream.below(total);
        let shape = shapes.iter().find(|shape| {
            let weight = u128::from(shape.weight);
            let chosen = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            chosen
        });
        let runs_for = self.workload.runs_for.map(|span| self.stream.within(span));
        Some((shape.or(shapes.first())?.spec.clone(), runs_for))
    }
}

/// The next second in which pods arrive, and how many: a draw with a small probability in each of many equal slots,
/// which in whole numbers is what a Poisson process is in real ones.
fn next_arrivals(
    an_hour: &Schedule,
    stream: &mut Stream,
    from: Timestamp,
    end: Timestamp,
) -> Option<(Timestamp, Step)> {
    let mut at = from;
    while at < end {
        let (num, den) = an_hour.at(at);
        let (num, den) = (num.unsigned_abs(), den.unsigned_abs().saturating_mul(3600));
        let slots = (num * SLOTS_FOR_EACH_POD).div_ceil(den.max(1)).max(1);
        let pods = if num == 0 { 0 } else { (0..slots).filter(|_| stream.of(den.saturating_mul(slots), num)).count() };
        if pods > 0 {
            return Some((at, Step::Pods(u32::try_from(pods).unwrap_or(u32::MAX))));
        }
        at = at.saturating_add(SignedDuration::from_secs(1)).ok()?;
    }
    None
}
