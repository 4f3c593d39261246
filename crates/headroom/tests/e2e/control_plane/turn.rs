//! Which tests run at the same time.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit};

/// A control plane needs 700 MiB and, while it starts, a cpu and more.
static CONTROL_PLANES: Semaphore = Semaphore::const_new(1);
static TESTS: RwLock<()> = RwLock::const_new(());

/// Whoever has one may run.
pub(super) struct Turn {
    _plane: Option<SemaphorePermit<'static>>,
    _others: Option<RwLockReadGuard<'static, ()>>,
    _alone: Option<RwLockWriteGuard<'static, ()>>,
}

impl Turn {
    pub(super) async fn beside_others() -> Self {
        Self { _plane: None, _others: Some(TESTS.read().await), _alone: None }
    }

    /// Beside others, with a control plane besides the one that is shared.
    pub(super) async fn with_a_control_plane() -> Self {
        // The plane first: who waits for one keeps nobody from being alone.
        let plane = CONTROL_PLANES.acquire().await.expect("never closed");
        Self { _plane: Some(plane), ..Self::beside_others().await }
    }

    /// While nobody else runs.
    pub(super) async fn alone() -> Self {
        Self { _plane: None, _others: None, _alone: Some(TESTS.write().await) }
    }
}
