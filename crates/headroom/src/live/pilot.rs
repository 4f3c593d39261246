//! Rounds over a real cluster: observe, decide, remember, act.

use std::sync::Arc;
use std::time::{Duration, Instant};

use headroom_adapters::cluster::Cluster;
use headroom_adapters::notebook::{Notebook, NotebookError, Pauses};
use headroom_core::decide;
use headroom_core::memory::Memory;
use headroom_core::plan::{Plan, Planned};
use headroom_core::policy::{Mode, Policy};
use headroom_core::snapshot::{Builder, Change};
use indexmap::IndexSet;
use jiff::{SignedDuration, Timestamp};

use super::board::Question;
use super::clouds::{Clouds, Owner};
use super::executor::{Executor, Failure, Outcome};
use super::freshness::Freshness;
use super::herald::Herald;
use super::hold::Hold;
use super::journal;
use super::machines::Machines;
use super::recorder::{Made, Recorder};
use crate::config::{Cloud, Config};
use crate::dump::{Assumed, Dump, Now, Round, Warning};
use crate::metrics::{Metrics, Seen};

/// How many warnings about objects are kept to be shown.
const MISREAD: usize = 200;

/// What the program reaches the outside by.
pub(crate) struct Ports {
    /// The cluster.
    pub(crate) cluster: Arc<dyn Cluster>,
    /// Where memory is kept; None in dry run, which writes nothing.
    pub(crate) notebook: Option<Arc<dyn Notebook>>,
    /// The time of day.
    pub(crate) clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    /// The node that this program runs on, if it runs on one of the cluster.
    pub(crate) own_node: Option<Arc<str>>,
}

/// The clouds that a configuration names.
pub(crate) type MakeOwners = Box<dyn Fn(&Config) -> Vec<Owner> + Send>;

/// Makes the rounds, one after the other.
pub(crate) struct Pilot {
    ports: Ports,
    config: Arc<Config>,
    owners: MakeOwners,
    clouds: Clouds,
    machines: Machines,
    executor: Executor,
    builder: Builder,
    freshness: Freshness,
    /// None until it is known what was remembered.
    memory: Option<Memory>,
    pauses: Pauses,
    /// The latest of what was left out or read otherwise.
    misread: IndexSet<String>,
    last: Option<Last>,
    /// Of the actions of the last round, what the log has said.
    said: Vec<Planned>,
    rounds: u64,
    recorder: Option<Recorder>,
    metrics: Arc<Metrics>,
    herald: Herald,
    at: Timestamp,
}

/// The last round, as far as questions need it.
struct Last {
    policy: Policy,
    before: Memory,
    plan: Plan,
}

/// What a round came to.
#[derive(Debug)]
pub(crate) struct Flown {
    /// Counts from 1.
    pub(crate) number: u64,
    /// What kept the whole plan from being carried out.
    pub(crate) hold: Option<Hold>,
    /// How long deciding took.
    pub(crate) deciding: Duration,
    /// Actions that were begun.
    pub(crate) begun: usize,
    /// When the next round is due if nothing changes.
    pub(crate) wake_at: Option<Timestamp>,
}

impl Pilot {
    pub(crate) fn new(
        ports: Ports,
        config: Arc<Config>,
        owners: MakeOwners,
        recorder: Option<Recorder>,
        metrics: Arc<Metrics>,
        herald: Herald,
    ) -> Self {
        let builder = Builder::new();
        let mut machines = Machines::default();
        machines.configure(&config.policy, builder.snapshot());
        Pilot {
            executor: Executor::new(Arc::clone(&ports.cluster)),
            ports,
            machines,
            clouds: Clouds::new(owners(&config)),
            owners,
            config,
            builder,
            freshness: Freshness::default(),
            memory: None,
            pauses: Pauses::default(),
            misread: IndexSet::new(),
            last: None,
            said: Vec::new(),
            rounds: 0,
            recorder,
            metrics,
            herald,
            at: Timestamp::UNIX_EPOCH,
        }
    }

    /// Goes by another configuration from the next round on.
    pub(crate) fn configure(&mut self, config: Arc<Config>) {
        let owners = (self.owners)(&config);
        let (old, new) = (&self.config, &config);
        let changed = |group: &str| {
            (old.clouds.get(group), old.policy.group(group)) != (new.clouds.get(group), new.policy.group(group))
        };
        let gone = self.clouds.replace(owners, changed);
        gone.into_iter().for_each(|change| self.apply(change));
        self.machines.configure(&config.policy, self.builder.snapshot());
        self.move_nodes();
        self.config = config;
    }

    /// Takes in what clouds say of their groups.
    fn hear(&mut self, changes: Vec<Change>) {
        let mut moved = false;
        for change in changes {
            moved |= self.machines.hear(&change);
            self.apply(change);
        }
        if moved {
            self.move_nodes();
        }
    }

    /// Puts every node into the group that its machine is in now.
    fn move_nodes(&mut self) {
        self.machines.moved(self.builder.snapshot()).into_iter().for_each(|change| self.apply(change));
    }

    /// Makes no round, since another instance leads. What was remembered is forgotten: the other one will remember something
    /// else.
    pub(crate) fn stand_by(&mut self) {
        self.memory = None;
        self.last = None;
        self.said = Vec::new();
        self.herald.stand_by();
    }

    /// A new configuration has errors, so that the one before stays.
    pub(crate) fn config_broken(&mut self, errors: &str) {
        let now = self.now();
        self.herald.config_broken(errors, now);
    }

    /// What is still missing for a round.
    pub(crate) fn waits_for(&self) -> Option<&'static str> {
        (!self.freshness.is_known()).then_some("the first lists of the cluster")
    }

    /// The cluster that it looks at.
    pub(crate) fn cluster(&self) -> Arc<dyn Cluster> {
        Arc::clone(&self.ports.cluster)
    }

    /// Takes in what has changed in the cluster. Whether anything has.
    pub(crate) async fn look(&mut self) -> bool {
        let mut observation = self.ports.cluster.observe(self.builder.snapshot()).await;
        let now = self.now();
        self.freshness.note(&mut observation, now);
        for warning in observation.warnings {
            if self.misread.contains(&warning) {
                continue;
            }
            journal::misread(&warning);
            if self.misread.len() >= MISREAD {
                self.misread.shift_remove_index(0);
            }
            self.misread.insert(warning);
        }
        let changed = !observation.changes.is_empty();
        for change in observation.changes {
            self.apply(keep_own(change, self.ports.own_node.as_deref()));
        }
        changed
    }

    /// One round over what was seen at the last look. `hold` is what keeps its plan from being carried out, as far as the caller knows. None while too little
    /// is known.
    pub(crate) async fn round(&mut self, hold: Option<Hold>) -> Option<Flown> {
        if !self.freshness.is_known() {
            return None;
        }
        let begin = Instant::now();
        let now = self.now();
        let before = match &self.memory {
            Some(memory) => memory.clone(),
            None => self.remember(now).await?,
        };
        let (changes, errors) = self.clouds.read(now, self.config.interval).await;
        self.hear(changes);
        errors.iter().for_each(|(groups, error)| journal::cloud_unread(groups, error));
        self.read_pauses(now).await;
        let hold = hold.or_else(|| self.hold(now));
        let policy = self.policy(hold.is_some(), now);
        let start = Instant::now();
        let snapshot = self.builder.snapshot();
        let (plan, after) = tokio::task::block_in_place(|| decide(snapshot, &policy, &before, now));
        let deciding = start.elapsed();
        self.rounds += 1;
        self.record(&policy, &before, &plan, &after);
        let hold = match hold {
            None => self.save(&before, &after).await,
            held => held,
        };
        let mut begun = 0;
        let wake_at = plan.wake_at;
        let waits = |planned: &Planned| self.executor.holds(planned);
        self.said = journal::round(self.builder.snapshot(), &plan, &self.said, hold.as_ref(), waits);
        if hold.is_none() {
            let clouds = &self.clouds;
            begun = self.executor.start(plan.to_execute(), |group| clouds.of(group));
            let told = self.ports.cluster.report(self.builder.snapshot(), &plan.report, now).await;
            told.iter().for_each(journal::not_reported);
        }
        let (ended, took, held) = (self.now(), begin.elapsed(), hold.as_ref().map(Hold::word));
        let snapshot = self.builder.snapshot();
        let seen = Seen { policy: &policy, snapshot, plan: &plan, memory: &after, held, deciding, took, ended };
        self.metrics.round(&seen);
        self.herald.round(&seen, hold.as_ref());
        // What depends on a memory that could not be kept has not happened. What is kept by now is read again, since another
        // instance may have led meanwhile.
        self.memory = (!matches!(hold, Some(Hold::NotRemembered { .. }))).then_some(after);
        self.last = Some(Last { policy, before, plan });
        Some(Flown { number: self.rounds, hold, deciding, begun, wake_at })
    }

    /// What has ended of what was begun; None when nothing is under way.
    pub(crate) async fn next_outcomes(&mut self) -> Option<Vec<Outcome>> {
        let outcomes = self.executor.next().await?;
        let now = self.now();
        self.herald.outcomes(&outcomes, now);
        for outcome in &outcomes {
            journal::outcome(self.builder.snapshot(), outcome);
            self.metrics.acted(&outcome.planned, outcome.result.is_ok());
            let group = &outcome.planned.group;
            self.clouds.touched(group);
            if let Err(Failure::Cloud(error)) = &outcome.result {
                self.clouds.refused(group, error, now);
            }
        }
        Some(outcomes)
    }

    /// Whether nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.executor.is_idle()
    }

    /// Answers about the last round.
    pub(crate) fn answer(&mut self, question: Question) {
        let Some(last) = self.last.take() else { return question(None) };
        let memory = self.memory.clone().unwrap_or_default();
        let builder = std::mem::take(&mut self.builder);
        let warnings = self.misread.iter().map(|text| Warning::of_cluster(text)).collect();
        let dump = Dump { files: vec!["the cluster".to_owned()], builder, warnings, ..Dump::default() };
        let Last { policy: wanted, before, plan } = last;
        let assumed = Assumed { now: Now::Live, made_up: None, undiscovered: Vec::new() };
        let policy = wanted.heeding(dump.builder.snapshot()).into_owned();
        let round = Round { dump, policy, before, plan, memory, assumed };
        question(Some(&round));
        let Round { dump, before, plan, .. } = round;
        self.builder = dump.builder;
        self.last = Some(Last { policy: wanted, before, plan });
    }

    fn apply(&mut self, mut change: Change) {
        self.machines.mark(&mut change);
        if let Some(recorder) = &mut self.recorder {
            recorder.note(&change);
        }
        self.builder.apply(change);
    }

    /// Never earlier than it was before, whatever happens to the clock of the machine.
    pub(crate) fn now(&mut self) -> Timestamp {
        self.at = self.at.max((self.ports.clock)());
        self.at
    }

    /// What an earlier instance remembered. None while nobody can say.
    async fn remember(&mut self, now: Timestamp) -> Option<Memory> {
        let Some(notebook) = &self.ports.notebook else { return Some(Memory::fresh(now)) };
        match notebook.load().await {
            Ok(Some(memory)) => Some(memory),
            Ok(None) => Some(Memory::fresh(now)),
            Err(error @ NotebookError::Lost(_)) => {
                journal::memory_lost(&error);
                self.herald.memory_lost(&error, now);
                Some(Memory::fresh(now))
            }
            Err(error) => {
                journal::memory_unread(&error);
                None
            }
        }
    }

    async fn save(&self, before: &Memory, after: &Memory) -> Option<Hold> {
        let notebook = self.ports.notebook.as_ref()?;
        // The first round of an instance writes, too: what it starts with may have been lost.
        if before == after && self.last.is_some() {
            return None;
        }
        let error = notebook.save(after).await.err()?;
        Some(Hold::NotRemembered { error: error.to_string() })
    }

    /// A recording that cannot be written is no reason not to scale.
    fn record(&mut self, policy: &Policy, before: &Memory, plan: &Plan, after: &Memory) {
        let Some(recorder) = &mut self.recorder else { return };
        let snapshot = self.builder.snapshot();
        let made = Made { number: self.rounds, snapshot, policy, before, plan, after };
        if let Err(error) = recorder.round(&made) {
            journal::not_recorded(&error);
            self.recorder = None;
        }
    }

    async fn read_pauses(&mut self, now: Timestamp) {
        let Some(notebook) = &self.ports.notebook else { return };
        match notebook.pauses().await {
            Ok(pauses) => {
                self.herald.pauses(&self.pauses, &pauses, now);
                self.pauses = pauses;
            }
            Err(error) => journal::pauses_unread(&error),
        }
    }

    fn hold(&self, now: Timestamp) -> Option<Hold> {
        if self.config.policy.dry_run {
            return Some(Hold::DryRun);
        }
        if self.pauses.all.is_some_and(|pause| pause.holds(now)) {
            return Some(Hold::Paused);
        }
        self.freshness.blind(now).map(|(kind, age)| Hold::Blind { kind, age: round_to_seconds(age) })
    }

    /// The policy of this round: what is not to be carried out is only shown.
    fn policy(&self, held: bool, now: Timestamp) -> Policy {
        let mut policy = self.config.policy.clone();
        policy.dry_run |= held;
        for group in &mut policy.groups {
            let paused = self.pauses.groups.get(&*group.name).is_some_and(|pause| pause.holds(now));
            let unowned = matches!(self.config.clouds.get(&group.name), None | Some(Cloud::None));
            if (paused || unowned) && group.mode != Mode::Off {
                group.mode = Mode::DryRun;
            }
        }
        policy
    }
}

/// The node that this program runs on is not removed, whatever else is true of it.
fn keep_own(mut change: Change, own_node: Option<&str>) -> Change {
    if let Change::Node(node) = &mut change
        && own_node == Some(&*node.name)
    {
        node.no_delete = Some("headroom-runs-here".into());
    }
    change
}

fn round_to_seconds(age: SignedDuration) -> SignedDuration {
    SignedDuration::from_secs(age.as_secs())
}
