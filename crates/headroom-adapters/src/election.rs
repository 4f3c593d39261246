//! Who leads: one instance at a time, by a lease that one of them holds.
//!
//! Its holder renews it every few seconds. What elections elsewhere have not is the [`Fence`]: it closes before anybody else
//! could take the lease over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::cluster::ClusterError;
use crate::fence::Fence;

/// No call that an adapter makes waits longer for its answer.
const CALL: Duration = Duration::from_secs(10);

/// What only one instance can hold.
#[async_trait]
pub trait Lease: Send {
    /// Takes the lease if it is free, renews it if it is this instance's, and leaves it alone otherwise.
    async fn turn(&mut self) -> Result<Turn, ClusterError>;

    /// Frees the lease if it is this instance's.
    async fn release(&mut self) -> Result<(), ClusterError>;
}

/// Whose a lease is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// This instance's: it was renewed, and asking for that began at this instant of the fence's clock.
    Ours {
        /// The instant.
        since: Duration,
    },
    /// Somebody else's, who is called so.
    Of(String),
}

/// How long things take in an election. The defaults are those of Kubernetes' own programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long nobody else may lead after the last renewal: whole seconds.
    pub lease: Duration,
    /// A leader that has not been able to renew for so long gives up. Less than four fifths of `lease`.
    pub renew_deadline: Duration,
    /// Between two tries.
    pub retry: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            lease: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        }
    }
}

impl Timing {
    /// For how long after a renewal changes may be started. The rest of the lease is for them to arrive.
    fn fence(&self) -> Duration {
        self.lease - self.lease / 5
    }

    /// How long one try may take, so that there is time for another.
    fn attempt(&self) -> Duration {
        self.renew_deadline / 2
    }
}

/// This instance's part in an election.
///
/// It stands only while somebody waits in [`Election::leading`], and whoever has lost sits out until all that was under way
/// then has ended.
pub struct Election {
    office: Arc<Office>,
    renewing: std::sync::Mutex<Option<JoinHandle<()>>>,
}

/// What the election shares with the task that renews.
struct Office {
    lease: Mutex<Box<dyn Lease>>,
    fence: Fence,
    timing: Timing,
    leads: watch::Sender<bool>,
    /// It has led and lost.
    sits_out: AtomicBool,
}

impl Election {
    /// A part in the election by this lease, which nobody else takes over before `timing` says. `fence` is open while this
    /// instance leads and no longer.
    pub fn new(lease: impl Lease + 'static, timing: Timing, fence: Fence) -> Self {
        let lease: Mutex<Box<dyn Lease>> = Mutex::new(Box::new(lease));
        let office =
            Office { lease, fence, timing, leads: watch::Sender::new(false), sits_out: AtomicBool::new(false) };
        Election { office: Arc::new(office), renewing: std::sync::Mutex::default() }
    }

    /// Stands for election, and returns once this instance leads. From then on it renews by itself.
    pub async fn leading(&self) {
        let office = &self.office;
        if *office.leads.borrow() {
            return;
        }
        if office.sits_out.load(Ordering::SeqCst) {
            // No call waits longer for its answer. It must not be taken for one of the next term.
            sleep(CALL).await;
            office.sits_out.store(false, Ordering::SeqCst);
        }
        let mut holder = String::new();
        loop {
            match office.turn(office.timing.attempt()).await {
                Some(Turn::Ours { since }) => {
                    office.leads.send_replace(true);
                    self.replace_renewal(Some(tokio::spawn(renew(Arc::clone(office), since))));
                    return;
                }
                Some(Turn::Of(other)) if other != holder => {
                    tracing::info!(leader = other, "another instance leads");
                    holder = other;
                }
                Some(Turn::Of(_)) | None => {}
            }
            sleep(office.timing.retry).await;
        }
    }

    /// Returns once this instance does not lead. The fence is closed then.
    pub async fn lost(&self) {
        // It fails when there is no sender any more; this very election has it.
        let _ = self.office.leads.subscribe().wait_for(|leads| !leads).await;
    }

    /// Gives the lease back, so that the next one need not wait for its end. Only for when nothing is under way any more.
    pub async fn release(&self) -> Result<(), ClusterError> {
        let office = &self.office;
        office.fence.close();
        self.replace_renewal(None);
        office.leads.send_replace(false);
        let mut lease = office.lease.lock().await;
        // A renewal that had just come through has opened it again, and no other comes.
        office.fence.close();
        lease.release().await
    }

    /// Stops the task that renews, if there is one, in favour of another.
    fn replace_renewal(&self, task: Option<JoinHandle<()>>) {
        let mut renewing = self.renewing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = std::mem::replace(&mut *renewing, task) {
            before.abort();
        }
    }
}

impl Drop for Election {
    /// A lease that nobody uses is not renewed.
    fn drop(&mut self) {
        self.office.fence.close();
        self.replace_renewal(None);
    }
}

impl Office {
    /// Takes or renews the lease if nobody else has it, and opens the fence for as long as that allows; None when it is not
    /// known within `limit` whose it is.
    async fn turn(&self, limit: Duration) -> Option<Turn> {
        let mut lease = self.lease.lock().await;
        match timeout(limit, lease.turn()).await {
            Ok(Ok(turn)) => {
                if let Turn::Ours { since } = turn {
                    self.fence.extend_to(since + self.timing.fence());
                }
                Some(turn)
            }
            Ok(Err(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the lease was neither taken nor renewed");
                None
            }
            Err(_) => {
                let seconds = limit.as_secs_f64();
                tracing::warn!(seconds, "the lease was neither taken nor renewed: no answer in time");
                None
            }
        }
    }
}

/// Renews the lease that was renewed at `last`, until that fails for too long or somebody else has it.
async fn renew(office: Arc<Office>, mut last: Duration) {
    let Timing { renew_deadline, retry, .. } = office.timing;
    loop {
        // By the fence's clock: the machine may have slept longer than this task.
        let left = || (last + renew_deadline).saturating_sub(office.fence.now());
        sleep(retry.min(left())).await;
        let left = left();
        if left.is_zero() {
            let seconds = renew_deadline.as_secs();
            tracing::warn!(seconds, "the lease could not be renewed in time: this instance gives up");
            break;
        }
        match office.turn(left.min(office.timing.attempt())).await {
            Some(Turn::Ours { since }) => last = since,
            Some(Turn::Of(other)) => {
                tracing::warn!(leader = other, "another instance leads: this one gives up");
                break;
            }
            None => {}
        }
    }
    office.fence.close();
    office.sits_out.store(true, Ordering::SeqCst);
    office.leads.send_replace(false);
}
