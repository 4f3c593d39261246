//! What a plan rests on, said in sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headroom_core::expander::Chain;
use headroom_core::keys::NODE_GROUP;
use headroom_core::membership::groups_of_node;
use headroom_core::plan::ScaleUp;
use headroom_core::snapshot::Kind;

use super::words::{count, names};
use crate::dump::{Apart, Now, Round};

/// What was taken for granted. A sentence may end in `; hint: what to do`.
pub(super) fn assumed(round: &Round) -> Vec<String> {
    let mut lines: Vec<String> = time(round).into_iter().collect();
    if !is_live(round) {
        lines.push("timers of rounds before this one (cool-downs, steps, back-offs) have run out".to_owned());
        lines.push("no cloud was asked: the size of a group is its number of nodes".to_owned());
    }
    lines.extend(undiscovered(round));
    lines.extend(unlisted(round));
    lines.extend(prices(round));
    lines.extend(unknown(round));
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
    if round.policy.dry_run && !is_live(round) {
        lines.push("dryRun is set: a running Headroom would report these actions and carry out none".to_owned());
    }
    lines
}

fn is_live(round: &Round) -> bool {
    round.assumed.now == Now::Live
}

fn time(round: &Round) -> Option<String> {
    let at = round.plan.at;
    match round.assumed.now {
        Now::Live => None,
        Now::Clock => Some(format!("it is {at}, by the clock of this machine")),
        Now::Given => Some(format!("it is {at}, as given")),
        Now::Newest => Some(format!("it is {at}, the latest time in the dump; hint: --now sets another")),
        Now::Unknown => Some(format!("it is {at}, since the dump mentions no time; hint: --now sets another")),
    }
}

/// Groups that nobody has looked for.
fn undiscovered(round: &Round) -> Option<String> {
    let clouds: Vec<&str> = round.assumed.undiscovered.iter().map(|cloud| &**cloud).collect();
    let text = format!("groups that are discovered are not in this plan: nobody asked {}", names(&clouds));
    (!clouds.is_empty()).then(|| format!("{text}; hint: ask a running instance with --server"))
}

/// Groups whose nodes nobody has asked for.
fn unlisted(round: &Round) -> Option<String> {
    let by_machines = round.policy.groups.iter().filter(|group| group.select.labels.get(NODE_GROUP).is_some());
    let groups: Vec<&str> = by_machines.map(|group| &*group.name).collect();
    let text = format!("only the cloud says which nodes {} has, and nobody asked it", names(&groups));
    (!groups.is_empty() && !is_live(round)).then(|| format!("{text}; hint: ask a running instance with --server"))
}

/// What a choice between groups rests on where prices are missing.
fn prices(round: &Round) -> Option<String> {
    let choices = || round.plan.report.scale_ups.iter().filter(|scale_up| scale_up.options.len() > 1);
    let options = || choices().flat_map(|scale_up: &ScaleUp| &scale_up.options);
    if round.policy.pending.expander == Chain::default() && options().any(|option| option.price.is_none()) {
        let text = "no price is known, so of several groups the one that leaves least unused grows";
        return Some(format!("{text}; hint: set price for the groups"));
    }
    let estimated = options().filter(|option| option.price.is_some_and(|terms| terms.node_price.is_estimated()));
    let estimated: BTreeSet<&str> = estimated.map(|option| &*option.rank.group).collect();
    let estimated: Vec<&str> = estimated.into_iter().collect();
    let what = match estimated.as_slice() {
        [] => return None,
        [only] => format!("the price of {only} is estimated"),
        several => format!("the prices of {} are estimated", names(several)),
    };
    Some(format!("{what}; hint: set price for what has none"))
}

/// What the answers for waiting pods depend on and the dump does not show.
fn unknown(round: &Round) -> Option<String> {
    let unknown = &round.plan.report.waiting.as_ref()?.unknown;
    let kinds: BTreeSet<(&str, &str)> = unknown
        .iter()
        .map(|kind| match kind {
            // Each of these leads to the next.
            Kind::PersistentVolumeClaims | Kind::PersistentVolumes | Kind::StorageClasses => ("volumes", "pvc,pv,sc"),
            other => (other.kubectl_name(), other.kubectl_name()),
        })
        .collect();
    let what = kinds.iter().map(|(what, _)| *what).collect::<Vec<_>>().join(" and ");
    let names = kinds.iter().map(|(_, names)| *names).collect::<Vec<_>>().join(",");
    let depend = "waiting pods that depend on them are taken to fit anywhere";
    if is_live(round) {
        let text =
            format!("not all {what} can be read: {depend}; hint: let Headroom's service account list and watch them");
        return (!kinds.is_empty()).then_some(text);
    }
    let text = format!("not all {what} are in the dump: {depend}");
    (!kinds.is_empty()).then(|| format!("{text}; hint: kubectl get nodes,pods,{names} -A -o json"))
}

fn made_up_groups(round: &Round) -> [String; 3] {
    [
        format!(
            "no configuration: {}, one for each pool of equal nodes; hint: write a headroom.yaml and give it with -c",
            count(round.policy.groups.len(), "group"),
        ),
        "each may have 1 node to twice as many as today, or to 10 if that is more".to_owned(),
        "each grows for pods that wait and fit on no node (strategy pending), and loses nodes that are not needed"
            .to_owned(),
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
