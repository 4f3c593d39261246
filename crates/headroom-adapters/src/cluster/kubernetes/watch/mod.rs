//! Watches of everything in a cluster that a decision may depend on.
//!
//! One task follows each resource of the API: it lists all objects, streamed where the API server does that, and then
//! watches for changes. An object is translated as soon as it is read, and nothing else of it is kept; the latest change
//! of each waits for the next observation. Why not `kube::runtime::watcher`: it does not tell when it last heard from
//! the server, and so not how old what is known may be, and it waits for an answer for as long as it takes.
//!
//! What capacity buffers refer to may be of any kind; of those that are not watched the scale is read now and then.

mod buffers;
mod connection;
mod follow;
mod request;
mod resource;
mod scalables;
mod scales;
mod state;
mod timing;
mod warnings;

use std::sync::Arc;

use headroom_core::snapshot::Snapshot;
use kube::Client;
use tokio::task::JoinSet;

use self::follow::{Follower, Shared};
use self::resource::{BUFFERS, BUILT_IN, POD_TEMPLATES};
use self::state::State;
use self::timing::{Pauses, Timing};
use crate::cluster::Observation;

/// Watches a cluster for as long as it lives.
///
/// Whatever goes wrong is tried again: history that is too old, dropped connections, an API server that is away, rights
/// that are missing and granted later. Meanwhile [`Observation::ages`] says until when each kind is known.
#[derive(Debug)]
pub struct Watches {
    shared: Arc<Shared>,
    /// They end with it.
    _tasks: JoinSet<()>,
}

impl Watches {
    /// Begins to watch. It has to be called within a tokio runtime.
    pub fn start(client: Client) -> Self {
        Watches::with_timing(client, Timing::default())
    }

    fn with_timing(client: Client, timing: Timing) -> Self {
        let shared = Arc::new(Shared::new(State::new(BUILT_IN.iter().chain([&BUFFERS[0], &POD_TEMPLATES]))));
        let mut tasks = JoinSet::new();
        for resource in &BUILT_IN {
            let follower = Follower::new(client.clone(), resource, Arc::clone(&shared), timing);
            tasks.spawn(always(follower, timing));
        }
        tasks.spawn(buffers::follow(client.clone(), Arc::clone(&shared), timing));
        tasks.spawn(scales::follow(client, Arc::clone(&shared), timing));
        Watches { shared, _tasks: tasks }
    }

    /// What has changed since `known`, the snapshot that took in every observation before; everything, the first time.
    /// Changes of what decisions do not depend on, such as the heartbeats of nodes, are not among it.
    ///
    /// Objects of a kind may come before all of them are known. What a list that had to be read again lacks is gone.
    pub fn observe(&self, known: &Snapshot) -> Observation {
        self.shared.state().observe(known)
    }

    /// Returns once there may be something new to observe. One caller at a time.
    pub async fn changed(&self) {
        self.shared.changed.notified().await;
    }
}

/// Where the API server may have capacity buffers, as `apis/GROUP/VERSION`, the newest version first.
pub(super) fn buffer_groups() -> impl Iterator<Item = &'static str> {
    BUFFERS.iter().map(|resource| resource.group)
}

/// Follows what every cluster has: an API server that is just starting may not serve it yet.
async fn always(follower: Follower, timing: Timing) {
    let mut pauses = Pauses::new(timing);
    loop {
        follower.follow().await;
        follower.warn("not served by the API server; it is tried again");
        pauses.pause().await;
    }
}

#[cfg(test)]
mod tests;
