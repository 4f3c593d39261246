//! Capacity buffers on kinds that are not part of Kubernetes.

use headroom_core::snapshot::{Kind, Workload};
use serde_json::{Value, json};

use super::Watching;
use super::objects::{BUFFERS, PODS, named, pod};
use super::server::ApiServer;

const SCALE: &str = "apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web/scale";
const REFERENCE: &str = "Rollout.argoproj.io/web";

/// A Rollout with one pod, and a buffer on it.
async fn cluster() -> ApiServer {
    let server = ApiServer::start().await;
    serve(
        &server,
        "apis/argoproj.io",
        json!({
            "name": "argoproj.io",
            "versions": [{ "groupVersion": "argoproj.io/v1alpha1", "version": "v1alpha1" }],
        }),
    );
    let resource = |name: &str, kind: &str| json!({ "name": name, "singularName": "", "namespaced": true, "kind": kind, "verbs": ["get"] });
    serve(
        &server,
        "apis/argoproj.io/v1alpha1",
        json!({
            "kind": "APIResourceList", "groupVersion": "argoproj.io/v1alpha1",
            "resources": [resource("rollouts/scale", "Scale"), resource("rollouts", "Rollout")],
        }),
    );
    serve(&server, SCALE, scale(3));
    let group = BUFFERS.strip_suffix("/capacitybuffers").unwrap();
    server.cluster().groups.insert(group.to_owned(), "capacitybuffers".to_owned());
    let mut buffer = named("shop/spare");
    let scalable = json!({ "apiGroup": "argoproj.io", "kind": "Rollout", "name": "web" });
    buffer["spec"] = json!({ "scalableRef": scalable, "percentage": 50 });
    server.put(BUFFERS, buffer);
    for (name, app) in [("shop/other", "other"), ("shop/web-1", "web"), ("elsewhere/web-1", "web")] {
        server.put(PODS, labelled(name, app, if name == "shop/web-1" { "700m" } else { "100m" }));
    }
    server
}

fn labelled(name: &str, app: &str, cpu: &str) -> Value {
    let mut pod = pod(name, "n1");
    pod["metadata"]["labels"] = json!({ "app": app });
    pod["metadata"]["annotations"] = json!({ "headroom.dev/spare-copies": "2" });
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!(cpu);
    pod
}

fn scale(replicas: i32) -> Value {
    json!({ "spec": { "replicas": replicas }, "status": { "replicas": replicas, "selector": "app=web" } })
}

fn serve(server: &ApiServer, path: &str, document: Value) {
    server.cluster().documents.insert(path.to_owned(), document);
}

fn rollout(it: &Watching) -> Option<&Workload> {
    it.snapshot().workload("shop", REFERENCE)
}

fn replicas(it: &Watching) -> Option<u32> {
    rollout(it).map(|rollout| rollout.replicas)
}

#[tokio::test]
async fn what_a_buffer_refers_to_is_known_by_its_scale_and_one_of_its_pods_for_as_long_as_both_are_there() {
    let mut it = Watching::start(cluster().await);
    it.until("known", |it| replicas(it) == Some(3)).await;
    let spec = &rollout(&it).unwrap().spec;
    assert_eq!((spec.requests.cpu, &*spec.namespace), (700, "shop"));
    assert_eq!(spec.spare_copies, None, "the pod has asked for those already");
    serve(&it.server, SCALE, scale(5));
    it.until("scaled", |it| replicas(it) == Some(5)).await;
    // All that is watched is read once more, and this is in none of the lists.
    it.server.stop().await;
    it.server.put("apis/apps/v1/deployments", named("shop/web"));
    it.server.compact();
    it.server.restart().await;
    it.until("read again", |it| it.names(Kind::Workloads).len() == 2).await;
    assert_eq!(replicas(&it), Some(5));
    it.server.delete(PODS, "shop/web-1");
    serve(&it.server, SCALE, scale(0));
    it.until("scaled to nothing", |it| replicas(it) == Some(0)).await;
    assert_eq!(rollout(&it).unwrap().spec.requests.cpu, 700, "its pods will be what they were");
    assert_eq!(it.warnings, [""; 0]);
    it.server.cluster().documents.remove(SCALE);
    it.until("gone", |it| rollout(it).is_none()).await;
    serve(&it.server, SCALE, scale(1));
    it.server.put(PODS, labelled("shop/web-2", "web", "1"));
    it.until("back", |it| replicas(it) == Some(1)).await;
    it.server.delete(BUFFERS, "shop/spare");
    it.until("of no interest", |it| rollout(it).is_none()).await;
    assert_eq!(
        it.warnings,
        [
            "capacitybuffer shop/spare: Rollout.argoproj.io/web: it is not there or has no scale subresource; hint: correct \
          scalableRef, or name a PodTemplate"
        ]
    );
}

#[tokio::test]
async fn buffers_are_not_known_before_what_they_refer_to_has_been_asked_for() {
    let mut it = Watching::start(cluster().await);
    it.complete().await;
    assert_eq!(replicas(&it), Some(3));
}

#[tokio::test]
async fn what_may_not_be_read_is_said_once_of_the_buffer() {
    let server = cluster().await;
    server.cluster().forbidden.insert(SCALE.to_owned());
    let mut it = Watching::start(server);
    it.complete().await;
    it.until("said", |it| !it.warnings.is_empty()).await;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    it.observe();
    assert_eq!(
        it.warnings,
        [format!(
            "capacitybuffer shop/spare: {REFERENCE}: its scale cannot be read: {SCALE} is forbidden; hint: grant get on \
             rollouts/scale in API group \"argoproj.io\" to Headroom's service account, as deploy/capacity-buffers.yaml \
             does for all groups"
        )]
    );
    it.server.cluster().forbidden.clear();
    it.until("known", |it| replicas(it) == Some(3)).await;
}

#[tokio::test]
async fn a_kind_that_nobody_serves_and_a_name_that_is_a_path_are_asked_for_in_vain_or_not_at_all() {
    let server = cluster().await;
    for (name, group, object) in [("shop/odd", "argoproj.io", "../../secrets"), ("shop/spare", "example.com", "web")] {
        let mut buffer = named(name);
        buffer["spec"] = json!({ "scalableRef": { "apiGroup": group, "kind": "Game", "name": object }, "replicas": 1 });
        server.put(BUFFERS, buffer);
    }
    let mut it = Watching::start(server);
    it.complete().await;
    it.until("said", |it| !it.warnings.is_empty()).await;
    assert_eq!(
        it.warnings,
        ["capacitybuffer shop/spare: Game.example.com/web: the API server serves no such kind; hint: install it, or \
          correct scalableRef"]
    );
    assert!(!it.server.cluster().requests.iter().any(|request| request.contains("..")));
}
