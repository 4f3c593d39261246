//! An API server in memory, on loopback: objects of any kind with versions, conflicts, label selectors, pages and merge
//! patches. It knows nothing of what the objects mean.

#![allow(dead_code, reason = "each test program uses a part of it")]

mod answer;
mod fault;
mod store;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub(crate) use fault::Fault;
use store::Store;

/// A running server. It ends when it is dropped.
pub(crate) struct ApiServer {
    inner: Arc<Mutex<Inner>>,
    address: std::net::SocketAddr,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Inner {
    store: Store,
    fault: Option<Fault>,
    calls: usize,
    writes: usize,
    latency: Duration,
    at_once: usize,
    most_at_once: usize,
}

impl ApiServer {
    pub(crate) async fn start() -> Self {
        let inner = Arc::new(Mutex::new(Inner::default()));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(handle).with_state(Arc::clone(&inner));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        ApiServer { inner, address, task }
    }

    pub(crate) fn client(&self) -> kube::Client {
        let config = kube::Config::new(format!("http://{}", self.address).parse().unwrap());
        kube::Client::try_from(config).unwrap()
    }

    /// A kubeconfig by which it is reached with this token.
    pub(crate) fn kubeconfig(&self, token: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{ "name": "test", "cluster": { "server": format!("http://{}", self.address) } }],
            "users": [{ "name": "test", "user": { "token": token } }],
            "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test" } }],
        })
    }

    /// The objects of a collection, such as `/api/v1/nodes`, by name.
    pub(crate) fn objects(&self, collection: &str) -> Vec<Value> {
        self.lock().store.list(collection)
    }

    /// Their names.
    pub(crate) fn names(&self, collection: &str) -> Vec<String> {
        self.objects(collection).iter().map(|object| object["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Adds an object, as somebody else would.
    pub(crate) fn add(&self, collection: &str, object: Value) {
        self.lock().store.create(collection, object).unwrap();
    }

    /// Deletes an object, as somebody else would.
    pub(crate) fn delete(&self, collection: &str, name: &str) {
        self.lock().store.delete(collection, name).unwrap();
    }

    /// What happens to calls from now on; None is nothing.
    pub(crate) fn set_fault(&self, fault: Option<Fault>) {
        let mut inner = self.lock();
        inner.writes = 0;
        inner.fault = fault;
    }

    /// Each call takes so long.
    pub(crate) fn set_latency(&self, latency: Duration) {
        self.lock().latency = latency;
    }

    /// How many calls were worked on at the same time, at most.
    pub(crate) fn most_at_once(&self) -> usize {
        self.lock().most_at_once
    }

    /// How many calls came so far.
    pub(crate) fn calls(&self) -> usize {
        self.lock().calls
    }

    /// How many changes were asked for since the fault was set.
    pub(crate) fn writes(&self) -> usize {
        self.lock().writes
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn handle(State(inner): State<Arc<Mutex<Inner>>>, method: Method, uri: Uri, body: Bytes) -> Response {
    let latency = {
        let mut inner = inner.lock().unwrap();
        inner.calls += 1;
        inner.at_once += 1;
        inner.most_at_once = inner.most_at_once.max(inner.at_once);
        inner.latency
    };
    tokio::time::sleep(latency).await;
    if matches!(inner.lock().unwrap().fault, Some(Fault::Silence)) {
        return std::future::pending().await;
    }
    let mut inner = inner.lock().unwrap();
    inner.at_once -= 1;
    let writes = method != Method::GET;
    let strikes = inner.fault.as_ref().is_some_and(|fault| fault.strikes(&method, uri.path(), inner.writes));
    inner.writes += usize::from(writes);
    if !strikes {
        return answer::answer(&mut inner.store, &method, &uri, &body);
    }
    match inner.fault.clone() {
        Some(Fault::Answer { code, once, .. }) => {
            if once {
                inner.fault = None;
            }
            answer::failure(StatusCode::from_u16(code).unwrap(), "Fault", "as the test wants it")
        }
        Some(Fault::CutOff { applies, .. }) => {
            if applies {
                let _lost = answer::answer(&mut inner.store, &method, &uri, &body);
                inner.fault = Some(Fault::CutOff { after: 0, applies: false });
            }
            // The client would ask again by itself after 503.
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
        Some(Fault::Code(code)) => {
            answer::failure(StatusCode::from_u16(code).unwrap(), "Fault", "as the test wants it")
        }
        Some(Fault::Garbage) => "<html>as the test wants it".into_response(),
        Some(Fault::Silence) | None => answer::answer(&mut inner.store, &method, &uri, &body),
    }
}
