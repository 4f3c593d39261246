//! What a new node of a group will be like.

use expect_test::{Expect, expect};
use headroom_adapters::cloud::Cloud as _;
use headroom_adapters::cloud::aws::{Aws, AwsGroup, Fleet};
use headroom_adapters::fence::Fence;
use headroom_core::quantity::Resources;
use headroom_core::snapshot::Template;

use super::{account, look, named, over};
use crate::fake_aws::{Answer, FakeAws, group, nothing};
use crate::moto::Moto;

/// A template as text: what there is, what pods get, labels and taints.
fn show(template: Option<&Template>) -> String {
    let Some(template) = template else { return "unknown\n".to_owned() };
    let mut text = format!("has    {}\n", amounts(&template.capacity));
    text += &format!("offers {}\n", amounts(&template.allocatable));
    let old = |key: &str| key.contains("beta.kubernetes.io/");
    for (key, value) in template.labels.iter().filter(|(key, _)| !old(key)) {
        text += &format!("{key}={value}\n");
    }
    for taint in &template.taints {
        text += &format!("taint {}={}:{}\n", taint.key, taint.value, taint.effect);
    }
    text
}

fn amounts(of: &Resources) -> String {
    let extended: String = of.extended.iter().map(|(name, amount)| format!(", {name} {amount}")).collect();
    let (memory, disk) = (of.memory >> 20, of.ephemeral_storage >> 20);
    format!("cpu {}m, memory {memory}Mi, disk {disk}Mi, pods {}{extended}", of.cpu, of.pods)
}

async fn check(aws: &Aws, expected: Expect) {
    let found = look(aws).await;
    expected.assert_eq(&show(found.template.as_ref()));
    assert_eq!(aws.template(&found.name).await.unwrap(), found.template, "the same, asked for alone");
}

#[tokio::test]
async fn it_follows_from_launch_template_instance_type_and_zone() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("plain", [0, 5, 0], &[]).await;
    let expected = expect![[r#"
        has    cpu 2000m, memory 7578Mi, disk 0Mi, pods 29
        offers cpu 1930m, memory 6904Mi, disk 0Mi, pods 29
        kubernetes.io/arch=amd64
        kubernetes.io/os=linux
        node.kubernetes.io/instance-type=m5.large
        topology.kubernetes.io/region=eu-west-1
        topology.kubernetes.io/zone=eu-west-1a
    "#]];
    check(&over(&moto, "plain"), expected).await;
}

#[tokio::test]
async fn tags_say_what_else_its_nodes_have() {
    let Some(moto) = Moto::shared() else { return };
    let prefix = "k8s.io/cluster-autoscaler/node-template";
    let tags = [
        ("label/workload", "batch"),
        ("label/empty", ""),
        ("taint/dedicated", "batch:NoSchedule"),
        ("taint/soft", ":PreferNoSchedule"),
        ("taint/wrong", "batch"),
        ("resources/ephemeral-storage", "100Gi"),
        ("resources/example.com/fpga", "2"),
        ("resources/memory", "7000Mi"),
        ("resources/wrong", "many"),
    ];
    let keys: Vec<[String; 3]> = (1..)
        .zip(tags)
        .map(|(number, (key, _))| {
            [format!("Tags.member.{number}.Key"), format!("{prefix}/{key}"), format!("Tags.member.{number}.Value")]
        })
        .collect();
    let parameters: Vec<(&str, &str)> = keys
        .iter()
        .zip(tags)
        .flat_map(|([key, name, value], (_, said))| [(key.as_str(), name.as_str()), (value.as_str(), said)])
        .collect();
    moto.group("said", [0, 5, 0], &parameters).await;
    let expected = expect![[r#"
        has    cpu 2000m, memory 7000Mi, disk 102400Mi, pods 29, example.com/fpga 2
        offers cpu 1930m, memory 7000Mi, disk 102400Mi, pods 29, example.com/fpga 2
        empty=
        kubernetes.io/arch=amd64
        kubernetes.io/os=linux
        node.kubernetes.io/instance-type=m5.large
        topology.kubernetes.io/region=eu-west-1
        topology.kubernetes.io/zone=eu-west-1a
        workload=batch
        taint dedicated=batch:NoSchedule
        taint soft=:PreferNoSchedule
    "#]];
    check(&over(&moto, "said"), expected).await;
}

#[tokio::test]
async fn of_several_types_it_has_what_all_have() {
    let Some(moto) = Moto::shared() else { return };
    let data = [("ImageId", "ami-0123456789abcdef0"), ("InstanceType", "c5.large")];
    let disk = [("BlockDeviceMapping.1.DeviceName", "/dev/xvda"), ("BlockDeviceMapping.1.Ebs.VolumeSize", "80")];
    moto.launch_template("mixed", &[&data[..], &disk[..]].concat()).await;
    let policy = "MixedInstancesPolicy.LaunchTemplate";
    let spec = format!("{policy}.LaunchTemplateSpecification");
    let parameters = [
        ("AutoScalingGroupName".to_owned(), "mixed"),
        ("MinSize".to_owned(), "0"),
        ("MaxSize".to_owned(), "5"),
        ("AvailabilityZones.member.1".to_owned(), "eu-west-1a"),
        ("AvailabilityZones.member.2".to_owned(), "eu-west-1b"),
        (format!("{spec}.LaunchTemplateName"), "mixed"),
        (format!("{spec}.Version"), "$Latest"),
        (format!("{policy}.Overrides.member.1.InstanceType"), "m5.large"),
        (format!("{policy}.Overrides.member.2.InstanceType"), "r5.xlarge"),
        (format!("{policy}.Overrides.member.3.InstanceType"), "c5.xlarge"),
    ];
    let parameters: Vec<(&str, &str)> = parameters.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    moto.call("autoscaling", "CreateAutoScalingGroup", &parameters).await;
    let expected = expect![[r#"
        has    cpu 2000m, memory 7578Mi, disk 81920Mi, pods 29
        offers cpu 1930m, memory 6585Mi, disk 73728Mi, pods 29
        kubernetes.io/arch=amd64
        kubernetes.io/os=linux
        topology.kubernetes.io/region=eu-west-1
    "#]];
    check(&over(&moto, "mixed"), expected).await;
}

#[tokio::test]
async fn a_launch_configuration_says_it_too() {
    let Some(moto) = Moto::shared() else { return };
    let configuration =
        [("LaunchConfigurationName", "old"), ("ImageId", "ami-0123456789abcdef0"), ("InstanceType", "g4dn.xlarge")];
    moto.call("autoscaling", "CreateLaunchConfiguration", &configuration).await;
    let group = [
        ("AutoScalingGroupName", "old"),
        ("LaunchConfigurationName", "old"),
        ("AvailabilityZones.member.1", "eu-west-1a"),
        ("MinSize", "0"),
        ("MaxSize", "5"),
    ];
    moto.call("autoscaling", "CreateAutoScalingGroup", &group).await;
    let expected = expect![[r#"
        has    cpu 4000m, memory 15156Mi, disk 0Mi, pods 29, nvidia.com/gpu 1
        offers cpu 3920m, memory 14482Mi, disk 0Mi, pods 29, nvidia.com/gpu 1
        kubernetes.io/arch=amd64
        kubernetes.io/os=linux
        node.kubernetes.io/instance-type=g4dn.xlarge
        topology.kubernetes.io/region=eu-west-1
        topology.kubernetes.io/zone=eu-west-1a
    "#]];
    check(&over(&moto, "old"), expected).await;
}

#[tokio::test]
async fn a_fleet_has_types_of_its_own() {
    let Some(moto) = Moto::shared() else { return };
    moto.group("fleet-kinds", [0, 5, 0], &[]).await;
    let found = moto.call("ec2", "DescribeLaunchTemplates", &[("LaunchTemplateName.1", "fleet-kinds")]).await;
    let id = found.split("<launchTemplateId>").nth(1).unwrap().split('<').next().unwrap();
    let fleet = Fleet {
        launch_template: id.into(),
        version: "$Default".into(),
        spot: false,
        instance_types: vec!["m6g.large".into()],
        ready_timeout: std::time::Duration::from_secs(60),
    };
    let group = AwsGroup { fleet: Some(fleet), ..named("fleet-kinds") };
    let aws = Aws::new(account(&moto.endpoint), vec![group], Fence::open());
    let template = look(&aws).await.template.expect("a template");
    assert_eq!(template.labels.get("node.kubernetes.io/instance-type"), Some("m6g.large"));
    assert_eq!(template.labels.get("kubernetes.io/arch"), Some("arm64"));
}

/// Any type with so many cpus and so much memory may come.
#[tokio::test]
async fn by_requirements_it_has_the_least_that_is_required() {
    let required = "<InstanceRequirements><VCpuCount><Min>4</Min><Max>8</Max></VCpuCount><MemoryMiB><Min>16384</Min>\
                    </MemoryMiB></InstanceRequirements>";
    let policy = format!(
        "<MixedInstancesPolicy><LaunchTemplate><LaunchTemplateSpecification><LaunchTemplateId>lt-1</LaunchTemplateId>\
         <Version>1</Version></LaunchTemplateSpecification><Overrides><member>{required}</member></Overrides>\
         </LaunchTemplate></MixedInstancesPolicy><Tags><member><Key>eks:nodegroup-name</Key><Value>web</Value></member></Tags>"
    );
    let server = FakeAws::start(move |call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group("web", [0, 9, 0], &[], &policy),
        "DescribeLaunchTemplateVersions" => Answer::Xml("<R><launchTemplateVersionSet/></R>".to_owned()),
        action => nothing(action),
    })
    .await;
    let aws = Aws::new(account(&server.endpoint), vec![named("web")], Fence::open());
    let expected = expect![[r#"
        has    cpu 4000m, memory 15156Mi, disk 0Mi, pods 17
        offers cpu 3920m, memory 14614Mi, disk 0Mi, pods 17
        eks.amazonaws.com/nodegroup=web
        kubernetes.io/os=linux
        topology.kubernetes.io/region=eu-west-1
        topology.kubernetes.io/zone=eu-west-1a
    "#]];
    check(&aws, expected).await;
}

/// It can still be sized, and what tags say of cpu and memory is enough.
#[tokio::test]
async fn a_group_without_a_template_is_a_group() {
    let denied = |action: &str| action.starts_with("DescribeLaunch") || action == "DescribeInstanceTypes";
    let tag = |resource: &str, value: &str| {
        let key = format!("k8s.io/cluster-autoscaler/node-template/resources/{resource}");
        format!("<member><Key>{key}</Key><Value>{value}</Value></member>")
    };
    let tags = format!("<Tags>{}{}{}</Tags>", tag("cpu", "3900m"), tag("memory", "15Gi"), tag("pods", "58"));
    let template = "<LaunchTemplate><LaunchTemplateId>lt-1</LaunchTemplateId></LaunchTemplate>";
    let cases = [
        (
            template.to_owned(),
            expect![[r#"
        unknown
    "#]],
        ),
        (
            tags,
            expect![[r#"
        has    cpu 3900m, memory 15360Mi, disk 0Mi, pods 58
        offers cpu 3900m, memory 15360Mi, disk 0Mi, pods 58
        kubernetes.io/os=linux
        topology.kubernetes.io/region=eu-west-1
        topology.kubernetes.io/zone=eu-west-1a
    "#]],
        ),
    ];
    for (more, expected) in cases {
        let server = FakeAws::start(move |call| match call["Action"].as_str() {
            "DescribeAutoScalingGroups" => {
                group("web", [0, 9, 2], &[("i-1", "InService"), ("i-2", "InService")], &more)
            }
            action if denied(action) => Answer::Error(403, "UnauthorizedOperation", "You are not authorized"),
            action => nothing(action),
        })
        .await;
        let found = look(&Aws::new(account(&server.endpoint), vec![named("web")], Fence::open())).await;
        assert_eq!(found.target, 2);
        expected.assert_eq(&show(found.template.as_ref()));
    }
}

/// What does not change is not asked for again.
#[tokio::test]
async fn types_and_launch_templates_are_kept() {
    let template =
        "<LaunchTemplate><LaunchTemplateId>lt-1</LaunchTemplateId><Version>$Latest</Version></LaunchTemplate>";
    let server = FakeAws::start(move |call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group("web", [0, 9, 0], &[], template),
        "DescribeLaunchTemplateVersions" => {
            assert_eq!(call["LaunchTemplateVersion.1"], "$Latest");
            let data = "<launchTemplateData><instanceType>x9.large</instanceType></launchTemplateData>";
            Answer::Xml(format!("<R><launchTemplateVersionSet><item>{data}</item></launchTemplateVersionSet></R>"))
        }
        "DescribeInstanceTypes" => {
            assert_eq!(call["Filter.1.Value.1"], "x9.large");
            let cpus = "<vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo>";
            let memory = "<memoryInfo><sizeInMiB>8192</sizeInMiB></memoryInfo>";
            let kind = format!("<item><instanceType>x9.large</instanceType>{cpus}{memory}</item>");
            Answer::Xml(format!("<R><instanceTypeSet>{kind}</instanceTypeSet></R>"))
        }
        action => nothing(action),
    })
    .await;
    let aws = Aws::new(account(&server.endpoint), vec![named("web")], Fence::open());
    let first = look(&aws).await;
    assert!(first.template.is_some(), "{first:?}");
    assert_eq!(look(&aws).await, first);
    assert_eq!((server.asked("DescribeLaunchTemplateVersions"), server.asked("DescribeInstanceTypes")), (1, 1));
}
