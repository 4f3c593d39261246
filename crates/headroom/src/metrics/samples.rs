//! What one round comes to, as values of gauges.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::membership::groups_of_node;
use headroom_core::plan::{GroupReport, Report, Subject, Why};
use headroom_core::policy::Mode;
use headroom_core::pricing::Offering;
use headroom_core::quantity::Money;
use serde::Serialize;
use serde_json::Value;

use super::Seen;
use super::names::*;

/// One value of a gauge.
pub(super) struct Sample {
    pub(super) of: &'static str,
    /// In the order in which they are declared.
    pub(super) labels: Vec<String>,
    pub(super) value: f64,
}

/// Every value of every gauge.
pub(super) fn samples(seen: &Seen<'_>) -> Vec<Sample> {
    let mut samples = Samples(Vec::new());
    let Seen { policy, plan, held, ended, .. } = seen;
    samples.set(&DRY_RUN, &[], flag(policy.dry_run));
    if let Some(reason) = held {
        samples.set(&HELD, &[reason], 1.0);
    }
    samples.set(&LAST_ROUND, &[], ended.as_millisecond() as f64 / 1000.0);
    plan.report.groups.iter().for_each(|group| samples.group(group));
    for group in &policy.groups {
        samples.set(&GROUP_DRY_RUN, &[&group.name], flag(matches!(group.mode, Mode::DryRun | Mode::Off)));
    }
    samples.refusals(&plan.report);
    samples.waiting(&plan.report);
    samples.spare(&plan.report);
    samples.cost(seen);
    samples.backoff(seen);
    samples.0
}

/// The word for a reason: the name of its variant, as programs read it in a plan.
pub(super) fn word(reason: &impl Serialize) -> String {
    match serde_json::to_value(reason) {
        Ok(Value::String(word)) => word,
        Ok(Value::Object(fields)) => fields.into_iter().next().map(|(word, _)| word).unwrap_or_default(),
        _ => String::new(),
    }
}

struct Samples(Vec<Sample>);

impl Samples {
    fn set(&mut self, of: &Declared, labels: &[&str], value: f64) {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        self.0.push(Sample { of: of.name, labels, value });
    }

    fn group(&mut self, group: &GroupReport) {
        let name = &*group.name;
        for (limit, value) in [(&GROUP_MIN, group.min), (&GROUP_MAX, group.max)] {
            if let Some(value) = value {
                self.set(limit, &[name], f64::from(value));
            }
        }
        self.set(&GROUP_SIZE, &[name], f64::from(group.size));
        self.set(&GROUP_PLANNED, &[name], f64::from(group.planned));
        self.set(&GROUP_WANTED, &[name], group.wanted as f64);
        self.set(&GROUP_PODS, &[name], group.pods as f64);
        let nodes = &group.nodes;
        let states = [
            ("ready", nodes.in_service),
            ("not_ready", nodes.not_ready),
            ("upcoming", nodes.upcoming),
            ("tainted", nodes.tainted),
            ("force_tainted", nodes.force_tainted),
            ("cordoned", nodes.cordoned),
            ("never_came", nodes.never_came),
            ("disputed", nodes.disputed),
        ];
        states.into_iter().for_each(|(state, count)| self.set(&GROUP_NODES, &[name, state], f64::from(count)));
        for usage in group.usage.iter().filter(|usage| usage.capacity > 0) {
            let ratio = usage.requests as f64 / usage.capacity as f64;
            self.set(&GROUP_USED, &[name, &usage.resource.to_string()], ratio);
        }
    }

    fn refusals(&mut self, report: &Report) {
        let mut sums: BTreeMap<(&'static str, Vec<String>), u64> = BTreeMap::new();
        for refusal in &report.refusals {
            let reason = match &refusal.why {
                Why::Kept { why } => word(why),
                why => word(why),
            };
            let (of, labels, count) = match &refusal.subject {
                Subject::Group(group) => (GROUP_REFUSED.name, vec![group.to_string(), reason], 1),
                Subject::Node(_) => (KEPT.name, vec![reason], 1),
                Subject::Pods { count, .. } => (UNSCHEDULABLE.name, vec![reason], u64::from(*count)),
                Subject::Cluster | Subject::Placeholders { .. } => continue,
            };
            *sums.entry((of, labels)).or_default() += count;
        }
        self.0.extend(sums.into_iter().map(|((of, labels), sum)| Sample { of, labels, value: sum as f64 }));
    }

    fn waiting(&mut self, report: &Report) {
        let Some(waiting) = &report.waiting else { return };
        let places = [
            ("on_nodes", waiting.on_nodes),
            ("on_upcoming", waiting.on_upcoming),
            ("on_new", waiting.on_new),
            ("refused", waiting.refused),
            ("nominated", waiting.nominated),
            ("low_priority", waiting.low_priority),
            ("counted", waiting.counted),
        ];
        places.into_iter().for_each(|(place, count)| self.set(&WAITING, &[place], count as f64));
    }

    fn spare(&mut self, report: &Report) {
        let Some(slack) = &report.slack else { return };
        let sum = |count: fn(&headroom_core::plan::Placeholders) -> u32, cpu: bool| -> f64 {
            let each = slack.placeholders.iter().map(|equal| {
                let amount = if cpu { equal.requests.cpu as f64 / 1000.0 } else { equal.requests.memory as f64 };
                amount * f64::from(count(equal))
            });
            each.sum()
        };
        for (resource, cpu) in [("cpu", true), ("memory", false)] {
            self.set(&SPARE_WANTED, &[resource], sum(|equal| equal.wanted, cpu));
            self.set(&SPARE_ACTUAL, &[resource], sum(|equal| equal.kept.saturating_add(equal.placed), cpu));
        }
    }

    fn cost(&mut self, Seen { policy, snapshot, .. }: &Seen<'_>) {
        let mut sums: BTreeMap<&Arc<str>, (Money, u32)> =
            policy.groups.iter().map(|group| (&group.name, (Money(0), 0))).collect();
        for view in snapshot.nodes() {
            let [index] = *groups_of_node(policy, view.node) else { continue };
            let Some(group) = policy.groups.get(index) else { continue };
            let from_cloud = snapshot.group(&group.name).and_then(|cloud| cloud.price);
            let quote = policy.pending.prices.quote(group.price, &Offering::of(&view.node.labels), from_cloud);
            let (sum, unpriced) = sums.entry(&group.name).or_default();
            match quote {
                Some(quote) => sum.0 = sum.0.saturating_add(quote.amount.0),
                None => *unpriced += 1,
            }
        }
        for (group, (sum, unpriced)) in sums {
            // Money is in nano-dollars.
            self.set(&GROUP_COST, &[group], sum.0 as f64 / 1e9);
            self.set(&GROUP_UNPRICED, &[group], f64::from(unpriced));
        }
    }

    fn backoff(&mut self, Seen { memory, plan, .. }: &Seen<'_>) {
        for (key, backoff) in memory.backoffs.iter() {
            let left = backoff.until().duration_since(plan.at).as_secs_f64();
            if left > 0.0 {
                let said = |text: &Option<Box<str>>| text.as_deref().unwrap_or_default().to_owned();
                let offering = &key.offering;
                let (machine, zone) = (said(&offering.instance_type), said(&offering.zone));
                let labels = [&*key.group, &machine, &zone, &word(&offering.capacity_type), &word(&backoff.cause)];
                self.set(&BACKOFF, &labels, left);
            }
        }
    }
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}
