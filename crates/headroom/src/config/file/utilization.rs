//! The utilisation strategy.

use headroom_core::policy::{CountPods, DaemonSets, Percent, Unhealthy, Utilization};
use jiff::SignedDuration;

use super::pair::wrong_pair;
use super::taint::effect;
use crate::config::duration::show;
use crate::config::kind::{Kind, count, duration, flag, percent, words};
use crate::config::problem::Problems;
use crate::config::record::{Places, Record};

const ZERO: Percent = Percent(0);
const LEAST: Percent = Percent(1);
const WHOLE: Percent = Percent::whole(100);
/// Far beyond any threshold that is meant; requests may well exceed what nodes have.
const ANY: Percent = Percent::whole(1_000_000);
const SECOND: SignedDuration = SignedDuration::from_secs(1);

pub(super) fn kind() -> Kind<Utilization> {
    Record::new(
        "groups[].strategy.utilization",
        "Compares what pods request with what nodes have, for cpu and for memory; the larger share \
         counts. Above `scaleUpAbove` the group grows until the share is back at it; below \
         `removeSlowlyBelow` and `removeFastBelow` nodes are tainted a few at a time, oldest first, \
         and removed once they are empty. On Nomad a node is made ineligible instead (docs/nomad.md).",
        Utilization::default,
    )
    .field(
        "scaleUpAbove",
        percent(LEAST, ANY),
        |u| &mut u.scale_up_above,
        "Grow when the share is above this percentage, back to it.",
    )
    .field(
        "removeSlowlyBelow",
        percent(ZERO, ANY),
        |u| &mut u.remove_slowly_below,
        "Below this percentage `slowRate` nodes are tainted in a step. Must be less than \
         `scaleUpAbove`.",
    )
    .field(
        "removeFastBelow",
        percent(ZERO, ANY),
        |u| &mut u.remove_fast_below,
        "Below this percentage `fastRate` nodes are tainted in a step. Must be less than \
         `removeSlowlyBelow`.",
    )
    .field("slowRate", count(0), |u| &mut u.slow_rate, "Nodes in a step below `removeSlowlyBelow`. At most `fastRate`.")
    .field("fastRate", count(0), |u| &mut u.fast_rate, "Nodes in a step below `removeFastBelow`.")
    .field(
        "stepInterval",
        duration(SECOND),
        |u| &mut u.step_interval,
        "The shortest time between two steps, however many rounds there are.",
    )
    .field(
        "coolDown",
        duration(SignedDuration::ZERO),
        |u| &mut u.cool_down,
        "For so long after machines were added none is added and no node is tainted, so that the new \
         ones can take effect. Taints still come off, and nodes whose grace period is over still go.",
    )
    .field(
        "softGrace",
        duration(SignedDuration::ZERO),
        |u| &mut u.soft_grace,
        "A tainted node is removed after this time if it is empty: no pod is left on it but those of \
         DaemonSets, static and mirror pods.",
    )
    .field(
        "hardGrace",
        duration(SignedDuration::ZERO),
        |u| &mut u.hard_grace,
        "After this time the pods on a tainted node are evicted, and once that has taken longer than \
         `evictionTimeout` and `endGrace` of `scaleDown` allow it is removed with the pods that are \
         left. At least `softGrace`.",
    )
    .field("taintEffect", effect(), |u| &mut u.taint_effect, "What the removal taint does.")
    .field(
        "countPods",
        count_pods(),
        |u| &mut u.count_pods,
        "Which pods are the group's demand. Pods of DaemonSets never are.",
    )
    .field(
        "scaleOnStarve",
        flag(),
        |u| &mut u.scale_on_starve,
        "Add a node when a waiting pod fits on no node but would fit on a new one, even if the share \
         is low.",
    )
    .field(
        "maxNodeAge",
        duration(SECOND).optional(),
        |u| &mut u.max_node_age,
        "While the group is at its minimum, replace nodes that are older. Left out: never.",
    )
    .field(
        "unhealthy",
        unhealthy().optional(),
        |u| &mut u.unhealthy,
        "Replace nodes that are not ready. Left out: never.",
    )
    .field(
        "stopAfterFailures",
        count(1).optional(),
        |u| &mut u.stop_after_failures,
        "Stop growing after so many enlargements in a row brought no machine, until one comes. Left \
         out: never stop.",
    )
    .field("daemonSets", daemon_sets(), |u| &mut u.daemon_sets, "What pods of DaemonSets mean for what nodes have.")
    .check(&["removeSlowlyBelow", "scaleUpAbove"], |u, at, problems| {
        ordered(at, problems, ("removeSlowlyBelow", u.remove_slowly_below), ("scaleUpAbove", u.scale_up_above));
    })
    .check(&["removeFastBelow", "removeSlowlyBelow"], |u, at, problems| {
        ordered(at, problems, ("removeFastBelow", u.remove_fast_below), ("removeSlowlyBelow", u.remove_slowly_below));
    })
    .check(&["slowRate", "fastRate"], |u, at, problems| {
        if u.slow_rate > u.fast_rate {
            let message = format!("`slowRate` {} is more than `fastRate` {}", u.slow_rate, u.fast_rate);
            problems.add(wrong_pair(at, message, ("slowRate", "fastRate"), "make `slowRate` at most `fastRate`"));
        }
    })
    .check(&["softGrace", "hardGrace"], |u, at, problems| {
        if u.soft_grace > u.hard_grace {
            let message =
                format!("`softGrace` {} is longer than `hardGrace` {}", show(u.soft_grace), show(u.hard_grace));
            problems.add(wrong_pair(at, message, ("softGrace", "hardGrace"), "make `softGrace` at most `hardGrace`"));
        }
    })
    .kind()
}

fn count_pods() -> Kind<CountPods> {
    words(&[
        (
            "selecting",
            CountPods::Selecting,
            "those that ask for the group's labels in a node selector or required node affinity, \
             wherever they run",
        ),
        (
            "unconstrained",
            CountPods::Unconstrained,
            "those with neither node selector nor affinity; at most one group can count these",
        ),
        (
            "placed",
            CountPods::Placed,
            "those that run on the group's nodes, and those that wait and ask for the group's labels",
        ),
    ])
}

fn daemon_sets() -> Kind<DaemonSets> {
    words(&[
        ("ignore", DaemonSets::Ignore, "nothing; leave room for them with a lower `scaleUpAbove`"),
        ("subtract", DaemonSets::Subtract, "what they request is taken off what nodes have"),
    ])
}

fn unhealthy() -> Kind<Unhealthy> {
    Record::new(
        "groups[].strategy.utilization.unhealthy",
        "Nodes that are at least `grace` old and have not been ready for at least `grace` are \
         tainted, so that others take their place. When too many of the newest are like that, \
         something else is wrong, and the group is left alone.",
        Unhealthy::default,
    )
    .field("grace", duration(SECOND), |u| &mut u.grace, "How long a node may be not ready.")
    .field(
        "newestPercent",
        percent(LEAST, WHOLE),
        |u| &mut u.newest,
        "The share of the newest nodes that is looked at, in percent.",
    )
    .field(
        "maxPercent",
        percent(ZERO, Percent(WHOLE.0 - 1)),
        |u| &mut u.max,
        "The share of those that may be unhealthy before the group is left alone, in percent.",
    )
    .kind()
}

fn ordered(at: &Places, problems: &mut Problems, (low, less): (&str, Percent), (high, more): (&str, Percent)) {
    if less >= more {
        let message = format!("`{low}` {less} must be less than `{high}` {more}");
        let hint = "keep removeFastBelow < removeSlowlyBelow < scaleUpAbove";
        problems.add(wrong_pair(at, message, (low, high), hint));
    }
}
