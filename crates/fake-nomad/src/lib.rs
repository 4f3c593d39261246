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
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

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
    /// What serves; None while the server is stopped.
    running: Option<Runtime>,
}

/// A snapshot of what a server keeps.
pub struct Saved(State);

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
        let mut fake = Fake { shared, address, running: None };
        fake.resume()?;
        Ok(fake)
    }

    /// Stops the server: every connection breaks, no other is taken, and time stands still.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shutdown_background();
        }
    }

    /// Starts a server that was stopped, at the same address and with all that it knew. Clients and holders of locks get as
    /// long to be heard as after a renewal.
    pub fn resume(&mut self) -> std::io::Result<()> {
        let listener = std::net::TcpListener::bind(self.address)?;
        listener.set_nonblocking(true)?;
        self.address = listener.local_addr()?;
        // A runtime of its own, since connections end with it.
        let running = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = {
            let _inside = running.enter();
            TcpListener::from_std(listener)?
        };
        self.with(schedule::wake);
        let (served, ticking) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        let app = Router::new().fallback(move |request: Request| answer(Arc::clone(&served), request));
        running.spawn(async move {
            // It is stopped from outside.
            let _ = axum::serve(listener, app).await;
        });
        running.spawn(async move {
            let mut ticks = tokio::time::interval(TICK);
            loop {
                ticks.tick().await;
                ticking.with(|state| schedule::tick(state, ticking.face));
            }
        });
        self.running = Some(running);
        Ok(())
    }

    /// Keeps its state, as `nomad operator snapshot save` does.
    pub fn save(&self) -> Saved {
        Saved(self.shared.state().clone())
    }

    /// Goes back to a state that was kept, and to the number that it had. Whoever waits for a change is answered.
    pub fn restore(&self, saved: &Saved) {
        self.with(|state| {
            state.restore(&saved.0);
            schedule::wake(state);
        });
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

    /// The number of the state from which a list has last been waited for.
    pub fn waits_from(&self, list: &str) -> Option<u64> {
        let state = self.shared.state();
        let own = state.seen.iter().rev().filter(|seen| seen.path == format!("v1/{list}"));
        own.flat_map(|seen| seen.query.split('&')).find_map(|pair| pair.strip_prefix("index=")?.parse().ok())
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
        self.stop();
    }
}

async fn answer(shared: Arc<Shared>, request: Request) -> Response {
    answer::answer(&shared, request).await
}
