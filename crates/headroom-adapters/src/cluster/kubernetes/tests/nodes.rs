use axum::http::Method;
use serde_json::json;

use super::{Api, Reaction};
use crate::cluster::ClusterError;
use crate::cluster::kubernetes::act::Acts;
use crate::fence::Fence;

const NODE: &str = "/api/v1/nodes/a";

fn api() -> (Api, Acts) {
    let api = Api::default();
    api.put(NODE, json!({ "spec": {} }));
    let acts = Acts::new(api.client(Fence::open()));
    (api, acts)
}

#[tokio::test]
async fn a_node_is_deleted_once() {
    let (api, acts) = api();
    for _ in 0..2 {
        acts.forget("a").await.unwrap();
    }
    assert_eq!(api.object(NODE), None);
    assert_eq!(api.writes(), [format!("DELETE {NODE}")]);
}

#[tokio::test]
async fn a_node_that_has_come_back_under_its_name_stays() {
    let (api, acts) = api();
    let somebody = Reaction::Before(Box::new(|objects| {
        objects.remove(NODE);
        objects.put(NODE, json!({ "spec": {} }));
    }));
    api.next(Method::DELETE, "/nodes/a", somebody);
    let error = acts.forget("a").await.unwrap_err();
    assert!(matches!(error, ClusterError::Conflict { .. }), "{error}");
    assert!(api.object(NODE).is_some());
}

#[tokio::test]
async fn what_would_be_lost_with_a_node_is_what_somebody_would_miss() {
    let (api, acts) = api();
    let pod = |name: &str, metadata: serde_json::Value, phase: &str, node: &str| {
        let mut metadata = metadata;
        metadata["namespace"] = json!("shop");
        let path = format!("/api/v1/namespaces/shop/pods/{name}");
        api.put(&path, json!({ "metadata": metadata, "spec": { "nodeName": node }, "status": { "phase": phase } }));
    };
    let owner = |kind: &str| json!({ "ownerReferences": [{ "kind": kind, "name": "it", "controller": true }] });
    pod("web", owner("ReplicaSet"), "Running", "a");
    pod("bare", json!({}), "Pending", "a");
    pod("ending", json!({ "deletionTimestamp": "2099-01-01T00:00:00Z" }), "Running", "a");
    pod("stuck", json!({ "deletionTimestamp": "2020-01-01T00:00:00Z" }), "Running", "a");
    pod("log", owner("DaemonSet"), "Running", "a");
    pod("static", json!({ "annotations": { "kubernetes.io/config.source": "file" } }), "Running", "a");
    pod("mirror", json!({ "annotations": { "kubernetes.io/config.mirror": "x" } }), "Running", "a");
    pod("done", owner("Job"), "Succeeded", "a");
    pod("elsewhere", owner("ReplicaSet"), "Running", "b");
    assert_eq!(acts.lost_with("a").await.unwrap(), ["shop/bare", "shop/ending", "shop/web"]);
}

#[tokio::test]
async fn more_pods_than_fit_on_a_page_are_read_to_the_end() {
    let (api, acts) = api();
    for number in 0..1203 {
        let path = format!("/api/v1/namespaces/shop/pods/web-{number:04}");
        api.put(&path, json!({ "metadata": { "namespace": "shop" }, "spec": { "nodeName": "a" } }));
    }
    let lost = acts.lost_with("a").await.unwrap();
    assert_eq!((lost.len(), lost[1202].as_str()), (1203, "shop/web-1202"));
    assert_eq!(api.log().len(), 3);
}

#[tokio::test]
async fn a_list_that_cannot_be_read_is_no_empty_list() {
    let (api, acts) = api();
    api.next(Method::GET, "/pods", Reaction::Answer(json!({ "items": [{ "metadata": 7 }] })));
    let error = acts.lost_with("a").await.unwrap_err();
    assert!(matches!(error, ClusterError::Unreachable(_)), "{error}");
}
