//! What Escalator checks before it starts, and the little that Headroom asks for beyond that.

use headroom_adapters::go_duration;
use jiff::SignedDuration;

use super::group::NodeGroup;
use crate::config::problem::{Problem, Problems};

/// Reports everything that is wrong with the groups.
pub(super) fn check(groups: &[NodeGroup], problems: &mut Problems) {
    for (at, group) in groups.iter().enumerate() {
        let mut rules = Rules { group, problems };
        rules.texts();
        rules.fleet();
        rules.thresholds();
        rules.size();
        rules.rates();
        rules.delays();
        rules.unhealthy();
        for earlier in groups.get(..at).unwrap_or_default() {
            distinct(earlier, group, problems);
        }
    }
}

struct Rules<'g, 'p> {
    group: &'g NodeGroup,
    problems: &'p mut Problems,
}

impl Rules<'_, '_> {
    fn texts(&mut self) {
        let group = self.group;
        for (key, value) in [
            ("name", &group.name),
            ("label_key", &group.label_key),
            ("label_value", &group.label_value),
            ("cloud_provider_group_name", &group.cloud_group),
        ] {
            self.rule(!value.is_empty(), key, "cannot be empty", "give it a value");
        }
        let known = matches!(&*group.taint_effect, "" | "NoSchedule" | "NoExecute" | "PreferNoSchedule");
        let hint = "write NoSchedule, NoExecute or PreferNoSchedule, or remove it";
        self.rule(known, "taint_effect", "is not an effect of taints", hint);
    }

    fn fleet(&mut self) {
        let known = matches!(&*self.group.fleet.lifecycle, "" | "on-demand" | "spot");
        self.rule(known, "lifecycle", "is no lifecycle of machines", "write on-demand or spot, or remove it");
    }

    fn thresholds(&mut self) {
        let (upper, lower) = ("taint_upper_capacity_threshold_percent", "taint_lower_capacity_threshold_percent");
        let group = self.group;
        let positive = "write a percentage of more than 0";
        self.rule(group.upper > 0, upper, "must be more than 0", positive);
        self.rule(group.lower > 0, lower, "must be more than 0", positive);
        self.rule(group.scale_up > 0, "scale_up_threshold_percent", "must be more than 0", positive);
        let order = "keep lower < upper < scale up";
        self.rule(group.lower < group.upper, lower, "must be less than taint_upper_capacity_threshold_percent", order);
        self.rule(group.upper < group.scale_up, upper, "must be less than scale_up_threshold_percent", order);
        let most = "a group never needs more than 1000000 percent of what it has";
        self.rule(group.scale_up <= 1_000_000, "scale_up_threshold_percent", "is larger than Headroom allows", most);
    }

    fn size(&mut self) {
        let group = self.group;
        if group.discovers_size() {
            return;
        }
        let hint = "write 0 for both to take them from the Auto Scaling group";
        self.rule(group.min_nodes < group.max_nodes, "min_nodes", "must be less than max_nodes", hint);
        self.rule(group.max_nodes > 0, "max_nodes", "must be more than 0", hint);
        self.rule(group.min_nodes >= 0, "min_nodes", "cannot be negative", hint);
        self.fits(group.max_nodes, "max_nodes");
    }

    fn rates(&mut self) {
        let group = self.group;
        let (slow, fast) = ("slow_node_removal_rate", "fast_node_removal_rate");
        let order = "remove at least as many nodes in the fast band as in the slow one";
        self.rule(group.slow_rate <= group.fast_rate, slow, "must not be more than fast_node_removal_rate", order);
        for (key, rate) in [(slow, group.slow_rate), (fast, group.fast_rate)] {
            self.rule(rate >= 0, key, "is negative, which Escalator takes for growth", "write 0 to remove nothing");
            self.fits(rate, key);
        }
        self.fits(group.failure_threshold, "scale_up_failure_threshold");
    }

    fn delays(&mut self) {
        let group = self.group;
        let soft = self.delay("soft_delete_grace_period", &group.soft_grace);
        let hard = self.delay("hard_delete_grace_period", &group.hard_grace);
        self.delay("scale_up_cool_down_period", &group.cool_down);
        if let (Some(soft), Some(hard)) = (soft, hard) {
            let hint = "give pods more time than an empty node gets";
            self.rule(soft < hard, "soft_delete_grace_period", "must be less than hard_delete_grace_period", hint);
        }
        let age = &group.max_node_age;
        self.rule(age.is_empty() || go_duration::parse(age).is_some(), "max_node_age", UNREADABLE, DURATION);
    }

    fn unhealthy(&mut self) {
        let group = self.group;
        if group.unhealthy_grace.is_empty() {
            return;
        }
        self.delay("unhealthy_node_grace_period", &group.unhealthy_grace);
        let (newest, most) = ("health_check_newest_nodes_percent", "max_unhealthy_nodes_percent");
        self.rule(group.newest_percent > 0, newest, "must be more than 0", "write 1 to 100");
        self.rule(group.newest_percent <= 100, newest, "must not be more than 100", "write 1 to 100");
        self.rule(group.max_unhealthy_percent >= 0, most, "cannot be negative", "write 0 to 99");
        self.rule(group.max_unhealthy_percent < 100, most, "must be less than 100", "write 0 to 99");
    }

    /// A delay that must be there and be more than nothing.
    fn delay(&mut self, key: &'static str, text: &str) -> Option<SignedDuration> {
        if text.is_empty() {
            self.rule(false, key, "cannot be empty", DURATION);
            return None;
        }
        let delay = go_duration::parse(text);
        self.rule(delay.is_some(), key, UNREADABLE, DURATION);
        self.rule(delay.is_none_or(|delay| delay.is_positive()), key, "must be more than 0", DURATION);
        delay
    }

    fn fits(&mut self, number: i64, key: &'static str) {
        let hint = "write a number below four thousand million";
        self.rule(number <= i64::from(u32::MAX), key, "is larger than Headroom allows", hint);
    }

    fn rule(&mut self, holds: bool, key: &'static str, message: &str, hint: &str) {
        if holds || self.group.failed.contains(&key) {
            return;
        }
        let mut problem = Problem::at(self.group.place(key), format!("`{key}` {message}"), hint);
        if !self.group.places.contains_key(key)
            && let Some(misspelled) = self.group.gone.iter().find(|gone| gone.meant == Some(key))
        {
            problem = problem.also(misspelled.place.clone(), "no option of Escalator; was this meant?");
        }
        self.problems.add(problem);
    }
}

const UNREADABLE: &str = "is not a duration";
const DURATION: &str = "write a duration such as 90s, 10m or 1h30m";

/// Escalator lets two groups fight over the same nodes; Headroom does not.
fn distinct(earlier: &NodeGroup, later: &NodeGroup, problems: &mut Problems) {
    let nodes = |group: &NodeGroup| (group.label_key.clone(), group.label_value.clone());
    for (key, same, hint) in [
        ("name", earlier.name == later.name, "give each group a name of its own"),
        ("label_value", nodes(earlier) == nodes(later), "select nodes by a label that no other group selects"),
        (
            "cloud_provider_group_name",
            earlier.cloud_group == later.cloud_group,
            "give each group an Auto Scaling group of its own",
        ),
    ] {
        if same && later.places.contains_key(key) {
            let message = format!("`{key}` is that of an earlier group; Escalator accepts this, Headroom does not");
            problems.add(Problem::at(later.place(key), message, hint).also(earlier.place(key), "the earlier group"));
        }
    }
}
