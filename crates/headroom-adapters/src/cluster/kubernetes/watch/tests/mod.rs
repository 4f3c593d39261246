//! The watches against an API server on the loopback interface.

mod objects;
mod recovery;
mod scales;
mod seen;
mod server;

use std::fmt::Write as _;
use std::time::Duration;

use headroom_core::snapshot::{Builder, Coverage, Kind, Snapshot};

use self::server::ApiServer;
use super::Watches;
use super::timing::Timing;
use crate::cluster::Observation;

/// Everything goes fast, so that tests do.
fn fast() -> Timing {
    Timing {
        watch: Duration::from_secs(1),
        grace: Duration::from_millis(300),
        answer: Duration::from_millis(700),
        page: 2,
        first_pause: Duration::from_millis(20),
        longest_pause: Duration::from_millis(100),
        discovery: Duration::from_millis(100),
        scales: Duration::from_millis(100),
        ..Timing::default()
    }
}

/// Watches of a server, and what they have seen.
struct Watching {
    server: ApiServer,
    watches: Watches,
    builder: Builder,
    warnings: Vec<String>,
    /// How many changes of objects there were.
    changes: usize,
    last: Option<Observation>,
}

impl Watching {
    fn start(server: ApiServer) -> Self {
        Watching {
            watches: Watches::with_timing(server.client(), fast()),
            server,
            builder: Builder::new(),
            warnings: Vec::new(),
            changes: 0,
            last: None,
        }
    }

    /// Observes once.
    fn observe(&mut self) {
        let mut observation = self.watches.observe(self.builder.snapshot());
        for change in &observation.changes {
            self.changes += usize::from(change.object().is_some());
            self.builder.apply(change.clone());
        }
        self.warnings.append(&mut observation.warnings);
        self.last = Some(observation);
    }

    /// Observes until that is so. It fails after some seconds.
    async fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        loop {
            self.observe();
            if is_so(self) {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "not so: {what}\n{}", self.text());
            tokio::time::timeout(Duration::from_millis(50), self.watches.changed()).await.ok();
        }
    }

    /// Observes until every kind is complete.
    async fn complete(&mut self) {
        self.until("all complete", |it| Kind::ALL.iter().all(|kind| it.coverage(*kind) == Coverage::Complete)).await;
    }

    fn snapshot(&self) -> &Snapshot {
        self.builder.snapshot()
    }

    fn coverage(&self, kind: Kind) -> Coverage {
        self.snapshot().coverage(kind)
    }

    fn names(&self, kind: Kind) -> Vec<String> {
        let mut names: Vec<_> = self.snapshot().objects(kind).iter().map(name).collect();
        names.sort();
        names
    }

    /// How long ago a kind was last known to be complete.
    fn age(&self, kind: Kind) -> Option<Duration> {
        let Observation { as_of, ages, .. } = self.last.as_ref()?;
        let age: jiff::SignedDuration = as_of.duration_since(ages[&kind]?);
        Some(age.unsigned_abs())
    }

    /// What is there, a kind a line; and the warnings.
    fn text(&self) -> String {
        let mut text = String::new();
        for kind in Kind::ALL {
            let line = format!("{kind} {:?}: {}", self.coverage(kind), self.names(kind).join(" "));
            writeln!(text, "{}", line.trim_end_matches([' ', ':'])).unwrap();
        }
        for warning in &self.warnings {
            writeln!(text, "! {warning}").unwrap();
        }
        text
    }
}

fn name(key: &headroom_core::snapshot::ObjectKey) -> String {
    if key.namespace.is_empty() { key.name.to_string() } else { format!("{}/{}", key.namespace, key.name) }
}
