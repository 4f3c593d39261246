//! Machines come.

use std::time::Duration;

use expect_test::expect;
use headroom_adapters::cloud::Cloud as _;
use headroom_core::policy::Percent;
use headroom_core::snapshot::LaunchError;
use jiff::SignedDuration;
use serde_json::json;

use super::{CONFIG_MAPS, KwokGroup, NODES, kwok, look, states, until, web, with_running};
use crate::api_server::{ApiServer, Fault};

#[tokio::test]
async fn a_machine_is_a_node_that_kwok_pretends_to_be() {
    let server = ApiServer::start().await;
    with_running(&server, 1).await;
    let mut node = server.objects(NODES).pop().unwrap();
    for of_the_server in ["creationTimestamp", "resourceVersion", "uid"] {
        node["metadata"].as_object_mut().unwrap().remove(of_the_server).unwrap();
    }
    expect![[r#"
        {
          "apiVersion": "v1",
          "kind": "Node",
          "metadata": {
            "annotations": {
              "kwok.x-k8s.io/node": "fake"
            },
            "labels": {
              "autoscaling.x-k8s.io/nodegroup": "web",
              "headroom.dev/kwok-group": "web",
              "kubernetes.io/arch": "amd64",
              "kubernetes.io/hostname": "web-00001",
              "kubernetes.io/os": "linux",
              "pool": "web"
            },
            "name": "web-00001"
          },
          "spec": {
            "providerID": "kwok://web-00001",
            "taints": []
          },
          "status": {
            "allocatable": {
              "cpu": "3920m",
              "memory": "17179869184",
              "pods": "110"
            },
            "capacity": {
              "cpu": "4000m",
              "memory": "18253611008",
              "pods": "110"
            },
            "nodeInfo": {
              "architecture": "",
              "bootID": "",
              "containerRuntimeVersion": "",
              "kernelVersion": "",
              "kubeProxyVersion": "",
              "kubeletVersion": "fake",
              "machineID": "",
              "operatingSystem": "",
              "osImage": "",
              "systemUUID": ""
            }
          }
        }
    "#]]
    .assert_eq(&format!("{node:#}\n"));
}

#[tokio::test]
async fn hundreds_are_made_side_by_side_and_never_too_many_at_once() {
    let server = ApiServer::start().await;
    server.set_latency(Duration::from_millis(10));
    with_running(&server, 262).await;
    assert_eq!(server.names(NODES).len(), 262);
    let most = server.most_at_once();
    assert!((16..=40).contains(&most), "{most} at once");
}

#[tokio::test]
async fn a_machine_that_takes_its_time_is_listed_until_it_is_a_node() {
    let server = ApiServer::start().await;
    let slow = KwokGroup { boot: SignedDuration::from_millis(400), ..web() };
    let cloud = kwok(&server, slow);
    cloud.resize("web", 0, 2).await.unwrap();
    let group = look(&cloud).await;
    assert_eq!((group.target, states(&group)), (2, [2, 0, 0, 0]));
    let asked = group.instances.unwrap()[0].created.unwrap();
    // Nobody has to ask for them again.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.names(NODES), [""; 0]);
    for _ in 0..300 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if server.names(NODES).len() == 2 {
            break;
        }
    }
    let took = jiff::Timestamp::now().duration_since(asked);
    assert_eq!(server.names(NODES), ["web-00001", "web-00002"]);
    assert!(took >= SignedDuration::from_millis(400), "{took:?}");
}

#[tokio::test]
async fn zones_take_turns_and_stay_even() {
    let server = ApiServer::start().await;
    let cloud = kwok(&server, KwokGroup { zones: vec!["a".into(), "b".into(), "c".into()], ..web() });
    cloud.resize("web", 0, 4).await.unwrap();
    let zones = || {
        let label = |node: &serde_json::Value| node["metadata"]["labels"]["topology.kubernetes.io/zone"].clone();
        server.objects(NODES).iter().map(|node| label(node).as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    until(&cloud, |group| states(group) == [0, 4, 0, 0]).await;
    assert_eq!(zones(), ["a", "b", "c", "a"]);
    cloud.remove("web", &["kwok://web-00002"]).await.unwrap();
    cloud.resize("web", 3, 5).await.unwrap();
    until(&cloud, |group| states(group) == [0, 5, 0, 0]).await;
    assert_eq!(zones(), ["a", "c", "a", "b", "b"]);
    let template = cloud.template("web").await.unwrap().unwrap();
    assert_eq!(template.labels.get("topology.kubernetes.io/zone"), None, "it could be in any");
}

#[tokio::test]
async fn beyond_the_stock_machines_fail_and_the_group_says_why() {
    let server = ApiServer::start().await;
    let cloud = kwok(&server, KwokGroup { stock: Some(3), ..web() });
    cloud.resize("web", 0, 5).await.unwrap();
    let group = until(&cloud, |group| states(group) == [0, 3, 0, 2]).await;
    let failure = group.failure.unwrap();
    assert_eq!((failure.error, &*failure.message), (LaunchError::OutOfStock, "all 3 machines are in use"));
    assert_eq!(group.target, 5, "failed machines count until they are removed");
    cloud.remove("web", &["kwok://web-00004", "kwok://web-00005"]).await.unwrap();
    let group = look(&cloud).await;
    assert_eq!((group.target, states(&group)), (3, [0, 3, 0, 0]));
}

#[tokio::test]
async fn a_share_of_the_machines_never_becomes_a_node() {
    let server = ApiServer::start().await;
    let cloud = kwok(&server, KwokGroup { boot_failures: Percent::whole(50), ..web() });
    cloud.resize("web", 0, 6).await.unwrap();
    until(&cloud, |group| states(group) == [3, 3, 0, 0]).await;
    assert_eq!(server.names(NODES), ["web-00001", "web-00003", "web-00005"]);
}

#[tokio::test]
async fn a_machine_that_the_api_server_refuses_has_failed() {
    let server = ApiServer::start().await;
    let cloud = kwok(&server, web());
    server.set_fault(Some(Fault::Answer { method: http::Method::POST, path: "/nodes", code: 422, once: true }));
    cloud.resize("web", 0, 2).await.unwrap();
    let failure = until(&cloud, |group| states(group) == [0, 1, 0, 1]).await.failure.unwrap();
    assert_eq!(failure.error, LaunchError::Refused);
    assert!(failure.message.contains("as the test wants it"), "{}", failure.message);
}

#[tokio::test]
async fn a_name_that_somebody_else_has_is_a_failure_too() {
    let server = ApiServer::start().await;
    server.add(NODES, json!({ "metadata": { "name": "web-00001" } }));
    let cloud = kwok(&server, web());
    cloud.resize("web", 0, 1).await.unwrap();
    until(&cloud, |group| states(group) == [0, 0, 0, 1]).await;
    assert_eq!(server.objects(NODES)[0]["metadata"]["labels"], json!(null), "it is left alone");
}

#[tokio::test]
async fn a_node_that_somebody_deletes_is_made_again_under_a_new_name() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 3).await;
    server.delete(NODES, "web-00002");
    until(&cloud, |group| states(group) == [0, 3, 0, 0]).await;
    assert_eq!(server.names(NODES), ["web-00001", "web-00003", "web-00004"]);
}

#[tokio::test]
async fn without_its_config_map_a_group_has_the_nodes_that_it_has() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 3).await;
    server.delete(CONFIG_MAPS, "headroom-kwok-web");
    let group = look(&cloud).await;
    assert_eq!((group.target, states(&group)), (3, [0, 3, 0, 0]));
    cloud.resize("web", 3, 4).await.unwrap();
    until(&cloud, |group| states(group) == [0, 4, 0, 0]).await;
    assert_eq!(server.names(NODES).last().unwrap(), "web-00004", "no name is used twice");
}
