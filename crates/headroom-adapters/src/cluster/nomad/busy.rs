//! How busy the cpus of servers are, as their own clients say.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use headroom_core::policy::Percent;
use jiff::{SignedDuration, Timestamp};
use tokio::time::{Instant, timeout};

use super::client::{Client, ClientStats};

/// Clients that are asked at once: a server passes every question on.
const CALLS: usize = 32;

/// How long one may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// Asked no sooner than this again: it is measured over a second or more.
const EVERY: Duration = Duration::from_secs(10);

/// What is older is not known any more.
const LIMIT: SignedDuration = SignedDuration::from_mins(1);

/// What clients said last.
#[derive(Debug, Default)]
pub(super) struct Busy {
    asked: Option<Instant>,
    known: BTreeMap<Arc<str>, (Percent, Timestamp)>,
}

impl Busy {
    /// Asks the clients of these nodes, unless that was done just now.
    pub(super) async fn ask(&mut self, client: &Client, nodes: Vec<Arc<str>>) {
        let new = nodes.iter().any(|node| !self.known.contains_key(node));
        if self.asked.is_some_and(|asked| asked.elapsed() < EVERY) && !new {
            return;
        }
        self.asked = Some(Instant::now());
        let answers = nodes.into_iter().map(|node| async move {
            let answer = timeout(DEADLINE, client.client_stats(&node)).await;
            (node, answer.ok().and_then(Result::ok).and_then(|stats| of(&stats)))
        });
        let answers: Vec<_> =
            futures::stream::iter(answers.collect::<Vec<_>>()).buffer_unordered(CALLS).collect().await;
        // One that does not answer stays known for a while.
        let mut before = std::mem::take(&mut self.known);
        self.known = answers
            .into_iter()
            .filter_map(|(node, answer)| answer.or_else(|| before.remove(&node)).map(|answer| (node, answer)))
            .collect();
    }

    /// How busy each is that said so lately enough.
    pub(super) fn at(&self, now: Timestamp) -> impl Iterator<Item = (&Arc<str>, Percent)> {
        let fresh = move |at: Timestamp| now.duration_since(at) < LIMIT;
        self.known.iter().filter(move |(_, (_, at))| fresh(*at)).map(|(node, (busy, _))| (node, *busy))
    }
}

/// The mean over all cores, and when it was measured. What cannot be one is not known.
fn of(stats: &ClientStats) -> Option<(Percent, Timestamp)> {
    let at = Timestamp::from_nanosecond(stats.timestamp.into()).ok().filter(|_| stats.timestamp > 0)?;
    let idle: Vec<f64> = stats.cpu.iter().flatten().filter_map(|core| core.idle).collect();
    let cores = stats.cpu.as_ref().map_or(0, Vec::len);
    if idle.is_empty() || idle.len() < cores || idle.iter().any(|idle| !idle.is_finite()) {
        return None;
    }
    let sum: f64 = idle.iter().map(|idle| 100.0 - idle.clamp(0.0, 100.0)).sum();
    // Between 0 and 10,000 by now.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let hundredths = (sum / idle.len() as f64 * 100.0).round() as u32;
    Some((Percent(hundredths), at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<(u32, i64)> {
        of(&serde_json::from_str(json).unwrap()).map(|(busy, at)| (busy.0, at.as_second()))
    }

    #[test]
    fn it_is_the_mean_over_all_cores() {
        let two = r#"{"CPU":[{"Idle":56.44},{"Idle":53.54}],"Timestamp":1795842115220350886}"#;
        assert_eq!(read(two), Some((4501, 1_795_842_115)));
        assert_eq!(read(r#"{"CPU":[{"Idle":100.2}],"Timestamp":1000000000}"#), Some((0, 1)));
    }

    #[test]
    fn no_data_is_not_no_load() {
        for json in [
            r#"{"CPU":null,"Timestamp":1000000000}"#,
            r#"{"CPU":[],"Timestamp":1000000000}"#,
            r#"{"CPU":[{"Idle":50.0},{}],"Timestamp":1000000000}"#,
            r#"{"CPU":[{"Idle":50.0}]}"#,
        ] {
            assert_eq!(read(json), None, "{json}");
        }
    }

    #[test]
    fn what_is_old_is_not_known_any_more() {
        let at = Timestamp::from_second(1000).unwrap();
        let busy = Busy { asked: None, known: BTreeMap::from([("n".into(), (Percent(4000), at))]) };
        let after = |seconds| busy.at(at + SignedDuration::from_secs(seconds)).count();
        assert_eq!((after(59), after(60)), (1, 0));
    }
}
