//! Headroom is killed again and again, and its API server once, and nothing is lost.

use std::time::Duration;

use rustix::process::Signal;

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, Workload, taints};

/// Without an election a new instance acts at once, so that more of its life is in what matters here.
const QUICK: &str = "leaderElection: false\nscaleDown: { unneededTime: 3s, delayAfterAdd: 0s }";

#[tokio::test]
async fn a_program_that_is_killed_at_any_time_converges_and_loses_nothing() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "crashes").await;
    let groups = [group(&scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { max: 6 }")];
    scene.deploy(&Workload::named("web").replicas(16)).await;
    for life in [300, 700, 1200, 1700, 2300] {
        let headroom = Headroom::start(&scene, Role::Headroom, QUICK, &groups);
        tokio::time::sleep(Duration::from_millis(life)).await;
        headroom.kill();
        let view = scene.view().await;
        assert!(view.nodes.len() <= 6, "{view}");
    }
    let headroom = Headroom::start(&scene, Role::Headroom, QUICK, &groups);
    scene.runs("web", 16, 60).await;
    headroom.kill();
    scene.scale("web", 3).await;
    for life in [1000, 3500, 4200, 4900, 5600] {
        let headroom = Headroom::start(&scene, Role::Headroom, QUICK, &groups);
        tokio::time::sleep(Duration::from_millis(life)).await;
        headroom.kill();
    }
    let headroom = Headroom::start(&scene, Role::Headroom, QUICK, &groups);
    headroom.acts().await;
    let settled = |view: &crate::scene::View| view.nodes.len() == 1 && view.running("web") == 3;
    let view = scene.until("one node is left and all pods run", 120, settled).await;
    let marked = view.nodes.iter().flat_map(taints).filter(|taint| taint.key.contains("ByClusterAutoscaler")).count();
    assert_eq!(marked, 0, "{view}\n{}", headroom.log());
    headroom.stop();
    let writes = plane.audit();
    let deleted = writes
        .iter()
        .filter(|write| write.user() == "headroom" && write.namespace() == scene.name && write.resource() == "pods");
    assert_eq!(deleted.count(), 0, "pods go by the Eviction API alone");
}

#[tokio::test]
async fn an_api_server_that_is_restarted_is_found_again() {
    let Some(plane) = ControlPlane::own().await else { return };
    let scene = Scene::new(&plane, "restarts").await;
    let groups = [group(&scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { max: 6 }")];
    let headroom = Headroom::start(&scene, Role::Headroom, QUICK, &groups);
    scene.deploy(&Workload::named("web").replicas(8)).await;
    scene.runs("web", 8, 60).await;
    scene.scale("web", 1).await;
    scene.until("a drain has begun", 60, |view| view.nodes.iter().any(|node| !taints(node).is_empty())).await;
    plane.stop_api_server();
    tokio::time::sleep(Duration::from_secs(3)).await;
    plane.start_api_server().await;
    scene.until("one node is left", 120, |view| view.nodes.len() == 1 && view.running("web") == 1).await;
    scene.scale("web", 6).await;
    scene.runs("web", 6, 60).await;
    headroom.stop();
}

/// A watch that goes on from before a restart asks for history which the API server does not have any more.
#[tokio::test]
async fn what_changed_while_nobody_watched_is_read_again_when_the_api_server_has_lost_its_history() {
    let Some(plane) = ControlPlane::own().await else { return };
    let scene = Scene::new(&plane, "history").await;
    let groups = [group(&scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { max: 6 }")];
    let headroom = Headroom::start(&scene, Role::Headroom, QUICK, &groups);
    scene.deploy(&Workload::named("web").replicas(4)).await;
    scene.runs("web", 4, 60).await;
    headroom.signal(Signal::STOP);
    scene.scale("web", 8).await;
    let made = |view: &crate::scene::View| view.pods_of("web").count() == 8;
    scene.until("the new pods wait", 30, made).await;
    plane.stop_api_server();
    plane.start_api_server().await;
    headroom.signal(Signal::CONT);
    scene.runs("web", 8, 60).await;
    let log = headroom.log();
    assert!(log.contains("the API server does not remember so far back"), "{log}");
    headroom.stop();
}
