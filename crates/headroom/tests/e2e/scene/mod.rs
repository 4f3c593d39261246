//! One test's part of a cluster: a namespace, and nodes that no pod of another test may use.

mod objects;
mod view;

use std::collections::BTreeSet;
use std::fmt::Debug;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Namespace, Node, Pod};
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::core::{ClusterResourceScope, NamespaceResourceScope};
use kube::{Client, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::account;
use crate::control_plane::ControlPlane;
use crate::wait::wait_until;
pub(crate) use objects::{Machine, Workload};
pub(crate) use view::{View, node_of, taints};

/// The label of a scene's nodes, and the node selector of its pods.
pub(crate) const LABEL: &str = "scene";

/// A namespace with nodes of its own.
pub(crate) struct Scene<'a> {
    pub(crate) name: &'static str,
    pub(crate) client: Client,
    pub(crate) plane: &'a ControlPlane,
}

impl<'a> Scene<'a> {
    /// An empty one. No two tests may give the same name.
    pub(crate) async fn new(plane: &'a ControlPlane, name: &'static str) -> Self {
        let scene = Self { name, client: plane.client().await, plane };
        scene.apply_to_cluster::<Namespace>(json!({ "metadata": { "name": name } })).await;
        account::grant(&scene).await;
        scene
    }

    /// Makes or changes a Deployment.
    pub(crate) async fn deploy(&self, workload: &Workload) {
        self.apply::<Deployment>(workload.deployment(self.name)).await;
    }

    pub(crate) async fn scale(&self, deployment: &str, replicas: u32) {
        let patch = Patch::Merge(json!({ "spec": { "replicas": replicas } }));
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), self.name);
        deployments.patch_scale(deployment, &PatchParams::default(), &patch).await.expect("it can be scaled");
    }

    /// Sees to it that a Deployment which is made smaller keeps a pod on each node, so that pods have to move.
    pub(crate) async fn keep_one_on_each_node(&self, deployment: &str) {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), self.name);
        let view = self.view().await;
        let mut nodes = BTreeSet::new();
        for pod in view.pods_of(deployment).filter(|pod| node_of(pod).is_some_and(|node| nodes.insert(node))) {
            let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": "100" });
            let patch = Patch::Merge(json!({ "metadata": { "annotations": cost } }));
            let name = pod.metadata.name.as_deref().expect("a name");
            pods.patch_metadata(name, &PatchParams::default(), &patch).await.expect("it can be annotated");
        }
    }

    /// Makes a node of this scene by hand, which kwok then runs.
    pub(crate) async fn node(&self, machine: &Machine) {
        let node = machine.node(self.name);
        let status = json!({ "status": node["status"].clone(), "apiVersion": "v1", "kind": "Node" });
        let made: Node = self.apply_to_cluster(node).await;
        let nodes: Api<Node> = Api::all(self.client.clone());
        let name = made.metadata.name.expect("a name");
        nodes.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await.expect("a status");
    }

    /// What there is now.
    pub(crate) async fn view(&self) -> View {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), self.name);
        let nodes = nodes.list(&ListParams::default().labels(&format!("{LABEL}={}", self.name))).await;
        let pods = pods.list(&ListParams::default()).await;
        View { nodes: nodes.expect("nodes are listed").items, pods: pods.expect("pods are listed").items }
    }

    /// What has been told of the objects of this kind, as `name reason: message`. `namespace` is where the events are:
    /// that of the scene, or `default` for nodes.
    pub(crate) async fn told(&self, namespace: &str, kind: &str) -> Vec<String> {
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let chosen = format!("involvedObject.kind={kind},reportingComponent=headroom");
        let found = events.list(&ListParams::default().fields(&chosen)).await.expect("events are listed");
        let line = |event: Event| {
            let name = event.involved_object.name.unwrap_or_default();
            format!("{name} {}: {}", event.reason.unwrap_or_default(), event.message.unwrap_or_default())
        };
        found.into_iter().map(line).collect()
    }

    /// The text of the ConfigMap `headroom-status`, once it is there.
    pub(crate) async fn status(&self) -> String {
        let config_maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), self.name);
        let found = config_maps.get_opt("headroom-status").await.expect("it can be read");
        found.and_then(|found| found.data?.remove("status")).unwrap_or_default()
    }

    /// Waits until the scene is as `wanted`, and says what there is then.
    pub(crate) async fn until(&self, what: &str, seconds: u64, wanted: impl Fn(&View) -> bool) -> View {
        wait_until(what, seconds, async || {
            let view = self.view().await;
            if wanted(&view) { Ok(view) } else { Err(view.to_string()) }
        })
        .await
    }

    /// Waits until exactly `count` pods of a Deployment are there and all of them run.
    pub(crate) async fn runs(&self, deployment: &str, count: usize, seconds: u64) -> View {
        let all = |view: &View| view.running(deployment) == count && view.pods_of(deployment).count() == count;
        self.until(&format!("{count} pods of {deployment} run"), seconds, all).await
    }

    /// Makes or changes an object in the scene's namespace.
    pub(crate) async fn apply<K>(&self, object: Value) -> K
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Object,
    {
        patch(&Api::<K>::namespaced(self.client.clone(), self.name), object).await
    }

    /// Makes or changes an object that is in no namespace.
    pub(crate) async fn apply_to_cluster<K>(&self, object: Value) -> K
    where
        K: Resource<Scope = ClusterResourceScope, DynamicType = ()> + Object,
    {
        patch(&Api::<K>::all(self.client.clone()), object).await
    }
}

async fn patch<K>(api: &Api<K>, mut object: Value) -> K
where
    K: Resource<DynamicType = ()> + Object,
{
    object["apiVersion"] = K::api_version(&()).into();
    object["kind"] = K::kind(&()).into();
    let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
    let params = PatchParams::apply("e2e").force();
    let applied = api.patch(&name, &params, &Patch::Apply(&object)).await;
    applied.unwrap_or_else(|error| panic!("{error}\nwhen applying {object:#}"))
}

/// What every object can do.
pub(crate) trait Object: Clone + Debug + Serialize + DeserializeOwned {}

impl<K: Clone + Debug + Serialize + DeserializeOwned> Object for K {}
