//! `headroom migrate escalator`: what node groups become, and what is said about bad ones.
//!
//! Cases with the name of one of Escalator's tests hold the numbers of that test.

use expect_test::expect_file;
use headroom::config;
use headroom::migrate::escalator::{self, Flags, migrate};
use headroom_core::policy::{CountPods, Group, Mode, Size, Strategy, Utilization};
use headroom_core::snapshot::Effect;
use jiff::SignedDuration;
use proptest::prelude::*;
use proptest::strategy::Strategy as Generator;

/// The options that every group needs.
const REQUIRED: &str = "
    taint_upper_capacity_threshold_percent: 40
    taint_lower_capacity_threshold_percent: 10
    scale_up_threshold_percent: 70
    soft_delete_grace_period: 1m
    hard_delete_grace_period: 10m
    scale_up_cool_down_period: 2m
";

#[test]
fn results_are_as_recorded() {
    super::compare("escalator", 13, |input| migrate("nodegroups.yaml", input, &Flags::default()));
}

#[test]
fn the_checked_in_page_is_current() {
    expect_file!["../../../../docs/escalator-migration.md"].assert_eq(&escalator::page());
}

/// The policy's only group, made from one with `options`.
fn group(options: &str, flags: &Flags) -> Group {
    let text = format!(
        "node_groups:\n  - label_key: pool\n    label_value: web\n    cloud_provider_group_name: web{REQUIRED}{options}"
    );
    let yaml = migrate("nodegroups.yaml", &text, flags).unwrap_or_else(|errors| panic!("{errors}"));
    let config = config::parse("headroom.yaml", &yaml).unwrap_or_else(|errors| panic!("{errors}\n{yaml}"));
    config.policy.groups.into_iter().next().unwrap()
}

fn utilization(options: &str) -> Utilization {
    let Strategy::Utilization(utilization) = group(options, &Flags::default()).strategy else {
        panic!("not a utilization group")
    };
    utilization
}

/// Escalator's TestControllerDryMode: a group is dry when the flag or its option says so. Headroom's file is dry as a
/// whole until its user says otherwise, so that the two never both act; what the groups' own modes say is the same.
#[test]
fn a_group_is_dry_when_the_flag_or_its_option_says_so() {
    for (flag, option, dry) in [(true, true, true), (true, false, true), (false, true, true), (false, false, false)] {
        let flags = Flags { drymode: flag, ..Flags::default() };
        let text = format!(
            "node_groups:\n  - name: a\n    label_key: p\n    label_value: a\n    cloud_provider_group_name: a{REQUIRED}\
             \x20   dry_mode: {option}\n"
        );
        let yaml = migrate("nodegroups.yaml", &text, &flags).unwrap();
        assert!(config::parse("headroom.yaml", &yaml).unwrap().policy.dry_run);
        // What the comment tells to do when Escalator was not dry.
        let comment = "Set this to false once Escalator is stopped.\ndryRun: true";
        let config = config::parse("headroom.yaml", &yaml.replace(comment, "\ndryRun: false")).unwrap();
        assert_eq!(config.policy.dry_run || config.policy.groups[0].mode == Mode::DryRun, dry, "{flag} {option}");
    }
}

/// Escalator's TestNodeGroupOptions_autoDiscoverMinMaxNodeOptions.
#[test]
fn no_size_is_taken_from_the_cloud() {
    for options in ["    name: a\n    min_nodes: 0\n    max_nodes: 0\n", "    name: a\n"] {
        assert_eq!(group(options, &Flags::default()).size, Size { min: None, max: None });
    }
    let sized = group("    name: a\n    min_nodes: 0\n    max_nodes: 3\n", &Flags::default());
    assert_eq!(sized.size, Size { min: Some(0), max: Some(3) });
}

/// Escalator's taint test: without an effect the taint is NoSchedule.
#[test]
fn the_effect_of_the_taint_is_noschedule_unless_it_says_otherwise() {
    for (option, effect) in [
        ("", Effect::NoSchedule),
        ("    taint_effect: \"\"\n", Effect::NoSchedule),
        ("    taint_effect: NoExecute\n", Effect::NoExecute),
        ("    taint_effect: PreferNoSchedule\n", Effect::PreferNoSchedule),
    ] {
        assert_eq!(utilization(&format!("    name: a\n{option}")).taint_effect, effect, "{option}");
    }
}

#[test]
fn the_group_called_default_counts_pods_without_constraints() {
    assert_eq!(utilization("    name: default\n").count_pods, CountPods::Unconstrained);
    assert_eq!(utilization("    name: defaults\n").count_pods, CountPods::Selecting);
}

#[test]
fn a_step_is_a_scan() {
    assert_eq!(utilization("    name: a\n").step_interval, SignedDuration::from_secs(60));
    let flags = Flags { scan_interval: SignedDuration::from_millis(30_500), ..Flags::default() };
    let Strategy::Utilization(utilization) = group("    name: a\n", &flags).strategy else {
        panic!("not a utilization group")
    };
    assert_eq!(utilization.step_interval, SignedDuration::from_secs(31));
}

#[test]
fn a_role_is_named() {
    let flags = Flags { aws_assume_role_arn: Some("arn:aws:iam::1:role/x".into()), ..Flags::default() };
    let text = format!(
        "node_groups:\n  - name: a\n    label_key: p\n    label_value: a\n    cloud_provider_group_name: a{REQUIRED}"
    );
    let yaml = migrate("nodegroups.yaml", &text, &flags).unwrap();
    assert!(yaml.contains(r#", assumeRole: "arn:aws:iam::1:role/x" } }"#), "{yaml}");
    config::parse("headroom.yaml", &yaml).unwrap();
}

/// A group that Escalator starts with, in JSON.
fn valid_group(at: usize) -> impl Generator<Value = serde_json::Value> {
    let text = "\\PC{1,12}|[ -~]{1,12}|yes|null|0x10|1e3|[0-9.]{1,4}|default";
    let duration = prop_oneof![
        Just("1ns".to_owned()),
        (1_u32..4_000_000).prop_map(|hours| format!("{}h", hours % 2_500_000 + 1)),
        "[1-9][0-9]{0,3}(\\.[0-9]{0,3})?(ms|s|m|h)".prop_map(|text| text),
    ];
    let texts = (text, text, text, proptest::option::of(text), "\\PC{0,40}");
    let numbers = (1_i64..5_000, 1_i64..5_000, 1_i64..5_000, 0_i64..50, 0_i64..50, 0_i64..50, 1_i64..50);
    let text_or_none = || proptest::option::of(text);
    let lifecycle = proptest::option::of(proptest::sample::select(vec!["", "on-demand", "spot"]));
    let ready = proptest::option::of(prop_oneof![duration.clone(), text.prop_map(|text| text)]);
    let fleets = (
        text_or_none(),
        text_or_none(),
        lifecycle,
        proptest::option::of(proptest::collection::vec(text_or_none(), 0..3)),
        ready,
    );
    let options = (duration, any::<bool>(), any::<bool>(), -2_i64..5, proptest::option::of((1_i64..=100, 0_i64..100)));
    (texts, numbers, options, fleets).prop_map(move |(texts, numbers, options, fleets)| {
        let (template, version, lifecycle, types, ready) = fleets;
        let (name, key, value, unknown, foreign) = texts;
        let (lower, upper, scale_up, slow, fast, min, max) = numbers;
        let (soft, dry, starve, failures, unhealthy) = options;
        let mut group = serde_json::json!({
            "name": format!("{name}{at}"), "label_key": key, "label_value": format!("{value}{at}"),
            "cloud_provider_group_name": format!("{name}{at}"),
            "taint_lower_capacity_threshold_percent": lower, "taint_upper_capacity_threshold_percent": lower + upper,
            "scale_up_threshold_percent": lower + upper + scale_up,
            "slow_node_removal_rate": slow, "fast_node_removal_rate": slow + fast,
            "min_nodes": min, "max_nodes": min + max,
            "soft_delete_grace_period": soft, "hard_delete_grace_period": "2562047h", "scale_up_cool_down_period": soft,
            "dry_mode": dry, "scale_on_starve": starve, "scale_up_failure_threshold": failures, "max_node_age": soft,
            "aws": {
                "launch_template_id": template, "launch_template_version": version, "lifecycle": lifecycle,
                "instance_type_overrides": types, "fleet_instance_ready_timeout": ready, "resource_tagging": dry,
            },
        });
        if let Some(unknown) = unknown {
            group[format!("{unknown}?")] = serde_json::json!(foreign);
        }
        if let Some((newest, most)) = unhealthy {
            group["unhealthy_node_grace_period"] = group["soft_delete_grace_period"].clone();
            group["health_check_newest_nodes_percent"] = newest.into();
            group["max_unhealthy_nodes_percent"] = most.into();
        }
        group
    })
}

/// Ten lines of aliases that stand for 9^9 values, and brackets without end.
#[test]
fn a_small_file_cannot_ask_for_much() {
    let mut laughs = "node_groups: []\na0: &a0 [x]\n".to_owned();
    for at in 1..10 {
        let aliases = vec![format!("*a{}", at - 1); 9].join(", ");
        laughs.push_str(&format!("a{at}: &a{at} [{aliases}]\n"));
    }
    for text in [laughs, "[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000)] {
        assert!(migrate("x", &text, &Flags::default()).is_err());
        assert!(config::parse("x", &text).is_err());
    }
}

proptest! {
    #[test]
    fn what_escalator_starts_with_passes_the_check(a in valid_group(1), b in valid_group(2)) {
        let text = serde_json::json!({ "node_groups": [a, b] }).to_string();
        let yaml = migrate("nodegroups.json", &text, &Flags::default());
        let yaml = yaml.map_err(|errors| TestCaseError::fail(format!("{errors}")))?;
        let config = config::parse("headroom.yaml", &yaml);
        let config = config.map_err(|errors| TestCaseError::fail(format!("{errors}")))?;
        for (group, option) in config.policy.groups.iter().zip([a, b]) {
            prop_assert_eq!(Some(&*group.name), option["name"].as_str());
            prop_assert_eq!(group.size.max.map(i64::from), option["max_nodes"].as_i64());
            let (key, value) = group.select.labels.iter().next().unwrap();
            prop_assert_eq!(Some(key), option["label_key"].as_str());
            prop_assert_eq!(Some(value), option["label_value"].as_str());
        }
    }

    #[test]
    fn no_text_panics(
        text in "\\PC*|(node_groups:|kind: ConfigMap|data:|aws:|name:|[ \\t\\n\\r:\\-{}\\[\\],&*!|>'\"0-9a-c~é]){0,40}",
    ) {
        match migrate("x", &text, &Flags::default()) {
            Ok(yaml) => prop_assert!(config::parse("x", &yaml).is_ok()),
            Err(errors) => prop_assert!(!errors.to_string().is_empty()),
        }
    }
}
