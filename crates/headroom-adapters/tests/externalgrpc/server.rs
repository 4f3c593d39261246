//! What `headroom serve-provider` answers to Go's client.

use std::path::PathBuf;
use std::sync::Arc;

use headroom_adapters::cloud::Cloud;
use headroom_adapters::cloud::externalgrpc::server::{Offer, Prices, Provider};
use headroom_adapters::cloud::kwok::{Kwok, KwokGroup};
use headroom_core::policy::{Group, Pending, Percent, ScaleDown, Size, Strategy};
use headroom_core::quantity::Money;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::front::Front;
use super::{peer, wanted};
use crate::api_server::{ApiServer, Fault};
use crate::kwok::{kwok, look, states, until, web};

/// A server with the group `web` of kwok.
struct Served {
    api: ApiServer,
    kwok: Arc<Kwok>,
    front: Front,
    program: PathBuf,
}

impl Served {
    async fn start(group: KwokGroup, running: u32) -> Option<Self> {
        let program = peer::program()?;
        let api = ApiServer::start().await;
        let kwok = Arc::new(kwok(&api, group));
        kwok.resize("web", 0, running).await.unwrap();
        let scale_down = ScaleDown {
            threshold: Percent::whole(60),
            unneeded_for: SignedDuration::from_secs(90),
            unready_for: None,
            ..ScaleDown::default()
        };
        let group = Group {
            size: Size { min: Some(1), max: Some(5) },
            price: Some(Money(120_000_000)),
            strategy: Strategy::Pending(Pending { scale_down, ..Pending::default() }),
            ..wanted("web")
        };
        let offer = Offer { cloud: Arc::clone(&kwok) as Arc<dyn Cloud>, groups: vec![group] };
        let front = Front::start(Provider::new(vec![offer], Prices::default())).await;
        Some(Served { api, kwok, front, program })
    }

    async fn call(&self, call: &str, request: Value) -> Result<Value, String> {
        peer::call(&self.program, &self.front.reach().address, call, &request, &peer::as_whom("client")).await
    }
}

#[tokio::test]
async fn groups_machines_and_templates_are_told() {
    let Some(served) = Served::start(web(), 2).await else { return };
    until(&served.kwok, |group| states(group) == [0, 2, 0, 0]).await;
    let groups = served.call("NodeGroups", json!({})).await.unwrap();
    let web = json!({ "id": "web", "minSize": 1, "maxSize": 5, "debug": "web: 2 machines wanted, 1 to 5 allowed" });
    assert_eq!(groups, json!({ "nodeGroups": [web] }));
    assert_eq!(served.call("NodeGroupTargetSize", json!({ "id": "web" })).await.unwrap(), json!({ "targetSize": 2 }));
    let machine = |id: &str| json!({ "id": id, "status": { "instanceState": 1 } });
    let machines = served.call("NodeGroupNodes", json!({ "id": "web" })).await.unwrap();
    assert_eq!(machines, json!({ "instances": [machine("kwok://web-00001"), machine("kwok://web-00002")] }));
    for (node, of) in [
        (json!({ "providerID": "kwok://web-00001" }), "web"),
        // As Cluster Autoscaler's own kwok provider calls it.
        (json!({ "providerID": "kwok:web-00001", "name": "web-00001" }), "web"),
        (json!({ "providerID": "kwok://db-00001", "name": "db-00001" }), ""),
    ] {
        let answer = served.call("NodeGroupForNode", json!({ "node": node })).await.unwrap();
        assert_eq!(answer["nodeGroup"]["id"].as_str().unwrap_or_default(), of, "{node}");
    }
    let template = served.call("NodeGroupTemplateNodeInfo", json!({ "id": "web" })).await.unwrap();
    assert_eq!(template["nodeInfo"], template["nodeBytes"], "for clients of any time");
    let node = &template["nodeBytes"];
    assert_eq!(node["metadata"]["labels"]["pool"], "web");
    assert_eq!(node["status"]["allocatable"], json!({ "cpu": "3920m", "memory": "17179869184", "pods": "110" }));
    assert_eq!(node["status"]["conditions"][0]["type"], "Ready");
    let refused = served.call("NodeGroupNodes", json!({ "id": "db" })).await.unwrap_err();
    assert_eq!(refused, "error: NotFound: there is no node group \"db\"");
}

#[tokio::test]
async fn every_option_is_filled_in() {
    let Some(served) = Served::start(web(), 0).await else { return };
    let options = async |defaults: Value| {
        let request = json!({ "id": "web", "defaults": defaults });
        served.call("NodeGroupGetOptions", request).await.unwrap()["nodeGroupAutoscalingOptions"].take()
    };
    let seconds = |seconds: u32| json!({ "seconds": seconds });
    let own = options(json!({ "scaleDownGpuUtilizationThreshold": 0.3, "maxNodeStartupDuration": { "seconds": 7 } }));
    let wanted = json!({
        "scaleDownUtilizationThreshold": 0.6,
        // By default here, so that the client's word holds.
        "scaleDownGpuUtilizationThreshold": 0.3,
        "scaleDownUnneededDuration": seconds(90),
        "scaleDownUnreadyDuration": seconds(315_360_000),
        "MaxNodeProvisionDuration": seconds(900),
        "maxNodeStartupDuration": seconds(7),
    });
    assert_eq!(own.await, wanted);
}

#[tokio::test]
async fn sizes_are_changed_within_the_limits() {
    let Some(served) = Served::start(web(), 2).await else { return };
    served.call("NodeGroupIncreaseSize", json!({ "id": "web", "delta": 2 })).await.unwrap();
    until(&served.kwok, |group| states(group) == [0, 4, 0, 0]).await;
    for (delta, reason) in [
        (2, "error: OutOfRange: web cannot have size 6: 5 is the most"),
        (0, "error: InvalidArgument: the delta must be above zero"),
        (-1, "error: InvalidArgument: the delta must be above zero"),
    ] {
        let refused = served.call("NodeGroupIncreaseSize", json!({ "id": "web", "delta": delta })).await;
        assert_eq!(refused.unwrap_err(), reason);
    }
    let nodes = json!([{ "providerID": "kwok://web-00001" }, { "providerID": "kwok:web-00003", "name": "web-00003" }]);
    served.call("NodeGroupDeleteNodes", json!({ "id": "web", "nodes": nodes })).await.unwrap();
    let group = until(&served.kwok, |group| states(group) == [0, 2, 0, 0]).await;
    assert_eq!(group.target, 2);
    let foreign = json!([{ "providerID": "aws:///i-1" }]);
    let refused = served.call("NodeGroupDeleteNodes", json!({ "id": "web", "nodes": foreign })).await;
    assert_eq!(refused.unwrap_err(), "error: FailedPrecondition: aws:///i-1: aws:///i-1 is no machine of web");
}

#[tokio::test]
async fn only_machines_that_are_not_there_yet_are_taken_back() {
    let boot = SignedDuration::from_hours(1);
    let Some(served) = Served::start(KwokGroup { boot, ..web() }, 3).await else { return };
    served.call("NodeGroupDecreaseTargetSize", json!({ "id": "web", "delta": -2 })).await.unwrap();
    let group = look(&served.kwok).await;
    assert_eq!((group.target, states(&group)), (1, [1, 0, 0, 0]));
    for (delta, reason) in [
        (-2, "error: FailedPrecondition: web cannot be made smaller than the 0 machines that run, from 1 to 0"),
        (1, "error: InvalidArgument: the delta must be below zero"),
    ] {
        let refused = served.call("NodeGroupDecreaseTargetSize", json!({ "id": "web", "delta": delta })).await;
        assert_eq!(refused.unwrap_err(), reason);
    }

    let Some(served) = Served::start(web(), 2).await else { return };
    until(&served.kwok, |group| states(group) == [0, 2, 0, 0]).await;
    let refused = served.call("NodeGroupDecreaseTargetSize", json!({ "id": "web", "delta": -1 })).await.unwrap_err();
    assert_eq!(
        refused,
        "error: FailedPrecondition: web cannot be made smaller than the 2 machines that run, from 2 to 1"
    );
    assert_eq!(look(&served.kwok).await.target, 2);
}

#[tokio::test]
async fn machines_that_cannot_be_made_say_why() {
    let Some(served) = Served::start(KwokGroup { stock: Some(1), ..web() }, 2).await else { return };
    until(&served.kwok, |group| states(group) == [0, 1, 0, 1]).await;
    let machines = served.call("NodeGroupNodes", json!({ "id": "web" })).await.unwrap();
    let failed = json!({
        "id": "kwok://web-00002",
        "status": {
            "instanceState": 2,
            "errorInfo": {
                "errorCode": "OUT_OF_STOCK", "errorMessage": "all 1 machines are in use", "instanceErrorClass": 1
            },
        },
    });
    assert_eq!(machines["instances"][0], failed);
}

#[tokio::test]
async fn a_node_costs_what_the_configuration_says_for_as_long_as_is_asked() {
    let Some(served) = Served::start(web(), 1).await else { return };
    let price = async |start: &str, end: &str| {
        let node = json!({ "providerID": "kwok://web-00001" });
        let request = json!({ "node": node, start: { "seconds": 1_000_000 }, end: { "seconds": 1_018_000 } });
        served.call("PricingNodePrice", request).await.unwrap()["price"].as_f64().unwrap()
    };
    assert_eq!(price("startTimestamp", "endTimestamp").await, 0.6, "five hours");
    assert_eq!(price("startTime", "endTime").await, 0.6, "as older clients ask");
    let stranger = served.call("PricingNodePrice", json!({ "node": { "providerID": "x" } })).await.unwrap_err();
    assert_eq!(stranger, "error: NotFound: nobody says what this node costs or is like");
}

/// To Cluster Autoscaler groups of which it hears nothing are no groups, and their nodes nobody's.
#[tokio::test]
async fn which_groups_and_nodes_there_are_is_told_also_while_the_cloud_is_silent() {
    let Some(served) = Served::start(web(), 1).await else { return };
    until(&served.kwok, |group| states(group) == [0, 1, 0, 0]).await;
    let of = async |node: &str| {
        let request = json!({ "node": { "providerID": node } });
        Ok::<_, String>(served.call("NodeGroupForNode", request).await?["nodeGroup"]["id"].clone())
    };
    served.call("Refresh", json!({})).await.unwrap();
    served.api.set_fault(Some(Fault::Code(500)));
    served.call("Refresh", json!({})).await.unwrap_err();
    let groups = served.call("NodeGroups", json!({})).await.unwrap();
    assert_eq!(groups["nodeGroups"][0]["id"], "web");
    assert_eq!(of("kwok://web-00001").await.unwrap(), "web");
    // This could be one that the cloud has made meanwhile.
    assert!(of("kwok://web-00002").await.unwrap_err().starts_with("error: Unavailable: the cloud does not answer"));
    let size = served.call("NodeGroupTargetSize", json!({ "id": "web" })).await.unwrap_err();
    assert!(size.starts_with("error: Unavailable: "), "a size may have changed: {size}");
}

#[tokio::test]
async fn nothing_is_told_of_groups_of_which_nothing_was_ever_known() {
    let Some(served) = Served::start(web(), 0).await else { return };
    served.api.set_fault(Some(Fault::Code(500)));
    let refused = served.call("NodeGroups", json!({})).await.unwrap_err();
    assert!(refused.starts_with("error: Unavailable: "), "{refused}");
}

/// Somebody else changes sizes too.
#[tokio::test]
async fn a_refresh_and_every_change_read_the_size_anew() {
    let Some(served) = Served::start(web(), 2).await else { return };
    let size = async || served.call("NodeGroupTargetSize", json!({ "id": "web" })).await.unwrap()["targetSize"].clone();
    assert_eq!(size().await, 2);
    served.kwok.resize("web", 2, 3).await.unwrap();
    served.call("Refresh", json!({})).await.unwrap();
    assert_eq!(size().await, 3);
    served.kwok.resize("web", 3, 4).await.unwrap();
    served.call("NodeGroupIncreaseSize", json!({ "id": "web", "delta": 1 })).await.unwrap();
    assert_eq!((size().await, look(&served.kwok).await.target), (json!(5), 5));
}

#[tokio::test]
async fn calls_without_a_meaning_here_are_answered_all_the_same() {
    let Some(served) = Served::start(web(), 1).await else { return };
    for (call, answer) in
        [("GPULabel", json!({})), ("GetAvailableGPUTypes", json!({})), ("Refresh", json!({})), ("Cleanup", json!({}))]
    {
        assert_eq!(served.call(call, json!({})).await, Ok(answer), "{call}");
    }
    assert_eq!(look(&served.kwok).await.target, 1, "nothing is cleaned up");
}
