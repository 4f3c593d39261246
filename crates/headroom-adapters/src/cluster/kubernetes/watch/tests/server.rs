//! An API server on the loopback interface, as far as lists and watches go, that can be made to fail.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// A running server.
pub(super) struct ApiServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    running: JoinHandle<()>,
}

struct Shared {
    cluster: Mutex<Cluster>,
    /// Counts what open watches have to know of.
    changed: watch::Sender<u64>,
}

/// What the server knows and how it behaves.
#[derive(Default)]
pub(super) struct Cluster {
    version: u64,
    objects: BTreeMap<String, BTreeMap<String, Value>>,
    /// Version, path and line of each change.
    log: Vec<(u64, String, String)>,
    /// Watches from before this version are told that it is gone.
    oldest: u64,
    /// Counts the times that all connections were dropped.
    dropped: u64,
    /// Streamed lists are served.
    pub(super) streams: bool,
    /// Streamed lists never say that they are over.
    pub(super) endless: bool,
    /// Nothing is answered, nothing is said and nothing ends.
    pub(super) silent: bool,
    /// The page of a list that cannot be read: the first, or any later one.
    pub(super) broken_page: Option<usize>,
    /// Paths that may not be read.
    pub(super) forbidden: BTreeSet<String>,
    /// API groups that are not part of Kubernetes, with version.
    pub(super) groups: BTreeMap<String, String>,
    /// What is answered under a path, where that is no list.
    pub(super) documents: BTreeMap<String, Value>,
    /// Every request that was made.
    pub(super) requests: Vec<String>,
}

impl ApiServer {
    pub(super) async fn start() -> Self {
        let shared = Arc::new(Shared {
            cluster: Mutex::new(Cluster { version: 100, streams: true, ..Cluster::default() }),
            changed: watch::Sender::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let running = serve(listener, Arc::clone(&shared));
        ApiServer { address, shared, running }
    }

    pub(super) fn client(&self) -> kube::Client {
        let uri: Uri = format!("http://{}", self.address).parse().unwrap();
        kube::Client::try_from(kube::Config::new(uri)).unwrap()
    }

    pub(super) fn cluster(&self) -> MutexGuard<'_, Cluster> {
        self.shared.cluster.lock().unwrap()
    }

    /// Makes or changes an object under a path such as `api/v1/pods`.
    pub(super) fn put(&self, path: &str, mut object: Value) {
        let mut cluster = self.cluster();
        cluster.version += 1;
        object["metadata"]["resourceVersion"] = cluster.version.to_string().into();
        let objects = cluster.objects.entry(path.to_owned()).or_default();
        let known = objects.insert(key(&object), object.clone()).is_some();
        cluster.log(path, if known { "MODIFIED" } else { "ADDED" }, &object);
        drop(cluster);
        self.wake();
    }

    /// Deletes an object by `name` or `namespace/name`.
    pub(super) fn delete(&self, path: &str, name: &str) {
        let mut cluster = self.cluster();
        cluster.version += 1;
        let mut object = cluster.objects.get_mut(path).unwrap().remove(name).unwrap();
        object["metadata"]["resourceVersion"] = cluster.version.to_string().into();
        cluster.log(path, "DELETED", &object);
        drop(cluster);
        self.wake();
    }

    /// Forgets all history: open watches are told so.
    pub(super) fn compact(&self) {
        let mut cluster = self.cluster();
        cluster.version += 1;
        cluster.log.clear();
        cluster.oldest = cluster.version;
        drop(cluster);
        self.wake();
    }

    /// Stops listening and drops every connection.
    pub(super) async fn stop(&mut self) {
        self.cluster().dropped += 1;
        self.wake();
        self.running.abort();
        (&mut self.running).await.ok();
    }

    /// Listens again where it did before.
    pub(super) async fn restart(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.running = serve(listener, Arc::clone(&self.shared));
    }

    fn wake(&self) {
        self.shared.changed.send_modify(|count| *count += 1);
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl Cluster {
    fn log(&mut self, path: &str, what: &str, object: &Value) {
        self.log.push((self.version, path.to_owned(), event(what, object)));
    }
}

fn serve(listener: TcpListener, shared: Arc<Shared>) -> JoinHandle<()> {
    let router = Router::new().fallback(answer).with_state(shared);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() })
}

async fn answer(State(shared): State<Arc<Shared>>, uri: Uri, Query(query): Query<HashMap<String, String>>) -> Response {
    let path = uri.path().trim_start_matches('/').to_owned();
    speaking(&shared).await;
    let mut cluster = shared.cluster.lock().unwrap();
    cluster.requests.push(uri.to_string());
    if cluster.forbidden.contains(&path) {
        return status(StatusCode::FORBIDDEN, &format!("{path} is forbidden"));
    }
    if path.starts_with("apis/autoscaling.x-k8s.io/") {
        let resources = cluster.groups.get(path.as_str()).map(|resource| {
            json!([{
                "name": resource, "singularName": "", "namespaced": true, "kind": "CapacityBuffer", "verbs": ["list"],
            }])
        });
        let served = cluster.groups.iter().any(|(group, resource)| path == format!("{group}/{resource}"));
        match resources {
            Some(resources) => {
                let list = json!({ "kind": "APIResourceList", "groupVersion": "", "resources": resources });
                return list.to_string().into_response();
            }
            None if !served => {
                return status(StatusCode::NOT_FOUND, "the server could not find the requested resource");
            }
            None => {}
        }
    }
    if let Some(document) = cluster.documents.get(&path) {
        return document.to_string().into_response();
    }
    if !query.contains_key("watch") {
        if !query.contains_key("limit") {
            return status(StatusCode::NOT_FOUND, "the server could not find the requested resource");
        }
        return page(&cluster, &path, &query);
    }
    let list = query.contains_key("sendInitialEvents");
    if list && !cluster.streams {
        return status(StatusCode::UNPROCESSABLE_ENTITY, "sendInitialEvents is forbidden for watch");
    }
    drop(cluster);
    let (events, receiver) = mpsc::channel(100);
    let from = query["resourceVersion"].parse().unwrap_or(0);
    let length = Duration::from_secs(query["timeoutSeconds"].parse().unwrap());
    tokio::spawn(async move {
        tokio::time::timeout(length, watch_from(&shared, &path, list, from, &events)).await.ok();
        speaking(&shared).await;
    });
    let stream = futures::stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
    Body::from_stream(stream).into_response()
}

/// Waits while the server is silent.
async fn speaking(shared: &Shared) {
    while shared.cluster.lock().unwrap().silent {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn page(cluster: &Cluster, path: &str, query: &HashMap<String, String>) -> Response {
    let limit: usize = query["limit"].parse().unwrap();
    // All pages are of the version of the first.
    let token = query.get("continue").and_then(|token| token.split_once(' '));
    let (version, after) = token.map_or((cluster.version.to_string(), ""), |(version, after)| (version.into(), after));
    if cluster.broken_page.is_some_and(|page| page == if after.is_empty() { 1 } else { 2 }) {
        return status(StatusCode::INTERNAL_SERVER_ERROR, "etcd is away");
    }
    let namespace = path.strip_prefix("api/v1/namespaces/").and_then(|path| path.split_once('/'));
    let (path, prefix) =
        namespace.map_or((path.to_owned(), String::new()), |(name, of)| (format!("api/v1/{of}"), format!("{name}/")));
    let selected = |object: &Value| {
        let label = query.get("labelSelector").and_then(|selector| selector.split_once('='));
        let phase = query.get("fieldSelector").and_then(|selector| selector.strip_prefix("status.phase="));
        label.is_none_or(|(label, value)| object["metadata"]["labels"][label] == *value)
            && phase.is_none_or(|phase| object["status"]["phase"] == *phase)
    };
    let rest = cluster
        .objects
        .get(&path)
        .into_iter()
        .flatten()
        .filter(|(name, object)| name.as_str() > after && name.starts_with(&prefix) && selected(object));
    let rest: Vec<_> = rest.collect();
    let items: Vec<_> = rest.iter().take(limit).map(|(_, object)| object).collect();
    let last = rest.get(limit.saturating_sub(1)).filter(|_| rest.len() > limit);
    let token = last.map_or(String::new(), |(name, _)| format!("{version} {name}"));
    let metadata = json!({ "resourceVersion": version, "continue": token });
    json!({ "kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items }).to_string().into_response()
}

type Chunk = Result<Bytes, std::io::Error>;

/// Sends what there is if that is asked for, and then what changes, until nobody listens.
async fn watch_from(shared: &Shared, path: &str, list: bool, mut from: u64, events: &mpsc::Sender<Chunk>) {
    let mut changed = shared.changed.subscribe();
    let mut lines = Vec::new();
    let dropped = {
        let cluster = shared.cluster.lock().unwrap();
        if list {
            let objects = cluster.objects.get(path).into_iter().flat_map(BTreeMap::values);
            lines.extend(objects.map(|object| event("ADDED", object)));
            from = cluster.version;
            if !cluster.endless {
                lines.push(bookmark(from, json!({ "k8s.io/initial-events-end": "true" })));
            }
        }
        cluster.dropped
    };
    loop {
        let is_dropped = {
            let cluster = shared.cluster.lock().unwrap();
            if from < cluster.oldest && !cluster.silent {
                let gone = json!({ "kind": "Status", "code": 410, "message": "too old", "reason": "Expired" });
                lines.push(event("ERROR", &gone));
                from = cluster.version;
            }
            let new = cluster.log.iter().filter(|(version, of, _)| *version > from && *of == path);
            let new: Vec<_> = new.filter(|_| !cluster.silent).map(|(_, _, event)| event.clone()).collect();
            if !new.is_empty() {
                from = cluster.version;
                lines.extend(new);
                lines.push(bookmark(from, json!({})));
            }
            cluster.dropped != dropped
        };
        for line in lines.drain(..) {
            if events.send(Ok(Bytes::from(line))).await.is_err() {
                return;
            }
        }
        if is_dropped {
            events.send(Err(std::io::Error::other("dropped"))).await.ok();
            return;
        }
        changed.changed().await.unwrap();
    }
}

/// A line of a watch. As the API server does, it says the type first.
fn event(what: &str, object: &Value) -> String {
    format!("{{\"type\":\"{what}\",\"object\":{object}}}\n")
}

fn bookmark(version: u64, annotations: Value) -> String {
    let metadata = json!({ "resourceVersion": version.to_string(), "annotations": annotations });
    event("BOOKMARK", &json!({ "kind": "Pod", "apiVersion": "v1", "metadata": metadata }))
}

fn status(code: StatusCode, message: &str) -> Response {
    let status = json!({ "kind": "Status", "status": "Failure", "code": code.as_u16(), "message": message });
    (code, status.to_string()).into_response()
}

fn key(object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str();
    let name = text("name").unwrap_or_default();
    text("namespace").map_or(name.to_owned(), |namespace| format!("{namespace}/{name}"))
}
