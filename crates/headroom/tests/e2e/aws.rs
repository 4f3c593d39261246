//! A group whose machines are those of an Auto Scaling group, in moto. What boots a real machine, a small loop does here:
//! it registers a kwok node for each instance and takes it away with the instance.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DeleteParams};
use serde_json::json;

use crate::control_plane::ControlPlane;
use crate::headroom::Headroom;
use crate::moto::{Moto, REGION};
use crate::scene::{LABEL, Machine, Scene, Workload};
use crate::wait::wait_until;

const QUICK: &str = "scaleDown: { unneededTime: 3s, delayAfterAdd: 0s }";

#[tokio::test]
async fn an_auto_scaling_group_grows_for_pods_and_loses_what_is_not_needed() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let Some(moto) = Moto::shared() else { return };
    let scene = Scene::new(&plane, "aws").await;
    let label = "k8s.io/cluster-autoscaler/node-template/label";
    let (scene_label, pool_label) = (format!("{label}/{LABEL}"), format!("{label}/pool"));
    let tags = [
        ("Tags.member.1.Key", scene_label.as_str()),
        ("Tags.member.1.Value", "aws"),
        ("Tags.member.2.Key", &pool_label),
        ("Tags.member.2.Value", "web"),
        ("Tags.member.3.Key", "k8s.io/cluster-autoscaler/enabled"),
        ("Tags.member.3.Value", "true"),
    ];
    moto.group("web-nodes", [0, 6, 0], &tags).await;
    let group = "- name: web\n  select: { label: { scene: aws, pool: web } }\n  cloud: { aws: { tags: { \
                 k8s.io/cluster-autoscaler/enabled: \"true\" } } }\n  strategy: { pending: {} }\n";
    let headroom = Headroom::start_in(&scene, &environment(&moto), QUICK, &[group.to_owned()]);
    let kubelets = boot_nodes(&scene, &moto, &["web-nodes"]);
    let play = async {
        // From nothing: what a node is like, the launch template, the type m5.large and the tags say. One takes one pod
        // of 1 cpu beside what its kubelet keeps.
        scene.deploy(&Workload::named("web").replicas(3)).await;
        scene.runs("web", 3, 90).await;
        let group = Group::of(&moto, "web-nodes").await;
        assert_eq!((group.desired, group.machines.len()), (3, 3), "{}", headroom.log());
        scene.scale("web", 1).await;
        let view = scene.until("one node is left", 120, |view| view.nodes.len() == 1).await;
        assert_eq!(view.running("web"), 1, "{view}\n{}", headroom.log());
        scene.scale("web", 0).await;
        scene.until("no node is left", 120, |view| view.nodes.is_empty()).await;
        wait_until("no machine is left", 30, async || {
            let group = Group::of(&moto, "web-nodes").await;
            if group.desired == 0 && group.machines.is_empty() { Ok(()) } else { Err(headroom.log()) }
        })
        .await;
    };
    tokio::select! {
        () = play => {}
        () = kubelets => {}
    }
    headroom.stop();
}

/// Nobody lists these groups: they are found by a tag, while Headroom runs, and go without a trace.
#[tokio::test]
async fn groups_with_a_tag_are_found_and_scaled_without_a_restart() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let Some(moto) = Moto::shared() else { return };
    let scene = Scene::new(&plane, "discover").await;
    let label = format!("k8s.io/cluster-autoscaler/node-template/label/{LABEL}");
    let tags = [
        ("Tags.member.1.Key", label.as_str()),
        ("Tags.member.1.Value", "discover"),
        ("Tags.member.2.Key", "headroom.example/discover"),
        ("Tags.member.2.Value", "true"),
    ];
    moto.group("found-small", [0, 2, 0], &tags).await;
    let discover = format!(
        "{QUICK}\ndiscover:\n- cloud: {{ aws: {{ tags: {{ headroom.example/discover: \"\" }} }} }}\n  strategy: {{ \
         pending: {{}} }}\n"
    );
    let headroom = Headroom::start_in(&scene, &environment(&moto), &discover, &[]);
    let kubelets = boot_nodes(&scene, &moto, &["found-small", "found-late"]);
    let play = async {
        scene.deploy(&Workload::named("web").replicas(4)).await;
        scene.until("the group that is there is full", 90, |view| view.running("web") == 2).await;
        let explained = headroom.ask(&["explain", "group", "found-small"]);
        assert!(explained.contains("found-small"), "{explained}");
        // One that comes later is seen within a minute, and takes the rest.
        moto.group("found-late", [0, 5, 0], &tags).await;
        scene.runs("web", 4, 150).await;
        let group = Group::of(&moto, "found-late").await;
        assert_eq!((group.desired, group.machines.len()), (2, 2), "{}", headroom.log());
        // Nodes are known by their machines, so each group loses its own.
        scene.scale("web", 0).await;
        scene.until("no node is left", 150, |view| view.nodes.is_empty()).await;
        wait_until("no machine is left", 30, async || {
            let groups = [Group::of(&moto, "found-small").await, Group::of(&moto, "found-late").await];
            if groups.iter().all(|group| group.desired == 0 && group.machines.is_empty()) {
                Ok(())
            } else {
                Err(headroom.log())
            }
        })
        .await;
        moto.call("autoscaling", "DeleteAutoScalingGroup", &[("AutoScalingGroupName", "found-late")]).await;
        wait_until("the group is gone", 90, async || {
            let plan = headroom.ask(&["plan"]);
            if plan.contains("found-small") && !plan.contains("found-late") { Ok(()) } else { Err(plan) }
        })
        .await;
    };
    tokio::select! {
        () = play => {}
        () = kubelets => {}
    }
    headroom.stop();
}

/// How Headroom finds moto.
fn environment(moto: &Moto) -> [(&str, &str); 5] {
    [
        ("AWS_ENDPOINT_URL", moto.endpoint.as_str()),
        ("AWS_REGION", REGION),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ]
}

/// An Auto Scaling group as moto has it; nothing where there is none.
struct Group {
    desired: usize,
    /// Provider ids by the names that their nodes get.
    machines: BTreeMap<String, String>,
}

impl Group {
    async fn of(moto: &Moto, name: &str) -> Self {
        let answer =
            moto.call("autoscaling", "DescribeAutoScalingGroups", &[("AutoScalingGroupNames.member.1", name)]).await;
        let part = |text: &str, tag: &str| {
            text.split(&format!("<{tag}>"))
                .nth(1)
                .and_then(|rest| rest.split('<').next())
                .unwrap_or_default()
                .to_owned()
        };
        let machines = answer.split("<InstanceId>").skip(1).map(|rest| {
            let instance = rest.split('<').next().unwrap_or_default();
            (instance.to_owned(), format!("aws:///{}/{instance}", part(rest, "AvailabilityZone")))
        });
        Group { desired: part(&answer, "DesiredCapacity").parse().unwrap_or(0), machines: machines.collect() }
    }
}

/// Does for ever what machines do: a node for each instance, and none without one.
async fn boot_nodes(scene: &Scene<'_>, moto: &Moto, groups: &[&str]) {
    let nodes: Api<Node> = Api::all(scene.client.clone());
    loop {
        let mut machines = BTreeMap::new();
        for group in groups {
            machines.extend(Group::of(moto, group).await.machines);
        }
        let here: Vec<String> = scene.view().await.nodes.into_iter().filter_map(|node| node.metadata.name).collect();
        for (name, provider_id) in machines.iter().filter(|(name, _)| !here.contains(name)) {
            let labels = json!({ "pool": "web", "node.kubernetes.io/instance-type": "m5.large" });
            scene.node(&Machine::named(name, "1930m", "7Gi").of_cloud(provider_id).labels(labels)).await;
        }
        for gone in here.iter().filter(|name| !machines.contains_key(*name)) {
            // Headroom forgets the node too, and may have been first.
            let _ = nodes.delete(gone, &DeleteParams::default()).await;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
