//! Several groups could take the same pods.

use std::collections::BTreeMap;

use serde_json::json;

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, View, Workload};

#[tokio::test]
async fn of_two_groups_the_cheaper_one_grows_and_the_dearer_one_when_that_is_full() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "prices").await;
    let machine = "{ cpu: 4, memory: 16Gi, pods: 110 }";
    let groups = [
        group(&scene, "dear", machine, "price: 0.4\nsize: { max: 10 }"),
        group(&scene, "cheap", machine, "price: 0.2\nsize: { max: 2 }"),
    ];
    let headroom = Headroom::start(&scene, Role::Headroom, "", &groups);
    scene.deploy(&Workload::named("web").replicas(6)).await;
    let view = scene.runs("web", 6, 60).await;
    assert_eq!(nodes_by(&view, "pool"), [("cheap".to_owned(), 2)].into(), "{view}");
    scene.scale("web", 12).await;
    let view = scene.runs("web", 12, 60).await;
    let both = [("cheap".to_owned(), 2), ("dear".to_owned(), 1)];
    assert_eq!(nodes_by(&view, "pool"), both.into(), "{view}\n{}", headroom.ask(&["explain", "group", "prices-dear"]));
    headroom.stop();
}

#[tokio::test]
async fn pods_that_must_be_spread_get_nodes_in_three_zones() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "zones").await;
    let zones = ["a", "b", "c"];
    let machine = "{ cpu: 4, memory: 16Gi, pods: 110 }";
    let groups = zones.map(|zone| {
        let of_one = group(&scene, zone, machine, "size: { max: 5 }");
        of_one.replace("kwok: {}", &format!("kwok: {{ zones: [e2e-{zone}] }}"))
    });
    let headroom = Headroom::start(&scene, Role::Headroom, "balanceIgnoreLabels: [pool]", &groups);
    let spread = json!([{
        "topologyKey": "topology.kubernetes.io/zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": { "matchLabels": { "app": "web" } },
    }]);
    scene.deploy(&Workload::named("web").replicas(9).pod(json!({ "topologySpreadConstraints": spread }))).await;
    let view = scene.runs("web", 9, 90).await;
    let zone = "topology.kubernetes.io/zone";
    assert_eq!(nodes_by(&view, zone), zones.map(|zone| (format!("e2e-{zone}"), 1)).into(), "{view}");
    headroom.stop();
}

fn nodes_by(view: &View, key: &str) -> BTreeMap<String, usize> {
    let mut nodes = BTreeMap::new();
    view.nodes.iter().for_each(|node| *nodes.entry(label(node, key)).or_default() += 1);
    nodes
}

fn label(node: &k8s_openapi::api::core::v1::Node, key: &str) -> String {
    node.metadata.labels.as_ref().and_then(|labels| labels.get(key)).cloned().unwrap_or_default()
}
