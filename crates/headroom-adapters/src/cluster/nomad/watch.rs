//! Keeps a reading of the cluster up to date.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{join, join_all};
use headroom_core::policy::Selection;
use headroom_core::snapshot::{Change, Coverage, Kind, Snapshot};
use jiff::Timestamp;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, timeout};

use super::Chain;
use super::act::purge_if_down;
use super::busy::Meter;
use super::client::Client;
use super::known::{Known, Latest};
use super::read::{Reader, Reading};
use super::translate::Sight;
use crate::cluster::Observation;

/// The cluster is read at least as often as this.
const EVERY: Duration = Duration::from_secs(10);

/// And at most so often, or for a fifth of the time if reading takes longer.
const REST: Duration = Duration::from_secs(1);

/// How long a wake-up call waits for a change.
const WAIT: Duration = Duration::from_secs(60);

/// Between two tries of a wake-up call that failed.
const RETRY: Duration = Duration::from_secs(5);

/// Lists whose changes are worth a look.
pub(super) const LISTS: [&str; 3] = ["nodes", "allocations", "jobs"];

/// How long a node whose machine has been removed may take to be down.
const GOING: Duration = Duration::from_secs(300);

/// Reads a cluster as long as this is not dropped.
pub(super) struct Watch {
    shared: Arc<Shared>,
    _running: oneshot::Sender<()>,
}

struct Shared {
    client: Client,
    state: Mutex<State>,
    /// The lists may have changed.
    woken: Notify,
    /// There is a new reading, or none although there should be one.
    news: Notify,
}

#[derive(Default)]
struct State {
    /// The latest change of each object since the last observation.
    changes: Latest,
    coverage: Vec<(Kind, Coverage)>,
    read_at: Option<Timestamp>,
    /// Of the last reading.
    warnings: Vec<String>,
    /// What could not be read.
    unread: Vec<String>,
    measured: Vec<Selection>,
    meter: Meter,
    /// Nodes whose machines have been removed, and since when: they are purged once they are down.
    going: BTreeMap<Arc<str>, Instant>,
}

impl Watch {
    /// Begins to read. How busy servers are is asked of `meter` where one of `measured` selects them.
    ///
    /// All of it goes on in one thread with its own connections: a reading takes much memory and lets it go again, and the
    /// allocator keeps what was let go for the thread that took it.
    pub(super) fn start(client: &Client, measured: Vec<Selection>, meter: Meter) -> Self {
        let state = Mutex::new(State { measured, meter, ..State::default() });
        let (woken, news) = (Notify::new(), Notify::new());
        let shared = Arc::new(Shared { client: client.apart(), state, woken, news });
        let (running, over) = oneshot::channel();
        let reader = Arc::clone(&shared);
        let begun = std::thread::Builder::new().name("nomad".to_owned()).spawn(move || reader.run(over));
        if let Err(error) = begun {
            shared.unread(format!("the cluster cannot be read: there is no thread for it: {error}"));
        }
        Watch { shared, _running: running }
    }

    /// How busy servers are is asked of `meter` where one of these selects them.
    pub(super) fn measure(&self, selections: Vec<Selection>, meter: Meter) {
        let mut state = self.shared.state();
        if (&state.measured, &state.meter) != (&selections, &meter) {
            (state.measured, state.meter) = (selections, meter);
            self.shared.woken.notify_one();
        }
    }

    /// The machine of this node has been removed: it is purged once it is down.
    pub(super) fn going(&self, node: &str) {
        self.shared.state().going.entry(node.into()).or_insert_with(Instant::now);
        self.shared.woken.notify_one();
    }

    /// Something was done: what it changed is worth a look.
    pub(super) fn touched(&self) {
        self.shared.woken.notify_one();
    }

    pub(super) async fn changed(&self) {
        self.shared.news.notified().await;
    }

    /// What has changed since `known`, which took in every observation before.
    pub(super) fn observe(&self, known: &Snapshot) -> Observation {
        let (changes, coverage, read_at, warnings, going) = {
            let mut state = self.shared.state();
            let mut warnings = std::mem::take(&mut state.unread);
            warnings.append(&mut state.warnings);
            let going: HashSet<Arc<str>> = state.going.keys().map(Arc::clone).collect();
            (std::mem::take(&mut state.changes), state.coverage.clone(), state.read_at, warnings, going)
        };
        let ages = BTreeMap::from([(Kind::Nodes, read_at), (Kind::Pods, read_at)]);
        // What is known of a node whose machine has just been removed is from before that.
        let before = going.iter().filter_map(|name| known.node(name));
        let mut latest = Latest(before.map(|view| Change::Node(Box::new(view.node.clone()))).collect());
        latest.extend(changes);
        let Latest(mut changes) = latest;
        changes.extend(coverage.into_iter().map(|(kind, coverage)| Change::Coverage(kind, coverage)));
        for change in &mut changes {
            if let Change::Node(node) = change {
                node.deleting |= going.contains(&node.name);
            }
        }
        changes.retain(|change| !known.has(change));
        Observation { changes, as_of: Timestamp::now(), ages, warnings }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unread(&self, why: String) {
        self.state().unread.push(why);
        self.news.notify_one();
    }

    /// Reads until it is over.
    fn run(&self, over: oneshot::Receiver<()>) {
        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(async {
                tokio::select! {
                    _ = join(self.keep_reading(), join_all(LISTS.map(|list| self.wake(list)))) => {}
                    _ = over => {}
                }
            }),
            Err(error) => self.unread(format!("the cluster cannot be read: {error}")),
        }
    }

    async fn take(&self, Reading { mut sight, at }: Reading, known: &mut Known) {
        let mut going = std::mem::take(&mut self.state().going);
        going.retain(|_, since| since.elapsed() < GOING);
        let names: HashSet<&Arc<str>> = sight.nodes.iter().map(|node| &node.name).collect();
        going.retain(|name, _| names.contains(name));
        let mut gone = HashSet::new();
        for name in going.keys() {
            match purge_if_down(&self.client, name).await {
                Ok(true) => drop(gone.insert(Arc::clone(name))),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(node = &**name, error = &error as &dyn std::error::Error, "the node is not purged");
                }
            }
        }
        going.retain(|name, _| !gone.contains(name));
        sight.nodes.retain(|node| !gone.contains(&node.name));
        for node in &mut sight.nodes {
            node.deleting = going.contains_key(&node.name);
        }
        let Sight { nodes, tasks, coverage, warnings, .. } = sight;
        // What is new is found out here, so that a round looks at nothing else.
        let news = known.news(nodes, tasks);
        let mut state = self.state();
        for (name, since) in going {
            state.going.entry(name).or_insert(since);
        }
        state.changes.extend(news);
        state.warnings = warnings.iter().map(|(object, problem)| format!("{object}: {problem}")).collect();
        (state.coverage, state.read_at) = (coverage, Some(at));
        drop(state);
        self.news.notify_one();
    }

    async fn keep_reading(&self) {
        let (mut reader, mut known) = (Reader::default(), Known::default());
        loop {
            let begin = Instant::now();
            let (measured, meter) = {
                let state = self.state();
                (state.measured.clone(), state.meter.clone())
            };
            match reader.read(&self.client, &measured, &meter).await {
                Ok(reading) => self.take(reading, &mut known).await,
                Err(unread) => self.unread(Chain(&unread).to_string()),
            }
            sleep(REST.max(begin.elapsed() * 4).min(EVERY)).await;
            // Whether it was woken or the time is over is the same.
            let _ = timeout(EVERY, self.woken.notified()).await;
        }
    }

    /// Wakes the reading when a list may have changed.
    async fn wake(&self, list: &'static str) {
        let mut index = 0;
        loop {
            match self.client.wait_for(list, index, WAIT).await {
                Ok(now) => {
                    // The number goes back when a server was restored.
                    if now != index && index > 0 {
                        self.woken.notify_one();
                    }
                    // A server that does not say it answers at once.
                    if now == 0 || now < index {
                        sleep(RETRY).await;
                    }
                    index = if now < index { 0 } else { now };
                }
                Err(_) => {
                    index = 0;
                    sleep(RETRY).await;
                }
            }
        }
    }
}
