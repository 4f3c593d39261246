//! A large cluster in a real API server. This is a measurement, for `docs/performance.md`, and takes many minutes:
//! `cargo test --release -p headroom --test e2e -- --ignored --nocapture a_large_cluster`

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{ListParams, PostParams};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{LABEL, Machine, Scene};
use crate::wait::wait_until;

const NODES: usize = 5_000;
const PODS: usize = 50_000;
const CALLS: usize = 32;
const IDLE: Duration = Duration::from_secs(60);
/// Between two looks at whether all pods run.
const SETTLING: Duration = Duration::from_secs(10);

#[tokio::test]
#[ignore = "a measurement that takes many minutes"]
async fn a_large_cluster() {
    let Some(plane) = ControlPlane::alone().await else { return };
    let scene = Scene::new(&plane, "large").await;
    let start = Instant::now();
    futures::stream::iter(0..NODES)
        .for_each_concurrent(CALLS, |number| {
            let (scene, node) = (&scene, Machine::named(format!("large-{number:05}"), "4", "16Gi"));
            async move { scene.node(&node).await }
        })
        .await;
    println!("{NODES} nodes after {:.0?}", start.elapsed());
    let pods: Api<Pod> = Api::namespaced(scene.client.clone(), scene.name);
    futures::stream::iter(0..PODS)
        .for_each_concurrent(CALLS, |number| {
            let pods = pods.clone();
            async move { drop(pods.create(&PostParams::default(), &pod(number)).await.expect("a pod")) }
        })
        .await;
    println!("{PODS} pods after {:.0?}", start.elapsed());
    let waiting = ListParams::default().fields("status.phase=Pending");
    while !pods.list_metadata(&waiting).await.expect("the list of pods").items.is_empty() {
        sleep(SETTLING).await;
    }
    println!("all of them run after {:.0?}", start.elapsed());

    let machine = "{ cpu: 4, memory: 16Gi, pods: 110 }";
    let groups = [group(&scene, "web", machine, "size: { max: 6000 }").replace(", pool: web", "")];
    let start = Instant::now();
    let headroom = Headroom::start(&scene, Role::Headroom, "", &groups);
    wait_until("a first plan", 120, async || {
        let log = headroom.log();
        if log.contains("round=1") { Ok(()) } else { Err(log) }
    })
    .await;
    println!("the first plan {:.1?} after the start", start.elapsed());
    println!("then {}", usage(&headroom));
    sleep(IDLE).await;
    let before = cpu(&headroom);
    sleep(IDLE).await;
    let used = cpu(&headroom) - before;
    println!("when nothing but heartbeats happens: {used:.2} s of cpu in {IDLE:?}; {}", usage(&headroom));
    headroom.stop();
}

fn pod(number: usize) -> Pod {
    let container =
        json!({ "name": "main", "image": "none", "resources": { "requests": { "cpu": "250m", "memory": "1Gi" } } });
    let pod = json!({
        "metadata": { "name": format!("pod-{number:05}"), "labels": { "app": format!("app-{}", number % 500) } },
        "spec": {
            "nodeName": format!("large-{:05}", number % NODES),
            "nodeSelector": { LABEL: "large" },
            "containers": [container],
        },
    });
    serde_json::from_value(pod).expect("a pod")
}

fn usage(headroom: &Headroom) -> String {
    let status = std::fs::read_to_string(format!("/proc/{}/status", headroom.id().as_raw_nonzero())).expect("it runs");
    let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}

/// Seconds of cpu that it has used.
fn cpu(headroom: &Headroom) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", headroom.id().as_raw_nonzero())).expect("it runs");
    let fields: Vec<f64> = stat
        .rsplit_once(')')
        .expect("a name")
        .1
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|n| n.parse().ok())
        .collect();
    let ticks = rustix::param::clock_ticks_per_second();
    fields.iter().sum::<f64>() / ticks as f64
}
