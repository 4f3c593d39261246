//! Pods that were to go to machines on their way, and have lost their places to others.
//!
//! The scheduler spreads pods where Headroom packs them. So while many new machines fill up, a few pods show, one after the
//! other, for which there is no room any more. How many there are is known once the machines are there: until then, and for
//! [`PATIENCE`] at the most, nothing is bought for them. Pods that are new never wait for that.

use jiff::{SignedDuration, Timestamp};

use super::open::Open;
use crate::memory::Growth;
use crate::round::Round;

/// A scheduler binds a hundred pods a second and more.
const PATIENCE: SignedDuration = SignedDuration::from_secs(10);

/// What pods mean for which there is no place.
pub(super) enum Left {
    /// Something is to be bought for them.
    Buy,
    /// They are what is left over of the last growth, and wait until this time.
    Stranded(Timestamp),
}

/// Judges `left` pods of `waiting` for which there is no place, and says what is remembered of the last growth if nothing is
/// bought now.
pub(super) fn judge(round: &Round<'_>, open: &[Open<'_>], waiting: u64, left: u64) -> (Left, Option<Growth>) {
    let Some(growth) = round.memory.growth.filter(|growth| is_under_way(round, open, growth)) else {
        return (Left::Buy, None);
    };
    let fewer = Growth { waiting: growth.waiting.min(waiting), stranded: None, ..growth };
    if left == 0 {
        return (Left::Buy, Some(fewer));
    }
    let since = growth.stranded.unwrap_or(round.now);
    let until = since.saturating_add(PATIENCE).unwrap_or(Timestamp::MAX);
    if waiting > growth.waiting || round.now >= until {
        return (Left::Buy, None);
    }
    (Left::Stranded(until), Some(Growth { stranded: Some(since), ..fewer }))
}

/// What is remembered after machines were bought for all of `waiting` pods: nothing if they are only shown.
pub(super) fn grown(round: &Round<'_>, open: &[Open<'_>], waiting: u64) -> Option<Growth> {
    let shown = |open: &Open<'_>| open.planned > open.size && round.only_shows(open.group);
    (!open.iter().any(shown)).then_some(Growth { at: round.now, waiting, stranded: None })
}

/// Whether machines are still to come, and the cloud has refused none.
fn is_under_way(round: &Round<'_>, open: &[Open<'_>], growth: &Growth) -> bool {
    let failed = |open: &Open<'_>| {
        let failure = round.snapshot.group(&open.group.name).and_then(|cloud| cloud.failure.as_ref());
        failure.is_some_and(|failure| failure.at >= growth.at)
    };
    let comes = |open: &Open<'_>| open.machines.unregistered > 0 || !open.machines.booting.is_empty();
    open.iter().any(comes) && !open.iter().any(failed)
}
