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
    use super::options::{AWS, EscalatorOption, GROUP};
    use super::*;

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
    fn what_has_no_place_is_named_with_its_value() {
        for option in AWS {
            let value = unusual(option);
            let with = migrated(&format!("{REQUIRED}    aws: {{ {}: {value} }}\n", option.key));
            assert!(with.contains(&format!("# aws.{}: {value}: ", option.key)), "{with}");
        }
        let with = migrated(&format!("{REQUIRED}    no_such_option: 5\nother: [1, 2]\n"));
        assert!(with.contains("# no_such_option: 5: no option of Escalator"), "{with}");
        assert!(with.contains("# other: [1, 2]: no option of Escalator"), "{with}");
    }
}
