//! What the running program shows of itself, and how it is asked about its last round.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, Instant};

use crate::dump::Round;
use crate::metrics::Metrics;

/// How long without a round the program still counts as healthy, beside three intervals.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long an answer may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// A question about the last round, to be answered between two rounds.
pub(crate) type Question = Box<dyn FnOnce(Option<&Round>) + Send>;

/// What is shown to the outside.
pub(crate) struct Board {
    /// What Prometheus reads.
    pub(crate) metrics: Arc<Metrics>,
    questions: mpsc::Sender<Question>,
    state: Mutex<State>,
}

struct State {
    looked: Instant,
    interval: Duration,
    /// What keeps the program from being ready.
    waits_for: Option<&'static str>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// No round has been made.
    #[error("no round has been made yet")]
    NoRound,
    /// The program ends, or does not get to it.
    #[error("the program does not get to answer")]
    Busy,
}

impl Board {
    /// A board, and the questions that are put to it.
    pub(crate) fn new(metrics: Arc<Metrics>) -> (Self, mpsc::Receiver<Question>) {
        let (questions, asked) = mpsc::channel(16);
        let waits_for = Some("the first lists of the cluster");
        let state = State { looked: Instant::now(), interval: Duration::ZERO, waits_for };
        (Board { metrics, questions, state: Mutex::new(state) }, asked)
    }

    /// The cluster was looked at. `waits_for` is what is still missing for a round.
    pub(crate) fn looked(&self, interval: Duration, waits_for: Option<&'static str>) {
        *self.state() = State { looked: Instant::now(), interval, waits_for };
    }

    /// Since when there has been no look at the cluster, where that is too long.
    pub(crate) fn stopped(&self) -> Option<Duration> {
        let state = self.state();
        let silent = state.looked.elapsed();
        (silent > PATIENCE.max(state.interval * 3)).then_some(silent)
    }

    /// What keeps the program from being ready.
    pub(crate) fn waits_for(&self) -> Option<&'static str> {
        self.state().waits_for
    }

    /// Asks about the last round.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Round) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let (answer, answered) = oneshot::channel();
        let question: Question = Box::new(move |round| {
            // Whoever asked may have gone.
            let _ = answer.send(round.map(question));
        });
        let asked = async {
            self.questions.send(question).await.map_err(|_| NoAnswer::Busy)?;
            answered.await.map_err(|_| NoAnswer::Busy)?.ok_or(NoAnswer::NoRound)
        };
        tokio::time::timeout(DEADLINE, asked).await.unwrap_or(Err(NoAnswer::Busy))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
