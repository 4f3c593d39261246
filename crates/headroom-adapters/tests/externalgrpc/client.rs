//! Headroom's client, against a provider in Go and against answers that are wrong.

use std::time::Duration;

use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_adapters::fence::Fence;
use headroom_core::policy::{Group, Pending, Percent, ScaleDown, Strategy};
use headroom_core::quantity::Money;
use headroom_core::snapshot::{CloudGroup, GroupOptions, InstanceState, LaunchError};
use jiff::SignedDuration;
use serde_json::json;

use super::front::Fault;
use super::peer::{self, Peer};
use super::stage::OnExternalGrpc;
use super::wanted;
use crate::contract::{Given, Stage, Trouble};

const WEB: Given = Given { name: "web", size: 3, min: 0, max: 10 };

async fn look(cloud: &dyn Cloud) -> CloudGroup {
    cloud.groups().await.unwrap().pop().unwrap()
}

#[tokio::test]
async fn what_a_provider_in_go_says_is_understood() {
    let Some(program) = peer::program() else { return };
    // One that is of today, and one of a time in which templates and times stood in other fields.
    for more in [&["-size", "2"][..], &["-size", "2", "-older"]] {
        let peer = Peer::serve(&program, more);
        let cloud = peer.cloud(None);
        let group = look(&cloud).await;
        assert_eq!((&*group.name, group.target, group.min, group.max), ("web", 2, Some(0), Some(10)));
        let instances = group.instances.unwrap();
        let ids: Vec<&str> = instances.iter().map(|instance| &*instance.provider_id).collect();
        assert_eq!(ids, ["peer://pool-1", "peer://pool-2"]);
        assert!(instances.iter().all(|instance| instance.state == InstanceState::Running));
        assert_eq!(group.price, Some(Money(250_000_000)), "a quarter of a dollar an hour");
        let template = group.template.unwrap();
        assert_eq!((template.allocatable.cpu, template.capacity.cpu), (3920, 4000));
        assert_eq!(
            template.allocatable.extended.iter().map(|(name, count)| (&**name, *count)).collect::<Vec<_>>(),
            [("nvidia.com/gpu", 1)]
        );
        assert_eq!(template.labels.iter().collect::<Vec<_>>(), [("pool", "web")]);
        assert_eq!(template.taints.iter().map(ToString::to_string).collect::<Vec<_>>(), ["dedicated=web:NoSchedule"]);
    }
}

#[tokio::test]
async fn machines_are_in_the_state_that_is_said_of_them() {
    let Some(program) = peer::program() else { return };
    let error = |code: &str, message: &str, class: u32| json!({ "errorCode": code, "errorMessage": message, "instanceErrorClass": class });
    let machines = json!([
        { "id": "peer://nothing-said" },
        { "id": "peer://unspecified", "status": {} },
        { "id": "peer://running", "status": { "instanceState": 1 } },
        // Only of a machine that is being made does an error mean that it never comes.
        { "id": "peer://running-with-error", "status": { "instanceState": 1, "errorInfo": error("x", "y", 1) } },
        { "id": "peer://creating", "status": { "instanceState": 2 } },
        // Without a code there is no error.
        { "id": "peer://no-code", "status": { "instanceState": 2, "errorInfo": error("", "all is well", 99) } },
        { "id": "peer://sold-out", "status": { "instanceState": 2, "errorInfo": error("STOCK", "none left", 1) } },
        { "id": "peer://deleting", "status": { "instanceState": 3 } },
    ]);
    let peer = Peer::serve(&program, &["-size", "8", "-instances", &machines.to_string()]);
    let group = look(&peer.cloud(None)).await;
    use InstanceState::{Creating, Deleting, Failed, Running};
    let states: Vec<InstanceState> = group.instances.unwrap().iter().map(|instance| instance.state).collect();
    assert_eq!(states, [Running, Running, Running, Running, Creating, Creating, Failed, Deleting]);
    let failure = group.failure.unwrap();
    assert_eq!((failure.error, &*failure.message), (LaunchError::OutOfStock, "STOCK: none left"));

    let refused = json!([{ "id": "x", "status": { "instanceState": 2, "errorInfo": error("QUOTA", "", 99) } }]);
    let peer = Peer::serve(&program, &["-size", "1", "-instances", &refused.to_string()]);
    let failure = look(&peer.cloud(None)).await.failure.unwrap();
    assert_eq!((failure.error, &*failure.message), (LaunchError::Refused, "QUOTA"));
}

#[tokio::test]
async fn a_provider_in_go_does_what_it_is_asked() {
    let Some(program) = peer::program() else { return };
    let peer = Peer::serve(&program, &["-size", "2"]);
    let cloud = peer.cloud(None);
    cloud.resize("web", 2, 5).await.unwrap();
    cloud.is_node("peer://pool-2", "node-2");
    assert!(cloud.remove("web", &["peer://pool-2", "peer://pool-4", "peer://gone"]).await.unwrap().is_empty());
    let group = look(&cloud).await;
    assert_eq!((group.target, group.instances.unwrap().len()), (3, 3));
    let nodes = json!([
        { "name": "node-2", "providerID": "peer://pool-2" },
        { "name": "peer://pool-4", "providerID": "peer://pool-4" },
    ]);
    let wanted = [
        json!({ "call": "NodeGroupIncreaseSize", "asked": { "id": "pool", "delta": 3 } }),
        json!({ "call": "NodeGroupDeleteNodes", "asked": { "id": "pool", "nodes": nodes } }),
    ];
    assert_eq!(peer.changes(2).await, wanted);
}

#[tokio::test]
async fn all_groups_of_a_provider_are_discovered() {
    let batch = Given { name: "batch", size: 0, min: 0, max: 2 };
    let stage = OnExternalGrpc::start(&[WEB, batch], Fence::open()).await;
    let found = stage.cloud.discover().await.unwrap();
    assert_eq!(found.iter().map(|group| &*group.id).collect::<Vec<_>>(), ["batch", "web"]);
    stage.front.set_fault(Some("NodeGroups"), Some(Fault::Code(14)));
    let error = stage.cloud.discover().await.unwrap_err();
    assert!(matches!(error, CloudError::Unreachable(_)), "{error:?}");
    let Some(program) = peer::program() else { return };
    let peer = Peer::serve(&program, &[]);
    assert_eq!(peer.cloud(None).discover().await.unwrap()[0].id, "pool".into());
}

#[tokio::test]
async fn a_machine_that_cannot_be_deleted_holds_no_other_and_the_size_is_lowered_once_for_each() {
    let Some(program) = peer::program() else { return };
    let peer = Peer::serve(&program, &["-size", "4", "-stubborn", "peer://pool-2"]);
    let cloud = peer.cloud(None);
    // The provider deletes the first, and stops at the second.
    let stay = cloud.remove("web", &["peer://pool-1", "peer://pool-2", "peer://pool-3"]).await.unwrap();
    assert_eq!(stay.iter().map(|stays| &*stays.machine).collect::<Vec<_>>(), ["peer://pool-2"]);
    let reason = stay[0].reason.to_string();
    assert_eq!(reason, "the cloud refuses to remove machines of web: peer://pool-2 cannot be deleted");
    let group = look(&cloud).await;
    let ids: Vec<_> = group.instances.unwrap().into_iter().map(|instance| instance.provider_id).collect();
    assert_eq!((group.target, ids), (2, vec!["peer://pool-2".into(), "peer://pool-4".into()]));
}

#[tokio::test]
async fn a_provider_without_machines_is_out_of_stock() {
    let stage = OnExternalGrpc::start(&[WEB], Fence::open()).await;
    stage.front.set_fault(Some("NodeGroupIncreaseSize"), Some(Fault::Code(8)));
    let refused = stage.cloud.resize("web", 3, 4).await;
    assert!(matches!(&refused, Err(CloudError::OutOfStock { group, .. }) if group == "web"), "{refused:?}");
}

#[tokio::test]
async fn how_long_a_cloud_behind_a_provider_wants_to_be_left_alone_is_told() {
    let stage = OnExternalGrpc::start(&[WEB], Fence::open()).await;
    stage.behind.trouble(Some(Trouble::Throttled)).await;
    let refused = stage.cloud.groups().await;
    let Err(CloudError::Throttled { retry_after, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(retry_after, Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn what_is_no_provider_is_not_understood() {
    let stage = OnExternalGrpc::start(&[WEB], Fence::open()).await;
    stage.front.set_fault(None, Some(Fault::Page));
    let refused = stage.cloud.groups().await.unwrap_err();
    assert!(matches!(refused, CloudError::NotUnderstood(_)), "{refused:?}");
    // What answers better from now on is asked anew.
    stage.front.set_fault(None, None);
    assert_eq!(look(&stage.cloud).await.target, 3);
}

#[tokio::test]
async fn calls_that_a_provider_may_leave_out_are_not_missed() {
    let stage = OnExternalGrpc::start(&[WEB], Fence::open()).await;
    for optional in ["PricingNodePrice", "NodeGroupTemplateNodeInfo", "NodeGroupGetOptions", "Refresh"] {
        stage.front.set_fault(Some(optional), Some(Fault::Code(12)));
        let group = look(&stage.cloud).await;
        assert_eq!((group.target, group.price), (3, None), "{optional}");
        assert_eq!(group.template.is_none(), optional == "NodeGroupTemplateNodeInfo");
    }
    stage.front.set_fault(Some("NodeGroupNodes"), Some(Fault::Code(12)));
    let refused = stage.cloud.groups().await.unwrap_err();
    assert_eq!(refused.to_string(), "the cloud refuses to read web: the provider does not offer it");
}

#[tokio::test]
async fn at_its_minimum_a_group_gets_the_new_machine_first() {
    let stage = OnExternalGrpc::start(&[Given { min: 3, ..WEB }], Fence::open()).await;
    let before = look(&stage.cloud).await.instances.unwrap();
    let old = &*before[0].provider_id;
    assert!(stage.cloud.replace("web", &[old]).await.unwrap().is_empty());
    assert_eq!(stage.front.changes(), ["NodeGroupIncreaseSize", "NodeGroupDeleteNodes"]);
    assert_eq!(look(&stage.cloud).await.target, 3);
}

#[tokio::test]
async fn an_answer_that_is_lost_leaves_the_size_to_the_next_plan() {
    let stage = OnExternalGrpc::start(&[WEB], Fence::open()).await;
    stage.front.set_fault(Some("NodeGroupIncreaseSize"), Some(Fault::Silence));
    let lost = stage.cloud.resize("web", 3, 5).await.unwrap_err();
    assert_eq!(lost.to_string(), "no answer within 5 s to grow web");
    stage.front.set_fault(None, None);
    stage.cloud.resize("web", 3, 5).await.unwrap();
    assert_eq!(look(&stage.cloud).await.target, 5);
}

#[tokio::test]
async fn what_a_provider_says_of_its_groups_differs_from_what_it_was_sent() {
    let Some(program) = peer::program() else { return };
    let said = async |options: &str| {
        let peer = Peer::serve(&program, &["-options", options]);
        look(&peer.cloud(None)).await.options
    };
    assert_eq!(said("{}").await, GroupOptions::default(), "it answers with what it was sent");
    let all = json!({
        "scaleDownUtilizationThreshold": 0.625,
        "scaleDownGpuUtilizationThreshold": 0.0,
        "scaleDownUnneededDuration": { "seconds": 90 },
        "scaleDownUnreadyDuration": { "seconds": 0 },
        "MaxNodeProvisionDuration": { "seconds": 1800 },
        "ignoreDaemonSetsUtilization": true,
        "zeroOrMaxNodeScaling": true,
    });
    let wanted = GroupOptions {
        threshold: Some(Percent(6250)),
        gpu_threshold: Some(Percent(0)),
        unneeded_for: Some(SignedDuration::from_secs(90)),
        unready_for: Some(SignedDuration::ZERO),
        boot_timeout: Some(SignedDuration::from_mins(30)),
        ignore_daemon_sets: Some(true),
        all_or_nothing: true,
    };
    assert_eq!(said(&all.to_string()).await, wanted);
    // What makes no sense is not said, and a time that is left out is none.
    let wrong = json!({
        "scaleDownUtilizationThreshold": 50.0,
        "scaleDownUnneededDuration": { "seconds": -5 },
        "scaleDownUnreadyDuration": null,
        "MaxNodeProvisionDuration": { "seconds": 0 },
    });
    assert_eq!(said(&wrong.to_string()).await, GroupOptions::default());
}

#[tokio::test]
async fn a_group_of_which_nothing_is_told_does_not_take_the_others_with_it() {
    let stage = OnExternalGrpc::start(&[WEB, Given { name: "db", ..WEB }], Fence::open()).await;
    stage.front.add_fault("NodeGroupTargetSize", "db", Fault::Code(2));
    assert_eq!(stage.cloud.groups().await.unwrap().iter().map(|group| &*group.name).collect::<Vec<_>>(), ["web"]);
    // What may be better soon is not taken for a group that is gone.
    stage.front.set_fault(None, None);
    stage.front.add_fault("NodeGroupTargetSize", "db", Fault::Code(14));
    let unreachable = stage.cloud.groups().await.unwrap_err();
    assert!(matches!(unreachable, CloudError::Unreachable(_)), "{unreachable:?}");
}

/// The timers of a group must not become shorter because its provider has a bad moment.
#[tokio::test]
async fn what_a_provider_said_last_holds_while_it_cannot_say_it() {
    let down = ScaleDown { unneeded_for: SignedDuration::from_hours(3), ..ScaleDown::default() };
    let group =
        Group { strategy: Strategy::Pending(Pending { scale_down: down, ..Pending::default() }), ..wanted("web") };
    let stage = OnExternalGrpc::offering(&[WEB], Fence::open(), |_| group.clone()).await;
    let said = GroupOptions { unneeded_for: Some(SignedDuration::from_hours(3)), ..GroupOptions::default() };
    assert_eq!(look(&stage.cloud).await.options, said);
    stage.front.set_fault(Some("NodeGroupGetOptions"), Some(Fault::Code(2)));
    assert_eq!(look(&stage.cloud).await.options, said);
    stage.front.set_fault(Some("NodeGroupGetOptions"), Some(Fault::Code(14)));
    let unreachable = stage.cloud.groups().await.unwrap_err();
    assert!(matches!(unreachable, CloudError::Unreachable(_)), "{unreachable:?}");
    stage.front.set_fault(Some("NodeGroupGetOptions"), Some(Fault::Code(12)));
    assert_eq!(look(&stage.cloud).await.options, GroupOptions::default(), "it says no options any more");
}
