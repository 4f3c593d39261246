//! Flags about the removal of nodes.

use super::Kind::{Duration, Flag as Boolean, Integer, Percent, Seconds, Share};
use super::{Flag, key, keys};

const DELAY: Kind = Duration { least: 0 };
const EACH_GROUP: &str = "each group has its own, and is not held up by what others do";

use super::Kind;

pub(super) const FLAGS: &[Flag] = &[
    key("scale-down-enabled", Boolean, "true", ["scaleDown.enabled", "true"], ""),
    key("scale-down-utilization-threshold", Share, "0.5", ["scaleDown.utilizationThreshold", "50"], "in percent"),
    key(
        "scale-down-gpu-utilization-threshold",
        Share,
        "0.5",
        ["scaleDown.gpuUtilizationThreshold", "50"],
        "in percent",
    ),
    key("scale-down-unneeded-time", DELAY, "10m", ["scaleDown.unneededTime", "10m"], ""),
    keys("scale-down-unready-time", DELAY, "20m", "scaleDown.unreadyTime", ""),
    keys("scale-down-unready-enabled", Boolean, "true", "scaleDown.unreadyTime: never", ""),
    key("scale-down-delay-after-add", DELAY, "10m", ["scaleDown.delayAfterAdd", "10m"], EACH_GROUP),
    key("scale-down-delay-after-delete", DELAY, "0s", ["scaleDown.delayAfterDelete", "0s"], EACH_GROUP),
    key("scale-down-delay-after-failure", DELAY, "3m", ["scaleDown.delayAfterFailure", "3m"], EACH_GROUP),
    key("ignore-daemonsets-utilization", Boolean, "false", ["scaleDown.ignoreDaemonSetsUtilization", "false"], ""),
    key("ignore-mirror-pods-utilization", Boolean, "false", ["scaleDown.ignoreMirrorPodsUtilization", "false"], ""),
    keys(
        "max-scale-down-parallelism",
        Integer { least: 0 },
        "10",
        "scaleDown.totalBudgets",
        "a budget counts nodes from their taint until they are gone",
    ),
    keys(
        "max-drain-parallelism",
        Integer { least: 0 },
        "1",
        "scaleDown.totalBudgets",
        "a node that is not ready counts as one that is drained, also when no pod is on it",
    ),
    key("skip-nodes-with-system-pods", Boolean, "true", ["scaleDown.skipNodesWithSystemPods", "true"], ""),
    key("blocking-system-pod-distruption-timeout", DELAY, "1h", ["scaleDown.systemPodTimeout", "1h"], ""),
    key("skip-nodes-with-local-storage", Boolean, "true", ["scaleDown.skipNodesWithLocalStorage", "true"], ""),
    key(
        "skip-nodes-with-custom-controller-pods",
        Boolean,
        "true",
        ["scaleDown.skipNodesWithCustomControllerPods", "true"],
        "replicas are not counted, and whether a controller exists is not asked",
    ),
    key(
        "max-pod-eviction-time",
        Duration { least: 1 },
        "2m",
        ["scaleDown.maxPodEvictionTime", "2m"],
        "each pod that goes starts the time anew",
    ),
    key(
        "max-graceful-termination-sec",
        Seconds { least: 1 },
        "600",
        ["scaleDown.maxGracefulTermination", "10m"],
        "a drain that takes longer is given up; pods that have not ended are not killed",
    ),
    key("node-delete-delay-after-taint", DELAY, "5s", ["scaleDown.deleteDelayAfterTaint", "5s"], ""),
    keys(
        "max-bulk-soft-taint-count",
        Integer { least: 0 },
        "10",
        "scaleDown.softTaint",
        "there is no limit of taints in a round",
    ),
    keys(
        "max-bulk-soft-taint-time",
        DELAY,
        "3s",
        "scaleDown.softTaint",
        "there is no limit of time for them; 0 meant none",
    ),
    key(
        "cordon-node-before-terminating",
        Boolean,
        "true",
        ["cordon", "false"],
        "the cordon comes with the taint, and goes with it",
    ),
    key(
        "ok-total-unready-count",
        Integer { least: 0 },
        "3",
        ["scaleDown.okTotalUnreadyCount", "3"],
        "doubt about the cluster holds back removal, and never growth",
    ),
    key(
        "max-total-unready-percentage",
        Percent,
        "45",
        ["scaleDown.maxTotalUnreadyPercentage", "45"],
        "doubt about the cluster holds back removal, and never growth",
    ),
];
