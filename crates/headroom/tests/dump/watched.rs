//! The same objects in a dump and behind an API server: what is watched and what is read are one cluster.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use headroom::dump::Reader;
use headroom_adapters::cluster::kubernetes::watch::Watches;
use headroom_core::snapshot::{Builder, Kind, Snapshot};
use serde_json::{Value, json};

/// The kinds of the API by the last part of their paths, with the group of their versions.
const RESOURCES: [(&str, &str, &str); 17] = [
    ("capacitybuffers", "CapacityBuffer", "autoscaling.x-k8s.io"),
    ("csinodes", "CSINode", "storage.k8s.io"),
    ("daemonsets", "DaemonSet", "apps"),
    ("deployments", "Deployment", "apps"),
    ("jobs", "Job", "batch"),
    ("namespaces", "Namespace", ""),
    ("nodes", "Node", ""),
    ("persistentvolumeclaims", "PersistentVolumeClaim", ""),
    ("persistentvolumes", "PersistentVolume", ""),
    ("poddisruptionbudgets", "PodDisruptionBudget", "policy"),
    ("pods", "Pod", ""),
    ("podtemplates", "PodTemplate", ""),
    ("priorityclasses", "PriorityClass", "scheduling.k8s.io"),
    ("replicasets", "ReplicaSet", "apps"),
    ("replicationcontrollers", "ReplicationController", ""),
    ("statefulsets", "StatefulSet", "apps"),
    ("storageclasses", "StorageClass", "storage.k8s.io"),
];

#[tokio::test]
async fn a_watched_cluster_is_the_one_that_its_dump_shows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps");
    for name in ["kubectl.json", "workloads.json", "jq-stream.json", "no-system-pods.json", "malformed.json"] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let mut reader = Reader::default();
        reader.read(name, &text).unwrap();
        let dump = reader.finish().unwrap();
        let read = show(dump.builder.snapshot());
        assert!(read.lines().count() > 3, "{name} has objects");
        let watched = watch(objects(&text)).await;
        assert_equal(name, &read, &show(watched.snapshot()));
    }
}

fn assert_equal(name: &str, read: &str, watched: &str) {
    for (read, watched) in read.lines().zip(watched.lines()) {
        assert_eq!(read, watched, "{name}");
    }
    assert_eq!(read.lines().count(), watched.lines().count(), "{name}");
}

/// The objects of a text by the last part of their paths.
fn objects(text: &str) -> BTreeMap<&'static str, Vec<Value>> {
    let mut objects: BTreeMap<_, Vec<Value>> = BTreeMap::new();
    let mut put = |object: Value, kind: Option<&str>| {
        let kind = object["kind"].as_str().or(kind);
        let group = object["apiVersion"].as_str().map(|version| version.split_once('/').map_or("", |(group, _)| group));
        let is_it =
            |(_, known, of): &&(&str, &str, &str)| Some(*known) == kind && group.is_none_or(|group| group == *of);
        if let Some((plural, _, _)) = RESOURCES.iter().find(is_it) {
            objects.entry(*plural).or_default().push(object);
        }
    };
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match value.unwrap() {
            Value::Array(items) => items.into_iter().for_each(|item| put(item, None)),
            mut list if list["items"].is_array() => {
                let kind = list["kind"].as_str().and_then(|kind| kind.strip_suffix("List")).map(str::to_owned);
                let Value::Array(items) = list["items"].take() else { continue };
                items.into_iter().for_each(|item| put(item, kind.as_deref()));
            }
            object => put(object, None),
        }
    }
    objects
}

/// Everything that is seen of a server with these objects.
async fn watch(objects: BTreeMap<&'static str, Vec<Value>>) -> Builder {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let router = Router::new().fallback(answer).with_state(Arc::new(objects));
    let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let watches = Watches::start(kube::Client::try_from(kube::Config::new(uri)).unwrap());
    let mut builder = Builder::new();
    let all = async {
        loop {
            let observation = watches.observe(builder.snapshot());
            observation.changes.into_iter().for_each(|change| builder.apply(change));
            if observation.ages.values().all(Option::is_some) {
                return;
            }
            watches.changed().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.unwrap();
    server.abort();
    builder
}

async fn answer(State(objects): State<Arc<BTreeMap<&'static str, Vec<Value>>>>, uri: Uri) -> Response {
    if uri.path() == "/apis/autoscaling.x-k8s.io/v1beta1" {
        let buffers = json!({ "name": "capacitybuffers", "singularName": "", "namespaced": true, "kind": "CapacityBuffer",
            "verbs": ["list", "watch"] });
        return json!({ "groupVersion": "autoscaling.x-k8s.io/v1beta1", "resources": [buffers] })
            .to_string()
            .into_response();
    }
    if uri.query().is_some_and(|query| query.contains("watch=true")) {
        let refused = json!({ "kind": "Status", "code": 422, "message": "no watch is served" });
        return (StatusCode::UNPROCESSABLE_ENTITY, refused.to_string()).into_response();
    }
    let plural = uri.path().rsplit('/').next().unwrap_or_default();
    let items = objects.get(plural).cloned().unwrap_or_default();
    json!({ "kind": "List", "metadata": { "resourceVersion": "1" }, "items": items }).to_string().into_response()
}

/// All that a snapshot says, but for how complete it is.
fn show(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for view in snapshot.nodes() {
        writeln!(text, "{:?} {:?}", view.node, view.sums).unwrap();
        for pod in view.pods() {
            let (name, spec) = (pod.full_name(), pod.spec);
            let state = (pod.phase, pod.created, pod.deleting, pod.unready, pod.ends_by);
            writeln!(text, "on {}: {name} {state:?} {spec:?}", view.node.name).unwrap();
        }
    }
    for class in snapshot.classes() {
        let pending: Vec<_> = class.pending_pods().iter().map(|pod| (pod.full_name(), pod.nominated)).collect();
        writeln!(text, "{} {} {pending:?} {:?}", class.bound, class.aside, class.spec).unwrap();
    }
    for budget in snapshot.disruption_budgets() {
        writeln!(text, "{budget:?}").unwrap();
    }
    for workload in snapshot.workloads() {
        writeln!(text, "{workload:?}").unwrap();
    }
    for buffer in snapshot.capacity_buffers() {
        writeln!(text, "{buffer:?}").unwrap();
    }
    for spec in snapshot.daemon_sets() {
        writeln!(text, "daemon set {spec:?}").unwrap();
    }
    for kind in Kind::ALL {
        let mut keys = snapshot.objects(kind);
        keys.sort();
        for key in keys {
            let (namespace, name) = (&key.namespace, &key.name);
            writeln!(text, "{kind} {namespace}/{name}").unwrap();
            match kind {
                Kind::PersistentVolumes => writeln!(text, "{:?}", snapshot.volume(name)),
                Kind::PersistentVolumeClaims => writeln!(text, "{:?}", snapshot.claim(namespace, name)),
                Kind::StorageClasses => writeln!(text, "{:?}", snapshot.storage_class(name)),
                Kind::CsiNodes => writeln!(text, "{:?}", snapshot.attach_limits(name)),
                Kind::Namespaces => writeln!(text, "{:?}", snapshot.namespace(name)),
                _ => Ok(()),
            }
            .unwrap();
        }
    }
    text
}
