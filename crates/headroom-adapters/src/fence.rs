//! Until when this instance may start to change anything.
//!
//! Two instances must never act at once. The leader's lease ends at an instant that it knows; the fence closes before
//! that, by itself, whatever the process was doing: a machine that was suspended or a process that was stopped finds it
//! closed when it goes on. Therefore it counts by `CLOCK_BOOTTIME`, which does not stand still meanwhile, and is looked at
//! right before each change, never ahead of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// macOS and others count the time in which the machine is suspended in their monotonic clock.
#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOCK: ClockId = ClockId::Monotonic;

/// An instant until which changes may be started. Clones are the same fence.
#[derive(Clone)]
pub struct Fence(Arc<Inner>);

struct Inner {
    /// Nanoseconds of the clock; changes may start before it.
    until: AtomicU64,
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
}

/// This instance may not change anything now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this instance does not lead, or may not by now: nothing was sent")]
pub struct Fenced;

impl Fence {
    /// A fence that stays open: without an election everybody may act.
    pub fn open() -> Self {
        Fence::new(u64::MAX, boottime)
    }

    /// A fence that is closed until [`Fence::extend_to`] opens it.
    pub fn closed() -> Self {
        Fence::new(0, boottime)
    }

    /// Whether a change may be started now.
    pub fn check(&self) -> Result<(), Fenced> {
        let until = self.0.until.load(Ordering::SeqCst);
        if nanoseconds(self.now()) < until { Ok(()) } else { Err(Fenced) }
    }

    /// Opens it until this instant of [`Fence::now`].
    pub fn extend_to(&self, boottime: Duration) {
        self.0.until.store(nanoseconds(boottime), Ordering::SeqCst);
    }

    /// Closes it at once.
    pub fn close(&self) {
        self.0.until.store(0, Ordering::SeqCst);
    }

    /// The time since the machine was started, its sleep included.
    pub fn now(&self) -> Duration {
        (self.0.clock)()
    }

    fn new(until: u64, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Fence(Arc::new(Inner { until: AtomicU64::new(until), clock: Box::new(clock) }))
    }

    /// A closed fence with a clock of the test's own.
    #[cfg(test)]
    pub(crate) fn closed_by(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Fence::new(0, clock)
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fence").field(&self.check()).finish()
    }
}

/// The time since the machine started, that in which it was suspended included.
pub(crate) fn boottime() -> Duration {
    let now = clock_gettime(CLOCK);
    // Neither is ever below zero.
    Duration::new(u64::try_from(now.tv_sec).unwrap_or_default(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_closes_by_itself() {
        let fence = Fence::closed();
        assert_eq!(fence.check(), Err(Fenced));
        fence.extend_to(fence.now() + Duration::from_millis(50));
        assert_eq!(fence.check(), Ok(()));
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(fence.check(), Err(Fenced));
    }

    #[test]
    fn without_an_election_it_stays_open_until_it_is_closed() {
        let fence = Fence::open();
        let same = fence.clone();
        assert_eq!(fence.check(), Ok(()));
        same.close();
        assert_eq!(fence.check(), Err(Fenced));
    }
}
