//! Random clusters, policies and faults through many rounds. Every round of every run is judged by `check` and by the
//! oracle of the world; a run that breaks either does not get to its end.

mod worlds;

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::memory::Memory;
use headroom_core::plan::{Action, Planned, Reason};
use headroom_core::scale_down::{CANDIDATE_TAINT, DELETION_TAINT};
use headroom_core::snapshot::{Builder, Change};
use headroom_core::{check, decide};
use proptest::prelude::*;

use crate::oracle::judge;
use crate::random::Stream;
use crate::scenario::Scenario;
use crate::world::World;
use crate::{Round, Simulation, Summary};
use worlds::scenario;

/// A run takes many rounds, so there are fewer of them than of other properties. PROPTEST_CASES still scales them.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases / 4, max_shrink_iters: 200, ..usual }
}

fn run(scenario: &Scenario) -> Result<(Vec<Round>, Summary), TestCaseError> {
    let mut simulation = Simulation::new(scenario);
    let mut rounds = Vec::new();
    while let Some(round) = next(&mut simulation)? {
        rounds.push(round);
    }
    Ok((rounds, simulation.summary()))
}

fn next(simulation: &mut Simulation) -> Result<Option<Round>, TestCaseError> {
    simulation.next_round().map_err(|fault| TestCaseError::fail(fault.to_string()))
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// What each round did, for rounds that did something.
fn deeds(rounds: &[Round]) -> Vec<String> {
    let acting = rounds.iter().filter(|round| !round.plan.actions.is_empty());
    acting.map(|round| format!("{} {}", round.at, json(&round.plan.actions))).collect()
}

fn shuffle<T>(items: &mut [T], stream: &mut Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, stream.below(last as u128 + 1) as usize);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn plans_keep_the_invariants_and_say_why(scenario in scenario()) {
        let (rounds, _) = run(&scenario)?;
        for planned in rounds.iter().flat_map(|round| &round.plan.actions) {
            prop_assert!(fits_action(planned), "{} because {}", planned.action, planned.reason);
        }
    }

    #[test]
    fn the_same_scenario_gives_the_same_bytes(scenario in scenario()) {
        let (first, second) = (run(&scenario)?, run(&scenario)?);
        prop_assert_eq!(json(&first.1), json(&second.1));
        let plans = |rounds: &[Round]| rounds.iter().map(|round| json(&round.plan)).collect::<Vec<_>>();
        prop_assert_eq!(plans(&first.0), plans(&second.0));
    }

    #[test]
    fn leaving_out_rounds_changes_nothing(scenario in scenario()) {
        let (some, summary) = run(&scenario)?;
        let (all, full) = run(&Scenario { every_round: true, ..scenario })?;
        prop_assert_eq!(deeds(&some), deeds(&all));
        prop_assert_eq!(summary.rounds.decided + summary.rounds.skipped, full.rounds.decided);
        prop_assert_eq!(full.rounds.skipped, 0);
        prop_assert_eq!(json(&Summary { rounds: full.rounds, ..summary }), json(&full));
    }

    #[test]
    fn the_order_of_changes_does_not_matter(scenario in scenario(), seed: u64) {
        let mut stream = Stream::new(seed, "order");
        let (mut shuffled, mut present) = (Builder::new(), Present::default());
        let mut simulation = Simulation::new(&scenario);
        while let Some(Round { changes, memory, plan, at, .. }) = next(&mut simulation)? {
            let mut changes = changes;
            changes.iter().cloned().for_each(|change| present.apply(change));
            shuffle(&mut changes, &mut stream);
            changes.into_iter().for_each(|change| shuffled.apply(change));
            let again = |builder: &Builder| json(&decide(builder.snapshot(), &scenario.policy, &memory, at).0);
            let plan = json(&plan);
            prop_assert_eq!(&again(&shuffled), &plan, "changes in another order");
            if stream.of(8, 1) {
                prop_assert_eq!(&again(&present.at_once(&mut stream)), &plan, "everything at once");
            }
        }
    }

    /// Whatever is carried out only in part, twice, or decided by an instance that remembers nothing: no invariant
    /// breaks.
    #[test]
    fn crashes_and_repetition_break_nothing(scenario in scenario(), seed: u64) {
        let mut stream = Stream::new(seed, "crashes");
        let mut world = World::new(&scenario);
        let (mut builder, mut memory) = (Builder::new(), Memory::fresh(scenario.start));
        let mut at = scenario.start;
        while at < scenario.end() {
            world.advance(at);
            world.observe().into_iter().for_each(|change| builder.apply(change));
            if stream.of(10, 1) {
                memory = Memory::fresh(at);
            }
            let (plan, next) = decide(builder.snapshot(), &scenario.policy, &memory, at);
            prop_assert_eq!(check(builder.snapshot(), &scenario.policy, &plan), vec![]);
            memory = next;
            let whole = if stream.of(4, 1) { stream.below(plan.actions.len() as u128) as usize } else { usize::MAX };
            let mut done = Vec::new();
            for planned in plan.to_execute().take(whole) {
                prop_assert_eq!(judge(&world, &scenario.policy, planned), Ok(()), "{}", planned.action);
                if world.execute(planned).is_ok() {
                    done.push(planned);
                }
            }
            world.advance(at);
            prop_assert_eq!(world.audit(), Ok(()));
            if !done.is_empty() {
                let once = world.picture();
                for planned in done {
                    let _ = world.execute(planned);
                }
                world.advance(at);
                prop_assert!(world.picture() == once, "the plan was carried out twice");
            }
            at = at.saturating_add(scenario.interval).unwrap();
        }
    }
}

/// Whether the reason is one that such an action can have.
fn fits_action(planned: &Planned) -> bool {
    use Reason::*;
    match (&planned.action, &planned.reason) {
        (
            Action::Resize { .. } | Action::Untaint { .. },
            BelowMin { .. }
            | AboveThreshold { .. }
            | FromZero { .. }
            | UnknownSize { .. }
            | Starved { .. }
            | TooOld { .. },
        ) => true,
        (Action::Resize { .. } | Action::Untaint { .. } | Action::Taint { .. }, Sized { .. }) => true,
        (Action::Resize { from, to }, PodsWaiting { .. }) => to > from,
        (Action::Resize { from, to }, NeverCame { .. } | LaunchFailed { .. }) => to < from,
        (Action::WriteOff { .. }, Leaked { .. }) => true,
        (Action::Taint { .. }, ToBeReplaced { .. }) => true,
        (Action::WriteOff { .. }, NeverCame { machines, .. } | LaunchFailed { machines, .. }) => *machines == 1,
        (Action::Taint { .. }, AboveMax { .. } | BelowThreshold { .. } | Unhealthy { .. }) => true,
        (Action::Taint { taint, .. }, Idle { idle_for, enough, .. }) => {
            &*taint.key == DELETION_TAINT && idle_for >= enough
        }
        (Action::Taint { taint, .. }, Unneeded { .. }) => &*taint.key == CANDIDATE_TAINT,
        (Action::Untaint { key, .. }, NeededAgain) => &**key == CANDIDATE_TAINT,
        (Action::Untaint { key, .. }, Stays { .. } | DrainGivenUp { .. }) => &**key == DELETION_TAINT,
        (Action::Drain { pods, .. }, Draining { pods: all, .. }) => !pods.is_empty() && pods.len() <= *all as usize,
        (Action::Remove { pods, .. }, Drained { .. }) => pods.is_empty(),
        (Action::Remove { pods, .. }, Empty { .. } | ForceTainted) => pods.is_empty(),
        (Action::Drain { pods, .. }, HardGraceOver { pods: count, .. }) => {
            !pods.is_empty() && pods.len() <= *count as usize
        }
        (Action::Remove { pods, .. }, HardGraceOver { pods: count, .. }) => pods.len() == *count as usize && *count > 0,
        _ => false,
    }
}

/// The latest change of each thing: what a snapshot that is built at once would be built from.
#[derive(Default)]
struct Present(BTreeMap<(u8, Arc<str>), Change>);

impl Present {
    fn apply(&mut self, change: Change) {
        let pod = |namespace: &str, name: &str| (0, Arc::from(format!("{namespace}/{name}")));
        match &change {
            Change::Pod(known) => drop(self.0.insert(pod(&known.spec.namespace, &known.name), change)),
            Change::PodGone { namespace, name } => drop(self.0.remove(&pod(namespace, name))),
            Change::Node(node) => drop(self.0.insert((1, Arc::clone(&node.name)), change)),
            Change::NodeGone(name) => drop(self.0.remove(&(1, Arc::clone(name)))),
            Change::Group(group) => drop(self.0.insert((2, Arc::clone(&group.name)), change)),
            Change::GroupGone(name) => drop(self.0.remove(&(2, Arc::clone(name)))),
            Change::DisruptionBudget(budget) => {
                let (_, name) = pod(&budget.namespace, &budget.name);
                drop(self.0.insert((3, name), change));
            }
            Change::DaemonSet { name, .. } => drop(self.0.insert((4, (**name).into()), change)),
            Change::Coverage(kind, _) => drop(self.0.insert((5, kind.kubectl_name().into()), change)),
            // Kinds that these clusters do not have.
            _ => {}
        }
    }

    fn at_once(&self, stream: &mut Stream) -> Builder {
        let mut changes: Vec<Change> = self.0.values().cloned().collect();
        shuffle(&mut changes, stream);
        let mut builder = Builder::new();
        changes.into_iter().for_each(|change| builder.apply(change));
        builder
    }
}
