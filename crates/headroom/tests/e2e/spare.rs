//! Spare room: the next pod does not wait for a machine.

use k8s_openapi::api::core::v1::PodTemplate;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, View, Workload, node_of};
use crate::wait::wait_until;

/// Longer than the tests are ready to wait: a pod that runs has found room that was there before.
const SLOW: &str = "kwok: { boot: 40s }";

/// A kind that is not part of Kubernetes.
struct Kind {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
}

const BUFFER: Kind = Kind { group: "autoscaling.x-k8s.io", version: "v1beta1", kind: "CapacityBuffer" };
const ROLLOUT: Kind = Kind { group: "e2e.headroom.dev", version: "v1", kind: "Rollout" };

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
    let buffers = objects(&scene, &BUFFER);
    let spec = json!({ "podTemplateRef": { "name": "like-web" }, "replicas": 3 });
    apply(&buffers, &BUFFER, json!({ "metadata": { "name": "spare" }, "spec": spec })).await;
    let view = scene.until("there is room to spare", 150, |view| view.nodes.len() == 1).await;
    let status = reported(&buffers, 3, &headroom).await;
    assert!(status["conditions"].to_string().contains("\"True\""), "{status:#}");
    scene.deploy(&Workload::named("web").replicas(0)).await;
    starts_on_what_is_there(&scene, &view, 3).await;
    headroom.stop();
}

#[tokio::test]
async fn a_capacity_buffer_is_a_share_of_anything_that_can_be_scaled() {
    let Some(plane) = ControlPlane::own().await else { return };
    let scene = Scene::new(&plane, "scalable").await;
    scene.apply_to_cluster::<CustomResourceDefinition>(definition()).await;
    scene.apply_to_cluster::<CustomResourceDefinition>(scalable_definition()).await;
    let machine = "{ cpu: 4, memory: 16Gi, pods: 110 }";
    let groups = [group(&scene, "web", machine, "size: { max: 5 }")];
    let headroom = Headroom::start(&scene, Role::Headroom, "slack: {}", &groups);
    // What a pod is like is seen from one that runs.
    scene.deploy(&Workload::named("web").replicas(1)).await;
    scene.runs("web", 1, 60).await;
    let rollouts = objects(&scene, &ROLLOUT);
    apply(&rollouts, &ROLLOUT, json!({ "metadata": { "name": "web" }, "spec": { "replicas": 8 } })).await;
    let status = json!({ "status": { "replicas": 8, "selector": "app=web" } });
    rollouts.patch_status("web", &PatchParams::default(), &Patch::Merge(status)).await.expect("a status");
    let buffers = objects(&scene, &BUFFER);
    let reference = json!({ "apiGroup": "e2e.headroom.dev", "kind": "Rollout", "name": "web" });
    let spec = json!({ "scalableRef": reference, "percentage": 50 });
    apply(&buffers, &BUFFER, json!({ "metadata": { "name": "half" }, "spec": spec })).await;
    // One pod that runs and room for four more, on nodes that take four each.
    scene.until("there is room to spare", 90, |view| view.nodes.len() == 2).await;
    reported(&buffers, 4, &headroom).await;
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

fn objects(scene: &Scene<'_>, kind: &Kind) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(kind.group, kind.version, kind.kind);
    Api::namespaced_with(scene.client.clone(), scene.name, &ApiResource::from_gvk(&kind))
}

/// Makes an object of a kind that may not be served at once.
async fn apply(objects: &Api<DynamicObject>, kind: &Kind, mut object: Value) {
    object["apiVersion"] = format!("{}/{}", kind.group, kind.version).into();
    object["kind"] = kind.kind.into();
    let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
    let params = PatchParams::apply("e2e").force();
    wait_until("the new kind is served", 30, async || {
        objects.patch(&name, &params, &Patch::Apply(&object)).await.map_err(|error| error.to_string())
    })
    .await;
}

/// Waits until the status of the only buffer has so many replicas.
async fn reported(buffers: &Api<DynamicObject>, replicas: u32, headroom: &Headroom) -> Value {
    wait_until("the buffer is reported", 60, async || {
        let buffers = buffers.list(&ListParams::default()).await.expect("buffers are listed");
        let status = buffers.items.first().map_or(Value::Null, |buffer| buffer.data["status"].clone());
        if status["replicas"] == replicas { Ok(status) } else { Err(format!("{status:#}\n{}", headroom.log())) }
    })
    .await
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

fn scalable_definition() -> Value {
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "metadata": { "name": "rollouts.e2e.headroom.dev" },
        "spec": {
            "group": "e2e.headroom.dev",
            "scope": "Namespaced",
            "names": { "plural": "rollouts", "singular": "rollout", "kind": "Rollout" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "properties": { "spec": anything, "status": anything },
                } },
            }],
        },
    })
}
