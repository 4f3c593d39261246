//! What the cloud tells of its groups.

use std::collections::BTreeSet;

use headroom_adapters::cloud::aws::{Aws, AwsGroup, FoundBy};
use headroom_adapters::cloud::{Cloud as _, FoundGroup};
use headroom_adapters::cluster::nomad;
use headroom_adapters::fence::Fence;
use headroom_core::machines::is_node;
use headroom_core::snapshot::InstanceState;

use super::stage::OnAws;
use super::{account, alive, look, named, over};
use crate::contract::{Given, Stage as _};
use crate::fake_aws::{Answer, FakeAws, group, groups, member, nothing};
use crate::moto::Moto;

#[tokio::test]
async fn a_group_is_found_by_its_name_with_its_limits_and_machines() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("by-name", [1, 7, 3], &[]).await;
    let found = look(&over(&moto, "by-name")).await;
    assert_eq!((found.target, found.min, found.max), (3, Some(1), Some(7)));
    assert_eq!(alive(&found).len(), 3);
    let form = |machine: &String| machine.starts_with("aws:///eu-west-1a/i-");
    assert!(alive(&found).iter().all(form), "{found:?}");
    assert!(found.instances.iter().flatten().all(|instance| instance.state == InstanceState::Running));
}

/// It says the instance alone, and no provider id.
#[tokio::test]
async fn a_node_of_nomad_is_one_of_its_machines() {
    let stage = OnAws::start(&[Given { name: "web", size: 2, min: 0, max: 9 }], Fence::open()).await;
    let machines = stage.cloud().groups().await.unwrap().remove(0).instances.unwrap();
    let instance = machines[1].provider_id.rsplit('/').next().unwrap();
    let node = serde_json::json!({
        "ID": "26ea97df-9000-c214-70c6-2af52121d38e", "Name": "ip-10-0-0-7", "Status": "ready",
        "Attributes": { "unique.platform.aws.instance-id": instance, "unique.network.ip-address": "10.0.0.7" },
    });
    let node = nomad::translate::node(&serde_json::from_value(node).unwrap()).unwrap();
    let own: Vec<bool> = machines.iter().map(|machine| is_node(machine, &node)).collect();
    assert_eq!(own, [false, true]);
}

#[tokio::test]
async fn a_group_is_found_by_tags_that_only_it_has() {
    let Some(moto) = Moto::shared() else { return };
    let tags = |owner: &'static str| {
        [
            ("Tags.member.1.Key", "k8s.io/cluster-autoscaler/enabled"),
            ("Tags.member.1.Value", ""),
            ("Tags.member.2.Key", "owner"),
            ("Tags.member.2.Value", owner),
        ]
    };
    moto.group("tagged-1", [0, 5, 1], &tags("shop")).await;
    moto.group("tagged-2", [0, 5, 2], &tags("search")).await;
    let by = |tags: &[(&str, &str)]| AwsGroup {
        name: tags.iter().map(|(_, value)| *value).collect::<Vec<_>>().concat().into(),
        found_by: FoundBy::Tags(tags.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()),
        fleet: None,
    };
    let enabled = ("k8s.io/cluster-autoscaler/enabled", "");
    let groups = vec![
        by(&[enabled, ("owner", "search")]),
        by(&[enabled, ("owner", "nobody")]),
        by(&[enabled]),
        named("tagged-1"),
    ];
    let aws = Aws::new(account(&moto.endpoint), groups, Fence::open());
    let found = aws.groups().await.unwrap();
    let found: Vec<(&str, u32)> = found.iter().map(|group| (&*group.name, group.target)).collect();
    assert_eq!(found, [("search", 2), ("tagged-1", 1)], "one that is not there, or not the only one, is left out");
}

/// As Cluster Autoscaler's `asg:tag=KEY,KEY=VALUE` means them.
#[tokio::test]
async fn all_groups_with_some_tags_are_discovered() {
    let Some(moto) = Moto::shared() else { return };
    let tags = |owner: &'static str| {
        [
            ("Tags.member.1.Key", "discovery.example/enabled"),
            ("Tags.member.1.Value", "whatever"),
            ("Tags.member.2.Key", "discovery.example/owner"),
            ("Tags.member.2.Value", owner),
        ]
    };
    moto.group("discovered-b", [0, 5, 1], &tags("shop")).await;
    moto.group("discovered-a", [0, 5, 0], &tags("shop")).await;
    moto.group("discovered-c", [0, 5, 0], &tags("search")).await;
    moto.group("undiscovered", [0, 5, 0], &[]).await;
    let aws = Aws::new(account(&moto.endpoint), Vec::new(), Fence::closed());
    let discover = async |tags: &[(&str, &str)]| {
        let tags = tags.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        aws.discover(&tags).await.unwrap()
    };
    let ids = |found: &[FoundGroup]| found.iter().map(|group| group.id.to_string()).collect::<Vec<_>>();
    let (enabled, owner) = (("discovery.example/enabled", ""), "discovery.example/owner");
    let all = discover(&[enabled]).await;
    assert_eq!(ids(&all), ["discovered-a", "discovered-b", "discovered-c"]);
    assert_eq!(all[2].tags.get(owner).map(|value| &**value), Some("search"), "their tags are told");
    assert_eq!(ids(&discover(&[enabled, (owner, "shop")]).await), ["discovered-a", "discovered-b"]);
    assert!(discover(&[enabled, (owner, "nobody")]).await.is_empty());
}

#[tokio::test]
async fn a_group_that_is_being_deleted_is_not_discovered() {
    let server = FakeAws::start(|call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => groups(&[
            member("going", [0, 5, 1], &[], "<Status>Delete in progress</Status>"),
            member("here", [0, 5, 1], &[], ""),
        ]),
        action => nothing(action),
    })
    .await;
    let aws = Aws::new(account(&server.endpoint), Vec::new(), Fence::closed());
    let found = aws.discover(&[("team".into(), "web".into())].into_iter().collect()).await.unwrap();
    assert_eq!(found, [FoundGroup { id: "here".into(), ..FoundGroup::default() }]);
}

/// A call names fifty at most, and a page has so many.
#[tokio::test]
async fn many_groups_are_found_in_a_few_calls() {
    let Some(moto) = Moto::shared() else { return };
    let names: Vec<String> = (0..51).map(|number| format!("many-{number}")).collect();
    for name in &names {
        moto.group(name, [0, 1, 0], &[]).await;
    }
    let groups = names.iter().map(|name| named(name)).collect();
    let found = Aws::new(account(&moto.endpoint), groups, Fence::open()).groups().await.unwrap();
    let found: BTreeSet<&str> = found.iter().map(|group| &*group.name).collect();
    assert_eq!(found, names.iter().map(String::as_str).collect());
}

#[tokio::test]
async fn an_answer_goes_on_over_its_pages() {
    let server = FakeAws::start(|call| {
        let page = |name: &str, next: &str| match group(name, [0, 5, 1], &[], "") {
            Answer::Xml(body) => {
                Answer::Xml(body.replace("</AutoScalingGroups>", &format!("</AutoScalingGroups>{next}")))
            }
            other => other,
        };
        match (call["Action"].as_str(), call.get("NextToken").map(String::as_str)) {
            ("DescribeAutoScalingGroups", None) => page("first", "<NextToken>more+/=&amp;</NextToken>"),
            ("DescribeAutoScalingGroups", Some("more+/=&")) => page("second", "<NextToken></NextToken>"),
            (action, _) => nothing(action),
        }
    })
    .await;
    let groups = vec![named("second"), named("first")];
    let found = Aws::new(account(&server.endpoint), groups, Fence::open()).groups().await.unwrap();
    let found: Vec<&str> = found.iter().map(|group| &*group.name).collect();
    assert_eq!(found, ["second", "first"], "in the order of the configuration");
    assert_eq!(server.asked("DescribeAutoScalingGroups"), 2);
}

#[tokio::test]
async fn the_state_of_a_machine_follows_from_its_lifecycle() {
    let server = FakeAws::start(|call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group(
            "web",
            [0, 9, 6],
            &[
                ("i-pending", "Pending"),
                ("i-hooked", "Pending:Wait"),
                ("i-serving", "InService"),
                ("i-standby", "Standby"),
                ("i-ending", "Terminating"),
                ("i-ending-hooked", "Terminating:Wait"),
                ("i-leaving", "Detaching"),
                ("i-gone", "Terminated"),
                ("i-warm", "Warmed:Stopped"),
                ("i-warming", "Warmed:Pending:Wait"),
            ],
            "",
        ),
        action => nothing(action),
    })
    .await;
    let found = look(&Aws::new(account(&server.endpoint), vec![named("web")], Fence::open())).await;
    let states: Vec<(&str, InstanceState)> = found
        .instances
        .iter()
        .flatten()
        .map(|instance| (instance.provider_id.rsplit('/').next().unwrap(), instance.state))
        .collect();
    let expected = [
        ("i-pending", InstanceState::Creating),
        ("i-hooked", InstanceState::Creating),
        ("i-serving", InstanceState::Running),
        ("i-standby", InstanceState::Running),
        ("i-ending", InstanceState::Deleting),
        ("i-ending-hooked", InstanceState::Deleting),
        ("i-leaving", InstanceState::Deleting),
    ];
    assert_eq!(states, expected);
}

/// What it counts then are not machines.
#[tokio::test]
async fn a_group_with_weights_is_left_out() {
    let weighted = "<MixedInstancesPolicy><LaunchTemplate><Overrides><member><InstanceType>m5.large</InstanceType>\
                    <WeightedCapacity>2</WeightedCapacity></member></Overrides></LaunchTemplate></MixedInstancesPolicy>";
    for more in [weighted, "<DesiredCapacityType>vcpu</DesiredCapacityType>", "<Status>Delete in progress</Status>"] {
        let server = FakeAws::start(move |call| match call["Action"].as_str() {
            "DescribeAutoScalingGroups" => group("web", [0, 9, 6], &[], more),
            action => nothing(action),
        })
        .await;
        let aws = Aws::new(account(&server.endpoint), vec![named("web")], Fence::open());
        assert!(aws.groups().await.unwrap().is_empty(), "{more}");
        let error = aws.resize("web", 6, 7).await.unwrap_err();
        assert!(error.to_string().contains("no group for web"), "{error}");
        assert_eq!(server.asked("SetDesiredCapacity"), 0);
    }
}
