//! The live program: rounds over a real cluster and its clouds, until it is told to end.

mod board;
mod clouds;
mod executor;
mod freshness;
mod herald;
mod hold;
mod http;
mod journal;
mod kubernetes;
mod machines;
pub(crate) mod nomad;
mod owners;
mod pace;
mod pilot;
mod read;
mod recorder;
mod reload;
mod serve;
mod session;
mod source;
mod standing;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::sleep_until;

use board::{Board, Question};
use hold::Hold;
use pace::Pace;
use pilot::Pilot;
use standing::Standing;

pub(crate) use read::read;
pub(crate) use serve::{ServeOptions, serve};
pub(crate) use session::{Options, machine_name, run};

use crate::config::Config;

/// How long actions that are under way may take once the program is told to end.
const LAST_ACTIONS: Duration = Duration::from_secs(15);

/// What others say while the program runs.
struct Controls {
    standing: watch::Receiver<Standing>,
    questions: mpsc::Receiver<Question>,
    /// A configuration whenever there is a new one, or what is wrong with it.
    configurations: mpsc::Receiver<Result<Arc<Config>, String>>,
    /// Turns true once.
    end: watch::Receiver<bool>,
}

/// Why the rounds ended.
enum Ended {
    /// The program was told to end.
    Told,
    /// A configuration needs other connections.
    Reconfigured(Arc<Config>),
}

/// Makes rounds until the end is near: soon after every change, and at least once in an interval.
async fn fly(mut pilot: Pilot, mut controls: Controls, board: &Board, mut config: Arc<Config>) -> Ended {
    let cluster = pilot.cluster();
    let mut pace = Pace::new(config.interval);
    let mut shown: Option<Option<Hold>> = None;
    let ended = loop {
        let due = pace.next();
        tokio::select! {
            biased;
            _ = controls.end.wait_for(|end| *end) => break Ended::Told,
            Some(outcomes) = pilot.next_outcomes(), if !pilot.is_idle() => {
                if !outcomes.is_empty() {
                    pace.ask();
                }
            }
            Some(new) = controls.configurations.recv() => {
                let new = match new {
                    Ok(new) => new,
                    Err(errors) => {
                        pilot.config_broken(&errors);
                        continue;
                    }
                };
                if needs_connections(&config, &new) {
                    break Ended::Reconfigured(new);
                }
                pace.set_interval(new.interval);
                pace.ask();
                pilot.configure(Arc::clone(&new));
                config = new;
            }
            Some(question) = controls.questions.recv() => pilot.answer(question),
            Ok(()) = controls.standing.changed() => pace.ask(),
            () = sleep_until(due) => {
                let news = pilot.look().await;
                if !news && !pace.is_due() {
                    pace.nothing_new();
                    continue;
                }
                let Standing { leads, hold } = controls.standing.borrow_and_update().clone();
                let flown = if leads {
                    pilot.round(hold).await
                } else {
                    pilot.stand_by();
                    None
                };
                let interval = Duration::try_from(config.interval).unwrap_or_default();
                board.looked(interval, pilot.waits_for());
                if let Some(flown) = &flown {
                    journal::flown(flown);
                    if shown.as_ref() != Some(&flown.hold) {
                        journal::hold(flown.hold.as_ref());
                        shown = Some(flown.hold.clone());
                    }
                }
                pace.round_ended(pilot.now(), flown.and_then(|flown| flown.wake_at));
            }
            () = cluster.changed() => pace.change(),
        }
    };
    // What was begun is ended, so that nobody has to find out how far it came.
    let rest = async { while pilot.next_outcomes().await.is_some() {} };
    if tokio::time::timeout(LAST_ACTIONS, rest).await.is_err() {
        journal::cut_off();
    }
    ended
}

/// Whether more than the next plan depends on what has changed.
fn needs_connections(old: &Config, new: &Config) -> bool {
    (old.policy.dry_run, &old.live, &old.cluster) != (new.policy.dry_run, &new.live, &new.cluster)
}
