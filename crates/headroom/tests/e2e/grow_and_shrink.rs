//! A Deployment gets the nodes that it needs, and they go again through the Eviction API.

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, Workload};
use crate::wait::wait_until;

const QUICK: &str = "scaleDown: { unneededTime: 3s, delayAfterAdd: 0s }";

#[tokio::test]
async fn a_deployment_gets_nodes_from_zero_and_loses_them_when_it_shrinks() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "growing").await;
    let groups = [group(&scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { min: 0, max: 10 }")];
    let headroom = Headroom::start(&scene, Role::Headroom, QUICK, &groups);
    scene.deploy(&Workload::named("web").replicas(10)).await;
    scene.runs("web", 10, 60).await;
    let view = scene.view().await;
    assert_eq!(view.nodes.len(), 3, "10 pods of 1 cpu need three nodes of 4: {view}");
    let asked = headroom.ask(&["explain", "group", "growing-web"]);
    assert!(asked.contains("growing-web"), "{asked}");
    let metrics = headroom.get("metrics").await;
    assert!(metrics.contains("headroom_group_target_nodes{group=\"growing-web\"} 3"), "{metrics}");
    assert_eq!(headroom.get("healthz").await, "ok\n");

    wait_until("the pods are told why nodes came, and the status says so", 30, async || {
        let (pods, program) = (scene.told("growing", "Pod").await, scene.told("growing", "ConfigMap").await);
        let status = scene.status().await;
        let triggered =
            pods.iter().filter(|line| line.contains("TriggeredScaleUp: pod triggered scale-up: [{growing-web 0->"));
        let scaled =
            program.iter().any(|line| line.contains("ScaledUpGroup: Scale-up: group growing-web size set to "));
        let healthy = status.contains("status: Healthy") && status.contains("- name: growing-web");
        let there = status.contains("      total: 3\n") && status.contains("cloudProviderTarget: 3");
        let told = triggered.count() > 0 && scaled && healthy && there;
        if told { Ok(()) } else { Err(format!("{pods:#?}\n{program:#?}\n{status}")) }
    })
    .await;

    scene.scale("web", 4).await;
    scene.runs("web", 4, 30).await;
    let view = scene.until("one node is left", 120, |view| view.nodes.len() == 1).await;
    assert_eq!(view.running("web"), 4, "{view}\n{}", headroom.log());
    scene.scale("web", 0).await;
    scene.until("no node is left", 120, |view| view.nodes.is_empty()).await;
    headroom.stop();

    let nodes = scene.told("default", "Node").await;
    let told = |reason: &str| nodes.iter().any(|line| line.starts_with("growing-web") && line.contains(reason));
    assert!(told("ScaleDown: marked for removal: ") && told("ScaleDown: removed: "), "{nodes:#?}");

    let writes = plane.audit();
    let mine = || writes.iter().filter(|write| write.user() == "headroom" && write.namespace() == scene.name);
    assert!(mine().any(|write| write.resource() == "leases"), "it leads");
    assert!(mine().all(|write| !(write.resource() == "pods" && write.verb == "delete")), "no pod is deleted");
}

#[tokio::test]
async fn a_disruption_budget_holds_a_drain_until_it_lets_go() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "budget").await;
    let groups = [group(&scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { min: 0, max: 10 }")];
    let headroom = Headroom::start(&scene, Role::Headroom, QUICK, &groups);
    scene.deploy(&Workload::named("web").replicas(6)).await;
    scene.runs("web", 6, 60).await;
    let budget = serde_json::json!({
        "metadata": { "name": "all-of-them" },
        "spec": { "maxUnavailable": 0, "selector": { "matchLabels": { "app": "web" } } },
    });
    scene.apply::<k8s_openapi::api::policy::v1::PodDisruptionBudget>(budget.clone()).await;
    // Two pods, so that either node could take all.
    scene.scale("web", 2).await;
    scene.runs("web", 2, 30).await;
    let spread = scene.view().await.nodes.len();
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    let view = scene.view().await;
    let holding =
        view.pods_of("web").filter_map(crate::scene::node_of).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(view.running("web"), 2, "{view}");
    assert!(view.nodes.len() >= holding.min(spread), "{view}\n{}", headroom.log());
    let plan = headroom.ask(&["plan"]);
    assert!(holding < 2 || plan.contains("all-of-them"), "the plan names the budget:\n{plan}");
    let nodes = scene.told("default", "Node").await;
    let blocked = |line: &String| line.contains("ScaleDownBlocked: ") && line.contains("all-of-them");
    assert!(holding < 2 || nodes.iter().any(blocked), "the node is told of the budget: {nodes:#?}");

    let mut loose = budget;
    loose["spec"] = serde_json::json!({ "maxUnavailable": 1, "selector": { "matchLabels": { "app": "web" } } });
    scene.apply::<k8s_openapi::api::policy::v1::PodDisruptionBudget>(loose).await;
    scene.until("one node is left", 120, |view| view.nodes.len() == 1 && view.running("web") == 2).await;
    headroom.stop();
}
