use axum::http::Method;
use headroom_core::plan::Evict;
use serde_json::{Value, json};

use super::api::status;
use super::{Api, Reaction};
use crate::cluster::ClusterError;
use crate::cluster::kubernetes::act::Acts;
use crate::fence::Fence;

const POD: &str = "/api/v1/namespaces/shop/pods/web-0";

fn pod_on(node: &str) -> (Api, Acts) {
    let api = Api::default();
    api.put(POD, json!({ "spec": { "nodeName": node } }));
    let acts = Acts::new(api.client(Fence::open()));
    (api, acts)
}

fn web() -> Evict {
    Evict { namespace: "shop".into(), name: "web-0".into(), budget: None }
}

fn leaving(api: &Api) -> bool {
    !api.object(POD).unwrap()["metadata"]["deletionTimestamp"].is_null()
}

async fn refusal(answer: Value) -> Result<(), ClusterError> {
    let (api, acts) = pod_on("a");
    api.next(Method::POST, "/eviction", Reaction::Answer(answer));
    acts.evict("a", &web()).await
}

#[tokio::test]
async fn a_pod_is_asked_to_leave_once() {
    let (api, acts) = pod_on("a");
    for _ in 0..2 {
        acts.evict("a", &web()).await.unwrap();
    }
    assert!(leaving(&api));
    assert_eq!(api.writes(), [format!("POST {POD}/eviction")]);
}

#[tokio::test]
async fn a_pod_that_is_gone_or_elsewhere_by_now_is_left_alone() {
    let (api, acts) = pod_on("b");
    acts.evict("a", &web()).await.unwrap();
    assert!(!leaving(&api));
    api.remove(POD);
    acts.evict("a", &web()).await.unwrap();
    assert_eq!(api.writes(), [] as [String; 0]);
}

#[tokio::test]
async fn a_pod_that_takes_the_name_of_the_one_that_was_meant_stays() {
    let (api, acts) = pod_on("a");
    let somebody = Reaction::Before(Box::new(|objects| {
        objects.remove(POD);
        objects.put(POD, json!({ "spec": { "nodeName": "b" } }));
    }));
    api.next(Method::POST, "/eviction", somebody);
    acts.evict("a", &web()).await.unwrap();
    assert!(!leaving(&api));
}

#[tokio::test]
async fn a_budget_holds_a_pod_in_its_own_words() {
    let mut answer =
        status(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.");
    let cause = "The disruption budget web needs 3 healthy pods and has 3 currently";
    answer["details"] =
        json!({ "retryAfterSeconds": 10, "causes": [{ "reason": "DisruptionBudget", "message": cause }] });
    let error = refusal(answer).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "pod shop/web-0 may not leave now: Cannot evict pod as it would violate the pod's disruption budget. \
         The disruption budget web needs 3 healthy pods and has 3 currently"
    );
    let ClusterError::EvictionRefused { retry_after, .. } = error else { panic!("{error}") };
    assert_eq!(retry_after.map(|it| it.as_secs()), Some(10));
}

#[tokio::test]
async fn several_budgets_for_one_pod_hold_it() {
    let words = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    let error = refusal(status(500, "InternalError", words)).await.unwrap_err();
    assert_eq!(error.to_string(), format!("pod shop/web-0 may not leave now: {words}"));
}

#[tokio::test]
async fn a_server_that_is_broken_is_not_a_budget() {
    let error = refusal(status(500, "InternalError", "etcdserver: leader changed")).await.unwrap_err();
    assert!(matches!(error, ClusterError::Unreachable(_)), "{error}");
}

#[tokio::test]
async fn a_pod_whose_namespace_is_being_deleted_leaves_anyway() {
    let mut answer =
        status(403, "Forbidden", "unable to create new content in namespace shop because it is being terminated");
    answer["details"] = json!({ "causes": [{ "reason": "NamespaceTerminating", "field": "metadata.namespace" }] });
    refusal(answer).await.unwrap();
    let error = refusal(status(403, "Forbidden", "pods/eviction is forbidden")).await.unwrap_err();
    assert!(matches!(error, ClusterError::Forbidden { .. }), "{error}");
}
