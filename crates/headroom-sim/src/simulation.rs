//! Rounds of Headroom over the simulated world.

use headroom_core::memory::Memory;
use headroom_core::plan::Plan;
use headroom_core::policy::Policy;
use headroom_core::snapshot::{Builder, Change};
use headroom_core::{check, decide};
use jiff::{SignedDuration, Timestamp};

use crate::oracle::{self, Fault};
use crate::scenario::Scenario;
use crate::summary::{Rounds, Summary};
use crate::world::{Refused, World};

/// A run of a scenario, one round at a time.
///
/// ```
/// # use headroom_sim::{Scenario, Simulation};
/// let mut simulation = Simulation::new(&Scenario::default());
/// while let Some(round) = simulation.next_round()? {
///     println!("{}: {} actions", round.at, round.plan.actions.len());
/// }
/// println!("{}", simulation.summary().chart);
/// # Ok::<(), headroom_sim::Fault>(())
/// ```
#[derive(Debug)]
pub struct Simulation {
    world: World,
    builder: Builder,
    policy: Policy,
    memory: Memory,
    timing: Timing,
    last: Option<Last>,
    changed_at: Option<Timestamp>,
    rounds: Rounds,
    refused: u64,
    seed: u64,
}

/// A round in which was decided.
#[derive(Clone, Debug)]
pub struct Round {
    /// Counts from 1.
    pub number: u64,
    /// When it was.
    pub at: Timestamp,
    /// What had changed since the round before.
    pub changes: Vec<Change>,
    /// What was remembered when it began.
    pub memory: Memory,
    /// What was decided.
    pub plan: Plan,
    /// Actions (by their place in the plan) that the cluster or the cloud refused.
    pub refused: Vec<(usize, Refused)>,
}

#[derive(Clone, Copy, Debug)]
struct Timing {
    start: Timestamp,
    end: Timestamp,
    interval: SignedDuration,
    debounce: SignedDuration,
    every_round: bool,
}

/// What matters of the last round for the time of the next.
#[derive(Clone, Copy, Debug)]
struct Last {
    at: Timestamp,
    /// It wanted nothing done, so that without a change only a timer can make the next one want something.
    quiet: bool,
    wake_at: Option<Timestamp>,
}

impl Simulation {
    /// The world of `scenario` at its start.
    pub fn new(scenario: &Scenario) -> Self {
        let debounce = scenario.debounce.max(SignedDuration::from_millis(1));
        Simulation {
            world: World::new(scenario),
            builder: Builder::new(),
            policy: scenario.policy.clone(),
            memory: Memory::fresh(scenario.start),
            timing: Timing {
                start: scenario.start,
                end: scenario.end(),
                interval: multiple_of(debounce, scenario.interval.max(debounce)),
                debounce,
                every_round: scenario.every_round,
            },
            last: None,
            changed_at: None,
            rounds: Rounds::default(),
            refused: 0,
            seed: scenario.seed,
        }
    }

    /// Lets time pass until the next round that can matter, decides, and carries the plan out. None at the end.
    ///
    /// # Errors
    /// When a plan breaks an invariant of [`check`], or would do to the world what must never be done.
    pub fn next_round(&mut self) -> Result<Option<Round>, Fault> {
        let end = self.timing.end;
        let at = loop {
            let due = self.timing.due(self.last, self.changed_at);
            match self.world.next_event_at().filter(|event| *event <= due && *event < end) {
                Some(event) => self.pass_until(event),
                None => break due,
            }
        };
        self.rounds.skipped += self.timing.skipped(self.last, at.min(end));
        if at >= end {
            self.world.advance(end);
            self.last = Some(Last { at: end, quiet: true, wake_at: None });
            return Ok(None);
        }
        self.pass_until(at);
        self.decide(at).map(Some)
    }

    /// What came of it so far.
    pub fn summary(&self) -> Summary {
        let span = (self.timing.start, self.timing.end);
        Summary::of(self.world.ledger(), self.world.group_names(), span, self.seed, self.rounds, self.refused)
    }

    /// The policy that decides.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// When it ends.
    pub fn end(&self) -> Timestamp {
        self.timing.end
    }

    fn pass_until(&mut self, now: Timestamp) {
        self.world.advance(now);
        if self.changed_at.is_none() && self.world.has_changed() {
            self.changed_at = Some(now);
        }
    }

    fn decide(&mut self, at: Timestamp) -> Result<Round, Fault> {
        let changes = self.world.observe();
        changes.iter().cloned().for_each(|change| self.builder.apply(change));
        self.rounds.decided += 1;
        let number = self.rounds.decided;
        let (plan, memory) = decide(self.builder.snapshot(), &self.policy, &self.memory, at);
        let memory = std::mem::replace(&mut self.memory, memory);
        let fault = |action: usize, broken: String| {
            let planned = plan.actions.get(action);
            let group = planned.map(|planned| planned.group.clone()).unwrap_or_default();
            let action = planned.map(|planned| planned.action.to_string()).unwrap_or_default();
            Fault { round: number, at, group, action, broken }
        };
        if let Some(violation) = check(self.builder.snapshot(), &self.policy, &plan).first() {
            return Err(fault(violation.action, violation.invariant.to_string()));
        }
        let mut refused = Vec::new();
        for (index, planned) in plan.actions.iter().enumerate().filter(|(_, planned)| !planned.dry_run) {
            oracle::judge(&self.world, &self.policy, planned).map_err(|broken| fault(index, broken))?;
            if let Err(why) = self.world.execute(planned) {
                refused.push((index, why));
            }
        }
        self.world.advance(at);
        self.refused += refused.len() as u64;
        self.changed_at = self.world.has_changed().then_some(at);
        self.last = Some(Last { at, quiet: plan.actions.is_empty(), wake_at: plan.wake_at });
        Ok(Round { number, at, changes, memory, plan, refused })
    }
}

impl Timing {
    /// When the next round is, as far as can be told without knowing what happens until then.
    fn due(&self, last: Option<Last>, changed_at: Option<Timestamp>) -> Timestamp {
        let Some(last) = last else { return self.start };
        let idle = self.idle_round(last);
        let Some(changed_at) = changed_at else { return idle };
        let gathered = multiple_of(self.debounce, changed_at.duration_since(self.start));
        let earliest = later(last.at, self.debounce);
        later(self.start, gathered).max(earliest).min(idle)
    }

    /// When the next round is that can matter without any change: a multiple of the interval after the last one.
    fn idle_round(&self, last: Last) -> Timestamp {
        if !last.quiet || self.every_round {
            return later(last.at, self.interval);
        }
        let Some(wake_at) = last.wake_at else { return Timestamp::MAX };
        let wait = multiple_of(self.interval, wake_at.duration_since(last.at)).max(self.interval);
        later(last.at, wait)
    }

    /// How many rounds at the interval lie between the last one and `next`, both not counted.
    fn skipped(&self, last: Option<Last>, next: Timestamp) -> u64 {
        let Some(last) = last else { return 0 };
        let nanos = next.duration_since(last.at).as_nanos() - 1;
        u64::try_from(nanos / self.interval.as_nanos().max(1)).unwrap_or(0)
    }
}

/// The smallest multiple of `step` that is at least `time`; `step` is positive.
fn multiple_of(step: SignedDuration, time: SignedDuration) -> SignedDuration {
    let (step, time) = (step.as_nanos().max(1), time.as_nanos());
    let multiple = (time + step - 1).div_euclid(step) * step;
    let seconds = i64::try_from(multiple / 1_000_000_000).unwrap_or(i64::MAX);
    SignedDuration::new(seconds, (multiple % 1_000_000_000) as i32)
}

fn later(at: Timestamp, time: SignedDuration) -> Timestamp {
    at.saturating_add(time).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn seconds(seconds: i64) -> SignedDuration {
        SignedDuration::from_secs(seconds)
    }

    fn timing(every_round: bool) -> Timing {
        Timing { start: at(100), end: at(1000), interval: seconds(60), debounce: seconds(10), every_round }
    }

    fn last(second: i64, quiet: bool, wake_at: Option<i64>) -> Option<Last> {
        Some(Last { at: at(second), quiet, wake_at: wake_at.map(at) })
    }

    #[test]
    fn rounds_come_when_they_can_matter() {
        let table = [
            (None, None, 100, "the first is at the start"),
            (last(100, false, None), None, 160, "after an action comes another look"),
            (last(100, true, Some(101)), None, 160, "a timer is looked at with the interval"),
            (last(100, true, Some(160)), None, 160, "a timer that runs out with a round belongs to it"),
            (last(100, true, Some(161)), None, 220, "before it runs out nothing can change"),
            (last(100, true, Some(500)), Some(131), 140, "a change is gathered to the next multiple"),
            (last(100, true, None), Some(140), 140, "a change at a multiple is in that round"),
            (last(140, true, None), Some(140), 150, "what a round does is seen in the next"),
            (last(100, false, None), Some(159), 160, "no later than the interval"),
        ];
        for (last, changed, expected, why) in table {
            assert_eq!(timing(false).due(last, changed.map(at)), at(expected), "{why}");
        }
        assert_eq!(timing(false).due(last(100, true, None), None), Timestamp::MAX, "nothing will happen");
        assert_eq!(timing(true).due(last(100, true, None), None), at(160));
    }

    #[test]
    fn rounds_that_are_left_out_are_counted() {
        let skipped = |next| timing(false).skipped(last(100, true, None), at(next));
        assert_eq!([110, 160, 161, 220, 230].map(skipped), [0, 0, 1, 1, 2]);
        assert_eq!(timing(false).skipped(None, at(500)), 0);
    }

    #[test]
    fn multiples() {
        let multiple = |time| multiple_of(seconds(10), time).as_millis();
        assert_eq!(
            [0, 1, 9999, 10_000, 10_001].map(|ms| multiple(SignedDuration::from_millis(ms))),
            [0, 10_000, 10_000, 10_000, 20_000]
        );
    }
}
