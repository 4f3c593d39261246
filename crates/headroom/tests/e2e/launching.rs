//! Machines that do not come.

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, Workload};
use crate::wait::wait_until;

#[tokio::test]
async fn a_machine_that_never_becomes_a_node_is_written_off_and_another_group_takes_its_pods() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "failing").await;
    let machine = "{ cpu: 4, memory: 16Gi, pods: 110 }";
    let broken = group(&scene, "broken", machine, "price: 0.1\nsize: { max: 5 }\nbootTimeout: 5s");
    let broken = broken.replace("kwok: {}", "kwok: { bootFailures: 100 }");
    let sound = group(&scene, "sound", machine, "price: 0.9\nsize: { max: 5 }");
    let headroom = Headroom::start(&scene, Role::Headroom, "", &[broken, sound]);
    scene.deploy(&Workload::named("web").replicas(3)).await;
    let view = scene.runs("web", 3, 90).await;
    assert_eq!(view.nodes.len(), 1, "{view}\n{}", headroom.log());
    let explained = headroom.ask(&["explain", "group", "failing-broken"]);
    assert!(explained.contains("left alone") || explained.contains("back"), "the reason is visible:\n{explained}");
    wait_until("the machine that did not come is not paid for any more", 60, async || {
        let metrics = headroom.get("metrics").await;
        let none = metrics.contains("headroom_group_target_nodes{group=\"failing-broken\"} 0");
        if none { Ok(()) } else { Err(headroom.log()) }
    })
    .await;
    headroom.stop();
}
