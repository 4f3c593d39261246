//! Tells the users of the cluster what is done, what is not, and how everything is.
//!
//! What is told is worked out in the round and written by a task of its own: nothing waits for it, and what comes while
//! it is behind is left out.

mod events;
mod status;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use headroom_adapters::bulletin::{Bulletin, Event, Status};
use headroom_adapters::cluster::ClusterError;
use headroom_adapters::notebook::{NotebookError, Pauses};
use headroom_core::plan::Action;
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::executor::Outcome;
use super::hold::Hold;
use super::journal;
use crate::metrics::Seen;

/// The status is written at most as often as this.
const STATUS_PAUSE: Duration = Duration::from_secs(10);

/// The status is written as often as this although nothing in it has changed: scripts look whether its time stands still.
const STATUS_AGE: Duration = Duration::from_secs(60);

/// What may wait to be told.
const WAITING: usize = 64;

/// What is to be told.
pub(super) enum Message {
    Events(Vec<Event>, Timestamp),
    Status(Status),
}

/// Hands over what is to be told. One that is silent tells nothing.
pub(super) struct Herald {
    told: Option<mpsc::Sender<Message>>,
    /// The pods that each enlargement that is under way was asked for.
    asked: BTreeMap<Arc<str>, Vec<Event>>,
    hold: Option<Hold>,
}

impl Herald {
    /// One that hands over what [`announce`] tells.
    pub(super) fn new() -> (Self, mpsc::Receiver<Message>) {
        let (told, messages) = mpsc::channel(WAITING);
        (Herald { told: Some(told), ..Herald::silent() }, messages)
    }

    /// One that tells nothing, for dry runs.
    pub(super) fn silent() -> Self {
        Herald { told: None, asked: BTreeMap::new(), hold: None }
    }

    /// Tells of a round.
    pub(super) fn round(&mut self, seen: &Seen<'_>, hold: Option<&Hold>) {
        if self.told.is_none() {
            return;
        }
        let now = seen.plan.at;
        let mut events = events::of_hold(self.hold.as_ref(), hold);
        self.hold = hold.cloned();
        if hold.is_none() {
            for (group, pods) in events::of_resizes(seen.plan, seen.snapshot) {
                self.asked.entry(group).or_insert(pods);
            }
            events.extend(events::of_refusals(&seen.plan.report, seen.snapshot));
        }
        self.hand_over(Message::Status(status::status(seen, hold)));
        self.events(events, now);
    }

    /// Tells what came of actions.
    pub(super) fn outcomes(&mut self, outcomes: &[Outcome], now: Timestamp) {
        let mut events = Vec::new();
        for outcome in outcomes {
            events.extend(events::of_outcome(outcome));
            if let Action::Resize { .. } = outcome.planned.action {
                let pods = self.asked.remove(&outcome.planned.group);
                events.extend(pods.filter(|_| outcome.result.is_ok()).unwrap_or_default());
            }
        }
        self.events(events, now);
    }

    /// Tells what users have paused or resumed.
    pub(super) fn pauses(&self, before: &Pauses, after: &Pauses, now: Timestamp) {
        self.events(events::of_pauses(before, after), now);
    }

    /// Tells that the configuration has errors.
    pub(super) fn config_broken(&self, errors: &str, now: Timestamp) {
        self.events(vec![events::of_config(errors)], now);
    }

    /// Tells that what was remembered is lost.
    pub(super) fn memory_lost(&self, error: &NotebookError, now: Timestamp) {
        self.events(vec![events::of_lost_memory(error)], now);
    }

    /// Another instance leads, and tells what there is to be told.
    pub(super) fn stand_by(&mut self) {
        self.asked.clear();
        self.hold = None;
    }

    fn events(&self, events: Vec<Event>, now: Timestamp) {
        if !events.is_empty() {
            self.hand_over(Message::Events(events, now));
        }
    }

    fn hand_over(&self, message: Message) {
        // What lasts is handed over again in the next round.
        if let Some(told) = &self.told
            && told.try_send(message).is_err()
        {
            journal::behind();
        }
    }
}

/// Tells what is handed over, until nobody can hand over anything any more.
pub(super) async fn announce(bulletin: impl Bulletin, mut messages: mpsc::Receiver<Message>) {
    let mut page = Page { shown: None, next: None, due: Instant::now() };
    loop {
        let (due, waits) = (page.due, page.next.is_some());
        tokio::select! {
            biased;
            message = messages.recv() => match message {
                None => return page.post(&bulletin).await,
                Some(Message::Status(status)) => page.take(status),
                Some(Message::Events(events, now)) => report(bulletin.tell(events, now).await),
            },
            () = sleep_until(due), if waits => page.post(&bulletin).await,
        }
    }
}

/// When the status is written.
struct Page {
    shown: Option<Status>,
    next: Option<Status>,
    due: Instant,
}

impl Page {
    fn take(&mut self, status: Status) {
        let same = self.shown.as_ref().is_some_and(|shown| Status { at: shown.at, ..status.clone() } == *shown);
        let fresh = Instant::now() < self.due + (STATUS_AGE - STATUS_PAUSE);
        self.next = (!same || !fresh).then_some(status);
    }

    async fn post(&mut self, bulletin: &impl Bulletin) {
        let Some(status) = self.next.take() else { return };
        self.due = Instant::now() + STATUS_PAUSE;
        let answer = bulletin.post(&status).await;
        self.shown = answer.is_ok().then_some(status);
        report(answer);
    }
}

/// Nothing depends on what is told, and who does not lead has nothing to tell.
fn report(answer: Result<(), ClusterError>) {
    match answer {
        Ok(()) | Err(ClusterError::NotLeading) => {}
        Err(error) => journal::not_told(&error),
    }
}

#[cfg(test)]
mod tests;
