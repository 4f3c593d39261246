//! `headroom migrate cluster-autoscaler`: what a command line becomes. A case is one word a line, and perhaps a line of
//! dashes and the ConfigMap of the expander `priority`.

use expect_test::expect_file;
use headroom::config::{self, Cloud, Config};
use headroom::migrate::CommandLine;
use headroom::migrate::cluster_autoscaler::{self, Priorities};
use headroom_core::expander::Expander;
use headroom_core::policy::{Budget, Percent, Removal, ScaleDown, ScaleDownPolicy, Share, Size, Strategy};
use headroom_core::quantity::{Bytes, MilliCpu};
use jiff::SignedDuration;

#[test]
fn results_are_as_recorded() {
    super::compare("cluster-autoscaler", 8, |input| {
        let (words, priorities) = match input.split_once("----------\n") {
            Some((words, text)) => (words, Some(Priorities::read("priorities.yaml", text)?)),
            None => (input, None),
        };
        let words: Vec<String> = words.lines().map(str::to_owned).collect();
        cluster_autoscaler::migrate(&CommandLine::of_words(&words), priorities.as_ref())
    });
}

#[test]
fn the_checked_in_page_is_current() {
    expect_file!["../../../../docs/cluster-autoscaler-migration.md"].assert_eq(&cluster_autoscaler::page());
}

fn migrated(flags: &[&str]) -> Config {
    let words: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let yaml = cluster_autoscaler::migrate(&CommandLine::of_words(&words), None).unwrap();
    config::parse("headroom.yaml", &yaml).unwrap_or_else(|errors| panic!("{errors}\n{yaml}"))
}

/// What Cluster Autoscaler does without any flag but those that say what groups there are.
#[test]
fn defaults_are_those_of_cluster_autoscaler() {
    let config = migrated(&["--cloud-provider=aws", "--nodes=1:10:web", "--nodes=0:3:gpu"]);
    assert!(config.policy.dry_run, "both would act");
    assert_eq!(config.interval, SignedDuration::from_secs(10));
    assert!(config.live.cordon && config.live.leader_election);
    assert_eq!(config.live.http.to_string(), "0.0.0.0:8085");
    let pending = &config.policy.pending;
    assert_eq!(pending.expander.expanders(true), [Expander::LeastWaste, Expander::Random]);
    assert_eq!(pending.balance, None);
    assert_eq!((pending.limits.nodes, pending.limits.nodes_per_scale_up), (None, Some(1_000)));
    assert_eq!(pending.limits.cpu, Some(MilliCpu(320_000_000)));
    assert_eq!(pending.limits.memory, Some(Bytes(6_400_000 << 30)));
    assert_eq!(pending.expendable_below, -10);
    let drained = vec![Removal::Underutilized, Removal::Unready, Removal::Old];
    let budget = |nodes, reasons| Budget { nodes: Share::Nodes(nodes), reasons, window: None };
    let expected = ScaleDownPolicy {
        budgets: vec![budget(10, Vec::new()), budget(1, drained)],
        soft_taint: true,
        ..ScaleDownPolicy::default()
    };
    assert_eq!(config.policy.scale_down, Some(expected));
    assert!(config.policy.slack.is_off());
    for (group, (name, min, max)) in config.policy.groups.iter().zip([("web", 1, 10), ("gpu", 0, 3)]) {
        assert_eq!(&*group.name, name);
        assert_eq!(group.size, Size { min: Some(min), max: Some(max) });
        assert_eq!(group.boot_timeout, SignedDuration::from_mins(15));
        let Strategy::Pending(pending) = &group.strategy else { panic!("not a pending group") };
        assert_eq!(pending.scale_down, ScaleDown { budgets: Vec::new(), ..ScaleDown::default() });
        let cloud = &config.clouds[&group.name];
        assert!(matches!(cloud, Cloud::Aws { .. }) && format!("{cloud:?}").contains(name), "{cloud:?}");
    }
}

#[test]
fn flags_win_over_defaults_and_the_last_one_over_those_before() {
    let config = migrated(&[
        "--nodes=1:10:web",
        "--scale-down-unneeded-time=1h",
        "--scale-down-unneeded-time=90s",
        "--scale-down-utilization-threshold=0.625",
        "--scale-down-unready-enabled=false",
        "--max-drain-parallelism=3",
        "--max-node-provision-time=7m",
        "--ignore-taint=node.cilium.io/agent-not-ready",
        "--cores-total=16:400",
        "--balance-similar-node-groups",
        "--balancing-ignore-label=team",
        "--leader-elect=false",
    ]);
    let group = &config.policy.groups[0];
    let Strategy::Pending(pending) = &group.strategy else { panic!("not a pending group") };
    assert_eq!(pending.scale_down.unneeded_for, SignedDuration::from_secs(90));
    assert_eq!(pending.scale_down.threshold, Percent(6_250));
    assert_eq!(pending.scale_down.unready_for, None);
    assert_eq!(config.policy.scale_down.as_ref().unwrap().budgets[1].nodes, Share::Nodes(3));
    assert_eq!(config.policy.scale_down.unwrap().at_least.cpu, Some(MilliCpu(16_000)));
    assert_eq!(group.boot_timeout, SignedDuration::from_mins(7));
    assert_eq!(group.startup_taints, [Box::from("node.cilium.io/agent-not-ready")]);
    assert_eq!(config.policy.pending.limits.cpu, Some(MilliCpu(400_000)));
    assert_eq!(config.policy.pending.balance.unwrap().ignore_labels, [Box::from("team")]);
    assert!(!config.live.leader_election);
}
