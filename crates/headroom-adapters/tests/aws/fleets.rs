//! Machines by an EC2 fleet. The cases E187 to E194 are those of Escalator's own tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use headroom_adapters::cloud::aws::{Aws, AwsGroup, Fleet};
use headroom_adapters::cloud::{Cloud as _, CloudError};
use headroom_adapters::fence::Fence;

use super::{account, alive, look, named};
use crate::fake_aws::{Answer, FakeAws, Parameters, done, group, nothing};
use crate::moto::Moto;

fn fleet(launch_template: &str) -> Fleet {
    Fleet {
        launch_template: launch_template.into(),
        version: "$Default".into(),
        spot: false,
        instance_types: Vec::new(),
        ready_timeout: Duration::from_secs(1),
    }
}

fn aws(endpoint: &str, fleet: Fleet) -> Aws {
    let group = AwsGroup { fleet: Some(fleet), ..named("web") };
    Aws::new(account(endpoint), vec![group], Fence::open())
}

/// A fleet of `machines`, of which this many calls attach some, all of which run or not.
async fn server(machines: usize, attached: usize, all_run: bool) -> FakeAws {
    let calls = Arc::new(AtomicUsize::new(0));
    FakeAws::start(move |call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group("web", [0, 500, 1], &[("i-old", "InService")], ""),
        "CreateFleet" => {
            let ids: String = (0..machines).map(|number| format!("<item>i-{number}</item>")).collect();
            let set = format!("<fleetInstanceSet><item><instanceIds>{ids}</instanceIds></item></fleetInstanceSet>");
            Answer::Xml(format!("<CreateFleetResponse><fleetId>fleet-1</fleetId>{set}</CreateFleetResponse>"))
        }
        "DescribeInstances" if call["Filter.1.Name"] == "instance-id" => {
            let asked = named_in(call, "Filter.1.Value.");
            let missing = usize::from(!all_run);
            let item = |id: &&str| {
                format!("<item><instanceId>{id}</instanceId><instanceState><name>running</name></instanceState></item>")
            };
            let found: String = asked.iter().skip(missing).map(item).collect();
            let set = format!("<reservationSet><item><instancesSet>{found}</instancesSet></item></reservationSet>");
            Answer::Xml(format!("<DescribeInstancesResponse>{set}</DescribeInstancesResponse>"))
        }
        "AttachInstances" if calls.fetch_add(1, Ordering::SeqCst) < attached => done("AttachInstances"),
        "AttachInstances" => Answer::Error(400, "ValidationError", "cannot be attached"),
        "TerminateInstances" => done("TerminateInstances"),
        action => nothing(action),
    })
    .await
}

fn named_in<'c>(call: &'c Parameters, prefix: &str) -> Vec<&'c str> {
    call.iter().filter(|(key, _)| key.starts_with(prefix)).map(|(_, value)| value.as_str()).collect()
}

fn ended(server: &FakeAws) -> usize {
    let calls = server.calls();
    let calls = calls.iter().filter(|call| call["Action"] == "TerminateInstances");
    calls.map(|call| named_in(call, "InstanceId.").len()).sum()
}

/// E187 to E191: how many machines are ended when not all run, or when some cannot be attached.
#[tokio::test]
async fn what_is_not_attached_is_ended() {
    let cases = [(123, 2, false, 123), (70, 0, true, 70), (70, 1, true, 50), (19, 0, true, 19), (19, 1, true, 0)];
    for (machines, attached, all_run, expected) in cases {
        let server = server(machines, attached, all_run).await;
        let size = 1 + u32::try_from(machines).unwrap();
        let outcome = aws(&server.endpoint, fleet("lt-1")).resize("web", 1, size).await;
        assert_eq!(outcome.is_err(), expected > 0, "{machines} {attached} {all_run}: {outcome:?}");
        assert_eq!(ended(&server), expected, "{machines} {attached} {all_run}");
        if !all_run {
            assert!(matches!(outcome, Err(CloudError::Timeout { seconds: 1, .. })), "{outcome:?}");
        }
        let calls = server.calls();
        let attached: Vec<usize> = calls
            .iter()
            .filter(|call| call["Action"] == "AttachInstances")
            .map(|call| named_in(call, "InstanceIds.member.").len())
            .collect();
        assert!(attached.iter().all(|count| *count <= 20), "{attached:?}");
    }
}

/// E192 to E194: errors of pools count only when there is no machine.
#[tokio::test]
async fn a_fleet_without_a_machine_says_why() {
    let answer = |code: &'static str, message: &'static str, ids: &'static str| {
        FakeAws::start(move |call| match call["Action"].as_str() {
            "DescribeAutoScalingGroups" => group("web", [0, 9, 1], &[("i-old", "InService")], ""),
            "CreateFleet" => {
                let error = format!("<item><errorCode>{code}</errorCode><errorMessage>{message}</errorMessage></item>");
                let set = format!("<fleetInstanceSet>{ids}</fleetInstanceSet><errorSet>{error}</errorSet>");
                Answer::Xml(format!("<CreateFleetResponse>{set}</CreateFleetResponse>"))
            }
            "DescribeInstances" if call["Filter.1.Name"] == "instance-id" => Answer::Xml(
                "<R><reservationSet><item><instancesSet><item><instanceId>i-1</instanceId><instanceState>\
                 <name>running</name></instanceState></item></instancesSet></item></reservationSet></R>"
                    .to_owned(),
            ),
            "AttachInstances" => done("AttachInstances"),
            action => nothing(action),
        })
    };
    let one = "<item><instanceIds><item>i-1</item></instanceIds></item>";
    let server = answer("InsufficientInstanceCapacity", "no m5.large", one).await;
    aws(&server.endpoint, fleet("lt-1")).resize("web", 1, 2).await.unwrap();

    let server = answer("InsufficientInstanceCapacity", "no m5.large", "").await;
    let error = aws(&server.endpoint, fleet("lt-1")).resize("web", 1, 2).await.unwrap_err();
    assert!(matches!(&error, CloudError::OutOfStock { reason, .. } if reason.contains("no m5.large")), "{error:?}");

    let server = answer("InvalidParameter", "error message", "").await;
    let error = aws(&server.endpoint, fleet("lt-1")).resize("web", 1, 2).await.unwrap_err();
    assert!(matches!(&error, CloudError::Refused { reason, .. } if reason.contains("error message")), "{error:?}");
}

#[tokio::test]
async fn a_fleet_is_asked_for_as_escalator_does() {
    let subnets = "<VPCZoneIdentifier>subnet-1,subnet-2</VPCZoneIdentifier>";
    let server = FakeAws::start(move |call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group("web", [0, 9, 1], &[("i-old", "InService")], subnets),
        "CreateFleet" => Answer::Error(500, "InternalError", "no"),
        action => nothing(action),
    })
    .await;
    let kinds = vec!["m5.large".into(), "m6i.large".into()];
    let fleet = Fleet { spot: true, instance_types: kinds, version: "7".into(), ..fleet("lt-1") };
    aws(&server.endpoint, fleet).resize("web", 1, 4).await.unwrap_err();
    let calls = server.calls();
    let call = calls.iter().find(|call| call["Action"] == "CreateFleet").expect("a fleet");
    let shown: String = call
        .iter()
        .filter(|(key, _)| !["ClientToken", "Version"].contains(&key.as_str()))
        .map(|(key, value)| format!("{key}={value}\n"))
        .collect();
    expect_test::expect![[r#"
        Action=CreateFleet
        LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateId=lt-1
        LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version=7
        LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large
        LaunchTemplateConfigs.1.Overrides.1.SubnetId=subnet-1
        LaunchTemplateConfigs.1.Overrides.2.InstanceType=m6i.large
        LaunchTemplateConfigs.1.Overrides.2.SubnetId=subnet-1
        LaunchTemplateConfigs.1.Overrides.3.InstanceType=m5.large
        LaunchTemplateConfigs.1.Overrides.3.SubnetId=subnet-2
        LaunchTemplateConfigs.1.Overrides.4.InstanceType=m6i.large
        LaunchTemplateConfigs.1.Overrides.4.SubnetId=subnet-2
        SpotOptions.MinTargetCapacity=3
        SpotOptions.SingleInstanceType=true
        TagSpecification.1.ResourceType=instance
        TagSpecification.1.Tag.1.Key=headroom.dev/fleet
        TagSpecification.1.Tag.1.Value=web
        TargetCapacitySpecification.DefaultTargetCapacityType=spot
        TargetCapacitySpecification.TotalTargetCapacity=3
        Type=instant
    "#]]
    .assert_eq(&shown);
    assert!(!call["ClientToken"].is_empty() && call["ClientToken"].len() <= 64, "{call:?}");
}

/// Headroom ended between the fleet and its attachment.
#[tokio::test]
async fn what_an_earlier_fleet_left_is_ended_first() {
    let server = FakeAws::start(|call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group("web", [0, 9, 1], &[("i-old", "InService")], ""),
        "DescribeInstances" if call["Filter.1.Name"] == "tag:headroom.dev/fleet" => {
            assert_eq!(call["Filter.1.Value.1"], "web");
            let item = |id: &str, more: &str| {
                let tags = format!("<tagSet><item><key>headroom.dev/fleet</key><value>web</value></item>{more}</tagSet>");
                format!("<item><instanceId>{id}</instanceId><instanceState><name>running</name></instanceState>{tags}</item>")
            };
            let owned = "<item><key>aws:autoscaling:groupName</key><value>web</value></item>";
            let found = format!("{}{}", item("i-left", ""), item("i-attached", owned));
            Answer::Xml(format!("<R><reservationSet><item><instancesSet>{found}</instancesSet></item></reservationSet></R>"))
        }
        "CreateFleet" => Answer::Error(400, "InvalidLaunchTemplateId.NotFound", "no such template"),
        "TerminateInstances" => done("TerminateInstances"),
        action => nothing(action),
    })
    .await;
    aws(&server.endpoint, fleet("lt-1")).resize("web", 1, 2).await.unwrap_err();
    let ends = server.calls().into_iter().find(|call| call["Action"] == "TerminateInstances").expect("something ends");
    assert_eq!(named_in(&ends, "InstanceId."), ["i-left"]);
}

#[tokio::test]
async fn machines_of_a_fleet_become_machines_of_the_group() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("fleet", [0, 5, 1], &[]).await;
    let found = moto.call("ec2", "DescribeLaunchTemplates", &[("LaunchTemplateName.1", "fleet")]).await;
    let id = found.split("<launchTemplateId>").nth(1).unwrap().split('<').next().unwrap();
    let group =
        AwsGroup { fleet: Some(Fleet { ready_timeout: Duration::from_secs(20), ..fleet(id) }), ..named("fleet") };
    let aws = Aws::new(account(&moto.endpoint), vec![group], Fence::open());
    let before = alive(&look(&aws).await);
    aws.resize("fleet", 1, 4).await.unwrap();
    let after = look(&aws).await;
    assert_eq!((after.target, alive(&after).len()), (4, 4), "{after:?}");
    assert!(alive(&after).contains(&before[0]));
    let stay = aws.remove("fleet", &[&before[0]]).await.unwrap();
    assert!(stay.is_empty(), "{stay:?}");
    assert_eq!(look(&aws).await.target, 3);
}
