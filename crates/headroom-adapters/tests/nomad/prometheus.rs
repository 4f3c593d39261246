//! How busy servers are, as Prometheus says.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use fake_nomad::{Face, Fake, NodeSpec};
use headroom_adapters::cloud::servers::rest::Token;
use headroom_adapters::cluster::nomad::{Meter, PrometheusQuery};
use headroom_core::policy::{Percent, Selection};
use headroom_core::snapshot::Snapshot;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Sight, open};

const QUERY: &str = "avg by (node_id) (busy{pool=\"gg\"})";

/// What it answers, and what it was asked.
#[derive(Default)]
struct Prometheus {
    /// None never answers.
    answer: Mutex<Option<(StatusCode, String)>>,
    asked: Mutex<Vec<Asked>>,
}

#[derive(Clone)]
struct Asked {
    path: String,
    query: BTreeMap<String, String>,
    token: Option<String>,
}

impl Prometheus {
    async fn start() -> (Arc<Self>, Meter) {
        let prometheus = Arc::new(Prometheus::default());
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("it listens");
        let router = Router::new().fallback(answer).with_state(Arc::clone(&prometheus));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let query = PrometheusQuery {
            address: format!("http://{address}/prometheus").into(),
            query: QUERY.into(),
            node_label: "node_id".into(),
            token: None,
            max_age: SignedDuration::from_secs(2),
            timeout: SignedDuration::from_secs(1),
        };
        (prometheus, Meter::Prometheus(query))
    }

    fn says(&self, status: StatusCode, text: &str) {
        *self.answer.lock().expect("nobody panicked") = Some((status, text.to_owned()));
    }

    fn vector(&self, samples: &[(&str, f64)]) {
        self.says(StatusCode::OK, &vector(samples, Timestamp::now()).to_string());
    }
}

fn vector(samples: &[(&str, f64)], at: Timestamp) -> Value {
    let sample = |(node, share): &(&str, f64)| json!({ "metric": { "node_id": node }, "value": [at.as_second(), share.to_string()] });
    let result: Vec<Value> = samples.iter().map(sample).collect();
    json!({ "status": "success", "data": { "resultType": "vector", "result": result } })
}

async fn answer(
    State(prometheus): State<Arc<Prometheus>>,
    uri: Uri,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let token = headers.get("authorization").and_then(|token| token.to_str().ok()).map(str::to_owned);
    prometheus.asked.lock().expect("nobody panicked").push(Asked { path: uri.path().to_owned(), query, token });
    let answer = prometheus.answer.lock().expect("nobody panicked").clone();
    match answer {
        Some(answer) => answer.into_response(),
        None => pending().await,
    }
}

fn gateway(name: &str) -> NodeSpec {
    NodeSpec { name: name.to_owned(), class: "gg".to_owned(), ..NodeSpec::default() }
}

fn gateways() -> Vec<Selection> {
    let labels = [(Box::<str>::from("node.class"), Box::<str>::from("gg"))].into_iter().collect();
    vec![Selection { labels, ..Selection::default() }]
}

fn busy(seen: &Snapshot, id: &str) -> Option<Percent> {
    seen.node(id).and_then(|view| view.node.busy)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_says_how_busy_servers_are() {
    let fake = Fake::start(Face::New).await.expect("a port");
    // What their clients say is not asked for.
    let one = fake.add_node(NodeSpec { busy: vec![1.0], ..gateway("one") });
    let two = fake.add_node(gateway("two"));
    let (prometheus, meter) = Prometheus::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    std::fs::write(&file, "s3cret\n").expect("a file");
    let Meter::Prometheus(query) = meter else { unreachable!("it is a query") };
    prometheus.vector(&[(&one, 65.0), (&two, 12.5), ("elsewhere", 90.0)]);
    let mut sight = Sight::of(open(&fake));
    sight.cluster.measure(gateways(), Meter::Prometheus(PrometheusQuery { token: Some(Token::File(file)), ..query }));
    sight
        .until("both are known", |seen, _| {
            busy(seen, &one) == Some(Percent(6500)) && busy(seen, &two) == Some(Percent(1250))
        })
        .await;
    assert_eq!(sight.warnings, Vec::<String>::new());
    assert_eq!(fake.asked("v1/client/stats"), 0);
    let Asked { path, query, token } =
        prometheus.asked.lock().expect("nobody panicked").first().cloned().expect("it was asked");
    assert_eq!(path, "/prometheus/api/v1/query");
    let expected = [("query", QUERY), ("timeout", "1s")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(query, BTreeMap::from(expected));
    assert_eq!(token.as_deref(), Some("Bearer s3cret"));
}

/// Whatever Prometheus says instead of how busy a server is, the server is not known to be idle, and somebody is told.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_answer_is_not_no_load() {
    let ok = StatusCode::OK;
    let partial = |id: &str| {
        let mut answer = vector(&[(id, 10.0)], Timestamp::now());
        answer["warnings"] = json!(["one of the stores does not answer"]);
        answer.to_string()
    };
    let old = |id: &str| vector(&[(id, 10.0)], Timestamp::now() - SignedDuration::from_mins(3)).to_string();
    type Answers<'a> = &'a dyn Fn(&str) -> Option<(StatusCode, String)>;
    let cases: [(&str, Answers<'_>); 9] = [
        ("no answer within 1 s", &|_| None),
        ("it answers 503 Service Unavailable: starting", &|_| {
            Some((StatusCode::SERVICE_UNAVAILABLE, "starting".to_owned()))
        }),
        ("it answers 400 Bad Request: parse error", &|_| {
            let error = json!({ "status": "error", "errorType": "bad_data", "error": "parse error" });
            Some((StatusCode::BAD_REQUEST, error.to_string()))
        }),
        ("the answer is none of Prometheus", &|_| Some((ok, "<html>".to_owned()))),
        ("the result is a scalar", &|_| {
            Some((
                ok,
                json!({ "status": "success", "data": { "resultType": "scalar", "result": [1, "1"] } }).to_string(),
            ))
        }),
        ("the result is not whole, it says: one of the stores does not answer", &|id| Some((ok, partial(id)))),
        ("are older than 2 s", &|id| Some((ok, old(id)))),
        ("are no share between 0 and 100, but for example NaN", &|id| {
            Some((ok, vector(&[(id, f64::NAN)], Timestamp::now()).to_string()))
        }),
        ("of 1 of 1 servers it is not known how busy they are", &|_| {
            Some((ok, vector(&[], Timestamp::now()).to_string()))
        }),
    ];
    for (expected, answer) in cases {
        let fake = Fake::start(Face::New).await.expect("a port");
        let id = fake.add_node(gateway("one"));
        let (prometheus, meter) = Prometheus::start().await;
        *prometheus.answer.lock().expect("nobody panicked") = answer(&id);
        let mut sight = Sight::of(open(&fake));
        sight.cluster.measure(gateways(), meter);
        sight
            .until(expected, |seen, warnings| {
                seen.node(&id).is_some() && warnings.iter().any(|warning| warning.contains(expected))
            })
            .await;
        assert_eq!(busy(sight.builder.snapshot(), &id), None, "{expected}");
    }
}

/// Between two answers a server stays known, and no longer than its sample may be old.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_known_is_forgotten_when_it_is_too_old() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let id = fake.add_node(gateway("one"));
    let (prometheus, meter) = Prometheus::start().await;
    prometheus.vector(&[(&id, 40.0)]);
    let mut sight = Sight::of(open(&fake));
    sight.cluster.measure(gateways(), meter);
    sight.until("it is known", |seen, _| busy(seen, &id) == Some(Percent(4000))).await;
    prometheus.says(StatusCode::SERVICE_UNAVAILABLE, "");
    sight.until("it is too old", |seen, _| seen.node(&id).is_some() && busy(seen, &id).is_none()).await;
}
