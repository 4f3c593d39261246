//! The strategy `utilization`: nodes are tainted, and go when their grace is over.

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, View, Workload, taints};

const STRATEGY: &str = "utilization: { scaleUpAbove: 70, removeSlowlyBelow: 45, removeFastBelow: 30, fastRate: 1, slowRate: 1, \
                        stepInterval: 2s, \
                        countPods: placed, coolDown: 3s, softGrace: 4s, hardGrace: 8s }";

#[tokio::test]
async fn a_group_follows_its_utilization_with_taints_and_grace_periods() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "utilized").await;
    let groups = [utilized(&scene)];
    let headroom = Headroom::start(&scene, Role::Headroom, "", &groups);
    scene.until("the smallest size", 60, |view| view.ready() == 2).await;
    // 6 of 8 cpu are 75 %: above 70.
    scene.deploy(&Workload::named("web").replicas(6)).await;
    scene.runs("web", 6, 60).await;
    let takes_pods = |view: &View| view.nodes.iter().filter(|node| taints(node).is_empty()).count();
    scene.until("it grows", 60, |view| view.ready() == 3 && takes_pods(view) == 3).await;

    // 2 of 12 cpu are 17 %: the oldest node is tainted. Empty it goes after its soft grace, and with pods after the hard one.
    scene.scale("web", 2).await;
    scene.until("a node is tainted", 60, |view| view.nodes.iter().any(|node| !taints(node).is_empty())).await;
    let view = scene.until("no more than the smallest size stays", 120, |view| view.nodes.len() == 2).await;
    assert_eq!(view.running("web"), 2, "{view}\n{}", headroom.log());

    // Load that comes back takes taints off before anything is bought.
    scene.scale("web", 6).await;
    scene.runs("web", 6, 90).await;
    scene.until("every node takes pods", 60, |view| takes_pods(view) == view.nodes.len()).await;
    headroom.stop();
    let writes = plane.audit();
    let mine = writes.iter().filter(|write| write.user() == "headroom" && write.namespace() == scene.name);
    let deleted = mine.filter(|write| write.resource() == "pods" && write.verb == "delete").count();
    assert_eq!(deleted, 0, "pods go by the Eviction API alone");
}

fn utilized(scene: &Scene<'_>) -> String {
    let of_one = group(scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { min: 2, max: 6 }");
    of_one.replace("pending: {}", STRATEGY)
}
