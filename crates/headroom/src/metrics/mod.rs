//! What Prometheus reads. A round sets every gauge anew, so that what is no more leaves no trace; what was done is
//! counted.

mod compatible;
mod names;
mod page;
mod samples;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use headroom_core::memory::Memory;
use headroom_core::plan::{Action, Plan, Planned};
use headroom_core::policy::Policy;
use headroom_core::snapshot::Snapshot;
use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

pub use compatible::Compatible;
use names::{ACTIONS, ADDED, DECIDING, Declared, GAUGES, REMOVED, ROUND};
pub use page::page;
use samples::{Sample, samples, word};

/// What the names of Headroom's metrics begin with.
const PREFIX: &str = "headroom_";
/// Seconds. A round of a large cluster takes tenths of one; a minute is far too long.
const BUCKETS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];

type LabelSet = Vec<(&'static str, String)>;
type Gauges = Family<LabelSet, Gauge<f64, AtomicU64>>;
type Counters = Family<LabelSet, Counter>;

/// A round that has ended.
pub struct Seen<'a> {
    /// What was wanted.
    pub policy: &'a Policy,
    /// The cluster that it saw.
    pub snapshot: &'a Snapshot,
    /// What it came to.
    pub plan: &'a Plan,
    /// What is remembered after it.
    pub memory: &'a Memory,
    /// The word for what keeps the plan from being carried out.
    pub held: Option<&'static str>,
    /// How long deciding took.
    pub deciding: Duration,
    /// How long the whole round took.
    pub took: Duration,
    /// When it ended.
    pub ended: Timestamp,
}

/// All metrics. It can be shared between the loop and whoever serves them.
pub struct Metrics(Mutex<Inner>);

struct Inner {
    registry: Registry,
    gauges: BTreeMap<&'static str, (&'static [&'static str], Gauges)>,
    compatible: Vec<Compatible>,
    deciding: Histogram,
    rounds: Histogram,
    actions: Counters,
    added: Counters,
    removed: Counters,
}

impl Metrics {
    /// Nothing has happened yet. The names of other programs are offered besides Headroom's own.
    pub fn new(compatible: &[Compatible]) -> Self {
        let mut registry = Registry::default();
        let mut gauges = BTreeMap::new();
        let named = GAUGES.iter().map(|declared| (PREFIX, declared));
        let others = compatible.iter().flat_map(|names| names.gauges()).map(|declared| ("", declared));
        for (prefix, declared) in named.chain(others) {
            let family = Gauges::default();
            registry.register(format!("{prefix}{}", declared.name), declared.help, family.clone());
            gauges.insert(declared.name, (declared.labels, family));
        }
        let mut own = Own(&mut registry);
        let (deciding, rounds) = (own.histogram(&DECIDING), own.histogram(&ROUND));
        let (actions, added, removed) = (own.counters(&ACTIONS), own.counters(&ADDED), own.counters(&REMOVED));
        let compatible = compatible.to_vec();
        Metrics(Mutex::new(Inner { registry, gauges, compatible, deciding, rounds, actions, added, removed }))
    }

    /// Takes in a round.
    pub fn round(&self, seen: &Seen<'_>) {
        let mut samples = samples(seen);
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let others: Vec<Sample> = inner.compatible.iter().flat_map(|names| names.samples(seen, &samples)).collect();
        samples.extend(others);
        inner.gauges.values().for_each(|(_, family)| {
            family.clear();
        });
        for Sample { of, labels, value } in samples {
            if let Some((names, family)) = inner.gauges.get(of) {
                family.get_or_create(&names.iter().copied().zip(labels).collect()).set(value);
            }
        }
        inner.deciding.observe(seen.deciding.as_secs_f64());
        inner.rounds.observe(seen.took.as_secs_f64());
    }

    /// Takes in what became of an action.
    pub fn acted(&self, planned: &Planned, done: bool) {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let group = || ("group", planned.group.to_string());
        let result = if done { "done" } else { "failed" };
        let labels = vec![group(), ("action", word(&planned.action)), ("result", result.to_owned())];
        inner.actions.get_or_create(&labels).inc();
        match &planned.action {
            Action::Resize { from, to } if done && to > from => {
                inner.added.get_or_create(&vec![group()]).inc_by(u64::from(to - from));
            }
            Action::Remove { .. } | Action::WriteOff { .. } if done => {
                inner.removed.get_or_create(&vec![group(), ("reason", word(&planned.reason))]).inc();
            }
            _ => {}
        }
    }

    /// The text that Prometheus reads (`application/openmetrics-text; version=1.0.0; charset=utf-8`).
    pub fn text(&self) -> Result<String, fmt::Error> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        encode(&mut text, &inner.registry)?;
        Ok(text)
    }
}

/// Registers metrics under Headroom's own names.
struct Own<'r>(&'r mut Registry);

impl Own<'_> {
    fn histogram(&mut self, declared: &Declared) -> Histogram {
        let histogram = Histogram::new(BUCKETS);
        self.0.register(format!("{PREFIX}{}", declared.name), declared.help, histogram.clone());
        histogram
    }

    fn counters(&mut self, declared: &Declared) -> Counters {
        let counters = Counters::default();
        self.0.register(format!("{PREFIX}{}", declared.name), declared.help, counters.clone());
        counters
    }
}
