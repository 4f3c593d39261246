//! What the clients of servers say themselves.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use headroom_core::policy::Percent;
use jiff::Timestamp;
use tokio::time::timeout;

use super::Measured;
use crate::cluster::nomad::client::Client;
use crate::cluster::nomad::object::ClientStats;
use crate::cluster::nomad::translate::busy;

/// Clients that are asked at once: a server passes every question on.
const CALLS: usize = 32;

/// How long one may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// Asks the clients of these nodes. Those that do not answer are left out.
pub(super) async fn ask(client: &Client, nodes: &[Arc<str>]) -> Vec<Measured> {
    let answers = nodes.iter().map(|node| async move {
        let answer = timeout(DEADLINE, client.client_stats(node)).await;
        let (busy, at) = answer.ok()?.ok().as_ref().and_then(of)?;
        Some(Measured { node: Arc::clone(node), busy, at })
    });
    futures::stream::iter(answers.collect::<Vec<_>>())
        .buffer_unordered(CALLS)
        .filter_map(async |one| one)
        .collect()
        .await
}

fn of(stats: &ClientStats) -> Option<(Percent, Timestamp)> {
    let at = Timestamp::from_nanosecond(stats.timestamp.into()).ok().filter(|_| stats.timestamp > 0)?;
    Some((busy(stats)?, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_time_is_not_known() {
        let read = |json: &str| of(&serde_json::from_str(json).unwrap()).map(|(busy, at)| (busy.0, at.as_second()));
        let two = r#"{"CPU":[{"Idle":56.44},{"Idle":53.54}],"Timestamp":1795842115220350886}"#;
        assert_eq!(read(two), Some((4501, 1_795_842_115)));
        assert_eq!(read(r#"{"CPU":[{"Idle":50.0}]}"#), None);
        assert_eq!(read(r#"{"CPU":[{"Idle":50.0}],"Timestamp":0}"#), None);
    }
}
