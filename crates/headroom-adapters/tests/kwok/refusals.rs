//! What is not done, and what is said about it.

use headroom_adapters::cloud::{Cloud as _, CloudError};
use http::Method;
use serde_json::json;

use super::{CONFIG_MAPS, NODES, kwok, look, states, until, web, with_running};
use crate::api_server::{ApiServer, Fault};

#[tokio::test]
async fn a_plan_for_another_size_is_refused() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 2).await;
    let refused = cloud.resize("web", 3, 4).await.unwrap_err();
    assert_eq!(refused.to_string(), "web has size 2, the plan was made for 3");
    assert_eq!(look(&cloud).await.target, 2);
}

#[tokio::test]
async fn a_group_that_is_not_configured_is_refused() {
    let server = ApiServer::start().await;
    let cloud = kwok(&server, web());
    for refused in [
        cloud.resize("db", 0, 1).await,
        cloud.remove("db", &[]).await.map(drop),
        cloud.replace("db", &[]).await.map(drop),
        cloud.template("db").await.map(drop),
    ] {
        assert!(matches!(&refused, Err(CloudError::NoSuchGroup { group }) if group == "db"), "{refused:?}");
    }
}

#[tokio::test]
async fn a_change_that_meets_another_is_made_on_top_of_it() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 1).await;
    server.set_fault(Some(Fault::Answer { method: Method::PUT, path: "/configmaps/", code: 409, once: true }));
    cloud.resize("web", 1, 2).await.unwrap();
    until(&cloud, |group| states(group) == [0, 2, 0, 0]).await;
}

#[tokio::test]
async fn what_the_account_may_not_do_is_said() {
    let server = ApiServer::start().await;
    let cloud = kwok(&server, web());
    server.set_fault(Some(Fault::Answer { method: Method::POST, path: "/configmaps", code: 403, once: false }));
    let refused = cloud.resize("web", 0, 1).await.unwrap_err();
    assert_eq!(refused.to_string(), "not allowed to create web; hint: grant it to Headroom's account");
}

#[tokio::test]
async fn a_state_that_nobody_understands_stops_everything() {
    let server = ApiServer::start().await;
    let cloud = with_running(&server, 2).await;
    server.delete(CONFIG_MAPS, "headroom-kwok-web");
    let label = json!({ "headroom.dev/kwok-group": "web" });
    let broken = json!({ "metadata": { "name": "headroom-kwok-web", "labels": label }, "data": { "state": "{" } });
    server.add(CONFIG_MAPS, broken);
    for refused in [cloud.groups().await.map(drop), cloud.resize("web", 2, 1).await] {
        assert!(matches!(&refused, Err(CloudError::NotUnderstood(_))), "{refused:?}");
    }
    assert_eq!(server.names(NODES).len(), 2);
}
