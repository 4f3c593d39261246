use axum::http::Method;
use expect_test::expect;
use headroom_core::plan::Counts;
use jiff::Timestamp;
use serde_json::json;

use super::api::status;
use super::{Api, Reaction};
use crate::bulletin::{Bulletin, GroupStatus, Growth, Status};
use crate::cluster::kubernetes::News;
use crate::fence::Fence;

const PAGE: &str = "/api/v1/namespaces/headroom/configmaps/headroom-status";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn group(name: &str) -> GroupStatus {
    let nodes = Counts { in_service: 3, tainted: 1, not_ready: 1, upcoming: 2, ..Counts::default() };
    let growth = Growth::InProgress;
    GroupStatus { name: name.into(), healthy: true, nodes, target: 7, min: 1, max: 10, growth, candidates: 1 }
}

fn page(api: &Api) -> String {
    api.object(PAGE).unwrap()["data"]["status"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_page_is_in_cluster_autoscalers_layout_and_says_since_when() {
    let api = Api::default();
    let news = News::new(api.client(Fence::open()), "headroom");
    let mut status = Status { at: at(0), message: None, healthy: true, groups: vec![group("web"), group("gpu")] };
    news.post(&status).await.unwrap();
    let first = page(&api);
    expect![[r#"
        time: 2023-11-14 22:13:20 +0000 UTC
        autoscalerStatus: Running
        clusterWide:
          health:
            status: Healthy
            nodeCounts:
              registered:
                total: 10
                ready: 6
                notStarted: 0
                beingDeleted: 2
                unready:
                  total: 2
                  resourceUnready: 0
              longUnregistered: 0
              unregistered: 4
            lastProbeTime: "2023-11-14T22:13:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
          scaleUp:
            status: InProgress
            lastProbeTime: "2023-11-14T22:13:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
          scaleDown:
            status: CandidatesPresent
            candidates: 2
            lastProbeTime: "2023-11-14T22:13:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
        nodeGroups:
        - name: web
          health:
            status: Healthy
            nodeCounts:
              registered:
                total: 5
                ready: 3
                notStarted: 0
                beingDeleted: 1
                unready:
                  total: 1
                  resourceUnready: 0
              longUnregistered: 0
              unregistered: 2
            cloudProviderTarget: 7
            minSize: 1
            maxSize: 10
            lastProbeTime: "2023-11-14T22:13:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
          scaleUp:
            status: InProgress
            lastProbeTime: "2023-11-14T22:13:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
          scaleDown:
            status: CandidatesPresent
            candidates: 1
            lastProbeTime: "2023-11-14T22:13:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
        - name: gpu
          health:
            status: Healthy
            nodeCounts:
              registered:
                total: 5
                ready: 3
                notStarted: 0
                beingDeleted: 1
                unready:
                  total: 1
                  resourceUnready: 0
              longUnregistered: 0
              unregistered: 2
            cloudProviderTarget: 7
            minSize: 1
            maxSize: 10
            lastProbeTime: "2023-11-14T22:13:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
          scaleUp:
            status: InProgress
            lastProbeTime: "2023-11-14T22:13:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
          scaleDown:
            status: CandidatesPresent
            candidates: 1
            lastProbeTime: "2023-11-14T22:13:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
    "#]]
    .assert_eq(&first);
    status.at = at(60);
    status.healthy = false;
    status.message = Some("nothing is carried out: everything is paused".to_owned());
    status.groups.truncate(1);
    let message = format!("the cloud is out of stock: \"{}\"", "x".repeat(600));
    status.groups[0].growth = Growth::BackingOff { code: "outOfStock", message };
    status.groups[0].candidates = 0;
    status.groups[0].nodes = Counts::default();
    news.post(&status).await.unwrap();
    expect![[r#"
        time: 2023-11-14 22:14:20 +0000 UTC
        autoscalerStatus: Running
        message: "nothing is carried out: everything is paused"
        clusterWide:
          health:
            status: Unhealthy
            nodeCounts:
              registered:
                total: 0
                ready: 0
                notStarted: 0
                unready:
                  total: 0
                  resourceUnready: 0
              longUnregistered: 0
              unregistered: 0
            lastProbeTime: "2023-11-14T22:14:20Z"
            lastTransitionTime: "2023-11-14T22:14:20Z"
          scaleUp:
            status: NoActivity
            lastProbeTime: "2023-11-14T22:14:20Z"
            lastTransitionTime: "2023-11-14T22:14:20Z"
          scaleDown:
            status: NoCandidates
            lastProbeTime: "2023-11-14T22:14:20Z"
            lastTransitionTime: "2023-11-14T22:14:20Z"
        nodeGroups:
        - name: web
          health:
            status: Healthy
            nodeCounts:
              registered:
                total: 0
                ready: 0
                notStarted: 0
                unready:
                  total: 0
                  resourceUnready: 0
              longUnregistered: 0
              unregistered: 0
            cloudProviderTarget: 7
            minSize: 1
            maxSize: 10
            lastProbeTime: "2023-11-14T22:14:20Z"
            lastTransitionTime: "2023-11-14T22:13:20Z"
          scaleUp:
            status: Backoff
            backoffInfo:
              errorCode: outOfStock
              errorMessage: "the cloud is out of stock: \"....xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            lastProbeTime: "2023-11-14T22:14:20Z"
            lastTransitionTime: "2023-11-14T22:14:20Z"
          scaleDown:
            status: NoCandidates
            lastProbeTime: "2023-11-14T22:14:20Z"
            lastTransitionTime: "2023-11-14T22:14:20Z"
    "#]].assert_eq(&page(&api).replace(&"x".repeat(100), "."));
    assert_eq!(api.object(PAGE).unwrap()["metadata"]["labels"], json!({ "app.kubernetes.io/name": "headroom" }));
    let last = "cluster-autoscaler.kubernetes.io/last-updated";
    assert_eq!(api.object(PAGE).unwrap()["metadata"]["annotations"][last], "2023-11-14 22:14:20 +0000 UTC");
}

#[tokio::test]
async fn what_else_the_config_map_holds_stays() {
    let api = Api::default();
    api.put(PAGE, json!({ "metadata": { "annotations": { "headroom.dev/paused": "{}" } }, "data": { "own": "x" } }));
    let news = News::new(api.client(Fence::open()), "headroom");
    let status = Status { at: at(0), message: None, healthy: true, groups: Vec::new() };
    news.post(&status).await.unwrap();
    let found = api.object(PAGE).unwrap();
    assert_eq!(found["data"]["own"], "x");
    assert_eq!(found["metadata"]["annotations"]["headroom.dev/paused"], "{}");
    assert_eq!(api.writes().len(), 1);
}

#[tokio::test]
async fn a_page_that_is_not_written_is_an_error_and_without_the_lead_none_is() {
    let api = Api::default();
    let page = Status { at: at(0), message: None, healthy: true, groups: Vec::new() };
    api.next(Method::PATCH, "/headroom-status", Reaction::Answer(status(403, "Forbidden", "no")));
    let news = News::new(api.client(Fence::open()), "headroom");
    let error = news.post(&page).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "not allowed to patch configmap headroom/headroom-status; hint: grant it to Headroom's account"
    );
    let before = api.writes().len();
    News::new(api.client(Fence::closed()), "headroom").post(&page).await.unwrap_err();
    assert_eq!(api.writes().len(), before);
}
