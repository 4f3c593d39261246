//! Whether this instance may act: it leads, and no other autoscaler is at work.

use std::sync::Arc;
use std::time::Duration;

use headroom_adapters::cluster::kubernetes::lease::{Rival, Rivals};
use headroom_adapters::election::Election;
use jiff::Timestamp;
use tokio::sync::watch;

use super::hold::Hold;
use super::journal;

/// How often the leases of other autoscalers are looked at. They are renewed every few seconds.
const EVERY: Duration = Duration::from_secs(10);

/// Whether this instance may act on the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// It leads, or there is nobody else who could.
    pub(super) leads: bool,
    /// What keeps it from acting all the same.
    pub(super) hold: Option<Hold>,
}

/// Keeps `standing` up to date. Without an election this instance leads, once it is known whether one of `rivals` is at
/// work.
pub(super) async fn watch(
    election: Option<Arc<Election>>,
    mut rivals: Option<Rivals>,
    standing: watch::Sender<Standing>,
) {
    let mut leads = election.is_none();
    let mut hold = None;
    let mut ticks = tokio::time::interval(EVERY);
    // It stands for election only while this is waited for.
    let mut next = std::pin::pin!(turn(election.clone(), leads));
    loop {
        tokio::select! {
            biased;
            _ = ticks.tick() => {
                if let Some(rivals) = &mut rivals {
                    hold = rival(rivals, hold).await;
                }
            }
            () = &mut next => {
                leads = !leads;
                journal::leads(leads);
                next.set(turn(election.clone(), leads));
            }
        }
        let new = Standing { leads, hold: hold.clone() };
        standing.send_if_modified(|old| std::mem::replace(old, new.clone()) != new);
    }
}

/// Returns once this instance leads although it did not, or no longer does.
async fn turn(election: Option<Arc<Election>>, leads: bool) {
    match election {
        None => std::future::pending().await,
        Some(election) if leads => election.lost().await,
        Some(election) => election.leading().await,
    }
}

/// The first autoscaler that is at work. While nobody can say, what was known before counts.
async fn rival(rivals: &mut Rivals, before: Option<Hold>) -> Option<Hold> {
    match rivals.look(Timestamp::now()).await {
        Ok(found) => {
            found.into_iter().next().map(|Rival { program, lease, holder }| Hold::Rival { program, lease, holder })
        }
        Err(error) => {
            journal::rivals_unread(&error);
            before
        }
    }
}
