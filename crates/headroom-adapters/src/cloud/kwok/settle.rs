//! What a cloud does by itself: machines become nodes when their time has come, and what is to go goes.

use std::sync::Arc;
use std::time::Duration;

use headroom_core::snapshot::{LaunchError, LaunchFailure};
use jiff::Timestamp;

use super::api::Made;
use super::change::{Entry, Shared};
use super::error::KwokError;
use super::state::{Group, Machine};

/// How long is waited after something failed, the first time. Each time doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// At most.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Settles all groups whenever there is something to do.
pub(super) async fn for_ever(shared: Arc<Shared>) {
    let mut failures = 0;
    let mut wait = None;
    loop {
        match wait {
            None => shared.work.notified().await,
            // Work comes while it waits, or it does not: either way it looks.
            Some(wait) => drop(tokio::time::timeout(wait, shared.work.notified()).await),
        }
        let mut next: Option<Timestamp> = None;
        let mut failed = false;
        for entry in &shared.entries {
            match shared.settle(entry).await {
                Ok(due) => next = next.into_iter().chain(due).min(),
                // Whoever leads settles it.
                Err(error) if error.is_fenced() => {}
                Err(error) => {
                    let (group, error): (_, &dyn std::error::Error) = (&*entry.spec.name, &error);
                    tracing::warn!(group, error, "cannot make or remove machines");
                    failed = true;
                }
            }
        }
        failures = if failed { failures + 1 } else { 0 };
        let retry = failed.then(|| FIRST_WAIT.saturating_mul(1 << (failures - 1).min(5)).min(LONGEST_WAIT));
        let due = next.map(|at| Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default());
        wait = retry.into_iter().chain(due).min();
    }
}

impl Shared {
    /// Does what is due for a group. Answers when there is more to do.
    async fn settle(&self, entry: &Entry) -> Result<Option<Timestamp>, KwokError> {
        let _turn = entry.changing.lock().await;
        let mut group = self.objects.group(&entry.spec).await?;
        if group.is_settled() {
            return Ok(None);
        }
        if group.refill(Timestamp::now()) {
            self.store(&mut group).await?;
        }
        let booted = self.boot(entry, &mut group).await;
        self.objects.delete(group.state.leaving.iter().cloned().collect()).await?;
        booted?;
        Ok(group.next_due())
    }

    /// Makes nodes of the machines whose time has come.
    async fn boot(&self, entry: &Entry, group: &mut Group<'_>) -> Result<(), KwokError> {
        let due: Vec<Machine> = group.due(Timestamp::now()).cloned().collect();
        if due.is_empty() {
            return Ok(());
        }
        let template = self.machine(entry).await?.template;
        let mut became = Vec::new();
        let tried = self.objects.make(due, &template, |name, made| became.push((name, made))).await;
        let at = Timestamp::now();
        for (name, made) in &became {
            match made {
                Made::Node => group.booted(name, at),
                Made::Refused(message) => {
                    let message = message.as_str().into();
                    group.fail(name, LaunchFailure { at, error: LaunchError::Refused, message });
                }
            }
        }
        if !became.is_empty() {
            self.store(group).await?;
        }
        tried
    }
}
