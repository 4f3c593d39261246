//! The program itself against a pretended Nomad server, which keeps nodes, jobs and variables.

mod headroom;
mod living;

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Looks again and again until `look` finds what it is after. The error says what there is instead.
async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    loop {
        match look().await {
            Ok(found) => return found,
            Err(state) if start.elapsed() > Duration::from_secs(60) => {
                panic!("never: {what}\nthere is instead: {state}")
            }
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}
