//! What must hold between groups: each name, node, pod and machine belongs to one.

use headroom_core::policy::{CountPods, Selection, Strategy};

use super::cloud::Cloud;
use super::group::Draft;
use crate::config::problem::{Problem, Problems};

/// Reports names and cloud groups that are used twice, and selections that can be seen to overlap. Whether other
/// selections do depends on the nodes, and is judged when they are seen.
pub(crate) fn check(groups: &[Draft], problems: &mut Problems) {
    for (at, later) in groups.iter().enumerate() {
        let earlier = groups.get(..at).unwrap_or_default();
        for check in [same_name, same_machines, same_nodes, both_unconstrained] {
            if let Some(problem) = earlier.iter().find_map(|first| check(first, later)) {
                problems.add(problem);
            }
        }
    }
}

fn same_name(first: &Draft, later: &Draft) -> Option<Problem> {
    let name = later.name()?;
    (first.name() == Some(name)).then(|| {
        let message = format!("a second group is called `{name}`");
        Problem::at(later.places.of("name"), message, "give each group a name of its own")
            .also(first.places.of("name"), "the first one")
    })
}

fn same_machines(first: &Draft, later: &Draft) -> Option<Problem> {
    let (what, same) = match (&first.cloud, &later.cloud) {
        (_, Cloud::Aws(aws)) => (aws.what()?, first.cloud == later.cloud),
        (Cloud::ExternalGrpc(one), Cloud::ExternalGrpc(other)) => {
            let (a, b) = (one.node_group.as_ref().or(first.name())?, other.node_group.as_ref().or(later.name())?);
            (b.to_string(), a == b && one.is_at(other))
        }
        _ => return None,
    };
    same.then(|| {
        let message = format!("two groups have the machines of `{what}`");
        Problem::at(later.places.of("cloud"), message, "give each group a cloud group of its own")
            .also(first.places.of("cloud"), "the first one")
    })
}

fn same_nodes(first: &Draft, later: &Draft) -> Option<Problem> {
    let (a, b) = (&first.group.select, &later.group.select);
    if *a == Selection::default() || *b == Selection::default() {
        return None;
    }
    let labels_overlap = |a: &Draft, b: &Draft| {
        let (a, b) = (&a.group.select.labels, &b.group.select.labels);
        !a.is_empty() && b.contains_all(a)
    };
    // Groups that grow for waiting pods are meant to be options for the same ones.
    let both_count = [first, later].iter().all(|of| matches!(of.group.strategy, Strategy::Utilization(_)));
    let message = match (a.covers(b), b.covers(a)) {
        (true, true) => "two groups select the same nodes",
        (true, false) => "every node that is selected here is in an earlier group too",
        (false, true) => "every node of an earlier group is selected here too",
        (false, false) if both_count && (labels_overlap(first, later) || labels_overlap(later, first)) => {
            "pods that ask for these labels ask for those of an earlier group too"
        }
        (false, false) => return None,
    };
    let hint = "select by labels that no node of another group carries";
    Some(Problem::at(later.places.of("select"), message, hint).also(first.places.of("select"), "the earlier group"))
}

fn both_unconstrained(first: &Draft, later: &Draft) -> Option<Problem> {
    let counts = |draft: &Draft| matches!(&draft.group.strategy, Strategy::Utilization(of) if of.count_pods == CountPods::Unconstrained);
    (counts(first) && counts(later)).then(|| {
        let message = "two groups count the pods that ask for no node";
        let hint = "keep `countPods: unconstrained` in one of them";
        Problem::at(later.places.of("strategy"), message, hint).also(first.places.of("strategy"), "the first one")
    })
}
