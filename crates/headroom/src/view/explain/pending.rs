//! What only groups with the strategy `pending` have: room to grow, a picture of a new node, a part in scale-ups.

use headroom_core::expander::Ranked;
use headroom_core::plan::ScaleUp;
use headroom_core::policy::{Pending, ScaleDown};
use headroom_core::quantity::Resources;
use headroom_core::snapshot::PodSpec;
use headroom_core::strategy::pending::{Fit, GroupAnswer, Inquiry, TemplateSource};

use super::placing::held;
use super::{class_of, named};
use crate::dump::Round;
use crate::view::scale_ups::{summary, who};
use crate::view::words::{amounts, count, duration};

/// How the strategy sizes a group.
pub(super) fn rules(round: &Round, settings: &Pending) -> Vec<String> {
    let mut rules = vec!["grows for pods that wait, fit on no node and fit on a new one of its nodes".to_owned()];
    if settings.all_or_nothing {
        rules.push("allOrNothing: it grows to its maximum or not at all, and goes as a whole".to_owned());
    }
    let ScaleDown { threshold, unneeded_for, .. } = settings.scale_down;
    rules.push(match round.policy.scale_down {
        None => "loses no node: scale-down is off".to_owned(),
        Some(_) => format!(
            "loses nodes that have not been needed for {}: at most {threshold}% in use, and their pods fit elsewhere",
            duration(unneeded_for),
        ),
    });
    rules
}

/// How many nodes more the group may get, and the limit that allows no more.
pub(super) fn room(answer: &GroupAnswer<'_>) -> String {
    match (answer.room, answer.bound) {
        (0, Some(bound)) => format!("none after this plan: {bound}"),
        (0, None) => "none now (see what holds it back)".to_owned(),
        (room, Some(bound)) => format!("for {} after this plan: {bound}", count(room, "more node")),
        (room, None) => format!("for {} after this plan", count(room, "more node")),
    }
}

/// What a new node is taken to be like, and who says so.
pub(super) fn new_node(answer: &GroupAnswer<'_>) -> Vec<String> {
    let template = answer.template;
    let mut lines = vec![match answer.source {
        TemplateSource::Node(name) => format!("is taken to be like {name}, the newest usable node"),
        TemplateSource::Config => "is as the template in the configuration says".to_owned(),
        TemplateSource::Cloud => "is as the cloud says".to_owned(),
        TemplateSource::Memory => "is taken to be like a node that was there before".to_owned(),
    }];
    lines.push(format!("offers {}, {}", amounts(&template.allocatable), count(template.allocatable.pods, "pod")));
    lines.extend(answer.daemon_sets.iter().map(|spec| format!("{} takes {}", owner(spec), amounts(&spec.requests))));
    if !answer.daemon_sets.is_empty() {
        lines.push(format!("leaves {} to other pods", amounts(&Resources { pods: 0, ..answer.free.clone() })));
    }
    if !template.labels.is_empty() {
        lines.push(format!("labels {}", template.labels));
    }
    lines.extend(template.taints.iter().map(|taint| format!("taint {taint}")));
    lines
}

/// Nodes that have registered and are not usable yet.
pub(super) fn on_its_way(answer: &GroupAnswer<'_>) -> Vec<String> {
    let line = |(name, until): &(_, _)| format!("{name}: not usable yet, counts as a new node until {until}");
    answer.booting.iter().map(line).collect()
}

/// The group's part in each scale-up: why its option won or lost, or why it had none.
pub(super) fn options(round: &Round, inquiry: &mut Inquiry<'_>, group: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, scale_up) in round.plan.report.scale_ups.iter().enumerate() {
        let what = format!("{}. {}", at + 1, summary(scale_up));
        let own = scale_up.options.iter().position(|option| takes_part(option, group));
        match own.and_then(|own| Some((own, scale_up.options.get(own)?))) {
            Some((0, own)) => {
                lines.push(format!("{what}: won{}", won(scale_up)));
                lines.push(format!("   {own}"));
            }
            Some((place, own)) => {
                lines.push(format!(
                    "{what}: number {} of {}{}",
                    place + 1,
                    scale_up.options.len(),
                    lost(scale_up, own)
                ));
                lines.push(format!("   {own}"));
            }
            None => lines.push(format!("{what}: no option{}", no_option(round, inquiry, scale_up, group))),
        }
    }
    lines
}

/// `, best of 3 by price 2.482; next best is large with price 13.98`
pub(super) fn won(scale_up: &ScaleUp) -> String {
    let [best, next, ..] = scale_up.options.as_slice() else { return ", the only option".to_owned() };
    let (all, next_best) = (scale_up.options.len(), who(next));
    match best.rank.decisive(&next.rank) {
        Some((ours, theirs)) => format!(", best of {all} by {ours}; next best is {next_best} with {theirs}"),
        None => format!(", first of {all} by name: {next_best} is as good"),
    }
}

fn takes_part(option: &Ranked, group: &str) -> bool {
    *option.rank.group == *group || option.shared_with.iter().any(|other| **other == *group)
}

/// `, lost to small with price 2.482 to price 13.98`
fn lost(scale_up: &ScaleUp, own: &Ranked) -> String {
    let Some(best) = scale_up.options.first() else { return String::new() };
    match best.rank.decisive(&own.rank) {
        Some((theirs, ours)) => format!(", since {} has {theirs} and this one {ours}", who(best)),
        None => format!(", since {} is as good and comes first by name", who(best)),
    }
}

/// Why the group was no option: its nodes take none of the pods, or it may not grow.
fn no_option(round: &Round, inquiry: &mut Inquiry<'_>, scale_up: &ScaleUp, group: &str) -> String {
    let first = scale_up.pods.first().map_or("", |pods| &pods.first);
    let class = named(round, first).and_then(|pod| class_of(round, &pod));
    let fits = class.map(|class| inquiry.pods(&class).groups).unwrap_or_default();
    match fits.into_iter().find(|fit| *fit.group == *group) {
        Some(Fit { fits: Err(misfit), .. }) => format!(", since {first} {misfit}"),
        Some(fit) => format!(", since {}", held(round, &fit)),
        None => String::new(),
    }
}

/// `DaemonSet/agent in kube-system`
fn owner(spec: &PodSpec) -> String {
    format!("{} in {}", spec.controller.as_deref().unwrap_or("a DaemonSet"), spec.namespace)
}
