//! Flags about groups, and about what makes them grow.

use super::Kind::{Duration, Flag as Boolean, Integer, Text, Texts};
use super::{Flag, key, keys};

const ANY: i64 = i64::MIN;

pub(super) const FLAGS: &[Flag] = &[
    keys(
        "cloud-provider",
        Text,
        "gce",
        "groups[].cloud",
        "each group names its cloud; where Headroom does not know it, the size is decided and reported",
    ),
    keys(
        "nodes",
        Texts,
        "",
        "groups[].name, groups[].size, groups[].cloud",
        "on AWS a group has the nodes of its machines, as before; elsewhere a label of its nodes says it (`select`), which only \
         you know where the name of the group does not tell it. A group with fewer nodes than its minimum grows to it",
    ),
    keys(
        "node-group-auto-discovery",
        Texts,
        "",
        "discover[].cloud",
        "`asg:tag=` as it is, asked for each minute; what other clouds discover is an entry each under `groups`",
    ),
    keys(
        "expander",
        Text,
        "least-waste",
        "expander",
        "`random` stands last where Cluster Autoscaler chose at random among what was left; without it ties go to the \
         group that the pods would rather have, then to the first by name",
    ),
    key(
        "balance-similar-node-groups",
        Boolean,
        "false",
        ["balanceSimilar", "true"],
        "what a full group cannot take goes to the others, and groups whose prices differ by more than 5 % share no \
         nodes",
    ),
    keys("balancing-ignore-label", Texts, "", "balanceIgnoreLabels", ""),
    keys("max-nodes-total", Integer { least: ANY }, "0", "limits.nodes", "machines on their way count too"),
    keys("cores-total", Text, "0:320000", "limits.cpu, scaleDown.atLeast.cpu", "counts thousandths of a core"),
    keys(
        "memory-total",
        Text,
        "0:6400000",
        "limits.memory, scaleDown.atLeast.memory",
        "in GiB, which Cluster Autoscaler counted in although it said GB",
    ),
    keys(
        "gpu-total",
        Texts,
        "",
        "limits.extended, scaleDown.atLeast.extended",
        "GPUs are counted by the resource that nodes offer, whatever their type",
    ),
    keys(
        "max-nodes-per-scaleup",
        Integer { least: ANY },
        "1000",
        "limits.nodesPerScaleUp",
        "in a round, in which all groups may grow",
    ),
    keys("initial-node-group-backoff-duration", Duration { least: 1 }, "5m", "backoff.initial", ""),
    keys("max-node-group-backoff-duration", Duration { least: 1 }, "30m", "backoff.max", ""),
    key(
        "node-group-backoff-reset-timeout",
        Duration { least: 1 },
        "3h",
        ["backoff.forgetAfter", "3h"],
        "the first machine that comes ends the back-off",
    ),
    keys(
        "max-node-provision-time",
        Duration { least: 1 },
        "15m",
        "groups[].bootTimeout",
        "each machine has a deadline of its own, which later ones do not move",
    ),
    keys("startup-taint", Texts, "", "groups[].startupTaints", ""),
    keys("ignore-taint", Texts, "", "groups[].startupTaints", "the old name of --startup-taint"),
    key(
        "expendable-pods-priority-cutoff",
        Integer { least: i32::MIN as i64 },
        "-10",
        ["expendablePodsBelowPriority", "-10"],
        "",
    ),
    keys(
        "capacity-buffer-pod-injection-enabled",
        Boolean,
        "false",
        "slack.capacityBuffers",
        "real pods are placed before the room that buffers keep",
    ),
];
