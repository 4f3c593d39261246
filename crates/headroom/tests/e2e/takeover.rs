//! Headroom takes a cluster over from Cluster Autoscaler and Escalator, with all that they leave behind.

use std::time::Duration;

use headroom::migrate::CommandLine;
use headroom::migrate::cluster_autoscaler::migrate;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, View, Workload, taints};
use crate::wait::wait_until;

const FLAGS: [&str; 6] = [
    "--cloud-provider=kwok",
    "--nodes=2:6:takeover-web",
    "--scan-interval=2s",
    "--scale-down-unneeded-time=3s",
    "--scale-down-delay-after-add=0s",
    "--max-drain-parallelism=2",
];

const MACHINE: &str = "{ cpu: 4, memory: 16Gi, pods: 110 }";

const UTILIZATION: &str = "utilization: { scaleUpAbove: 70, removeSlowlyBelow: 20, removeFastBelow: 10, stepInterval: 2s, \
                           countPods: placed, coolDown: 3s, softGrace: 1h, hardGrace: 2h }";

const STATUS: &str = "time: 2026-08-22 10:00:00\nautoscalerStatus: Running\n";

#[tokio::test]
async fn what_other_autoscalers_leave_behind_is_taken_over_and_nothing_is_lost() {
    let Some(plane) = ControlPlane::own().await else { return };
    let scene = Scene::new(&plane, "takeover").await;
    let groups = [
        group(&scene, "web", MACHINE, "size: { min: 2, max: 6 }"),
        group(&scene, "batch", MACHINE, "size: { min: 2, max: 4 }").replace("pending: {}", UTILIZATION),
    ];
    // Somebody has to make the nodes; what is remembered of it is lost, as it was never Headroom's cluster.
    let before = Headroom::start(&scene, Role::FirstHeadroom, "", &groups);
    scene.until("both groups have their smallest size", 90, |view| view.ready() == 4).await;
    scene.deploy(&on("web", 6)).await;
    scene.deploy(&on("batch", 5)).await;
    scene.runs("web", 6, 90).await;
    scene.runs("batch", 5, 90).await;
    before.stop();
    let config_maps: Api<ConfigMap> = Api::namespaced(scene.client.clone(), scene.name);
    config_maps.delete("headroom-memory", &DeleteParams::default()).await.expect("it was kept");
    let view = scene.view().await;
    leave_behind(&scene.client, &view).await;

    // Cluster Autoscaler is still at work, and pods wait.
    let lease = Renewed::start(scene.client.clone()).await;
    let start = Timestamp::now();
    let headroom = Headroom::start(&scene, Role::Headroom, &settings(), &groups);
    scene.scale("web", 10).await;
    wait_until("it says that another autoscaler is at work", 60, async || {
        let log = headroom.log();
        if log.contains("Cluster Autoscaler is at work") { Ok(()) } else { Err(log) }
    })
    .await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let end = Timestamp::now();
    let waiting = scene.view().await;
    assert!(waiting.running("web") < 10 && waiting.nodes.len() == view.nodes.len(), "it acted: {waiting}");
    let writes = plane.audit();
    let own = ["leases", "configmaps", "events"];
    let meanwhile = writes.iter().filter(|write| write.user() == Role::Headroom.name());
    let meanwhile = meanwhile.filter(|write| (start..end).contains(&write.request_received_timestamp));
    let acted: Vec<_> = meanwhile.filter(|write| !own.contains(&&*write.resource())).collect();
    assert!(acted.is_empty(), "it acted beside Cluster Autoscaler: {acted:?}");

    // Nobody renews the Lease any more.
    lease.stop();
    scene.runs("web", 10, 120).await;
    let clean = |view: &View| view.nodes.iter().all(|node| taints(node).is_empty());
    let view = scene.until("no node is marked any more", 120, clean).await;
    assert!(in_group(&view, "web") <= 6 && in_group(&view, "batch") <= 4, "{view}");
    assert_eq!((view.running("web"), view.running("batch")), (10, 5), "{view}");

    // It goes on as usual: nodes go, but not the one that may not.
    scene.scale("web", 2).await;
    // A node that is not needed may still be avoided where that is possible.
    let hard = |node: &Node| taints(node).iter().any(|taint| taint.effect != "PreferNoSchedule");
    let smallest = |view: &View| in_group(view, "web") == 2 && !view.nodes.iter().any(hard);
    let view = scene.until("the smallest size is left", 180, smallest).await;
    scene.runs("web", 2, 60).await;
    let kept =
        view.nodes.iter().filter(|node| node.metadata.annotations.as_ref().is_some_and(|it| it.contains_key(KEEP)));
    assert_eq!(kept.count(), 1, "{view}\n{}", headroom.log());
    assert_eq!(view.running("batch"), 5, "{view}");
    headroom.stop();
    let writes = plane.audit();
    let mut deleted = writes.iter().filter(|write| write.user().ends_with("headroom"));
    assert!(
        deleted.all(|write| !(write.resource() == "pods" && write.verb == "delete")),
        "pods move by evictions alone"
    );
    let status: Api<ConfigMap> = Api::namespaced(scene.client.clone(), "kube-system");
    let status = status.get("cluster-autoscaler-status").await.expect("it is still there");
    assert_eq!(status.data.expect("data")["status"], STATUS, "what is not Headroom's stays as it was");
}

const KEEP: &str = "cluster-autoscaler.kubernetes.io/scale-down-disabled";

/// A Deployment whose pods run in one group.
fn on(name: &'static str, replicas: u32) -> Workload {
    Workload::named(name).replicas(replicas).pod(json!({ "nodeSelector": { "pool": name } }))
}

fn in_group(view: &View, pool: &str) -> usize {
    let of = |node: &&Node| node.metadata.labels.as_ref().is_some_and(|labels| labels["pool"] == pool);
    view.nodes.iter().filter(of).count()
}

/// What the command line of Cluster Autoscaler says beside its groups; where to listen, the test says.
fn settings() -> String {
    let words = FLAGS.map(str::to_owned);
    let yaml = migrate(&CommandLine::of_words(&words), None).expect("the flags are right");
    let (_, rest) = yaml.split_once("dryRun: true\n").expect("it is dry at first");
    let (settings, _) = rest.split_once("groups:\n").expect("there are groups");
    let lines = settings.lines().filter(|line| !line.starts_with("http:") && !line.contains("  address:"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Marks that were set by programs which are gone, on as many nodes of each group, and Cluster Autoscaler's status.
async fn leave_behind(client: &Client, view: &View) {
    let nodes: Api<Node> = Api::all(client.clone());
    let then = (Timestamp::now() - SignedDuration::from_mins(1)).as_second().to_string();
    let taint = |key: &str, value: &str, effect: &str| json!({ "spec": { "taints": [{ "key": key, "value": value, "effect": effect }] } });
    let of = |pool: &'static str| {
        let of = move |node: &&Node| node.metadata.labels.as_ref().is_some_and(|labels| labels["pool"] == pool);
        view.nodes.iter().filter(of).filter_map(|node| node.metadata.name.clone()).collect::<Vec<_>>()
    };
    let (web, batch) = (of("web"), of("batch"));
    let candidate = taint("DeletionCandidateOfClusterAutoscaler", &then, "PreferNoSchedule");
    let mut kept = candidate.clone();
    kept["metadata"] = json!({ "annotations": { KEEP: "true" } });
    let left: [(&String, Value); 3] = [
        (&web[0], taint("ToBeDeletedByClusterAutoscaler", &then, "NoSchedule")),
        (&web[1], kept),
        (&batch[0], taint("atlassian.com/escalator", &then, "NoSchedule")),
    ];
    for (node, patch) in left {
        nodes.patch(node, &PatchParams::default(), &Patch::Merge(patch)).await.expect("it can be patched");
    }
    let status = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "cluster-autoscaler-status" },
        "data": { "status": STATUS },
    });
    let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), "kube-system");
    let parameters = PatchParams::apply("cluster-autoscaler").force();
    config_maps.patch("cluster-autoscaler-status", &parameters, &Patch::Apply(&status)).await.expect("it is made");
}

/// The Lease of a Cluster Autoscaler that is at work.
struct Renewed(tokio::task::JoinHandle<()>);

impl Renewed {
    /// Renews it every two seconds, for as long as nobody stops it.
    async fn start(client: Client) -> Self {
        let leases: Api<Lease> = Api::namespaced(client, "kube-system");
        renew(&leases).await;
        Renewed(tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(2)).await;
                renew(&leases).await;
            }
        }))
    }

    fn stop(self) {
        self.0.abort();
    }
}

async fn renew(leases: &Api<Lease>) {
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": { "name": "cluster-autoscaler" },
        "spec": {
            "holderIdentity": "cluster-autoscaler-0",
            "leaseDurationSeconds": 15,
            "renewTime": format!("{:.6}", Timestamp::now()),
        },
    });
    let parameters = PatchParams::apply("cluster-autoscaler").force();
    leases.patch("cluster-autoscaler", &parameters, &Patch::Apply(&lease)).await.expect("it can be renewed");
}
