//! What the Kubernetes adapter does to a real API server, with the rights that the manifest gives it.

use std::time::{Duration, Instant};

use headroom_adapters::cluster::ClusterError;
use headroom_adapters::cluster::kubernetes::act::Acts;
use headroom_adapters::cluster::kubernetes::client::connect;
use headroom_adapters::cluster::kubernetes::lease::{Rivals, election};
use headroom_adapters::cluster::kubernetes::store::{Store, StoreError};
use headroom_adapters::election::Timing;
use headroom_adapters::fence::Fence;
use headroom_core::memory::{GroupMemory, Memory};
use headroom_core::plan::Evict;
use headroom_core::snapshot::{Effect, Taint};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use serde_json::json;
use tokio::time::timeout;

use crate::account;
use crate::control_plane::ControlPlane;
use crate::scene::{Machine, Scene, Workload};

async fn client(scene: &Scene<'_>, fence: Fence) -> Client {
    connect(Some(&account::kubeconfig(scene).await), None, fence).await.expect("a client")
}

fn removal(value: &str) -> Taint {
    Taint { key: "headroom.dev/removal".into(), value: value.into(), effect: Effect::NoSchedule }
}

async fn taints(scene: &Scene<'_>, node: &str) -> Vec<String> {
    let nodes: Api<Node> = Api::all(scene.client.clone());
    let found = nodes.get(node).await.expect("the node").spec.and_then(|spec| spec.taints).unwrap_or_default();
    found.into_iter().map(|taint| taint.key).collect()
}

/// Somebody else puts taints on the node and takes them off, with the same care, as fast as it goes.
#[tokio::test]
async fn foreign_taints_survive_and_so_do_ours() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "taints").await;
    scene.node(&Machine::named("taints-1", "4", "16Gi")).await;
    let ours = Acts::new(client(&scene, Fence::open()).await);
    let theirs = Acts::new(scene.client.clone());
    let foreign = |round: u32| Taint { key: "example.com/busy".into(), value: round.to_string().into(), ..removal("") };
    for round in 0..20_u32 {
        let (our, their, next) = (removal(&round.to_string()), foreign(round), foreign(round + 1));
        let (first, second) = tokio::join!(ours.taint("taints-1", &our), theirs.taint("taints-1", &their));
        first.unwrap();
        second.unwrap();
        let both = taints(&scene, "taints-1").await;
        assert!(both.contains(&"headroom.dev/removal".to_owned()), "{both:?}");
        assert!(both.contains(&"example.com/busy".to_owned()), "{both:?}");
        let (first, second) =
            tokio::join!(ours.untaint("taints-1", "headroom.dev/removal"), theirs.taint("taints-1", &next));
        first.unwrap();
        second.unwrap();
        let left = taints(&scene, "taints-1").await;
        assert!(!left.contains(&"headroom.dev/removal".to_owned()), "{left:?}");
        assert!(left.contains(&"example.com/busy".to_owned()), "{left:?}");
    }
    let error = ours.taint("taints-none", &removal("")).await.unwrap_err();
    assert!(matches!(error, ClusterError::NoSuchNode { .. }), "{error}");
}

#[tokio::test]
async fn a_budget_holds_an_eviction_and_lets_it_go() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "evictions").await;
    scene.node(&Machine::named("evictions-1", "4", "16Gi")).await;
    scene.deploy(&Workload::named("web").replicas(2)).await;
    scene.runs("web", 2, 60).await;
    let budget = |available: u32| {
        let spec = json!({ "minAvailable": available, "selector": { "matchLabels": { "app": "web" } } });
        json!({ "metadata": { "name": "web" }, "spec": spec })
    };
    scene.apply::<PodDisruptionBudget>(budget(2)).await;
    let acts = Acts::new(client(&scene, Fence::open()).await);
    let lost = acts.lost_with("evictions-1").await.unwrap();
    assert_eq!(lost.len(), 2, "{lost:?}");
    let name = lost[0].strip_prefix("evictions/").expect("its namespace");
    let pod = Evict { namespace: "evictions".into(), name: name.into(), budget: Some("web".into()) };

    let error = acts.evict("evictions-1", &pod).await.unwrap_err();
    let ClusterError::EvictionRefused { reason, .. } = &error else { panic!("{error:?}") };
    assert!(reason.contains("disruption budget"), "{reason}");

    // On another node it would be another pod.
    acts.evict("evictions-2", &pod).await.unwrap();
    assert_eq!(acts.lost_with("evictions-1").await.unwrap(), lost);

    scene.apply::<PodDisruptionBudget>(budget(1)).await;
    let started = Instant::now();
    while let Err(error) = acts.evict("evictions-1", &pod).await {
        assert!(matches!(error, ClusterError::EvictionRefused { .. }), "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(30), "the budget allows it now: {error}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    scene
        .until("the pod has gone", 60, |view| view.pods.iter().all(|it| it.metadata.name.as_deref() != Some(name)))
        .await;
    acts.evict("evictions-1", &pod).await.unwrap();
}

#[tokio::test]
async fn a_node_whose_machine_is_gone_is_forgotten() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "forgotten").await;
    scene.node(&Machine::named("forgotten-1", "4", "16Gi")).await;
    let acts = Acts::new(client(&scene, Fence::open()).await);
    acts.forget("forgotten-1").await.unwrap();
    acts.forget("forgotten-1").await.unwrap();
    scene.until("the node has gone", 30, |view| view.nodes.is_empty()).await;
}

#[tokio::test]
async fn leaders_follow_one_another_and_only_one_writes() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "election").await;
    scene.node(&Machine::named("election-1", "4", "16Gi")).await;
    let timing = Timing {
        lease: Duration::from_secs(5),
        renew_deadline: Duration::from_secs(3),
        retry: Duration::from_millis(500),
    };
    let candidate = async |identity: &str| {
        let fence = Fence::closed();
        let client = client(&scene, fence.clone()).await;
        (election(client.clone(), scene.name, "headroom", identity, timing, fence), Acts::new(client))
    };
    let (first, first_acts) = candidate("first").await;
    let (second, second_acts) = candidate("second").await;
    timeout(Duration::from_secs(20), first.leading()).await.expect("the first leads");
    assert!(timeout(Duration::from_secs(8), second.leading()).await.is_err(), "longer than the lease");
    first_acts.taint("election-1", &removal("1")).await.unwrap();
    let kept_back = second_acts.untaint("election-1", "headroom.dev/removal").await;
    assert!(matches!(kept_back, Err(ClusterError::NotLeading)), "{kept_back:?}");

    first.release().await.unwrap();
    let started = Instant::now();
    timeout(Duration::from_secs(20), second.leading()).await.expect("the second leads");
    assert!(started.elapsed() < timing.lease, "the lease was given back: {:?}", started.elapsed());
    let kept_back = first_acts.untaint("election-1", "headroom.dev/removal").await;
    assert!(matches!(kept_back, Err(ClusterError::NotLeading)), "{kept_back:?}");
    second_acts.untaint("election-1", "headroom.dev/removal").await.unwrap();

    // One that is killed gives nothing back.
    drop(second);
    let (third, _) = candidate("third").await;
    timeout(Duration::from_secs(20), third.leading()).await.expect("the third leads");
    let leases: Api<Lease> = Api::namespaced(scene.client.clone(), scene.name);
    let lease = leases.get("headroom").await.unwrap().spec.unwrap();
    assert_eq!(lease.holder_identity.as_deref(), Some("third"));
    assert_eq!(lease.lease_transitions, Some(2));
}

/// Without leave to read other Leases than those of the autoscalers.
#[tokio::test]
async fn another_autoscaler_is_found_by_its_lease() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "rivals").await;
    let spec = json!({
        "holderIdentity": "karpenter-0", "leaseDurationSeconds": 15,
        "renewTime": format!("{:.6}", Timestamp::now()),
    });
    scene.apply::<Lease>(json!({ "metadata": { "name": "karpenter-leader-election" }, "spec": spec })).await;
    let mut rivals = Rivals::new(client(&scene, Fence::closed()).await);
    let found = rivals.look(Timestamp::now()).await.unwrap();
    let found = found.iter().find(|rival| rival.lease == "rivals/karpenter-leader-election").expect("it is found");
    assert_eq!((found.program, found.holder.as_str()), ("Karpenter", "karpenter-0"));
}

#[tokio::test]
async fn a_memory_survives_in_its_config_map() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "memory").await;
    let client = client(&scene, Fence::open()).await;
    let store = || Store::new(client.clone(), scene.name, "headroom-memory");
    let (first, second) = (store(), store());
    assert_eq!(first.load().await.unwrap(), None);
    let small = Memory::fresh(Timestamp::UNIX_EPOCH);
    let names = (0..20_000).map(|number| (format!("group-{number}").into(), GroupMemory::default()));
    let large = Memory { groups: names.collect(), ..small.clone() };
    for memory in [&small, &large, &small] {
        first.save(memory).await.unwrap();
        assert_eq!(store().load().await.unwrap().as_ref(), Some(memory));
    }
    let error = second.save(&large).await.unwrap_err();
    assert!(matches!(error, StoreError::Overtaken { .. }), "{error}");

    let config_maps: Api<ConfigMap> = Api::namespaced(scene.client.clone(), scene.name);
    let note = Patch::Merge(json!({ "metadata": { "annotations": { "example.com/note": "kept" } } }));
    config_maps.patch("headroom-memory", &PatchParams::default(), &note).await.unwrap();
    first.save(&large).await.unwrap();
    let found = config_maps.get("headroom-memory").await.unwrap();
    assert_eq!(found.metadata.annotations.unwrap_or_default()["example.com/note"], "kept");

    config_maps.delete("headroom-memory", &DeleteParams::default()).await.unwrap();
    first.save(&small).await.unwrap();
    assert_eq!(store().load().await.unwrap(), Some(small));
}
