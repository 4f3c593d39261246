use std::time::Duration;

use axum::http::Method;
use headroom_core::snapshot::{Effect, Taint};
use serde_json::{Value, json};

use super::api::status;
use super::{Api, Reaction};
use crate::cluster::ClusterError;
use crate::cluster::kubernetes::act::Acts;
use crate::fence::Fence;

const NODE: &str = "/api/v1/nodes/a";

fn node(taints: Value) -> (Api, Acts) {
    let api = Api::default();
    api.put(NODE, json!({ "spec": { "taints": taints, "podCIDR": "10.0.0.0/24" }, "status": { "phase": "Running" } }));
    let acts = Acts::new(api.client(Fence::open()));
    (api, acts)
}

fn removal() -> Taint {
    Taint { key: "headroom.dev/removal".into(), value: "1700000000".into(), effect: Effect::NoSchedule }
}

fn taints(api: &Api) -> Value {
    api.object(NODE).unwrap()["spec"]["taints"].clone()
}

#[tokio::test]
async fn a_taint_is_added_once_and_taken_off_once() {
    let foreign = json!({ "key": "gpu", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z" });
    let (api, acts) = node(json!([foreign]));
    for _ in 0..2 {
        acts.taint("a", &removal()).await.unwrap();
    }
    let ours = json!({ "key": "headroom.dev/removal", "value": "1700000000", "effect": "NoSchedule" });
    assert_eq!(taints(&api), json!([foreign, ours]));
    for _ in 0..2 {
        acts.untaint("a", "headroom.dev/removal").await.unwrap();
    }
    assert_eq!(taints(&api), json!([foreign]));
    assert_eq!(api.writes().len(), 2, "nothing is patched that would not change: {:?}", api.writes());
    assert_eq!(api.object(NODE).unwrap()["spec"]["podCIDR"], "10.0.0.0/24");
}

#[tokio::test]
async fn a_taint_replaces_one_with_the_same_key_and_effect_alone() {
    let preferring = json!({ "key": "headroom.dev/removal", "effect": "PreferNoSchedule" });
    let old = json!({ "key": "headroom.dev/removal", "value": "1600000000", "effect": "NoSchedule" });
    let (api, acts) = node(json!([old, preferring]));
    acts.taint("a", &removal()).await.unwrap();
    let ours = json!({ "key": "headroom.dev/removal", "value": "1700000000", "effect": "NoSchedule" });
    assert_eq!(taints(&api), json!([ours, preferring]));
    acts.untaint("a", "headroom.dev/removal").await.unwrap();
    assert_eq!(taints(&api), json!([]));
}

#[tokio::test]
async fn a_foreign_taint_that_comes_between_reading_and_patching_survives() {
    let (api, acts) = node(Value::Null);
    let foreign = json!({ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute" });
    let written = foreign.clone();
    let somebody = Reaction::Before(Box::new(move |objects| {
        objects.edit(NODE, |node| node["spec"]["taints"] = json!([written]));
    }));
    api.next(Method::PATCH, "/nodes/a", somebody);
    acts.taint("a", &removal()).await.unwrap();
    let found = taints(&api);
    assert_eq!(found[0], foreign);
    assert_eq!(found[1]["key"], "headroom.dev/removal");
    assert_eq!(api.writes().len(), 2, "the first patch was refused");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_changes_again_and_again_is_left_to_the_next_round() {
    let (api, acts) = node(json!([]));
    for round in 0..6 {
        let somebody =
            Reaction::Before(Box::new(move |objects| objects.edit(NODE, |node| node["status"]["beat"] = json!(round))));
        api.next(Method::PATCH, "/nodes/a", somebody);
    }
    let error = acts.taint("a", &removal()).await.unwrap_err();
    assert_eq!(error.to_string(), "node a was changed by somebody else at the same time");
    assert_eq!(taints(&api), json!([]));
}

#[tokio::test]
async fn a_node_that_is_gone_is_named() {
    let (api, acts) = node(json!([]));
    let somebody = Reaction::Before(Box::new(|objects| objects.remove(NODE)));
    api.next(Method::PATCH, "/nodes/a", somebody);
    for _ in 0..2 {
        let error = acts.taint("a", &removal()).await.unwrap_err();
        assert!(matches!(&error, ClusterError::NoSuchNode { node } if node == "a"), "{error}");
    }
}

#[tokio::test]
async fn what_the_account_may_not_do_is_said() {
    let (api, acts) = node(json!([]));
    api.next(Method::PATCH, "/nodes/a", Reaction::Answer(status(403, "Forbidden", "nodes is forbidden")));
    let error = acts.taint("a", &removal()).await.unwrap_err();
    assert_eq!(error.to_string(), "not allowed to patch node a; hint: grant it to Headroom's account");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_is_not_waited_for() {
    let (api, acts) = node(json!([]));
    api.next(Method::PATCH, "/nodes/a", Reaction::Lost);
    let started = tokio::time::Instant::now();
    let error = acts.taint("a", &removal()).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer within 10 s to patch node a");
    assert_eq!(started.elapsed(), Duration::from_secs(10));
    // It had been done. Asked again, there is nothing to do.
    acts.taint("a", &removal()).await.unwrap();
    assert_eq!(api.writes().len(), 1);
}

#[tokio::test]
async fn a_cordon_comes_and_goes_with_its_taint() {
    let (api, acts) = node(json!([]));
    let acts = acts.cordoning(true);
    let soft = Taint { key: "soft".into(), effect: Effect::PreferNoSchedule, ..removal() };
    acts.taint("a", &soft).await.unwrap();
    assert_eq!(api.object(NODE).unwrap()["spec"]["unschedulable"], Value::Null, "pods may still come");
    for _ in 0..2 {
        acts.taint("a", &removal()).await.unwrap();
    }
    let found = api.object(NODE).unwrap();
    assert_eq!(found["spec"]["unschedulable"], true);
    assert_eq!(found["metadata"]["annotations"]["headroom.dev/cordoned"], "headroom.dev/removal");
    acts.untaint("a", "soft").await.unwrap();
    assert_eq!(api.object(NODE).unwrap()["spec"]["unschedulable"], true);
    // Also when nodes are no longer to be cordoned.
    acts.cordoning(false).untaint("a", "headroom.dev/removal").await.unwrap();
    let found = api.object(NODE).unwrap();
    assert_eq!(found["spec"], json!({ "taints": [], "podCIDR": "10.0.0.0/24" }));
    assert_eq!(found["metadata"]["annotations"], json!({}));
    assert_eq!(api.writes().len(), 4, "{:?}", api.writes());
}

#[tokio::test]
async fn a_cordon_of_somebody_else_stays() {
    let (api, acts) = node(json!([]));
    api.edit(NODE, |node| node["spec"]["unschedulable"] = json!(true));
    let acts = acts.cordoning(true);
    acts.taint("a", &removal()).await.unwrap();
    acts.untaint("a", "headroom.dev/removal").await.unwrap();
    assert_eq!(api.object(NODE).unwrap()["spec"]["unschedulable"], true);
}
