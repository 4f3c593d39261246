//! Groups in the format of Cluster Autoscaler's kwok provider.

use headroom_adapters::cloud::kwok::{KwokGroup, Machines};
use headroom_adapters::cloud::{Cloud as _, CloudError};
use serde_json::json;

use super::{CONFIG_MAPS, NODES, kwok, look, states, until, web};
use crate::api_server::ApiServer;

const CONFIG: &str = "
apiVersion: v1alpha1
readNodesFrom: configmap
nodegroups:
  fromNodeLabelKey: kwok-nodegroup
nodes:
  gpuConfig:
    gpuLabelKey: k8s.amazonaws.com/accelerator
    availableGPUTypes: { nvidia-tesla-k80: {} }
configmap:
  name: kwok-provider-templates
  key: kwok-config
kwok: {}
";

const TEMPLATE: &str = "
apiVersion: v1
kind: Node
metadata:
  name: kind-worker
  annotations: { cluster-autoscaler.kwok.nodegroup/max-count: '9' }
  labels: { kwok-nodegroup: workers, kubernetes.io/hostname: kind-worker, kubernetes.io/arch: arm64 }
spec:
  providerID: kind://docker/kind/kind-worker
  taints: [{ key: dedicated, effect: NoSchedule }]
status:
  allocatable: { cpu: '12', memory: 32781516Ki, pods: 110 }
  capacity: { cpu: '12', memory: 32881516Ki, pods: 110 }
";

fn group(node_group: &str) -> KwokGroup {
    let machines = Machines::Provider { config_map: "kwok-provider-config".into(), node_group: node_group.into() };
    KwokGroup { machines, ..web() }
}

fn describe(server: &ApiServer, config: &str, templates: &str) {
    for (name, key, text) in
        [("kwok-provider-config", "config", config), ("kwok-provider-templates", "templates", templates)]
    {
        server.add(CONFIG_MAPS, json!({ "metadata": { "name": name }, "data": { key: text } }));
    }
}

#[tokio::test]
async fn its_config_maps_are_understood() {
    let list = TEMPLATE.trim().replace('\n', "\n  ");
    for templates in [format!("{TEMPLATE}---\nkind: Pod\n"), format!("apiVersion: v1\nkind: List\nitems:\n- {list}\n")]
    {
        let server = ApiServer::start().await;
        describe(&server, CONFIG, &templates);
        let cloud = kwok(&server, group("workers"));
        let template = cloud.template("web").await.unwrap().unwrap();
        assert_eq!((template.allocatable.cpu, template.capacity.memory), (12_000, 32_881_516 << 10));
        assert_eq!(template.labels.get("kubernetes.io/arch"), Some("arm64"));
        assert_eq!(template.labels.get("kubernetes.io/hostname"), None);
        let taints: Vec<String> = template.taints.iter().map(ToString::to_string).collect();
        assert_eq!(taints, ["dedicated:NoSchedule", "kwok-provider=true:NoSchedule"]);

        let limits = look(&cloud).await;
        assert_eq!((limits.min, limits.max), (Some(0), Some(9)));
        let refused = cloud.resize("web", 0, 10).await;
        assert!(matches!(refused, Err(CloudError::OutsideLimits { wanted: 10, max: 9, .. })), "{refused:?}");
        cloud.resize("web", 0, 9).await.unwrap();
        until(&cloud, |group| states(group) == [0, 9, 0, 0]).await;
        assert_eq!(server.objects(NODES)[0]["metadata"]["labels"]["kwok-nodegroup"], "workers");
    }
}

#[tokio::test]
async fn of_a_batch_that_would_pass_the_minimum_as_many_go_as_may() {
    let server = ApiServer::start().await;
    describe(
        &server,
        CONFIG,
        &TEMPLATE.replace("annotations: { ", "annotations: { cluster-autoscaler.kwok.nodegroup/min-count: '2', "),
    );
    let cloud = kwok(&server, group("workers"));
    cloud.resize("web", 0, 4).await.unwrap();
    until(&cloud, |group| states(group) == [0, 4, 0, 0]).await;
    let all: Vec<String> = (1..=4).map(|number| format!("kwok://web-{number:05}")).collect();
    let stay = cloud.remove("web", &all.iter().map(String::as_str).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(stay.iter().map(|stays| &*stays.machine).collect::<Vec<_>>(), &all[2..]);
    assert!(matches!(stay[0].reason, CloudError::OutsideLimits { wanted: 1, min: 2, max: 9, .. }), "{stay:?}");
    until(&cloud, |group| states(group) == [0, 2, 0, 0]).await;
}

#[tokio::test]
async fn nodes_of_the_cluster_can_be_the_templates() {
    let server = ApiServer::start().await;
    let config = "
readNodesFrom: cluster
nodegroups: { fromNodeAnnotation: example.com/pool }
nodes: { skipTaint: true }
";
    describe(&server, config, "");
    server.add(
        NODES,
        json!({ "metadata": { "name": "real", "annotations": { "example.com/pool": "p" } },
            "spec": {}, "status": { "capacity": { "cpu": "2", "memory": "4Gi", "pods": "30" } } }),
    );
    let cloud = kwok(&server, group("p"));
    let template = cloud.template("web").await.unwrap().unwrap();
    assert_eq!((template.allocatable.cpu, template.taints.len()), (2000, 0));
}

#[tokio::test]
async fn what_is_wrong_with_them_is_said_and_nothing_grows() {
    let wrong = [
        (
            "readNodesFrom: configmap",
            TEMPLATE,
            "configmap.name is missing; hint: name the ConfigMap that has the templates",
        ),
        (
            &CONFIG.replace("configmap\n", "files\n"),
            TEMPLATE,
            "readNodesFrom is \"files\"; hint: write configmap or cluster",
        ),
        (
            &CONFIG.replace("fromNodeLabelKey: kwok-nodegroup", "{}"),
            TEMPLATE,
            "one of nodegroups.fromNodeLabelKey and nodegroups.fromNodeAnnotation is needed, and not both",
        ),
        (
            CONFIG,
            &TEMPLATE.replace("workers", "others"),
            "no template is of node group workers; hint: these are there: others",
        ),
        (CONFIG, " ", "ConfigMap kwok-provider-templates has no key templates"),
        (
            CONFIG,
            &TEMPLATE.replace("'9'", "many"),
            "cluster-autoscaler.kwok.nodegroup/max-count of the template kind-worker is \"many\"; hint: write a number, \
             the minimum at most the maximum",
        ),
        (CONFIG, &TEMPLATE.replace("'12'", "twelve"), "the template kind-worker cannot be understood"),
        (CONFIG, "a: [", "templates of ConfigMap kwok-provider-templates cannot be read"),
    ];
    for (config, templates, message) in wrong {
        let server = ApiServer::start().await;
        describe(&server, config, templates);
        let cloud = kwok(&server, group("workers"));
        let Err(CloudError::NotUnderstood(reason)) = cloud.resize("web", 0, 1).await else { panic!("{message}") };
        assert_eq!(reason.to_string(), message);
        assert_eq!(look(&cloud).await.template, None, "the other groups go on");
    }
}

#[tokio::test]
async fn one_that_is_not_there_yet_is_looked_for_again() {
    let server = ApiServer::start().await;
    let cloud = kwok(&server, group("workers"));
    let refused = cloud.template("web").await.unwrap_err();
    let reason = std::error::Error::source(&refused).unwrap().to_string();
    assert_eq!(
        reason,
        "there is no ConfigMap kwok-provider-config; hint: write a `template` for the group, or make it in Headroom's namespace"
    );
    describe(&server, CONFIG, TEMPLATE);
    assert!(cloud.template("web").await.unwrap().is_some());
}
