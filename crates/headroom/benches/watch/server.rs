//! An API server that makes its nodes and pods up while it sends them, and says nothing after that but, once it is told to,
//! that it has lost its history.

use std::collections::HashMap;
use std::fmt::Write;
use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::made_up::{self, NODE, POD, Random};
use super::{NODES, PODS};

/// The path by which it is told so.
pub(crate) const LOSE_HISTORY: &str = "/lose-history";

/// What the server sends.
struct Cluster {
    streams: bool,
    /// Counts how often history was lost.
    lost: watch::Sender<u32>,
    node: String,
    pod: String,
}

/// Serves until the process ends, and prints where. Without `streams` it refuses to stream lists.
pub(crate) async fn serve(streams: bool) {
    let cluster: &'static Cluster = Box::leak(Box::new(Cluster {
        streams,
        lost: watch::Sender::new(0),
        node: on_one_line(NODE),
        pod: on_one_line(POD),
    }));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("the loopback interface is there");
    let address: SocketAddr = listener.local_addr().expect("it listens");
    println!("{address}");
    let router = Router::new().fallback(answer).with_state(cluster);
    axum::serve(listener, router).await.expect("it serves");
}

/// The template as the API server writes objects, with the managed fields of a pod that a ReplicaSet made and a kubelet
/// runs.
fn on_one_line(template: &str) -> String {
    let mut object: Value = serde_json::from_str(template).expect("the template is JSON");
    object["metadata"]["managedFields"] = ["spec", "status"].map(|part| managed(&object, part)).into_iter().collect();
    object.to_string()
}

fn managed(object: &Value, part: &str) -> Value {
    let manager = if part == "spec" { "kube-controller-manager" } else { "kubelet" };
    let fields = json!({ format!("f:{part}"): fields(&object[part]) });
    json!({
        "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields, "manager": manager, "operation": "Update",
        "time": "2026-02-01T10:00:00Z",
    })
}

/// What `managedFields` says of somebody who has set all of this.
fn fields(value: &Value) -> Value {
    match value {
        Value::Object(entries) => entries.iter().map(|(key, value)| (format!("f:{key}"), fields(value))).collect(),
        Value::Array(items) => items
            .iter()
            .filter(|item| item.is_object())
            .map(|item| {
                let key =
                    ["name", "type", "key", "ip"].iter().find(|key| item.get(key).is_some()).unwrap_or(&"mountPath");
                (format!("k:{}", json!({ *key: item[key] })), fields(item))
            })
            .collect(),
        _ => json!({}),
    }
}

async fn answer(
    State(cluster): State<&'static Cluster>,
    uri: Uri,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let all = match uri.path() {
        LOSE_HISTORY => {
            cluster.lost.send_modify(|lost| *lost += 1);
            return "{}".into_response();
        }
        "/api/v1/nodes" => NODES,
        "/api/v1/pods" => PODS,
        path if path.starts_with("/apis/autoscaling.x-k8s.io/") => {
            return status(StatusCode::NOT_FOUND, "the server could not find the requested resource");
        }
        _ => 0,
    };
    let pods = uri.path() == "/api/v1/pods";
    let is_watch = query.contains_key("watch");
    if !is_watch {
        return page(cluster, pods, all, &query);
    }
    if !query.contains_key("sendInitialEvents") {
        let mut lost = cluster.lost.subscribe();
        return Body::from_stream(stream::once(async move {
            lost.changed().await.map_err(std::io::Error::other)?;
            let gone = json!({ "kind": "Status", "code": 410, "reason": "Expired", "message": "too old" });
            Ok::<_, std::io::Error>(Bytes::from(format!("{{\"type\":\"ERROR\",\"object\":{gone}}}\n")))
        }))
        .into_response();
    }
    if !cluster.streams {
        return status(StatusCode::UNPROCESSABLE_ENTITY, "sendInitialEvents is forbidden for watch");
    }
    // Sixteen objects at a time.
    let chunks = stream::iter((0..all).step_by(16)).map(move |from| {
        let mut text = String::new();
        for at in from..all.min(from + 16) {
            text.push_str("{\"type\":\"ADDED\",\"object\":");
            write(cluster, pods, at, &mut text);
            text.push_str("}\n");
        }
        text
    });
    let metadata = json!({ "resourceVersion": "1", "annotations": { "k8s.io/initial-events-end": "true" } });
    let object = json!({ "kind": "Pod", "apiVersion": "v1", "metadata": metadata });
    let end = stream::once(async move { format!("{{\"type\":\"BOOKMARK\",\"object\":{object}}}\n") });
    Body::from_stream(chunks.chain(end).map(Ok::<_, std::io::Error>)).into_response()
}

fn page(cluster: &Cluster, pods: bool, all: u64, query: &HashMap<String, String>) -> Response {
    let number = |key: &str| query.get(key).and_then(|text| text.parse::<u64>().ok());
    let from = number("continue").unwrap_or(0);
    let to = all.min(from + number("limit").unwrap_or(all));
    let token = if to < all { to.to_string() } else { String::new() };
    let mut text = String::from("{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\",");
    let _ = write!(text, "\"continue\":\"{token}\"}},\"items\":[");
    for at in from..to {
        write(cluster, pods, at, &mut text);
        text.push_str(if at + 1 < to { "," } else { "" });
    }
    text.push_str("]}");
    text.into_response()
}

fn write(cluster: &Cluster, pods: bool, at: u64, text: &mut String) {
    let mut random = Random(at);
    if pods {
        made_up::pod(text, &cluster.pod, at, NODES, &mut random);
    } else {
        made_up::node(text, &cluster.node, at, &mut random);
    }
}

fn status(code: StatusCode, message: &str) -> Response {
    let status = json!({ "kind": "Status", "status": "Failure", "code": code.as_u16(), "message": message });
    (code, status.to_string()).into_response()
}
