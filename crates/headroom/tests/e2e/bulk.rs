//! Three thousand pods at once, and most of them gone again: how many nodes that takes, in how many rounds, and that nothing
//! is lost. The times are printed, for `docs/performance.md`; nothing here depends on them.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, ListParams};
use tokio::time::Instant;

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{LABEL, Scene, Workload};
use crate::wait::wait_until;

const SETTINGS: &str = "expander: [least-nodes, least-waste]\nscaleDown: { unneededTime: 30s, delayAfterAdd: 10s }";

/// Each 500 times: 4,125 cpu in all.
const KINDS: [(&str, &str, &str); 6] = [
    ("tiny", "250m", "512Mi"),
    ("small", "500m", "2Gi"),
    ("medium", "1", "1Gi"),
    ("big", "1500m", "6Gi"),
    ("large", "2", "4Gi"),
    ("huge", "3", "12Gi"),
];

const MACHINES: [(&str, u32, u32); 3] = [("n4", 4, 16), ("n8", 8, 32), ("n16", 16, 64)];

#[tokio::test]
async fn three_thousand_pods_of_six_kinds_get_their_nodes_and_most_of_the_nodes_go_again() {
    let Some(plane) = ControlPlane::alone().await else { return };
    let scene = Scene::new(&plane, "bulk").await;
    for (name, cpu, memory) in KINDS {
        scene.deploy(&Workload::named(name).replicas(500).requests(cpu, memory)).await;
    }
    let watch =
        Watch { pods: Api::namespaced(scene.client.clone(), scene.name), nodes: Api::all(scene.client.clone()) };
    watch.until("3,000 pods wait", 120, |seen| seen.waiting.len() == 3000).await;

    let groups = MACHINES.map(|(name, cpu, memory)| {
        group(&scene, name, &format!("{{ cpu: {cpu}, memory: {memory}Gi, pods: 110 }}"), "size: { max: 1000 }")
    });
    let start = Instant::now();
    let headroom = Headroom::start(&scene, Role::Headroom, SETTINGS, &groups);
    let grown = watch.until("every pod is bound", 600, |seen| seen.waiting.is_empty()).await;
    println!("all pods bound after {:.1?} on {} nodes", start.elapsed(), grown.nodes);
    let grows = resizes(&headroom.log());
    println!("it grew by {grows:?}");
    let log = headroom.log();
    log.lines()
        .filter(|line| line.contains("DEBUG round ") || line.contains(" from="))
        .for_each(|line| println!("{line}"));
    assert!(grows[0] <= 262, "the first plan asks for {} nodes:\n{}", grows[0], headroom.log());
    assert!(grows.len() <= 3, "{} growing rounds: {grows:?}", grows.len());
    assert!(grown.nodes <= 268, "{} nodes", grown.nodes);

    let start = Instant::now();
    for (name, _, _) in KINDS {
        scene.scale(name, 100).await;
    }
    let few = |seen: &Seen| seen.nodes <= 60;
    let (shrunk, waits) = watch.shrinks("at most 60 nodes are left", 900, few, start).await;
    println!("{} nodes after {:.1?}; the longest wait of a pod was {:.1?}", shrunk.nodes, start.elapsed(), waits);
    headroom.stop();

    let writes = plane.audit();
    let deleted = writes.iter().filter(|write| write.namespace() == scene.name && write.resource() == "pods");
    let deleted = deleted.filter(|write| write.verb == "delete" && write.succeeded());
    let mut by_whom: BTreeMap<&str, usize> = BTreeMap::new();
    deleted.for_each(|write| *by_whom.entry(write.user()).or_default() += 1);
    // Only what the Deployments gave up; kwok ends what has been told to go.
    assert_eq!(by_whom.get("controllers"), Some(&2400), "{by_whom:?}");
    assert_eq!(by_whom.get("headroom"), None, "pods move by the Eviction API alone: {by_whom:?}");
}

/// By how many nodes each growing round let the groups grow.
fn resizes(log: &str) -> Vec<i64> {
    let number = |line: &str, key: &str| {
        let digits: String = line.split_once(key)?.1.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<i64>().ok()
    };
    let (mut rounds, mut more) = (Vec::new(), 0);
    for line in log.lines() {
        if let (Some(from), Some(to)) = (number(line, " from="), number(line, " to=")) {
            more += to - from;
        }
        if line.contains(" round=") && more != 0 {
            rounds.push(std::mem::take(&mut more));
        }
    }
    rounds
}

/// Looks at the cluster without burdening it: of 3,000 pods only those that wait.
struct Watch {
    pods: Api<Pod>,
    nodes: Api<Node>,
}

#[derive(Debug)]
struct Seen {
    /// Pods that are bound to no node.
    waiting: Vec<String>,
    nodes: usize,
}

impl Watch {
    async fn look(&self) -> Seen {
        let waiting = self.pods.list_metadata(&ListParams::default().fields("spec.nodeName=")).await;
        let nodes = self.nodes.list_metadata(&ListParams::default().labels(&format!("{LABEL}=bulk"))).await;
        let waiting = waiting.expect("pods are listed").items.into_iter();
        let waiting = waiting.filter_map(|pod| pod.metadata.name).collect();
        Seen { waiting, nodes: nodes.expect("nodes are listed").items.len() }
    }

    async fn until(&self, what: &str, seconds: u64, wanted: impl Fn(&Seen) -> bool) -> Seen {
        self.until_with(what, seconds, wanted, |_| {}).await
    }

    /// The same, and `note` takes down all that is seen.
    async fn until_with(
        &self,
        what: &str,
        seconds: u64,
        wanted: impl Fn(&Seen) -> bool,
        mut note: impl FnMut(&Seen),
    ) -> Seen {
        wait_until(what, seconds, async || {
            let seen = self.look().await;
            note(&seen);
            if wanted(&seen) {
                Ok(seen)
            } else {
                Err(format!("{} pods wait, {} nodes", seen.waiting.len(), seen.nodes))
            }
        })
        .await
    }

    /// The same, and the longest time that any pod was seen to wait.
    async fn shrinks(
        &self,
        what: &str,
        seconds: u64,
        wanted: impl Fn(&Seen) -> bool,
        start: Instant,
    ) -> (Seen, Duration) {
        let mut since: BTreeMap<String, Instant> = BTreeMap::new();
        let mut longest = Duration::ZERO;
        let mut said = 0;
        let note = |seen: &Seen| {
            since.retain(|pod, _| seen.waiting.contains(pod));
            for pod in &seen.waiting {
                let first = since.entry(pod.clone()).or_insert_with(Instant::now);
                longest = longest.max(first.elapsed());
            }
            if start.elapsed().as_secs() >= said {
                println!("{} s: {} nodes, {} pods wait", start.elapsed().as_secs(), seen.nodes, seen.waiting.len());
                said += 10;
            }
        };
        let seen = self.until_with(what, seconds, wanted, note).await;
        (seen, longest)
    }
}
