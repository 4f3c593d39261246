//! An API server in memory: objects by their path, versions and their conflicts, preconditions, field selectors, pages,
//! merge patches, and what a test makes of single requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use kube::client::Body;
use serde_json::{Value, json};
use tower::ServiceBuilder;

use crate::cluster::kubernetes::fenced::FenceLayer;
use crate::fence::Fence;

/// The header in which a client gives its name.
const CLIENT: &str = "x-client";

/// What becomes of one request.
pub(super) enum Reaction {
    /// This is answered.
    Answer(Value),
    /// Nothing is ever answered.
    Silence,
    /// Somebody else does this first, then the request is served as always.
    Before(Box<dyn FnOnce(&mut Objects) + Send>),
    /// The request is served, and its answer is lost.
    Lost,
}

/// A clone is the same server.
#[derive(Clone, Default)]
pub(super) struct Api(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    objects: Objects,
    reactions: Vec<(Method, String, Reaction)>,
    log: Vec<String>,
    headers: HeaderMap,
    /// Clients that get no answer.
    cut: Vec<String>,
}

/// What the server keeps.
#[derive(Default)]
pub(super) struct Objects {
    by_path: BTreeMap<String, Value>,
    version: u64,
}

impl Objects {
    /// Makes or changes the object at this path.
    pub(super) fn put(&mut self, path: &str, mut object: Value) {
        self.version += 1;
        let before = self.by_path.get(path);
        let uid =
            before.map_or_else(|| json!(format!("uid-{}", self.version)), |before| before["metadata"]["uid"].clone());
        object["metadata"]["uid"] = uid;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        object["metadata"]["name"] = json!(path.rsplit('/').next());
        self.by_path.insert(path.to_owned(), object);
    }

    pub(super) fn edit(&mut self, path: &str, edit: impl FnOnce(&mut Value)) {
        let mut object = self.by_path[path].clone();
        edit(&mut object);
        self.put(path, object);
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.by_path.remove(path);
    }
}

impl Api {
    /// A client of this server, in the same process.
    pub(super) fn client(&self, fence: Fence) -> kube::Client {
        self.client_of("test", fence)
    }

    /// A client that goes by this name.
    pub(super) fn client_of(&self, name: &str, fence: Fence) -> kube::Client {
        let name = HeaderValue::from_str(name).unwrap();
        let named = move |mut request: Request<Body>| {
            request.headers_mut().insert(CLIENT, name.clone());
            request
        };
        let service = ServiceBuilder::new().map_request(named).layer(FenceLayer(fence)).service(self.router());
        kube::Client::new(service, "default")
    }

    /// These clients, and no others, get no answer from now on.
    pub(super) fn cut(&self, clients: &[&str]) {
        self.0.lock().unwrap().cut = clients.iter().map(|&name| name.to_owned()).collect();
    }

    pub(super) fn router(&self) -> Router {
        Router::new().fallback(serve).with_state(self.clone())
    }

    /// The next request with this method whose path ends so is met in this way.
    pub(super) fn next(&self, method: Method, path_end: &str, reaction: Reaction) {
        self.0.lock().unwrap().reactions.push((method, path_end.to_owned(), reaction));
    }

    pub(super) fn put(&self, path: &str, object: Value) {
        self.0.lock().unwrap().objects.put(path, object);
    }

    pub(super) fn edit(&self, path: &str, edit: impl FnOnce(&mut Value)) {
        self.0.lock().unwrap().objects.edit(path, edit);
    }

    pub(super) fn remove(&self, path: &str) {
        self.0.lock().unwrap().objects.remove(path);
    }

    pub(super) fn object(&self, path: &str) -> Option<Value> {
        self.0.lock().unwrap().objects.by_path.get(path).cloned()
    }

    /// The objects whose path begins so, by path.
    pub(super) fn under(&self, path: &str) -> Vec<Value> {
        let inner = self.0.lock().unwrap();
        inner.objects.by_path.iter().filter(|(of, _)| of.starts_with(path)).map(|(_, object)| object.clone()).collect()
    }

    /// Method and path of every request that has come, those that were met in a special way included.
    pub(super) fn log(&self) -> Vec<String> {
        self.0.lock().unwrap().log.clone()
    }

    /// Those of the last request.
    pub(super) fn headers(&self) -> HeaderMap {
        self.0.lock().unwrap().headers.clone()
    }

    /// Those that were not GET.
    pub(super) fn writes(&self) -> Vec<String> {
        self.log().into_iter().filter(|line| !line.starts_with("GET ")).collect()
    }
}

/// What the API server answers when it does not do something.
pub(super) fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message })
}

async fn serve(State(api): State<Api>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    let reaction = {
        let inner = &mut *api.0.lock().unwrap();
        inner.log.push(format!("{method} {path}"));
        let client = headers.get(CLIENT).and_then(|name| name.to_str().ok()).unwrap_or_default().to_owned();
        inner.headers = headers;
        let at = inner.reactions.iter().position(|(of, end, _)| *of == method && path.ends_with(end));
        if inner.cut.contains(&client) { Some(Reaction::Silence) } else { at.map(|at| inner.reactions.remove(at).2) }
    };
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let mut lost = false;
    match reaction {
        Some(Reaction::Answer(value)) => return respond(value),
        Some(Reaction::Silence) => return std::future::pending().await,
        Some(Reaction::Before(act)) => act(&mut api.0.lock().unwrap().objects),
        Some(Reaction::Lost) => lost = true,
        None => {}
    }
    let answer = api.0.lock().unwrap().objects.serve(&method, &path, uri.query().unwrap_or_default(), body);
    if lost {
        return std::future::pending().await;
    }
    respond(answer)
}

fn respond(value: Value) -> Response {
    let code = if value["kind"] == "Status" { value["code"].as_u64().unwrap_or(200) } else { 200 };
    (StatusCode::from_u16(code as u16).unwrap(), axum::Json(value)).into_response()
}

impl Objects {
    fn serve(&mut self, method: &Method, path: &str, query: &str, body: Value) -> Value {
        let missing = || status(404, "NotFound", &format!("{path} not found"));
        // The one subresource that is patched is a part of its object here.
        let path = if method == Method::PATCH { path.trim_end_matches("/status") } else { path };
        let conflict = || status(409, "Conflict", &format!("Operation cannot be fulfilled on {path}"));
        let found = self.by_path.get(path).cloned();
        match (method.as_str(), found) {
            ("GET", Some(object)) => object,
            ("GET", None) => self.list(path, query).unwrap_or_else(missing),
            ("POST", _) if path.ends_with("/eviction") => self.evict(path.trim_end_matches("/eviction"), &body),
            ("POST", _) => {
                let path = format!("{path}/{}", body["metadata"]["name"].as_str().unwrap());
                if self.by_path.contains_key(&path) {
                    return status(409, "AlreadyExists", &format!("{path} already exists"));
                }
                self.put(&path, body);
                self.by_path[&path].clone()
            }
            (_, None) => missing(),
            ("PUT" | "PATCH", Some(mut object)) => {
                let wanted = &body["metadata"]["resourceVersion"];
                if !wanted.is_null() && *wanted != object["metadata"]["resourceVersion"] {
                    return conflict();
                }
                if method == Method::PUT {
                    object = body
                } else {
                    merge(&mut object, body)
                }
                self.put(path, object);
                self.by_path[path].clone()
            }
            ("DELETE", Some(object)) => {
                let wanted = &body["preconditions"]["uid"];
                if !wanted.is_null() && *wanted != object["metadata"]["uid"] {
                    return conflict();
                }
                self.by_path.remove(path);
                object
            }
            _ => status(405, "MethodNotAllowed", ""),
        }
    }

    fn evict(&mut self, path: &str, eviction: &Value) -> Value {
        let Some(pod) = self.by_path.get(path) else { return status(404, "NotFound", "no such pod") };
        if eviction["deleteOptions"]["preconditions"]["uid"] != pod["metadata"]["uid"] {
            return status(409, "Conflict", "the UID in the precondition does not match the UID in record");
        }
        self.edit(path, |pod| pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201 })
    }

    /// A list of a namespace or of all of them, as far as the field selector and the page go.
    fn list(&self, path: &str, query: &str) -> Option<Value> {
        let (group, resource) = path.rsplit_once('/')?;
        if !["pods", "nodes", "leases", "configmaps"].contains(&resource) {
            return None;
        }
        let query: BTreeMap<&str, String> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key, decoded(value)))
            .collect();
        let selects = |object: &Value| match query.get("fieldSelector").and_then(|selector| selector.split_once('=')) {
            Some((field, value)) => object.pointer(&format!("/{}", field.replace('.', "/"))) == Some(&json!(value)),
            None => true,
        };
        let inside = |of: &str| {
            let collection = of.rsplit_once('/').map(|(collection, _)| collection);
            collection == Some(path)
                || collection.is_some_and(|it| it.starts_with(group) && it.ends_with(&format!("/{resource}")))
        };
        let all: Vec<&Value> =
            self.by_path.iter().filter(|(of, object)| inside(of) && selects(object)).map(|(_, it)| it).collect();
        let from: usize = query.get("continue").map_or(0, |from| from.parse().unwrap());
        let limit: usize = query.get("limit").map_or(usize::MAX, |limit| limit.parse().unwrap());
        let to = from.saturating_add(limit).min(all.len());
        let next = if to < all.len() { to.to_string() } else { String::new() };
        Some(json!({ "kind": "List", "metadata": { "continue": next }, "items": all[from..to] }))
    }
}

/// JSON merge patch (RFC 7386).
fn merge(object: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else { return *object = patch };
    if !object.is_object() {
        *object = json!({});
    }
    let fields = object.as_object_mut().unwrap();
    for (key, value) in patch {
        if value.is_null() {
            fields.remove(&key);
        } else {
            merge(fields.entry(key).or_insert(Value::Null), value);
        }
    }
}

fn decoded(text: &str) -> String {
    text.replace("%3D", "=").replace("%2F", "/").replace("%2C", ",")
}
