//! Turns a workload into pods, one step at a time.

use headroom_core::snapshot::SharedSpec;
use jiff::{SignedDuration, Timestamp};

use crate::random::Stream;
use crate::scenario::{Arrival, Demand, Life, Schedule, Workload};

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
    /// For how pods start and end, so that these draws leave all others as they are.
    life: Stream,
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
        let life = Stream::new(seed, &format!("life/{}", workload.name));
        Source { workload, stream, life, start, end, recorded: 0 }
    }

    pub(crate) fn name(&self) -> &str {
        &self.workload.name
    }

    /// How its pods start and end.
    pub(crate) fn life(&self) -> Life {
        self.workload.life
    }

    /// What the first of its sizes is like.
    pub(crate) fn first_spec(&self) -> Option<&SharedSpec> {
        self.workload.shapes.first().map(|shape| &shape.spec)
    }

    /// Draws how long the next pod takes until it is ready.
    pub(crate) fn ready_after(&mut self) -> SignedDuration {
        self.life.within(self.workload.life.ready_after)
    }

    /// Draws how long the next pod that is evicted takes to end.
    pub(crate) fn stops_in(&mut self) -> SignedDuration {
        self.life.within(self.workload.life.stops_in)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Burst, Span, When};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn source(demand: Demand) -> Source {
        let shape = |weight: u32, cpu| crate::scenario::Shape {
            weight,
            spec: SharedSpec::new(headroom_core::snapshot::PodSpec {
                requests: headroom_core::quantity::Resources::new(cpu, 0),
                ..Default::default()
            }),
        };
        let runs_for = Span { min: SignedDuration::from_secs(10), max: SignedDuration::from_secs(20) };
        let workload = Workload {
            name: "w".into(),
            shapes: vec![shape(3, 1), shape(1, 2)],
            demand,
            runs_for: Some(runs_for),
            life: Life::default(),
        };
        Source::new(workload, 1, at(0), at(86_400))
    }

    /// Every step, as the world asks for them.
    fn steps(source: &mut Source) -> Vec<(i64, Step)> {
        let mut steps = Vec::new();
        let mut from = at(0);
        while let Some((at, step)) = source.next(from) {
            if let Step::RecordedUntil(until) = step {
                source.take_recorded(until);
            }
            steps.push((at.as_second(), step));
            from = at + SignedDuration::from_secs(1);
        }
        steps
    }

    #[test]
    fn arrivals_are_as_many_as_the_rate_says_and_vary() {
        for (an_hour, least, most, in_a_second) in [(60, 1300, 1580, 1), (36_000, 855_000, 873_000, 20)] {
            let steps = steps(&mut source(Demand::Arrivals(Schedule::constant(an_hour))));
            let pods: Vec<u32> =
                steps.iter().map(|(_, step)| if let Step::Pods(pods) = step { *pods } else { 0 }).collect();
            let total = pods.iter().sum::<u32>();
            // The expectation is 24 times the rate, and these bounds are three standard deviations away or more.
            assert!((least..=most).contains(&total), "{total} at {an_hour} an hour");
            assert!(pods.iter().max() >= Some(&in_a_second), "{:?} at most in a second", pods.iter().max());
        }
    }

    #[test]
    fn arrivals_follow_the_time_of_day() {
        let morning = Schedule::daily([(0, 0), (8 * 3600, 600), (9 * 3600, 0)], false);
        let steps = steps(&mut source(Demand::Arrivals(morning)));
        assert!(steps.len() > 400 && steps.iter().all(|(second, _)| (8 * 3600..9 * 3600).contains(second)));
    }

    #[test]
    fn bursts_of_one_instant_come_together() {
        let burst = |at, pods| Burst { at, pods };
        let daily = When::Daily(3600);
        let once = When::After(SignedDuration::from_hours(1));
        let steps = steps(&mut source(Demand::Bursts(vec![burst(daily, 3), burst(once, 4)])));
        assert_eq!(steps, [(3600, Step::Pods(7))]);
    }

    #[test]
    fn replicas_start_at_once_and_change_at_their_times() {
        let steps = steps(&mut source(Demand::Replicas(Schedule::daily([(0, 2), (60, 5), (120, 5), (180, 2)], false))));
        assert_eq!(steps, [(0, Step::Replicas(2)), (60, Step::Replicas(5)), (180, Step::Replicas(2))]);
    }

    #[test]
    fn recorded_pods_come_in_order_of_time() {
        let arrival = |second: i64| Arrival {
            name: format!("p{second}").into(),
            at: at(second),
            spec: SharedSpec::default(),
            runs_for: None,
            leaves_at: None,
        };
        let steps = steps(&mut source(Demand::Recorded([50, 20, -5, 20].map(arrival).to_vec())));
        assert_eq!(steps, [(0, Step::RecordedUntil(1)), (20, Step::RecordedUntil(3)), (50, Step::RecordedUntil(4))]);
    }

    #[test]
    fn shapes_are_drawn_by_weight_and_times_within_the_span() {
        let mut source = source(Demand::Bursts(Vec::new()));
        let draws: Vec<_> = (0..1000).filter_map(|_| source.draw()).collect();
        let small = draws.iter().filter(|(spec, _)| spec.requests.cpu == 1).count();
        assert!((700..800).contains(&small), "{small} of 1000 where 750 are expected");
        let times: Vec<i64> = draws.iter().filter_map(|(_, time)| Some(time.as_ref()?.as_secs())).collect();
        assert_eq!((times.iter().min(), times.iter().max()), (Some(&10), Some(&20)));
    }
}
