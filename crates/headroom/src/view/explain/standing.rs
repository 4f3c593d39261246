//! Where a pod stands: the groups whose demand it is, and why.

use headroom_core::membership::{asks_for, groups_of_node, groups_of_pod};
use headroom_core::policy::{CountPods, Group, Strategy};
use headroom_core::snapshot::{Operator, PodKind, PodSpec, PodView};

use crate::dump::Round;

/// A pod's relation to the groups of the policy.
pub(super) struct Standing<'r> {
    /// The groups that count it as their demand.
    pub(super) counted_by: Vec<&'r Group>,
    /// Why, or why there is none.
    pub(super) why: String,
    /// The group of the node that it runs on.
    pub(super) runs_in: Option<&'r Group>,
}

impl<'r> Standing<'r> {
    pub(super) fn of(round: &'r Round, pod: &PodView<'_>) -> Self {
        let policy = &round.policy;
        let group = |at: &usize| policy.groups.get(*at);
        let node = pod.node.and_then(|name| round.snapshot().node(name));
        let of_node = node.map(|view| groups_of_node(policy, view.node)).unwrap_or_default();
        let runs_in = if let [only] = of_node.as_slice() { group(only) } else { None };
        let asked: Vec<&Group> = groups_of_pod(policy, pod.spec).iter().filter_map(group).collect();
        let (counted_by, why) = match pod.spec.kind {
            PodKind::DaemonSet => (Vec::new(), "it comes with every node and is nobody's demand".to_owned()),
            _ if pod.node.is_some() => running(pod, runs_in, asked),
            _ => waiting(pod, asked),
        };
        Standing { counted_by, why, runs_in }
    }
}

fn running<'r>(pod: &PodView<'_>, runs_in: Option<&'r Group>, asked: Vec<&'r Group>) -> (Vec<&'r Group>, String) {
    let counting_where_they_run = |group: &&Group| counts(group) == Some(CountPods::Placed);
    if let Some(group) = runs_in.filter(counting_where_they_run) {
        return (vec![group], "it runs on one of the group's nodes".to_owned());
    }
    let asked: Vec<&Group> = asked.into_iter().filter(|group| !counting_where_they_run(group)).collect();
    match (asked.as_slice(), runs_in) {
        ([], Some(Group { name, strategy: Strategy::Pending(_), .. })) => {
            (Vec::new(), format!("it runs on a node of {name}, which it keeps"))
        }
        ([], Some(group)) => {
            (Vec::new(), format!("it runs on a node of {} without asking for it, and keeps that node", group.name))
        }
        ([], None) => (Vec::new(), "it asks for no group, and its node is in none".to_owned()),
        ([only], _) => (vec![*only], asks_because(pod.spec, only)),
        (several, Some(group)) if several.iter().any(|of| of.name == group.name) => {
            (vec![group], format!("it asks for {}, and runs on a node of this one", names(several)))
        }
        (several, _) => (Vec::new(), format!("it asks for {}, so none counts it", names(several))),
    }
}

fn waiting<'r>(pod: &PodView<'_>, asked: Vec<&'r Group>) -> (Vec<&'r Group>, String) {
    if !pod.pending {
        let why = if pod.deleting { "it is being deleted" } else { "it has a scheduling gate" };
        return (Vec::new(), format!("{why}, so it waits for no node"));
    }
    match asked.as_slice() {
        [] => (Vec::new(), "nothing in it asks for a group".to_owned()),
        [only] => (asked.clone(), asks_because(pod.spec, only)),
        several => (Vec::new(), format!("it asks for {}, so none grows for it", names(several))),
    }
}

fn asks_because(spec: &PodSpec, group: &Group) -> String {
    let labels = &group.select.labels;
    if !asks_for(spec, labels) {
        "it asks for nothing of its node, which is what the group counts".to_owned()
    } else if spec.node_selector.contains_all(labels) {
        format!("its node selector asks for {labels}")
    } else {
        format!("its node affinity allows {labels}")
    }
}

/// What a pod asks of its node's labels, in words; None when nothing.
pub(super) fn wishes(spec: &PodSpec) -> Option<String> {
    let mut wishes = Vec::new();
    if !spec.node_selector.is_empty() {
        wishes.push(spec.node_selector.to_string());
    }
    let terms: Vec<String> = spec
        .node_affinity
        .iter()
        .map(|term| {
            let all = term.labels.iter().chain(&term.fields).map(|expression| {
                let (key, values) = (&expression.key, expression.values.join("|"));
                match expression.operator {
                    Operator::In => format!("{key}={values}"),
                    Operator::NotIn => format!("{key}!={values}"),
                    Operator::Exists => key.to_string(),
                    Operator::DoesNotExist => format!("no {key}"),
                    Operator::Gt => format!("{key}>{values}"),
                    Operator::Lt => format!("{key}<{values}"),
                }
            });
            all.collect::<Vec<_>>().join(",")
        })
        .collect();
    if !terms.is_empty() {
        wishes.push(terms.join(" or "));
    }
    (!wishes.is_empty()).then(|| wishes.join(" and "))
}

/// Which pods the group counts as its demand; None when it counts none.
pub(super) fn counts(group: &Group) -> Option<CountPods> {
    match &group.strategy {
        Strategy::Utilization(settings) => Some(settings.count_pods),
        Strategy::Pending(_) | Strategy::MemoryPool(_) | Strategy::CpuPool(_) => None,
    }
}

fn names(groups: &[&Group]) -> String {
    groups.iter().map(|group| &*group.name).collect::<Vec<_>>().join(" and ")
}
