//! Headroom is killed just after a call of each kind, when the API server has done it and Headroom does not know.

use std::time::Duration;

use axum::http::Method;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::DeleteParams;

use crate::audit::Write;
use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, View, Workload, taints};
use crate::tap::{Calls, Tap};

const ELECTED: &str = "scaleDown: { unneededTime: 1s, delayAfterAdd: 0s, deleteDelayAfterTaint: 1s }";

const MEMORY: Calls = |method, path| method != Method::GET && path.ends_with("/configmaps/headroom-memory");
const SIZE: Calls = |method, path| method != Method::GET && path.contains("/configmaps/headroom-kwok-");
const NODE_MADE: Calls = |method, path| method == Method::POST && path.ends_with("/nodes");
const TAINT: Calls = |method, path| method == Method::PATCH && path.starts_with("/api/v1/nodes/");
const EVICTION: Calls = |method, path| method == Method::POST && path.ends_with("/eviction");
const NODE_DELETED: Calls = |method, path| method == Method::DELETE && path.starts_with("/api/v1/nodes/");
const LEASE: Calls = |method, path| method != Method::GET && path.contains("/leases");
const EVENT: Calls = |method, path| method == Method::POST && path.ends_with("/events");
const STATUS: Calls = |method, path| method != Method::GET && path.ends_with("/configmaps/headroom-status");

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_any_kind_of_call_it_converges_and_loses_nothing() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "calls").await;
    let tap = Tap::on(&plane).await;
    let kubeconfig = tap.kubeconfig(&plane);
    let groups = [group(&scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { max: 3 }")];
    let start = |name: &str, settings: &str| Headroom::start_with(&scene, name, &kubeconfig, settings, &groups);
    // Without an election a new instance acts at once.
    let quick = format!("leaderElection: false\n{ELECTED}");
    scene.deploy(&Workload::named("web").replicas(0)).await;

    // Some kinds of calls are made when there is too little room, the others when there is too much.
    let rounds = [
        (MEMORY, "memory", MEMORY, "memory-again"),
        (SIZE, "size", TAINT, "taint"),
        (NODE_MADE, "node-made", EVICTION, "eviction"),
        (MEMORY, "before-forgetting", NODE_DELETED, "node-deleted"),
        (NODE_MADE, "node-made-again", SIZE, "size-again"),
        (EVENT, "event", STATUS, "status"),
        (LEASE, "lease", LEASE, "lease-again"),
    ];
    for (growing, name, shrinking, other) in rounds {
        for (calls, name, replicas, nodes) in [(growing, name, 9, 3), (shrinking, other, 3, 1)] {
            if nodes == 1 {
                scene.keep_one_on_each_node("web").await;
            }
            scene.scale("web", replicas).await;
            let headroom = start(name, if name.starts_with("lease") { ELECTED } else { &quick });
            tap.kill_after(calls, headroom.id());
            headroom.dies(Duration::from_secs(60));
            if name == "before-forgetting" {
                let config_maps: Api<ConfigMap> = Api::namespaced(scene.client.clone(), scene.name);
                config_maps.delete("headroom-memory", &DeleteParams::default()).await.expect("it is there");
            }
            let headroom = start(name, &quick);
            let settled = |view: &View| {
                let running =
                    view.running("web") == replicas as usize && view.pods_of("web").count() == replicas as usize;
                running && view.nodes.len() == nodes && view.nodes.iter().all(|node| taints(node).is_empty())
            };
            scene.until(&format!("{replicas} pods run on {nodes} nodes after {name}"), 90, settled).await;
            headroom.kill();
        }
    }
    let writes = plane.audit();
    let here = || writes.iter().filter(|write| write.namespace() == scene.name && write.succeeded());
    let deleted = |user: &str| {
        here().filter(|write| write.user() == user && write.resource() == "pods" && write.verb == "delete").count()
    };
    assert_eq!(deleted("headroom"), 0, "pods go by the Eviction API alone");
    assert_eq!(deleted("controllers"), rounds.len() * 6, "nobody but the Deployment gives pods up");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_a_step_was_remembered_it_makes_no_second_step_too_early() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "steps").await;
    let tap = Tap::on(&plane).await;
    let kubeconfig = tap.kubeconfig(&plane);
    let fast = "utilization: { fastRate: 1, stepInterval: 15s, coolDown: 0s, softGrace: 1h, hardGrace: 2h }";
    let of_one = |size: &str| {
        let of_one = group(&scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", size);
        [of_one.replace("pending: {}", fast)]
    };
    let settings = "leaderElection: false";
    let headroom = Headroom::start(&scene, Role::Headroom, settings, &of_one("size: { min: 5, max: 5 }"));
    scene.until("there are five nodes", 60, |view| view.ready() == 5).await;
    headroom.stop();
    // From now on four of them are too many.
    let groups = of_one("size: { min: 1, max: 5 }");
    for _ in 0..4 {
        let headroom = Headroom::start_with(&scene, "killed", &kubeconfig, settings, &groups);
        tap.kill_after(MEMORY, headroom.id());
        headroom.dies(Duration::from_secs(60));
    }
    let headroom = Headroom::start_with(&scene, "killed", &kubeconfig, settings, &groups);
    scene.until("two nodes are tainted", 90, |view| tainted(view) >= 2).await;
    headroom.kill();
    let writes = plane.audit();
    let steps: Vec<&Write> = writes
        .iter()
        .filter(|write| write.user() == Role::Headroom.name() && write.verb == "patch" && write.succeeded())
        .filter(|write| write.resource() == "nodes" && write.name().starts_with("steps-"))
        .collect();
    assert!(steps.len() >= 2, "{steps:?}");
    for pair in steps.windows(2) {
        let between = pair[1].request_received_timestamp.duration_since(pair[0].request_received_timestamp);
        assert!(between.as_secs() >= 14, "{between:?} between two steps: {steps:?}");
    }
}

fn tainted(view: &View) -> usize {
    view.nodes.iter().filter(|node| !taints(node).is_empty()).count()
}
