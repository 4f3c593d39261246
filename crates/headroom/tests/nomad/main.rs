//! The program itself against a Nomad cluster.
//!
//! Most tests are about a pretended Nomad with both of its faces, whose servers are processes that Headroom starts and ends
//! (`scene`). They run against a real one as they are when `HEADROOM_NOMAD_BIN` names its program (docs/nomad.md).

mod cluster;
mod crashes;
mod growing;
mod headroom;
mod leading;
mod living;
mod scene;
mod shown;
mod shrinking;
mod tap;
mod troubles;

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
