//! How busy the cpus of servers are.

mod clients;
mod prometheus;
mod samples;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use headroom_core::policy::Percent;
use headroom_core::snapshot::Node;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use self::prometheus::{Prometheus, QueryError};
use super::client::Client;

pub use self::prometheus::PrometheusQuery;

/// Asked no sooner than this again: it is measured over a second or more.
const EVERY: Duration = Duration::from_secs(10);

/// What clients said longer ago is not known any more.
const LIMIT: SignedDuration = SignedDuration::from_mins(1);

/// Who says how busy servers are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Meter {
    /// Their own Nomad clients.
    #[default]
    Clients,
    /// A query.
    Prometheus(PrometheusQuery),
}

/// What was said last.
#[derive(Debug, Default)]
pub(super) struct Busy {
    asked: Option<Instant>,
    known: BTreeMap<Arc<str>, (Percent, Timestamp)>,
    /// The one that is asked.
    prometheus: Option<Prometheus>,
    warnings: Vec<String>,
}

/// How busy a server was.
#[derive(Debug)]
struct Measured {
    node: Arc<str>,
    busy: Percent,
    at: Timestamp,
}

impl Busy {
    /// Asks how busy these nodes are, unless that was done just now.
    pub(super) async fn ask(&mut self, meter: &Meter, client: &Client, nodes: &[Node]) {
        let new = nodes.iter().any(|node| !self.known.contains_key(&node.name));
        if self.asked.is_some_and(|asked| asked.elapsed() < EVERY) && !new {
            return;
        }
        self.asked = Some(Instant::now());
        let names: Vec<Arc<str>> = nodes.iter().map(|node| Arc::clone(&node.name)).collect();
        self.warnings.clear();
        let measured = match meter {
            Meter::Clients => clients::ask(client, &names).await,
            Meter::Prometheus(query) => self.query(query, nodes).await.unwrap_or_else(|error| {
                self.warnings.push(told(&error));
                Vec::new()
            }),
        };
        // One that does not answer stays known for a while.
        let before = std::mem::take(&mut self.known);
        self.known = before.into_iter().filter(|(node, _)| names.contains(node)).collect();
        self.known.extend(measured.into_iter().map(|Measured { node, busy, at }| (node, (busy, at))));
    }

    /// How busy each is that said so lately enough.
    pub(super) fn at(&self, meter: &Meter, now: Timestamp) -> impl Iterator<Item = (&Arc<str>, Percent)> {
        let limit = match meter {
            Meter::Clients => LIMIT,
            Meter::Prometheus(query) => query.max_age,
        };
        let fresh = move |at: Timestamp| now.duration_since(at) < limit;
        self.known.iter().filter(move |(_, (_, at))| fresh(*at)).map(|(node, (busy, _))| (node, *busy))
    }

    /// What was wrong when it was asked last.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.warnings.iter().cloned()
    }

    async fn query(&mut self, query: &PrometheusQuery, nodes: &[Node]) -> Result<Vec<Measured>, QueryError> {
        let asked = match self.prometheus.take().filter(|known| known.query() == query) {
            Some(known) => known,
            None => Prometheus::new(query.clone())?,
        };
        let answer = asked.ask().await;
        self.prometheus = Some(asked);
        let (measured, problems) = samples::of(answer?, query, nodes, Timestamp::now());
        self.warnings.extend(problems);
        Ok(measured)
    }
}

fn told(error: &QueryError) -> String {
    format!("{:#}", super::Chain(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_old_is_not_known_any_more() {
        let at = Timestamp::from_second(1000).unwrap();
        let busy = Busy { known: BTreeMap::from([("n".into(), (Percent(4000), at))]), ..Busy::default() };
        let after = |seconds| busy.at(&Meter::Clients, at + SignedDuration::from_secs(seconds)).count();
        assert_eq!((after(59), after(60)), (1, 0));
    }
}
