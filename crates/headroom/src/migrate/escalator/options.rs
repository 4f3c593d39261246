//! Every option of Escalator, once: what it becomes and what differs. The documentation is made from this list too.

/// One option or flag of Escalator.
pub(super) struct EscalatorOption {
    /// As Escalator spells it.
    pub(super) key: &'static str,
    /// The key of `headroom.yaml` that it becomes, if there is one.
    pub(super) becomes: Option<&'static str>,
    /// What is not as it was, or what to do where nothing takes its place. Empty if nothing differs.
    pub(super) differs: &'static str,
}

const fn option(key: &'static str, becomes: &'static str, differs: &'static str) -> EscalatorOption {
    EscalatorOption { key, becomes: Some(becomes), differs }
}

const fn gone(key: &'static str, differs: &'static str) -> EscalatorOption {
    EscalatorOption { key, becomes: None, differs }
}

/// Keys at the top of the file.
pub(super) const FILE: &[EscalatorOption] = &[option("node_groups", "groups", "")];

/// Options of a node group, in the order of Escalator's documentation.
pub(super) const GROUP: &[EscalatorOption] = &[
    option(
        "name",
        "name",
        "a group called `default` also gets `countPods: unconstrained`, which is what that name \
         meant",
    ),
    option("label_key", "select.label", ""),
    option("label_value", "select.label", ""),
    option("cloud_provider_group_name", "cloud.aws.autoScalingGroup", ""),
    option(
        "min_nodes",
        "size.min",
        "a group with fewer nodes grows to it, and machines that are on their way count; Escalator \
         did nothing when all nodes together were fewer, and asked again in every scan when only the \
         untainted ones were",
    ),
    option(
        "max_nodes",
        "size.max",
        "growth stops at it or at the maximum of the Auto Scaling group, whichever is less; \
         Escalator only knew the latter",
    ),
    option(
        "dry_mode",
        "mode: dryRun",
        "decides by the taints and cordons that are there and shows what it would do; Escalator's \
         dry mode looked at neither",
    ),
    option(
        "scale_on_starve",
        "scaleOnStarve",
        "only a pod without a node starves; it must fit on one node as a whole, with what other pods \
         leave free there, and a pod that no new node could hold adds none",
    ),
    option("taint_upper_capacity_threshold_percent", "removeSlowlyBelow", ""),
    option("taint_lower_capacity_threshold_percent", "removeFastBelow", ""),
    option(
        "scale_up_threshold_percent",
        "scaleUpAbove",
        "computed exactly; Escalator's rounding added a node too many when the need was met to the \
         point. Machines that are on their way count as capacity, so that they are not asked for \
         twice",
    ),
    option("slow_node_removal_rate", "slowRate", "nodes in a `stepInterval` instead of a scan"),
    option("fast_node_removal_rate", "fastRate", "nodes in a `stepInterval` instead of a scan"),
    option(
        "soft_delete_grace_period",
        "softGrace",
        "a node is empty when no pod is left on it but those of DaemonSets and static ones; \
         Escalator overlooked pods that had come without the group's selector, and ended them with \
         the node",
    ),
    option("hard_delete_grace_period", "hardGrace", ""),
    option(
        "scale_up_cool_down_period",
        "coolDown",
        "taints still come off during it, and nodes whose grace period is over still go; Escalator \
         did neither",
    ),
    option("taint_effect", "taintEffect", ""),
    option("max_node_age", "maxNodeAge", ""),
    option(
        "unhealthy_node_grace_period",
        "unhealthy.grace",
        "a node must also have been not ready for that long; Escalator asked only for its age, and \
         tainted an old node at its first blip. When many nodes of a group are not ready at once, \
         none is tainted",
    ),
    option("health_check_newest_nodes_percent", "unhealthy.newestPercent", ""),
    option("max_unhealthy_nodes_percent", "unhealthy.maxPercent", ""),
    option("scale_up_failure_threshold", "stopAfterFailures", ""),
    gone("scale_up_cool_down_timeout", "it stands in Escalator's documentation, but Escalator never read it"),
    gone("aws", "see below"),
];

/// Options in the map `aws` of a node group.
pub(super) const AWS: &[EscalatorOption] = &[
    option(
        "launch_template_id",
        "cloud.aws.fleet.launchTemplate",
        "a fleet that fails puts its group into back-off, and no other group waits for it; Escalator stood still for as \
         long, and ended itself at the third failure in a row",
    ),
    option("launch_template_version", "cloud.aws.fleet.version", "the default version where none was given"),
    option(
        "fleet_instance_ready_timeout",
        "cloud.aws.fleet.readyTimeout",
        "one that is no duration is left out; for Escalator it was 0, so that all machines were ended at once",
    ),
    option("lifecycle", "cloud.aws.fleet.capacityType", ""),
    option("instance_type_overrides", "cloud.aws.fleet.instanceTypes", ""),
    gone(
        "resource_tagging",
        "set tags on the Auto Scaling group itself; the tag was \
         k8s.io/atlassian-escalator/enabled=true",
    ),
];

const NOT_IN_FILE: &str = "not a matter of the configuration file";
const ELECTION: &str = "the Lease is `headroom` in Headroom's namespace, and its times are not to be set";

/// Flags of Escalator's command line. `-v` is `--loglevel`.
pub(super) const FLAGS: &[EscalatorOption] = &[
    option("--nodegroups", "groups", "the file that is migrated"),
    option(
        "--scaninterval",
        "stepInterval",
        "rounds come on every change in the cluster; only steps of removal keep this interval",
    ),
    option("--drymode", "dryRun", "true unless you say otherwise, so that Headroom and Escalator never both act"),
    option("--aws-assume-role-arn", "groups[].cloud.aws.assumeRole", ""),
    gone(
        "--kubeconfig",
        "kubectl's way of finding a cluster: KUBECONFIG, ~/.kube/config, or the pod's service \
         account",
    ),
    gone("--cloud-provider", "each group names its cloud"),
    gone("--address", NOT_IN_FILE),
    gone("--loglevel", NOT_IN_FILE),
    gone("--v", NOT_IN_FILE),
    gone("--logfmt", NOT_IN_FILE),
    gone("--leader-elect", "instances agree by a Lease unless `leaderElection` is false"),
    gone("--leader-elect-lease-duration", ELECTION),
    gone("--leader-elect-renew-deadline", ELECTION),
    gone("--leader-elect-retry-period", ELECTION),
    gone("--leader-elect-config-namespace", ELECTION),
    gone(
        "--leader-elect-config-name",
        "Headroom knows an Escalator that is at work by its Lease, which has to be called \
         `escalator-leader-elect`: with another name it does not see it, so stop Escalator before dryRun \
         is false",
    ),
];

/// The option called `key`; Escalator took no notice of upper and lower case.
pub(super) fn find(options: &'static [EscalatorOption], key: &str) -> Option<&'static EscalatorOption> {
    options.iter().find(|option| option.key.eq_ignore_ascii_case(key))
}
