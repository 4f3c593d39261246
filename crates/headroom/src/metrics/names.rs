//! Every metric: its name without the prefix, its labels, and what it says. docs/metrics.md is made from these.

/// A metric.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) name: &'static str,
    pub(super) labels: &'static [&'static str],
    /// Without the full stop.
    pub(super) help: &'static str,
}

const fn declared(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Declared {
    Declared { name, labels, help }
}

macro_rules! gauges {
    ($($constant:ident = $name:literal, $labels:expr, $help:literal;)*) => {
        $(pub(super) const $constant: Declared = declared($name, &$labels, $help);)*
        /// All gauges.
        pub(super) const GAUGES: &[Declared] = &[$($constant),*];
    };
}

gauges! {
    DRY_RUN = "dry_run", [], "1 while `dryRun` is set: everything is decided and nothing done";
    HELD = "held", ["reason"],
        "1 while plans are not carried out, and why: dry_run, paused, blind, rival, not_remembered";
    LAST_ROUND = "last_round_timestamp_seconds", [], "When the last round ended, in seconds since 1970";
    GROUP_MIN = "group_min_nodes", ["group"], "The least nodes that the group may have";
    GROUP_MAX = "group_max_nodes", ["group"], "The most nodes that the group may have";
    GROUP_SIZE = "group_target_nodes", ["group"], "The cloud's target, or the number of nodes when no cloud was asked";
    GROUP_PLANNED = "group_planned_nodes", ["group"], "The size after the last plan";
    GROUP_WANTED = "group_wanted_change_nodes", ["group"],
        "Nodes that the strategy would add (below zero: mark for removal) before limits and brakes";
    GROUP_NODES = "group_nodes", ["group", "state"],
        "Nodes by what they are good for: ready, not_ready, upcoming, tainted, force_tainted, cordoned, never_came, \
         disputed";
    GROUP_PODS = "group_pods", ["group"], "Pods that count as the group's demand";
    GROUP_USED = "group_used_ratio", ["group", "resource"], "The share of the group's capacity that is requested";
    GROUP_DRY_RUN = "group_dry_run", ["group"], "1 while nothing is done to the group (the modes dryRun and off)";
    GROUP_REFUSED = "group_refused", ["group", "reason"],
        "Things that were not done to the group in the last round, by the word of the reason in docs/output.md";
    GROUP_COST = "group_cost_dollars_per_hour", ["group"], "What the nodes whose price is known cost in an hour";
    GROUP_UNPRICED = "group_unpriced_nodes", ["group"], "Nodes whose price nobody states";
    WAITING = "waiting_pods", ["place"],
        "Pods that wait for a node, by what becomes of them: on_nodes, on_upcoming, on_new, refused, nominated, \
         low_priority, counted";
    UNSCHEDULABLE = "unschedulable_pods", ["reason"],
        "Pods that get no place, by the word of the reason in docs/output.md";
    KEPT = "kept_nodes", ["reason"], "Nodes that are not removed, by the word of the reason in docs/output.md";
    SPARE_WANTED = "spare_wanted", ["resource"], "Spare room that is wanted: cpu in cores, memory in bytes";
    SPARE_ACTUAL = "spare_actual", ["resource"], "Spare room that is there now: cpu in cores, memory in bytes";
    BACKOFF = "backoff_seconds", ["group", "instance_type", "zone", "capacity_type", "reason"],
        "For how long the group is still left alone after machines did not come: outOfStock, refused, neverCame";
}

/// How long deciding took.
pub(super) const DECIDING: Declared = declared("decision_duration_seconds", &[], "How long deciding a round took");
/// How long a whole round took.
pub(super) const ROUND: Declared = declared("round_duration_seconds", &[], "How long a round took, reading included");
/// Names of counters are without `_total`, which is added when they are written.
pub(super) const ACTIONS: Declared =
    declared("actions", &["group", "action", "result"], "Actions that have ended, done or failed");
pub(super) const ADDED: Declared = declared("added_nodes", &["group"], "Machines that clouds were asked for");
pub(super) const REMOVED: Declared = declared(
    "removed_nodes",
    &["group", "reason"],
    "Machines that were removed, by the word of the reason in docs/output.md",
);
pub(super) const HISTOGRAMS: [Declared; 2] = [DECIDING, ROUND];
pub(super) const COUNTERS: [Declared; 3] = [ACTIONS, ADDED, REMOVED];
