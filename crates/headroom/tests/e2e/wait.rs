//! Waiting for a cluster to get somewhere.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Looks again and again until `look` finds what it is after. The error says what there is instead.
///
/// # Panics
/// After `seconds`, with what was waited for and what there was at last.
pub(crate) async fn wait_until<T>(what: &str, seconds: u64, mut look: impl AsyncFnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    loop {
        match look().await {
            Ok(found) => return found,
            Err(state) if start.elapsed() > Duration::from_secs(seconds) => {
                panic!("after {seconds} s still not: {what}\nthere is instead: {state}")
            }
            Err(_) => sleep(Duration::from_millis(200)).await,
        }
    }
}
