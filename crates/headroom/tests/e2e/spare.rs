//! Spare room: the next pod does not wait for a machine.

use k8s_openapi::api::core::v1::PodTemplate;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, View, Workload, node_of};
use crate::wait::wait_until;

/// Longer than the tests are ready to wait: a pod that runs has found room that was there before.
const SLOW: &str = "kwok: { boot: 40s }";

#[tokio::test]
async fn with_slack_the_next_pod_starts_without_waiting_for_a_machine() {
    // The rate is a share of the whole cluster, and any node has room for it.
    let Some(plane) = ControlPlane::own().await else { return };
    let scene = Scene::new(&plane, "slack").await;
    let groups = [slow(&scene)];
    let headroom = Headroom::start(&scene, Role::Headroom, "slack: { rate: 50% }", &groups);
    scene.deploy(&Workload::named("web").replicas(4)).await;
    scene.runs("web", 4, 120).await;
    // Four pods of 1 cpu and a half as much again need two nodes of 4.
    let view = scene.until("there is room to spare", 120, |view| view.nodes.len() == 2).await;
    starts_on_what_is_there(&scene, &view, 5).await;
    headroom.stop();
}

#[tokio::test]
async fn with_a_capacity_buffer_the_next_pod_starts_without_waiting_for_a_machine() {
    // A new kind of objects is news for everybody who shares a cluster.
    let Some(plane) = ControlPlane::own().await else { return };
    let scene = Scene::new(&plane, "buffer").await;
    scene.apply_to_cluster::<CustomResourceDefinition>(definition()).await;
    let headroom = Headroom::start(&scene, Role::Headroom, "slack: {}", &[slow(&scene)]);
    let container =
        json!({ "name": "main", "image": "none", "resources": { "requests": { "cpu": "1", "memory": "1Gi" } } });
    let template = json!({
        "metadata": { "name": "like-web" },
        "template": { "spec": { "nodeSelector": { "scene": "buffer" }, "containers": [container] } },
    });
    scene.apply::<PodTemplate>(template).await;
    let buffers = buffers(&scene);
    let wanted = json!({
        "apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer",
        "metadata": { "name": "spare" },
        "spec": { "podTemplateRef": { "name": "like-web" }, "replicas": 3 },
    });
    let params = PatchParams::apply("e2e").force();
    wait_until("the new kind is served", 30, async || {
        buffers.patch("spare", &params, &Patch::Apply(&wanted)).await.map_err(|error| error.to_string())
    })
    .await;
    let view = scene.until("there is room to spare", 150, |view| view.nodes.len() == 1).await;
    let status = wait_until("the buffer is reported ready", 30, async || {
        let buffer = buffers.get("spare").await.expect("the buffer");
        let status = buffer.data["status"].clone();
        if status["replicas"] == 3 { Ok(status) } else { Err(format!("{status:#}\n{}", headroom.log())) }
    })
    .await;
    assert!(status["conditions"].to_string().contains("\"True\""), "{status:#}");
    scene.deploy(&Workload::named("web").replicas(0)).await;
    starts_on_what_is_there(&scene, &view, 3).await;
    headroom.stop();
}

fn slow(scene: &Scene<'_>) -> String {
    let of_one = group(scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { max: 5 }");
    of_one.replace("kwok: {}", SLOW)
}

/// Scales to `replicas`: all of them run sooner than a machine could be had, on nodes that were there.
async fn starts_on_what_is_there(scene: &Scene<'_>, before: &View, replicas: u32) {
    scene.scale("web", replicas).await;
    let view = scene.runs("web", replicas as usize, 20).await;
    let there = |name: &str| before.nodes.iter().any(|node| node.metadata.name.as_deref() == Some(name));
    assert!(view.pods_of("web").all(|pod| node_of(pod).is_some_and(there)), "{view}");
}

fn buffers(scene: &Scene<'_>) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("autoscaling.x-k8s.io", "v1beta1", "CapacityBuffer");
    Api::namespaced_with(scene.client.clone(), scene.name, &ApiResource::from_gvk(&kind))
}

fn definition() -> Value {
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "metadata": {
            "name": "capacitybuffers.autoscaling.x-k8s.io",
            "annotations": { "api-approved.kubernetes.io": "https://github.com/kubernetes/autoscaler/pull/8151" },
        },
        "spec": {
            "group": "autoscaling.x-k8s.io",
            "scope": "Namespaced",
            "names": { "plural": "capacitybuffers", "singular": "capacitybuffer", "kind": "CapacityBuffer" },
            "versions": [{
                "name": "v1beta1", "served": true, "storage": true,
                "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "properties": { "spec": anything, "status": anything },
                } },
            }],
        },
    })
}
