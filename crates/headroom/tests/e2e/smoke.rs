//! The control plane and kwok by themselves, without Headroom.

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;

use crate::control_plane::ControlPlane;
use crate::scene::{Machine, Scene, Workload};
use crate::wait::wait_until;

#[tokio::test]
async fn a_deployment_runs_on_a_node_that_stays_ready() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "smoke").await;
    scene.node(&Machine::named("smoke-1", "4", "16Gi")).await;
    scene.deploy(&Workload::named("web").replicas(3)).await;
    scene.runs("web", 3, 30).await;

    // The fifth has no place.
    scene.scale("web", 5).await;
    scene.until("four of five pods run", 30, |view| view.pods.len() == 5 && view.running("web") == 4).await;

    // Without heartbeats a node is taken for dead after 50 s. A renewed Lease is one.
    let leases: Api<Lease> = Api::namespaced(scene.client.clone(), "kube-node-lease");
    let renewed = async || leases.get("smoke-1").await.ok()?.spec?.renew_time;
    let first = wait_until("the node has a Lease", 20, async || renewed().await.ok_or("none".to_owned())).await;
    wait_until("the node's Lease is renewed", 30, async || {
        let now = renewed().await;
        if now.as_ref() > Some(&first) { Ok(()) } else { Err(format!("{now:?}")) }
    })
    .await;
    let view = scene.view().await;
    assert_eq!(view.ready(), 1, "{view}");
}

#[tokio::test]
async fn what_is_written_before_the_api_server_is_killed_is_there_afterwards() {
    let Some(plane) = ControlPlane::own().await else { return };
    let scene = Scene::new(&plane, "restart").await;
    scene.node(&Machine::named("restart-1", "4", "16Gi")).await;
    scene.deploy(&Workload::named("web").replicas(2)).await;
    plane.stop_api_server();
    assert!(scene.client.apiserver_version().await.is_err());
    plane.start_api_server().await;
    scene.runs("web", 2, 60).await;

    let writes = plane.audit();
    let deployment = writes.iter().find(|write| write.resource() == "deployments" && write.name() == "web");
    let deployment = deployment.expect("the write is in the audit log");
    assert_eq!((deployment.user(), deployment.verb.as_str(), deployment.succeeded()), ("admin", "patch", true));
}
