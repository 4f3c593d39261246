//! Which servers the samples of a query are about, and what they say of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headroom_core::snapshot::Node;
use jiff::{SignedDuration, Timestamp};

use super::Measured;
use super::prometheus::{PrometheusQuery, Sample};
use crate::cluster::nomad::translate::percent;

/// By how much a share may be beyond 0 or 100: rates are not exact.
const SLACK: f64 = 1.0;

/// Objects of one kind that a warning names.
const NAMED: usize = 3;

/// How busy these nodes are by the samples, as of `now`, and what is wrong with samples.
pub(super) fn of(
    samples: Vec<Sample>,
    query: &PrometheusQuery,
    nodes: &[Node],
    now: Timestamp,
) -> (Vec<Measured>, Vec<String>) {
    let mut problems = Problems::default();
    let called = Called::new(nodes);
    let mut known: BTreeMap<&Arc<str>, Measured> = BTreeMap::new();
    let mut twice = BTreeSet::new();
    for Sample { metric, value } in samples {
        let Some(label) = metric.get(&*query.node_label) else {
            problems.add("have no label that names a server", &format!("{metric:?}"));
            continue;
        };
        let node = match called.by(label) {
            Some(Name::Of(node)) => node,
            Some(Name::Unclear) => {
                problems.add("may be about either of two servers", label);
                continue;
            }
            // It may be a server of another pool, or one of no pool.
            None => continue,
        };
        if known.contains_key(node) || twice.contains(node) {
            problems.add("are about a server that another one is about: the query has to add them up", label);
            known.remove(node);
            twice.insert(node);
            continue;
        }
        let Some((at, share)) = value.and_then(|(at, share)| Some((time(at)?, share.parse::<f64>().ok()?))) else {
            problems.add("have no value", label);
            continue;
        };
        if !(-SLACK..=100.0 + SLACK).contains(&share) {
            problems.add(&format!("are no share between 0 and 100, but for example {share}"), label);
        } else if now.duration_since(at).abs() > query.max_age {
            problems.add(&format!("are older than {} s, or not of this time", seconds(query.max_age)), label);
        } else {
            known.insert(node, Measured { node: Arc::clone(node), busy: percent(share), at });
        }
    }
    let silent = nodes.iter().filter(|node| !known.contains_key(&node.name));
    let silent: Vec<&str> = silent.map(|node| &*node.name).collect();
    (known.into_values().collect(), problems.told(nodes.len(), &silent))
}

/// What nodes are called.
struct Called<'n>(BTreeMap<&'n str, Name<'n>>);

#[derive(Clone, Copy)]
enum Name<'n> {
    Of(&'n Arc<str>),
    Unclear,
}

impl<'n> Called<'n> {
    fn new(nodes: &'n [Node]) -> Self {
        let mut called: BTreeMap<&str, Name<'_>> = BTreeMap::new();
        for node in nodes {
            for name in std::iter::once(&*node.name).chain(node.addresses.iter().map(|address| &**address)) {
                let known = called.entry(name).or_insert(Name::Of(&node.name));
                if !matches!(known, Name::Of(other) if **other == node.name) {
                    *known = Name::Unclear;
                }
            }
        }
        Called(called)
    }

    /// By its whole name, or by that before a port.
    fn by(&self, label: &str) -> Option<Name<'n>> {
        let host = || label.rsplit_once(':').map(|(host, _)| host.trim_matches(['[', ']']));
        self.0.get(label).or_else(|| self.0.get(host()?)).copied()
    }
}

/// What is wrong with samples, by what it is: how many, and the first of them.
#[derive(Default)]
struct Problems(BTreeMap<String, (usize, Vec<String>)>);

impl Problems {
    fn add(&mut self, problem: &str, sample: &str) {
        let (count, named) = self.0.entry(problem.to_owned()).or_default();
        *count += 1;
        if named.len() < NAMED {
            named.push(sample.to_owned());
        }
    }

    fn told(self, nodes: usize, silent: &[&str]) -> Vec<String> {
        let told = self.0.into_iter();
        let told = told.map(|(problem, (count, named))| format!("{count} samples {problem} ({})", named.join(", ")));
        let first: Vec<&str> = silent.iter().copied().take(NAMED).collect();
        let silent = (!silent.is_empty()).then(|| {
            format!(
                "of {} of {nodes} servers it is not known how busy they are ({}); hint: the label `nodeLabel` names their \
                 ID, name or address, and the query has a sample for each",
                silent.len(),
                first.join(", ")
            )
        });
        told.chain(silent).collect()
    }
}

fn seconds(age: SignedDuration) -> i64 {
    age.as_secs()
}

fn time(seconds: f64) -> Option<Timestamp> {
    #[allow(clippy::cast_possible_truncation, reason = "a number that is too large is none that a timestamp can have")]
    let milliseconds = (seconds * 1000.0) as i64;
    Timestamp::from_millisecond(milliseconds).ok().filter(|_| seconds.is_finite())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(samples: &str, expected: Expect) {
        let node = |name: &str, addresses: &[&str]| Node {
            name: name.into(),
            addresses: addresses.iter().map(|&address| address.into()).collect(),
            ..Node::default()
        };
        let nodes = [node("id-1", &["gg", "10.0.0.1"]), node("id-2", &["gg", "10.0.0.2"]), node("id-3", &["fd00::3"])];
        let query = PrometheusQuery {
            address: "".into(),
            query: "".into(),
            node_label: "instance".into(),
            token: None,
            max_age: SignedDuration::from_mins(1),
            timeout: SignedDuration::from_secs(5),
        };
        let now = Timestamp::from_second(1000).unwrap();
        let (known, problems) = of(serde_json::from_str(samples).unwrap(), &query, &nodes, now);
        let known = known.into_iter().map(|one| format!("{} {} at {}\n", one.node, one.busy, one.at.as_second()));
        let problems = problems.into_iter().map(|problem| format!("{problem}\n"));
        expected.assert_eq(&known.chain(problems).collect::<String>());
    }

    fn sample(instance: &str, value: &str, at: f64) -> String {
        format!(r#"{{"metric":{{"instance":"{instance}","job":"node"}},"value":[{at},"{value}"]}}"#)
    }

    fn samples(of: &[(&str, &str, f64)]) -> String {
        let all: Vec<String> = of.iter().map(|(instance, value, at)| sample(instance, value, *at)).collect();
        format!("[{}]", all.join(","))
    }

    #[test]
    fn a_server_is_known_by_its_id_its_name_or_its_address_with_a_port() {
        check(
            &samples(&[("id-1", "42.125", 990.5), ("10.0.0.2:9100", "0", 999.0), ("[fd00::3]:9100", "100.4", 1001.0)]),
            expect![[r#"
                id-1 42.13 at 990
                id-2 0 at 999
                id-3 100 at 1001
            "#]],
        );
    }

    #[test]
    fn what_is_missing_is_not_known_and_servers_that_are_not_ours_are_left_aside() {
        check(
            &samples(&[("id-1", "50", 1000.0), ("elsewhere:9100", "NaN", 1000.0)]),
            expect![[r#"
                id-1 50 at 1000
                of 2 of 3 servers it is not known how busy they are (id-2, id-3); hint: the label `nodeLabel` names their ID, name or address, and the query has a sample for each
            "#]],
        );
        check(
            "[]",
            expect![[r#"
                of 3 of 3 servers it is not known how busy they are (id-1, id-2, id-3); hint: the label `nodeLabel` names their ID, name or address, and the query has a sample for each
            "#]],
        );
    }

    #[test]
    fn what_cannot_be_right_is_not_known_and_said() {
        check(
            &samples(&[("id-1", "NaN", 1000.0), ("id-2", "850", 1000.0), ("id-3", "-3", 1000.0)]),
            expect![[r#"
                1 samples are no share between 0 and 100, but for example -3 (id-3)
                1 samples are no share between 0 and 100, but for example 850 (id-2)
                1 samples are no share between 0 and 100, but for example NaN (id-1)
                of 3 of 3 servers it is not known how busy they are (id-1, id-2, id-3); hint: the label `nodeLabel` names their ID, name or address, and the query has a sample for each
            "#]],
        );
        check(
            &samples(&[("id-1", "10", 939.0), ("id-2", "10", 940.0), ("id-3", "10", 1061.0)]),
            expect![[r#"
                id-2 10 at 940
                2 samples are older than 60 s, or not of this time (id-1, id-3)
                of 2 of 3 servers it is not known how busy they are (id-1, id-3); hint: the label `nodeLabel` names their ID, name or address, and the query has a sample for each
            "#]],
        );
    }

    /// A query that keeps the series of each core has several samples for a server: none of them is the server's.
    #[test]
    fn several_samples_for_one_server_are_none() {
        check(
            &samples(&[
                ("id-1", "10", 1000.0),
                ("10.0.0.1:9100", "20", 1000.0),
                ("id-1", "30", 1000.0),
                ("gg", "1", 1000.0),
            ]),
            expect![[r#"
                2 samples are about a server that another one is about: the query has to add them up (10.0.0.1:9100, id-1)
                1 samples may be about either of two servers (gg)
                of 3 of 3 servers it is not known how busy they are (id-1, id-2, id-3); hint: the label `nodeLabel` names their ID, name or address, and the query has a sample for each
            "#]],
        );
        check(
            r#"[{"metric":{},"value":[1000,"1"]},{"metric":{"instance":"id-1"},"histogram":[1000,{}]}]"#,
            expect![[r#"
                1 samples have no label that names a server ({})
                1 samples have no value (id-1)
                of 3 of 3 servers it is not known how busy they are (id-1, id-2, id-3); hint: the label `nodeLabel` names their ID, name or address, and the query has a sample for each
            "#]],
        );
    }
}
