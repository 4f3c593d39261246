//! What is seen of a cluster.

use expect_test::expect;
use headroom_core::snapshot::{Coverage, Kind};
use serde_json::json;

use super::Watching;
use super::objects::{BUDGETS, BUFFERS, NODES, PODS, named, pod};
use super::server::ApiServer;

async fn cluster() -> ApiServer {
    let server = ApiServer::start().await;
    let group = BUFFERS.strip_suffix("/capacitybuffers").unwrap();
    server.cluster().groups.insert(group.to_owned(), "capacitybuffers".to_owned());
    for (path, name) in [
        (NODES, "n1"),
        (NODES, "n2"),
        (NODES, "n3"),
        (BUDGETS, "shop/web"),
        ("api/v1/namespaces", "shop"),
        ("apis/apps/v1/daemonsets", "kube-system/agent"),
        ("apis/apps/v1/deployments", "shop/web"),
        ("apis/apps/v1/replicasets", "shop/web-7c5d"),
        ("apis/apps/v1/statefulsets", "shop/db"),
        ("apis/batch/v1/jobs", "shop/report"),
        ("api/v1/replicationcontrollers", "shop/old"),
        ("api/v1/persistentvolumes", "pv-1"),
        ("api/v1/persistentvolumeclaims", "shop/data"),
        ("apis/storage.k8s.io/v1/storageclasses", "fast"),
        ("apis/storage.k8s.io/v1/csinodes", "n1"),
        ("apis/scheduling.k8s.io/v1/priorityclasses", "high"),
        ("api/v1/podtemplates", "shop/spare"),
        (BUFFERS, "shop/spare"),
    ] {
        server.put(path, named(name));
    }
    for name in ["shop/web-1", "shop/web-2", "shop/web-3", "kube-system/dns"] {
        server.put(PODS, pod(name, "n1"));
    }
    server
}

const EVERYTHING: &str = "\
nodes Complete: n1 n2 n3
pods Complete: kube-system/dns shop/web-1 shop/web-2 shop/web-3
poddisruptionbudgets Complete: shop/web
daemonsets Complete: kube-system/agent
deployments,replicasets,statefulsets,jobs,replicationcontrollers Complete: \
shop/Deployment/web shop/Job/report shop/PodTemplate/spare shop/ReplicaSet/web-7c5d shop/ReplicationController/old \
shop/StatefulSet/db
capacitybuffers Complete: shop/spare
persistentvolumes Complete: pv-1
persistentvolumeclaims Complete: shop/data
storageclasses Complete: fast
csinodes Complete: n1
namespaces Complete: shop
priorityclasses Complete
";

#[tokio::test]
async fn everything_is_seen_in_streamed_lists() {
    let mut it = Watching::start(cluster().await);
    it.complete().await;
    assert_eq!(it.text(), EVERYTHING);
    assert!(!it.server.cluster().requests.iter().any(|request| request.contains("limit=")));
    assert_eq!(it.snapshot().node("n1").unwrap().sums.used.cpu, 400);
}

#[tokio::test]
async fn everything_is_seen_page_by_page_where_lists_are_not_streamed() {
    let server = cluster().await;
    server.cluster().streams = false;
    let mut it = Watching::start(server);
    it.complete().await;
    assert_eq!(it.text(), EVERYTHING);
    let page = "/api/v1/pods?&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&limit=2&continue=";
    assert!(it.server.cluster().requests.iter().any(|request| request.starts_with(page)));
}

#[tokio::test]
async fn a_streamed_list_that_does_not_end_is_read_page_by_page() {
    let server = cluster().await;
    server.cluster().endless = true;
    let mut it = Watching::start(server);
    it.complete().await;
    assert_eq!(it.text(), EVERYTHING);
}

#[tokio::test]
async fn changes_are_followed_and_the_latest_of_each_object_counts() {
    let mut it = Watching::start(cluster().await);
    it.complete().await;
    it.changes = 0;
    for node in ["n1", "n2", "n3"] {
        it.server.put(PODS, pod("shop/web-1", node));
    }
    it.server.delete(PODS, "shop/web-2");
    it.server.put(PODS, pod("shop/web-4", "n2"));
    it.server.delete(PODS, "shop/web-4");
    it.server.put("api/v1/namespaces", named("last"));
    // Not observed in between: all of it has come when its last change has, but each resource has a stream of its own.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    it.observe();
    let pods = it.names(Kind::Pods).join(" ");
    assert_eq!(pods, "kube-system/dns shop/web-1 shop/web-3");
    assert_eq!(it.snapshot().pod("shop", "web-1").unwrap().node, Some("n3"));
    assert_eq!(it.changes, 3, "web-1, web-2 and the namespace; web-4 was never known");
}

#[tokio::test]
async fn what_no_decision_depends_on_is_no_change() {
    let mut it = Watching::start(cluster().await);
    it.complete().await;
    let mut node = named("n1");
    node["status"] =
        json!({ "conditions": [{ "type": "Ready", "status": "True", "lastHeartbeatTime": "2026-02-01T10:00:00Z" }] });
    it.server.put(NODES, node.clone());
    it.until("the condition", |it| it.last.as_ref().is_some_and(|last| !last.changes.is_empty())).await;
    it.changes = 0;
    node["status"]["conditions"][0]["lastHeartbeatTime"] = json!("2026-02-01T10:05:00Z");
    it.server.put(NODES, node);
    let mut pod = pod("shop/web-1", "n1");
    pod["status"]["hostIP"] = json!("10.0.0.1");
    it.server.put(PODS, pod);
    tokio::time::timeout(std::time::Duration::from_secs(5), it.watches.changed()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    it.observe();
    assert_eq!(it.last.unwrap().changes, []);
    assert_eq!(it.changes, 0);
}

#[tokio::test]
async fn an_object_that_cannot_be_read_is_left_out_and_its_kind_is_partial_until_it_can() {
    let server = cluster().await;
    let mut broken = pod("shop/broken", "n1");
    broken["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("much");
    server.put(PODS, broken);
    let mut budget = named("shop/odd");
    budget["spec"] = json!("any");
    server.put(BUDGETS, budget);
    let mut it = Watching::start(server);
    it.until("partial", |it| {
        it.coverage(Kind::Pods) == Coverage::Partial && it.coverage(Kind::PodDisruptionBudgets) == Coverage::Partial
    })
    .await;
    it.warnings.sort();
    expect![[r#"
        pod shop/broken: skipped: requests of container c: cpu: cannot read "much": it does not start with a number; hint: write 500m, 2, 1.5Gi or 1e3
        poddisruptionbudget shop/odd: skipped: invalid type: string "any", expected struct PodDisruptionBudgetSpec at line 1 column 82"#]]
    .assert_eq(&it.warnings.join("\n"));
    assert_eq!(it.names(Kind::Pods).len(), 4);
    it.server.put(PODS, pod("shop/broken", "n1"));
    it.server.delete(BUDGETS, "shop/odd");
    it.complete().await;
    assert_eq!(it.names(Kind::Pods).len(), 5);
    // What was known of an object stays when it cannot be read any more.
    it.server.put(PODS, json!({ "metadata": { "name": "broken", "namespace": "shop", "labels": 1 } }));
    it.until("partial", |it| it.coverage(Kind::Pods) == Coverage::Partial).await;
    assert_eq!(it.names(Kind::Pods).len(), 5);
    it.server.compact();
    it.server.put(PODS, pod("shop/more", "n2"));
    it.until("read again", |it| it.names(Kind::Pods).len() == 6).await;
    assert_eq!(it.coverage(Kind::Pods), Coverage::Partial);
}

#[tokio::test]
async fn pods_are_read_again_when_a_rule_selects_them_by_a_label_that_was_left_out() {
    const LABEL: &str = "statefulset.kubernetes.io/pod-name";
    let server = ApiServer::start().await;
    for name in ["shop/db-0", "shop/db-1"] {
        let mut pod = pod(name, "n1");
        pod["metadata"]["labels"] = json!({ LABEL: name.strip_prefix("shop/") });
        server.put(PODS, pod);
    }
    let mut it = Watching::start(server);
    it.complete().await;
    let label = |it: &Watching| it.snapshot().pod("shop", "db-1").unwrap().spec.labels.get(LABEL).map(str::to_owned);
    assert_eq!(label(&it), None);
    let mut budget = named("shop/db");
    budget["spec"] = json!({ "selector": { "matchLabels": { LABEL: "db-1" } } });
    it.server.put(BUDGETS, budget);
    it.until("the label is there", |it| label(it).is_some()).await;
    assert_eq!(label(&it).as_deref(), Some("db-1"));
}
