//! Flags about the program itself.

use super::Kind::{Duration, Flag as Boolean, Text};
use super::{Flag, key, keys};

pub(super) const FLAGS: &[Flag] = &[
    key(
        "scan-interval",
        Duration { least: 1 },
        "10s",
        ["interval", "10s"],
        "rounds come on every change in the cluster, and at least so often",
    ),
    keys(
        "address",
        Text,
        ":8085",
        "http.address",
        "/healthz takes the place of /health-check; what is served is read-only",
    ),
    keys("leader-elect", Boolean, "true", "leaderElection", ""),
    keys(
        "emit-per-nodegroup-metrics",
        Boolean,
        "false",
        "metrics.compatible",
        "those of Cluster Autoscaler's metrics that docs/metrics.md lists keep their names, with those of groups",
    ),
];
