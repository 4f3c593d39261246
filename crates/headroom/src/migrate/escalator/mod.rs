//! Escalator's node groups (its `--nodegroups` file), turned into `headroom.yaml`.

mod flags;
mod group;
mod options;
mod page;
mod source;
mod validate;
mod write;

use self::group::NodeGroup;
use crate::config::ConfigErrors;

pub use flags::Flags;
pub(super) use flags::command_line;
pub use page::page;

/// The `headroom.yaml` that does what Escalator does with the node groups in `text`; `name` is what errors call it.
///
/// `text` is the file of Escalator's `--nodegroups`, in YAML or JSON, or a ConfigMap that embeds it. Each difference is
/// a comment. Errors are what Escalator's own check finds, and groups that share a name, label or Auto Scaling group.
pub fn migrate(name: &str, text: &str, flags: &Flags) -> Result<String, ConfigErrors> {
    let source::Source { name, text, root, mut problems } = source::read(name, text);
    let yaml = root.map(|root| {
        let nodes = source::node_groups(&root, &mut problems);
        let groups: Vec<NodeGroup> = nodes.iter().filter_map(|node| NodeGroup::read(node, &mut problems)).collect();
        validate::check(&groups, &mut problems);
        let entries = root.entries().into_iter();
        let gone: Vec<_> = entries.flat_map(|entries| group::without_place("", options::FILE, entries)).collect();
        write::file(&groups, &gone, flags)
    });
    problems.none_or(&name, &text, yaml)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use headroom_adapters::cloud::aws::Fleet;

    use super::options::{AWS, EscalatorOption, GROUP};
    use super::*;
    use crate::config;

    const REQUIRED: &str = "
node_groups:
  - name: web
    label_key: pool
    label_value: web
    cloud_provider_group_name: web-nodes
    taint_upper_capacity_threshold_percent: 40
    taint_lower_capacity_threshold_percent: 10
    scale_up_threshold_percent: 70
    fast_node_removal_rate: 5
    soft_delete_grace_period: 1m
    hard_delete_grace_period: 10m
    scale_up_cool_down_period: 2m
    unhealthy_node_grace_period: 5m
    health_check_newest_nodes_percent: 50
";

    fn migrated(text: &str) -> String {
        migrate("nodegroups.yaml", text, &Flags::default()).unwrap()
    }

    /// The value of an option that is nobody's default and fits the others of [`REQUIRED`].
    fn unusual(option: &EscalatorOption) -> &'static str {
        match option.key {
            "min_nodes" => "3\n    max_nodes: 4",
            "max_nodes" => "7",
            "dry_mode" | "scale_on_starve" | "resource_tagging" => "true",
            "taint_lower_capacity_threshold_percent" => "11",
            "slow_node_removal_rate" | "scale_up_failure_threshold" => "3",
            "taint_upper_capacity_threshold_percent" | "max_unhealthy_nodes_percent" => "33",
            "scale_up_threshold_percent" | "health_check_newest_nodes_percent" | "fast_node_removal_rate" => "77",
            "hard_delete_grace_period" => "77m",
            "taint_effect" => "PreferNoSchedule",
            "instance_type_overrides" => "[c5.large]",
            "lifecycle" => "spot",
            _ => "33s",
        }
    }

    #[test]
    fn no_option_is_dropped() {
        for option in GROUP.iter().filter(|option| option.key != "aws") {
            let line = format!("    {}: {}\n", option.key, unusual(option));
            let lines = REQUIRED.lines().filter(|known| !known.trim().starts_with(&format!("{}: ", option.key)));
            let others: String = lines.map(|line| format!("{line}\n")).collect();
            let text = match option.key {
                "name" => REQUIRED.replace("name: web\n", "name: 33s\n"),
                _ => format!("{others}{line}"),
            };
            let (without, with) = (migrated(REQUIRED), migrated(&text));
            assert_ne!(without, with, "{} changes nothing", option.key);
        }
    }

    #[test]
    fn what_is_said_of_fleets_is_said_of_them_again() {
        let fleet = |options: &str| {
            let yaml = migrated(&format!("{REQUIRED}    aws: {{ {options} }}\n"));
            let config = config::parse("headroom.yaml", &yaml).unwrap_or_else(|errors| panic!("{errors}\n{yaml}"));
            let groups = config.aws_groups().into_values().flatten();
            (groups.into_iter().next().unwrap().fleet, yaml)
        };
        let (all, _) = fleet(
            "launch_template_id: lt-1, launch_template_version: \"7\", lifecycle: spot, instance_type_overrides: [c5.large, \
             null, m5.large], fleet_instance_ready_timeout: 90500ms",
        );
        let wanted = Fleet {
            launch_template: "lt-1".into(),
            version: "7".into(),
            spot: true,
            instance_types: vec!["c5.large".into(), "m5.large".into()],
            ready_timeout: Duration::from_secs(91),
        };
        assert_eq!(all, Some(wanted.clone()));
        let by_default = Fleet {
            version: "$Default".into(),
            spot: false,
            instance_types: Vec::new(),
            ready_timeout: Duration::from_secs(60),
            ..wanted
        };
        for options in ["launch_template_id: lt-1", "launch_template_id: lt-1, lifecycle: on-demand"] {
            assert_eq!(fleet(options).0, Some(by_default.clone()), "{options}");
        }
        // Escalator would end its machines at once.
        for timeout in ["soon", "0s", "-1m"] {
            let (fleet, yaml) = fleet(&format!("launch_template_id: lt-1, fleet_instance_ready_timeout: {timeout}"));
            assert_eq!(fleet, Some(by_default.clone()));
            assert!(yaml.contains(&format!("# fleet_instance_ready_timeout: {timeout}: left out")), "{yaml}");
        }
        assert_eq!(fleet("lifecycle: spot").0, None);
    }

    #[test]
    fn what_has_no_place_is_named_with_its_value() {
        // Fleets are made with a launch template only.
        for option in AWS.iter().filter(|option| option.key != "launch_template_id") {
            let value = unusual(option);
            let with = migrated(&format!("{REQUIRED}    aws: {{ {}: {value} }}\n", option.key));
            assert!(with.contains(&format!("# aws.{}: {value}: ", option.key)), "{with}");
        }
        let with = migrated(&format!("{REQUIRED}    no_such_option: 5\nother: [1, 2]\n"));
        assert!(with.contains("# no_such_option: 5: no option of Escalator"), "{with}");
        assert!(with.contains("# other: [1, 2]: no option of Escalator"), "{with}");
    }
}
