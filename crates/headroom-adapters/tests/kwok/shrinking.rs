//! Machines go.

use headroom_adapters::cloud::{Cloud as _, CloudError};
use http::Method;
use jiff::SignedDuration;
use serde_json::json;

use super::{CONFIG_MAPS, KwokGroup, NODES, kwok, look, states, until, web, with_running};
use crate::api_server::{ApiServer, Fault};

#[tokio::test]
async fn removing_lowers_the_size_once_however_often_it_is_asked_for() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 4).await;
    for _ in 0..3 {
        cloud.remove("web", &["kwok://web-00001", "kwok://web-00003"]).await.unwrap();
    }
    let group = look(&cloud).await;
    assert_eq!((group.target, states(&group)), (2, [0, 2, 0, 0]));
    assert_eq!(server.names(NODES), ["web-00002", "web-00004"]);
}

#[tokio::test]
async fn replacing_keeps_the_size_and_makes_as_many_however_often_it_is_asked_for() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 3).await;
    for _ in 0..3 {
        cloud.replace("web", &["kwok://web-00001", "kwok://web-00003"]).await.unwrap();
    }
    let group = until(&cloud, |group| states(group) == [0, 3, 0, 0]).await;
    assert_eq!(group.target, 3);
    assert_eq!(server.names(NODES), ["web-00002", "web-00004", "web-00005"]);
}

#[tokio::test]
async fn a_machine_that_is_no_node_yet_can_go_too() {
    let server = ApiServer::start().await;
    let cloud = kwok(&server, KwokGroup { boot: SignedDuration::from_hours(1), ..web() });
    cloud.resize("web", 0, 3).await.unwrap();
    cloud.remove("web", &["kwok://web-00002"]).await.unwrap();
    let group = look(&cloud).await;
    assert_eq!((group.target, states(&group)), (2, [2, 0, 0, 0]));
}

#[tokio::test]
async fn a_smaller_size_takes_machines_without_a_node_first_and_then_the_youngest_nodes() {
    let server = ApiServer::start().await;
    drop(with_running(&server, 3).await);
    let cloud = kwok(&server, KwokGroup { boot: SignedDuration::from_hours(1), ..web() });
    cloud.resize("web", 3, 5).await.unwrap();
    cloud.resize("web", 5, 2).await.unwrap();
    until(&cloud, |group| states(group) == [0, 2, 0, 0]).await;
    assert_eq!(server.names(NODES), ["web-00001", "web-00002"]);
}

#[tokio::test]
async fn a_node_on_its_way_out_is_listed_as_such_and_goes_without_being_asked_again() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 2).await;
    server.set_fault(Some(Fault::Answer { method: Method::DELETE, path: "/nodes/", code: 500, once: false }));
    let refused = cloud.remove("web", &["kwok://web-00001"]).await;
    assert!(matches!(refused, Err(CloudError::Unreachable(_))), "{refused:?}");
    let group = look(&cloud).await;
    assert_eq!((group.target, states(&group)), (1, [0, 1, 1, 0]));
    server.set_fault(None);
    until(&cloud, |group| states(group) == [0, 1, 0, 0]).await;
    assert_eq!(server.names(NODES), ["web-00002"]);
}

#[tokio::test]
async fn cluster_autoscalers_form_of_a_name_is_understood() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 2).await;
    cloud.remove("web", &["kwok:web-00001"]).await.unwrap();
    assert_eq!(server.names(NODES), ["web-00002"]);
}

#[tokio::test]
async fn a_node_that_is_no_machine_of_the_group_is_never_deleted() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 1).await;
    // One that is real although it has the label, and one of another group.
    server.add(NODES, json!({ "metadata": { "name": "real", "labels": { "headroom.dev/kwok-group": "web" } } }));
    server.add(
        NODES,
        json!({ "metadata": { "name": "other", "labels": { "headroom.dev/kwok-group": "db" },
            "annotations": { "kwok.x-k8s.io/node": "fake" } } }),
    );
    for machine in ["kwok://real", "kwok://other", "aws:///eu-west-1a/i-1"] {
        for stay in [cloud.remove("web", &[machine]).await, cloud.replace("web", &[machine]).await] {
            let stay = stay.unwrap();
            assert_eq!(stay.iter().map(|stays| &*stays.machine).collect::<Vec<_>>(), [machine]);
            assert!(matches!(&stay[0].reason, CloudError::NotInGroup { .. }), "{machine}: {stay:?}");
        }
    }
    assert_eq!(server.names(NODES), ["other", "real", "web-00001"]);
    assert_eq!(look(&cloud).await.target, 1);
    // The others of the same call go.
    let stay = cloud.remove("web", &["kwok://real", "kwok://web-00001"]).await.unwrap();
    assert_eq!(stay.len(), 1);
    until(&cloud, |group| states(group) == [0; 4]).await;
    assert_eq!(server.names(NODES), ["other", "real"]);
}

#[tokio::test]
async fn the_state_keeps_no_trace_of_what_is_over() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 3).await;
    cloud.remove("web", &["kwok://web-00001"]).await.unwrap();
    cloud.resize("web", 2, 3).await.unwrap();
    until(&cloud, |group| states(group) == [0, 3, 0, 0]).await;
    // The nodes are there a moment before the state says so.
    let state = || server.objects(CONFIG_MAPS)[0]["data"]["state"].as_str().unwrap().to_owned();
    for _ in 0..500 {
        if state() == r#"{"target":3,"made":4}"# {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{}", state());
}
