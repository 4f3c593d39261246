//! How a group is to be treated by what its tags say.

use headroom_adapters::cloud::Cloud as _;
use headroom_adapters::cloud::aws::Aws;
use headroom_adapters::fence::Fence;
use headroom_core::policy::Percent;
use headroom_core::snapshot::GroupOptions;
use jiff::SignedDuration;

use super::{account, look, named};
use crate::contract::log::log_of;
use crate::fake_aws::{FakeAws, group, nothing};

/// A cloud whose group has these tags under `autoscaling-options/`.
async fn tagged(tags: &[(&str, &str)]) -> Aws {
    let prefix = "k8s.io/cluster-autoscaler/node-template/autoscaling-options";
    let tag = |(key, value): &(&str, &str)| format!("<member><Key>{prefix}/{key}</Key><Value>{value}</Value></member>");
    let tags: String = tags.iter().map(tag).collect();
    let server = FakeAws::start(move |call| match call["Action"].as_str() {
        "DescribeAutoScalingGroups" => group("web", [0, 9, 0], &[], &format!("<Tags>{tags}</Tags>")),
        other => nothing(other),
    });
    Aws::new(account(&server.await.endpoint), vec![named("web")], Fence::open())
}

#[tokio::test]
async fn every_tag_that_cluster_autoscaler_knows_is_read() {
    let aws = tagged(&[
        ("scaledownutilizationthreshold", "0.625"),
        ("scaledowngpuutilizationthreshold", "1"),
        ("scaledownunneededtime", "1h30m"),
        ("scaledownunreadytime", "0"),
        ("maxnodeprovisiontime", "20m0s"),
        ("ignoredaemonsetsutilization", "True"),
    ]);
    let wanted = GroupOptions {
        threshold: Some(Percent(6250)),
        gpu_threshold: Some(Percent::whole(100)),
        unneeded_for: Some(SignedDuration::from_mins(90)),
        unready_for: Some(SignedDuration::ZERO),
        boot_timeout: Some(SignedDuration::from_mins(20)),
        ignore_daemon_sets: Some(true),
        all_or_nothing: false,
    };
    assert_eq!(look(&aws.await).await.options, wanted);
    assert_eq!(look(&tagged(&[]).await).await.options, GroupOptions::default());
}

#[tokio::test]
async fn a_tag_that_makes_no_sense_is_named_once_and_says_nothing() {
    let wrong = [
        ("scaledownutilizationthreshold", "50", "a share of 1, such as 0.5"),
        ("scaledowngpuutilizationthreshold", "nan", "a share of 1, such as 0.5"),
        ("scaledownunneededtime", "10", "a duration as Go does, such as 10m"),
        ("scaledownunreadytime", "-1m", "a duration as Go does, such as 10m"),
        ("maxnodeprovisiontime", "0", "a duration as Go does, such as 10m"),
        ("ignoredaemonsetsutilization", "yes", "true or false"),
        ("maxnodestartuptime", "5m", "a machine has `bootTimeout` until its node is usable"),
        ("scaledowndelay", "5m", "there is no such option"),
    ];
    let tags: Vec<(&str, &str)> = wrong.iter().map(|(key, value, _)| (*key, *value)).collect();
    let aws = tagged(&tags).await;
    let log = log_of(async {
        assert_eq!(look(&aws).await.options, GroupOptions::default());
        aws.groups().await.unwrap();
    })
    .await;
    for (key, value, hint) in wrong {
        let said: Vec<&str> = log.lines().filter(|line| line.contains(&format!("/{key} is "))).collect();
        assert_eq!(said.len(), 1, "{key}: {log}");
        assert!(said[0].contains(value) && said[0].contains(hint) && said[0].contains("web"), "{}", said[0]);
    }
}
