//! Flags that nothing takes the place of, with the reason.

use super::Kind::{Flag as Boolean, Text, Texts};
use super::{Flag, gone, keys};

const EVERY_ROUND: &str =
    "all nodes and all options are looked at in every round, which takes no limit of time or number";
const REQUESTS: &str = "there is no limit of requests to set";
const ONE_ROUND: &str = "one round makes all the room that pods need, in as many groups as it takes";
const HEALTH: &str = "/healthz fails when rounds stop";
const CLUSTER: &str = "kubectl's way of finding a cluster: KUBECONFIG, ~/.kube/config, or the pod's service account";
const STATUS: &str = "the status is in the ConfigMap `headroom-status`, in the same layout";
const DAEMON_SETS: &str = "pods of DaemonSets are not evicted: they end with their node";
const PROVISIONING: &str =
    "ProvisioningRequests are not read; a group of machines that only work together has `allOrNothing`";
const PROACTIVE: &str = "only pods that exist make a group grow; `slack` keeps room for those to come";
const SIMILAR: &str = "how alike groups must be is not to be set: capacity the same, memory within 1.5 %, what is free \
                       within 5 %";
const CLOUD: &str = "a matter of the cloud: Headroom asks it in its own way";
const SCHEDULERS: &str = "pods count whichever scheduler they name, once they are marked as unschedulable";
const BATCH: &str = "a round takes no time that would have to be limited";
const LATE: &str = "machines that never become a node are removed from the cloud after `bootTimeout`";
const LOG: &str = "not a matter of the configuration file: `headroom run --log` and `--log-format`";
const ELECTION: &str = "the Lease is `headroom` in Headroom's namespace, and its times are not to be set";

pub(super) const FLAGS: &[Flag] = &[
    gone("allowed-scheduler-names", Texts, "", SCHEDULERS),
    gone("async-node-groups", Boolean, "false", "Headroom creates no groups"),
    gone("aws-use-static-instance-list", Boolean, "false", "there is no list of instance types in the program"),
    gone(
        "balancing-label",
        Texts,
        "",
        "groups are compared by what their nodes are like, and not by labels that you name; balanceIgnoreLabels leaves \
         labels out",
    ),
    gone("bulk-mig-instances-listing-enabled", Boolean, "false", CLOUD),
    gone("bypassed-scheduler-names", Texts, "", SCHEDULERS),
    gone("capacity-buffer-controller-enabled", Boolean, "false", "Headroom resolves CapacityBuffers itself"),
    gone("capacity-buffer-pod-dry-run-enabled", Boolean, "true", "pods of CapacityBuffers are not sent to the API"),
    gone(
        "capacity-quotas-enabled",
        Boolean,
        "false",
        "CapacityQuotas are not read; `limits` hold for the whole cluster",
    ),
    gone("check-capacity-batch-processing", Boolean, "false", PROVISIONING),
    gone("check-capacity-processor-instance", Text, "", PROVISIONING),
    gone("check-capacity-provisioning-request-batch-timebox", Text, "10s", PROVISIONING),
    gone("check-capacity-provisioning-request-max-batch-size", Text, "10", PROVISIONING),
    gone(
        "cloud-config",
        Text,
        "",
        "clouds find their credentials the usual way, in the environment and in files of their own; of an external provider it is \
         `discover[].cloud.externalgrpc.cloudConfig`",
    ),
    gone("cluster-name", Text, "", "it named the cluster for clouds that Headroom does not know, and in logs"),
    gone("cluster-snapshot-parallelism", Text, "16", EVERY_ROUND),
    gone("clusterapi-cloud-config-authoritative", Boolean, "false", CLOUD),
    gone("daemonset-eviction-for-empty-nodes", Boolean, "false", DAEMON_SETS),
    gone("daemonset-eviction-for-occupied-nodes", Boolean, "true", DAEMON_SETS),
    gone(
        "debugging-snapshot-enabled",
        Boolean,
        "false",
        "`headroom run --record` keeps every round, to be decided again",
    ),
    gone(
        "drain-priority-config",
        Text,
        "",
        "evictions come in no order of priority: all that budgets allow come at once",
    ),
    gone(
        "dynamic-node-delete-delay-after-taint-enabled",
        Boolean,
        "false",
        "the delay is scaleDown.deleteDelayAfterTaint, and the node is read once more right before it goes",
    ),
    gone("enable-csi-node-aware-scheduling", Boolean, "false", "limits of CSI drivers are always followed"),
    gone(
        "enable-dynamic-resource-allocation",
        Boolean,
        "true",
        "pods with resource claims are refused, with that reason",
    ),
    gone("enable-graceful-degradation", Boolean, "false", BATCH),
    gone("enable-inter-pod-affinity-hostname-fast-path", Boolean, "false", EVERY_ROUND),
    gone("enable-proactive-scaleup", Boolean, "false", PROACTIVE),
    gone("enable-provisioning-requests", Boolean, "false", PROVISIONING),
    gone(
        "enforce-node-group-min-size",
        Boolean,
        "false",
        "a group with fewer nodes than its minimum always grows to it",
    ),
    gone("estimator", Text, "binpacking", "several orders of packing are tried, and the best is kept"),
    gone("fastpath-binpacking-enabled", Boolean, "false", EVERY_ROUND),
    gone("force-delete-failed-nodes", Boolean, "false", LATE),
    gone("force-delete-unregistered-nodes", Boolean, "false", LATE),
    gone("force-ds", Boolean, "false", "DaemonSets that will run on a new node always count"),
    gone("frequent-loops-enabled", Boolean, "true", "rounds come on every change in the cluster"),
    gone("gce-concurrent-refreshes", Text, "1", CLOUD),
    gone("gce-mig-instances-min-refresh-wait-time", Text, "5s", CLOUD),
    gone("grpc-expander-cert", Text, "", "there is no expander that another program is asked by"),
    gone("grpc-expander-url", Text, "", "there is no expander that another program is asked by"),
    gone(
        "kube-api-content-type",
        Text,
        "application/vnd.kubernetes.protobuf",
        "Headroom speaks JSON with the API server",
    ),
    gone("kube-client-burst", Text, "10", REQUESTS),
    gone("kube-client-qps", Text, "5", REQUESTS),
    gone("kubeconfig", Text, "", CLUSTER),
    gone("kubernetes", Text, "", CLUSTER),
    gone("max-allocatable-difference-ratio", Text, "0.05", SIMILAR),
    gone("max-binpacking-time", Text, "5m", EVERY_ROUND),
    gone("max-failing-time", Text, "15m", HEALTH),
    gone("max-free-difference-ratio", Text, "0.05", SIMILAR),
    gone("max-inactivity", Text, "10m", HEALTH),
    gone("max-node-skip-eval-time-tracker-enabled", Boolean, "false", "no node is left out of a round"),
    gone("max-node-startup-time", Text, "15m", "a machine has `bootTimeout` from its request until its node is usable"),
    gone("max-nodegroup-binpacking-duration", Text, "10s", EVERY_ROUND),
    gone("max-startup-time", Text, "20m", HEALTH),
    gone("memory-difference-ratio", Text, "0.015", SIMILAR),
    gone("min-replica-count", Text, "0", "replicas of a controller are not counted"),
    gone("namespace", Text, "kube-system", "`headroom run --namespace` says where its Lease and ConfigMaps are"),
    gone(
        "new-pod-scale-up-delay",
        Text,
        "0s",
        "a pod that waits counts at once, and the annotation pod-scale-up-delay is not read",
    ),
    gone("node-deletion-batcher-interval", Text, "0s", "what goes in one round goes in one request"),
    gone(
        "node-deletion-candidate-ttl",
        Text,
        "0s",
        "since when a node is not needed is in the ConfigMap `headroom-memory`",
    ),
    gone(
        "node-deletion-delay-timeout",
        Text,
        "2m",
        "the annotations delay-deletion.cluster-autoscaler.kubernetes.io/ are not read",
    ),
    gone("node-info-cache-expire-time", Text, "87600h", "what new nodes are like is looked at in every round"),
    gone("node-removal-latency-tracking-enabled", Boolean, "false", "docs/metrics.md lists what is measured"),
    gone("parallel-scale-up", Boolean, "false", "all groups that grow in a round do so at the same time"),
    gone("pending-pods-batching-timeout", Text, "4m", BATCH),
    gone("pod-injection-limit", Text, "5000", PROACTIVE),
    gone("predicate-parallelism", Text, "4", EVERY_ROUND),
    gone("profiling", Boolean, "false", "there is no profiling endpoint"),
    gone("provisioning-request-initial-backoff-time", Text, "1m", PROVISIONING),
    gone("provisioning-request-max-backoff-cache-size", Text, "1000", PROVISIONING),
    gone("provisioning-request-max-backoff-time", Text, "10m", PROVISIONING),
    gone(
        "record-duplicated-events",
        Boolean,
        "false",
        "events that repeat are counted, and written again after 5 minutes",
    ),
    gone("regional", Boolean, "false", CLOUD),
    gone("salvo-scale-up", Boolean, "false", ONE_ROUND),
    gone("salvo-scale-up-budget", Text, "1m", ONE_ROUND),
    gone("scale-down-candidates-pool-min-count", Text, "50", EVERY_ROUND),
    gone("scale-down-candidates-pool-ratio", Text, "0.1", EVERY_ROUND),
    gone(
        "scale-down-delay-type-local",
        Boolean,
        "false",
        "the delays after growth, removal and failure are always each group's own",
    ),
    gone("scale-down-non-empty-candidates-count", Text, "30", EVERY_ROUND),
    gone("scale-down-simulation-timeout", Text, "30s", EVERY_ROUND),
    gone(
        "scale-from-unschedulable",
        Boolean,
        "false",
        "a group is like its nodes, also where all of them are cordoned",
    ),
    gone("scale-up-from-zero", Boolean, "true", "a cluster without a ready node grows too"),
    gone(
        "scaleup-simulation-for-skipped-node-groups-enabled",
        Boolean,
        "false",
        "`headroom explain` says of every group why it does not grow",
    ),
    gone("scheduler-config-file", Text, "", "the rules are those of kube-scheduler's default profile"),
    gone("scheduler-verbosity", Text, "0", LOG),
    gone("startup-taint-prefix", Texts, "", "`startupTaints` are whole keys: name each taint that starts so"),
    gone("status-config-map-name", Text, "cluster-autoscaler-status", STATUS),
    gone(
        "status-taint",
        Texts,
        "",
        "a node's taints count for new nodes of its group, but for those that Kubernetes sets for conditions; give the \
         group a `template`, whose taints count instead",
    ),
    gone("unremovable-node-recheck-timeout", Text, "5m", EVERY_ROUND),
    gone("user-agent", Text, "cluster-autoscaler", "not to be set"),
    gone("write-status-configmap", Boolean, "true", STATUS),
];

/// Flags that Cluster Autoscaler has from the libraries that it is built with.
pub(super) const OF_LIBRARIES: &[Flag] = &[
    gone("leader-elect-lease-duration", Text, "15s", ELECTION),
    gone("leader-elect-renew-deadline", Text, "10s", ELECTION),
    gone("leader-elect-resource-lock", Text, "leases", ELECTION),
    gone(
        "leader-elect-resource-name",
        Text,
        "cluster-autoscaler",
        "Headroom knows a Cluster Autoscaler that is at work by its Lease, which has to be called `cluster-autoscaler`: \
         with another name it does not see it, so stop Cluster Autoscaler before dryRun is false",
    ),
    gone("leader-elect-resource-namespace", Text, "", ELECTION),
    gone("leader-elect-retry-period", Text, "2s", ELECTION),
    gone("add-dir-header", Boolean, "false", LOG),
    gone("alsologtostderr", Boolean, "false", LOG),
    gone("log-backtrace-at", Text, ":0", LOG),
    gone("log-dir", Text, "", LOG),
    gone("log-file", Text, "", LOG),
    gone("log-file-max-size", Text, "1800", LOG),
    gone("log-flush-frequency", Text, "5s", LOG),
    gone("log-json-info-buffer-size", Text, "0", LOG),
    gone("log-json-split-stream", Boolean, "false", LOG),
    gone("log-text-info-buffer-size", Text, "0", LOG),
    gone("log-text-split-stream", Boolean, "false", LOG),
    gone("logging-format", Text, "text", LOG),
    gone("logtostderr", Boolean, "true", LOG),
    gone("one-output", Boolean, "false", LOG),
    gone("skip-headers", Boolean, "false", LOG),
    gone("skip-log-headers", Boolean, "false", LOG),
    gone("stderrthreshold", Text, "2", LOG),
    gone("v", Text, "0", LOG),
    gone("vmodule", Text, "", LOG),
    gone("feature-gates", Text, "", "there are no feature gates"),
    gone("version", Boolean, "false", "`headroom --version`"),
];

/// Flags of versions that are still in use.
pub(super) const OF_OLD_VERSIONS: &[Flag] = &[
    keys(
        "max-empty-bulk-delete",
        super::Kind::Integer { least: 0 },
        "10",
        "scaleDown.totalBudgets",
        "the old name of --max-scale-down-parallelism, which counts if both are given",
    ),
    gone("concurrent-gce-refreshes", Text, "1", CLOUD),
    gone("gce-expander-ephemeral-storage-support", Boolean, "false", "disks are in the prices that you state"),
    gone("max-autoprovisioned-node-group-count", Text, "15", "Headroom creates no groups"),
    gone("node-autoprovisioning-enabled", Boolean, "false", "Headroom creates no groups"),
    gone("parallel-drain", Boolean, "true", "nodes are always drained side by side, as far as budgets allow"),
];
