//! What a plan rests on, said in sentences.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::membership::groups_of_node;
use headroom_core::policy::Utilization;

use super::words::{count, names};
use crate::dump::{Apart, Now, Round};

/// What was taken for granted. A sentence may end in `; hint: what to do`.
pub(super) fn assumed(round: &Round) -> Vec<String> {
    let mut lines = vec![time(round)];
    lines.push("timers of rounds before this one (cool-downs, steps) have run out".to_owned());
    lines.push("no cloud was asked: the size of a group is its number of nodes".to_owned());
    let skipped = round.dump.skipped;
    if skipped > 0 {
        let what = if skipped == 1 { "node or pod" } else { "nodes or pods" };
        lines.push(format!("there is more than was read: {skipped} {what} could not be understood (see the warnings)"));
    }
    match &round.assumed.made_up {
        Some(apart) if round.policy.groups.is_empty() => {
            lines.push("no configuration, and no node to make a group of".to_owned());
            lines.extend(left_out(apart));
        }
        Some(apart) => {
            lines.extend(made_up_groups(round));
            lines.extend(left_out(apart));
        }
        None => lines.extend(groupless_nodes(round)),
    }
    if round.policy.dry_run {
        lines.push("dryRun is set: a running Headroom would report these actions and carry out none".to_owned());
    }
    lines
}

fn time(round: &Round) -> String {
    let at = round.plan.at;
    match round.assumed.now {
        Now::Given => format!("it is {at}, as given"),
        Now::Newest => format!("it is {at}, the latest time in the dump; hint: --now sets another"),
        Now::Unknown => format!("it is {at}, since the dump mentions no time; hint: --now sets another"),
    }
}

fn made_up_groups(round: &Round) -> [String; 3] {
    let Utilization { scale_up_above, remove_slowly_below, slow_rate, remove_fast_below, fast_rate, .. } =
        Utilization::default();
    [
        format!(
            "no configuration: {}, one for each pool of equal nodes; hint: write a headroom.yaml and give it with -c",
            count(round.policy.groups.len(), "group"),
        ),
        "each may have 1 node to twice as many as today, or to 10 if that is more, and counts the pods on its nodes"
            .to_owned(),
        format!(
            "each grows above {scale_up_above}%, and loses {} a step below {remove_slowly_below}% and {fast_rate} \
             below {remove_fast_below}%",
            count(slow_rate, "node"),
        ),
    ]
}

fn left_out(apart: &BTreeMap<Arc<str>, Apart>) -> Vec<String> {
    let mut by_reason: BTreeMap<Apart, Vec<&str>> = BTreeMap::new();
    for (node, reason) in apart {
        by_reason.entry(*reason).or_default().push(node);
    }
    by_reason.into_iter().map(|(reason, nodes)| format!("in no group: {} ({reason})", names(&nodes))).collect()
}

fn groupless_nodes(round: &Round) -> Option<String> {
    let nodes = round.snapshot().nodes().map(|view| view.node);
    let groupless: Vec<&str> =
        nodes.filter(|node| groups_of_node(&round.policy, node).is_empty()).map(|node| &*node.name).collect();
    let are = if groupless.len() == 1 { "is" } else { "are" };
    (!groupless.is_empty())
        .then(|| format!("{} {are} in no group: {}", count(groupless.len(), "node"), names(&groupless)))
}
