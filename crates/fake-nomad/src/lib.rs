//! A Nomad server that is only pretended, for tests: it keeps nodes, jobs, allocations and variables, places what waits,
//! drains nodes, and answers over HTTP as real ones were seen to answer.
//!
//! It has two faces. The old one is Nomad 1.0, as it was recorded: no paging, no filters, no variables, a drain that is over
//! while tasks still run. The new one is Nomad 1.7 or later, in the shapes of its official Go client.

mod access;
mod allocations;
mod answer;
mod change;
mod jobs;
mod nodes;
mod read;
mod schedule;
mod state;
mod variables;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use access::Token;
pub use jobs::JobSpec;
pub use nodes::NodeSpec;
pub use state::{Failing, Request as Seen};

use state::State;

/// Which Nomad it pretends to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Nomad 1.0.
    Old,
    /// Nomad 1.7 or later.
    New,
}

/// How often what takes time is looked at.
const TICK: Duration = Duration::from_millis(20);

/// A pretended server on loopback. It ends when this is dropped.
pub struct Fake {
    shared: Arc<Shared>,
    address: SocketAddr,
    tasks: Vec<JoinHandle<()>>,
}

/// What requests and the passing of time have to do with.
pub(crate) struct Shared {
    pub(crate) face: Face,
    state: Mutex<State>,
    /// The number of the state, for those who wait for a change.
    pub(crate) changed: watch::Sender<u64>,
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the state, and wakes those who wait if it changed.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let (answer, index) = {
            let mut state = self.state();
            let answer = act(&mut state);
            (answer, state.index)
        };
        self.changed.send_if_modified(|before| std::mem::replace(before, index) != index);
        answer
    }
}

impl Fake {
    /// Starts one on a free port of loopback.
    pub async fn start(face: Face) -> std::io::Result<Self> {
        Fake::start_at(face, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// Starts one at this address.
    pub async fn start_at(face: Face, address: SocketAddr) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { face, state: Mutex::new(State::default()), changed: watch::Sender::new(0) });
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (served, ticking) = (Arc::clone(&shared), Arc::clone(&shared));
        let app = Router::new().fallback(move |request: Request| answer(Arc::clone(&served), request));
        let tasks = vec![
            tokio::spawn(async move {
                // It is stopped from outside.
                let _ = axum::serve(listener, app).await;
            }),
            tokio::spawn(async move {
                let mut ticks = tokio::time::interval(TICK);
                loop {
                    ticks.tick().await;
                    ticking.with(|state| schedule::tick(state, ticking.face));
                }
            }),
        ];
        Ok(Fake { shared, address, tasks })
    }

    /// Where it answers.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request that changes something, in order.
    pub fn changes(&self) -> Vec<Seen> {
        self.shared.state().seen.iter().filter(|seen| seen.method != "GET").cloned().collect()
    }

    /// How many requests there were to paths that begin so.
    pub fn asked(&self, path: &str) -> usize {
        self.shared.state().seen.iter().filter(|seen| seen.path.starts_with(path)).count()
    }

    /// From now on requests fail in this way; None ends that.
    pub fn fail(&self, failing: Option<Failing>) {
        self.shared.state().failing = failing;
    }

    /// Switches the ACL system on; these are its tokens.
    pub fn set_tokens(&self, tokens: Vec<Token>) {
        self.shared.with(|state| state.tokens = Some(tokens));
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        self.shared.with(act)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn answer(shared: Arc<Shared>, request: Request) -> Response {
    answer::answer(&shared, request).await
}
