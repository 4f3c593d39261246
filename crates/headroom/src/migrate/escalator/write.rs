//! Node groups of Escalator as `headroom.yaml`.

use headroom_adapters::go_duration;
use jiff::SignedDuration;

use super::Flags;
use super::group::{Fleet, Gone, NodeGroup};
use super::options::{AWS, FLAGS, GROUP};
use crate::config::duration::{LONGEST, show};
use crate::migrate::yaml::{comment, scalar};

/// The whole file. The groups are valid.
pub(super) fn file(groups: &[NodeGroup], gone: &[Gone], flags: &Flags) -> String {
    let mut out = header(groups, flags);
    out.push_str("cluster: { kubernetes: {} }\n");
    if !flags.drymode {
        out.push_str(&comment(0, "Escalator was not in dry mode. Set this to false once Escalator is stopped."));
    }
    out.push_str("dryRun: true\n");
    without_place(0, gone, &mut out);
    out.push_str("groups:\n");
    groups.iter().for_each(|node_group| group(node_group, flags, &mut out));
    out
}

fn header(groups: &[NodeGroup], flags: &Flags) -> String {
    let mut out = comment(0, "Made by `headroom migrate escalator`.");
    out.push_str(&comment(
        0,
        "Taints and annotations are the ones that Escalator uses, so that no node needs to be touched. What differs in \
         the options that are used here (docs/escalator.md has every difference):",
    ));
    let in_use = |key: &str| match key {
        "name" => groups.iter().any(|group| group.name == DEFAULT_GROUP),
        "dry_mode" => groups.iter().any(|group| group.dry_mode),
        "min_nodes" | "max_nodes" => groups.iter().any(|group| !group.discovers_size()),
        key => groups.iter().any(|group| group.places.contains_key(key)),
    };
    for option in GROUP.iter().chain(AWS).filter(|option| in_use(option.key)) {
        differs(option.becomes.unwrap_or(option.key), option.differs, &mut out);
    }
    for flag in FLAGS {
        if flag.key == "--scaninterval" {
            differs("stepInterval", flag.differs, &mut out);
        }
    }
    for (what, why) in &flags.others {
        differs(what, why, &mut out);
    }
    out
}

fn differs(key: &str, text: &str, out: &mut String) {
    if !text.is_empty() {
        out.push_str(&comment(0, &format!("- {key}: {text}")));
    }
}

const DEFAULT_GROUP: &str = "default";

fn group(group: &NodeGroup, flags: &Flags, out: &mut String) {
    out.push_str(&format!("  - name: {}\n", scalar(&group.name)));
    out.push_str(&format!(
        "    select: {{ label: {{ {}: {} }} }}\n",
        scalar(&group.label_key),
        scalar(&group.label_value)
    ));
    cloud(group, flags, out);
    match group.discovers_size() {
        true => out.push_str(&comment(4, "min_nodes and max_nodes are 0: the size comes from the Auto Scaling group")),
        false => out.push_str(&format!("    size: {{ min: {}, max: {} }}\n", group.min_nodes, group.max_nodes)),
    }
    if group.places.contains_key("dry_mode") {
        out.push_str(&format!("    mode: {}\n", if group.dry_mode { "dryRun" } else { "auto" }));
    }
    without_place(4, &group.gone, out);
    out.push_str("    strategy:\n      utilization:\n");
    utilization(group, flags, out);
}

fn cloud(group: &NodeGroup, flags: &Flags, out: &mut String) {
    let name = scalar(&group.cloud_group);
    let role = flags.aws_assume_role_arn.as_ref().map(|arn| scalar(arn));
    let fleet = &group.fleet;
    if !fleet.launch_template.is_empty() {
        out.push_str(&format!("    cloud:\n      aws:\n        autoScalingGroup: {name}\n"));
        role.into_iter().for_each(|role| out.push_str(&format!("        assumeRole: {role}\n")));
        return fleets(fleet, out);
    }
    let role = role.map_or_else(String::new, |role| format!(", assumeRole: {role}"));
    out.push_str(&format!("    cloud: {{ aws: {{ autoScalingGroup: {name}{role} }} }}\n"));
    let idle = [
        ("launch_template_id", "\"\"".to_owned(), "no template, so that Auto Scaling launches the machines"),
        ("launch_template_version", fleet.version.clone(), IDLE),
        ("lifecycle", fleet.lifecycle.clone(), IDLE),
        ("instance_type_overrides", format!("[{}]", fleet.instance_types.join(", ")), IDLE),
        ("fleet_instance_ready_timeout", fleet.ready_timeout.clone(), IDLE),
    ];
    for (key, value, why) in idle.into_iter().filter(|(key, ..)| group.places.contains_key(key)) {
        out.push_str(&comment(4, &format!("aws.{key}: {value}: {why}")));
    }
}

const IDLE: &str = "of no effect without launch_template_id";

/// The fleets by which a group grows.
fn fleets(fleet: &Fleet, out: &mut String) {
    out.push_str(&format!("        fleet:\n          launchTemplate: {}\n", scalar(&fleet.launch_template)));
    for (key, value) in [("version", &fleet.version), ("capacityType", &fleet.lifecycle)] {
        if !value.is_empty() {
            out.push_str(&format!("          {key}: {}\n", scalar(value)));
        }
    }
    if !fleet.instance_types.is_empty() {
        let types: Vec<String> = fleet.instance_types.iter().map(|kind| scalar(kind)).collect();
        out.push_str(&format!("          instanceTypes: [{}]\n", types.join(", ")));
    }
    let told = &fleet.ready_timeout;
    match go_duration::parse(told).filter(|timeout| timeout.is_positive()) {
        _ if told.is_empty() => {}
        Some(timeout) => {
            let (timeout, changed) = whole_seconds(timeout);
            let note = |changed| comment(10, &format!("fleet_instance_ready_timeout: {told}: {changed}"));
            changed.into_iter().for_each(|changed| out.push_str(&note(changed)));
            out.push_str(&format!("          readyTimeout: {timeout}\n"));
        }
        None => {
            let why = "left out, since no machine would be ready in that time";
            out.push_str(&comment(10, &format!("fleet_instance_ready_timeout: {told}: {why}")));
        }
    }
}

fn utilization(group: &NodeGroup, flags: &Flags, out: &mut String) {
    let mut keys = Keys { group, out };
    keys.write("scaleUpAbove", group.scale_up);
    keys.write("removeSlowlyBelow", group.upper);
    keys.write("removeFastBelow", group.lower);
    keys.write("slowRate", group.slow_rate);
    keys.write("fastRate", group.fast_rate);
    keys.write("stepInterval", whole_seconds(flags.scan_interval).0);
    keys.delay("coolDown", "scale_up_cool_down_period", &group.cool_down);
    keys.delay("softGrace", "soft_delete_grace_period", &group.soft_grace);
    keys.delay("hardGrace", "hard_delete_grace_period", &group.hard_grace);
    if keys.has("taint_effect") {
        let effect = if group.taint_effect.is_empty() { "NoSchedule" } else { &group.taint_effect };
        keys.write("taintEffect", effect);
    }
    if group.name == DEFAULT_GROUP {
        keys.write("countPods", "unconstrained");
    }
    if keys.has("scale_on_starve") {
        keys.write("scaleOnStarve", group.scale_on_starve);
    }
    if keys.has("max_node_age") {
        match go_duration::parse(&group.max_node_age) {
            Some(age) if age.is_positive() => keys.delay("maxNodeAge", "max_node_age", &group.max_node_age),
            _ => keys.off("max_node_age", &group.max_node_age),
        }
    }
    if keys.has("scale_up_failure_threshold") {
        match group.failure_threshold {
            ..=0 => keys.off("scale_up_failure_threshold", &group.failure_threshold.to_string()),
            threshold => keys.write("stopAfterFailures", threshold),
        }
    }
    unhealthy(group, &mut keys);
}

fn unhealthy(group: &NodeGroup, keys: &mut Keys<'_>) {
    let percentages = [
        ("health_check_newest_nodes_percent", group.newest_percent),
        ("max_unhealthy_nodes_percent", group.max_unhealthy_percent),
    ];
    if group.unhealthy_grace.is_empty() {
        if keys.has("unhealthy_node_grace_period") {
            keys.off("unhealthy_node_grace_period", "\"\"");
        }
        for (key, percent) in percentages.into_iter().filter(|(key, _)| group.places.contains_key(key)) {
            let why = "of no effect without unhealthy_node_grace_period";
            keys.out.push_str(&comment(8, &format!("{key}: {percent}: {why}")));
        }
        return;
    }
    let grace = keys.whole("unhealthy_node_grace_period", &group.unhealthy_grace);
    let [(_, newest), (_, most)] = percentages;
    keys.write("unhealthy", format!("{{ grace: {grace}, newestPercent: {newest}, maxPercent: {most} }}"));
}

/// The keys of the strategy of one group.
struct Keys<'o> {
    group: &'o NodeGroup,
    out: &'o mut String,
}

impl Keys<'_> {
    fn has(&self, option: &str) -> bool {
        self.group.places.contains_key(option)
    }

    fn write(&mut self, key: &str, value: impl std::fmt::Display) {
        self.out.push_str(&format!("        {key}: {value}\n"));
    }

    fn delay(&mut self, key: &str, option: &str, text: &str) {
        let value = self.whole(option, text);
        self.write(key, value);
    }

    /// The duration in whole seconds; says so if it was none.
    fn whole(&mut self, option: &str, text: &str) -> String {
        let (value, changed) = whole_seconds(go_duration::parse(text).unwrap_or_default());
        if let Some(changed) = changed {
            self.out.push_str(&comment(8, &format!("{option}: {text}: {changed}")));
        }
        value
    }

    fn off(&mut self, option: &str, value: &str) {
        let value = if value.is_empty() { "\"\"" } else { value };
        self.out.push_str(&comment(8, &format!("{option}: {value}: off, as if it were left out")));
    }
}

/// A duration as Headroom writes it, and what had to be changed.
fn whole_seconds(duration: SignedDuration) -> (String, Option<&'static str>) {
    if duration > LONGEST {
        return (show(LONGEST), Some("cut to a hundred years"));
    }
    match duration.subsec_nanos() {
        0 => (show(duration), None),
        _ => (show(SignedDuration::from_secs(duration.as_secs() + 1)), Some("rounded up to whole seconds")),
    }
}

fn without_place(indent: usize, gone: &[Gone], out: &mut String) {
    for Gone { what, why, .. } in gone {
        out.push_str(&comment(indent, &format!("{what}: {why}")));
    }
}
