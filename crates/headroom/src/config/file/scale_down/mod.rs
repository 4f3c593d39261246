//! When nodes of groups with the strategy `pending` go.

mod at_least;
mod budget;
mod consolidation;
mod settings;

use headroom_core::policy::{Percent, ScaleDown, ScaleDownPolicy};
use jiff::SignedDuration;

use crate::config::kind::{Kind, count, duration, flag, list, percent};
use crate::config::record::Record;
use consolidation::Replacing;

pub(super) use settings::{Settings, of_group};

/// What the top of the file says about scale-down.
pub(super) struct Shrinking {
    pub(super) enabled: bool,
    shared: ScaleDownPolicy,
    replacing: Replacing,
    each: Settings,
}

impl Default for Shrinking {
    fn default() -> Self {
        Shrinking {
            enabled: true,
            shared: ScaleDownPolicy::default(),
            replacing: Replacing::default(),
            each: ScaleDown::default().into(),
        }
    }
}

impl AsMut<Settings> for Shrinking {
    fn as_mut(&mut self) -> &mut Settings {
        &mut self.each
    }
}

impl Shrinking {
    /// What all groups share; None when it is off.
    pub(super) fn shared(&self) -> Option<ScaleDownPolicy> {
        self.enabled.then(|| ScaleDownPolicy { consolidation: self.replacing.settings(), ..self.shared.clone() })
    }

    /// The settings of a group with these of its own.
    pub(super) fn of(&self, own: Settings) -> ScaleDown {
        own.or(self.each.clone().or(ScaleDown::default()))
    }
}

pub(super) fn kind() -> Kind<Shrinking> {
    let (zero, second) = (SignedDuration::ZERO, SignedDuration::from_secs(1));
    let record = Record::new(
        "scaleDown",
        "When nodes of groups with the strategy `pending` go: nodes of which little is in use and whose pods all fit on \
         other nodes. Such a node is tainted, its pods are evicted as far as their disruption budgets allow, and when \
         it is empty it is removed. Names and defaults are those of Cluster Autoscaler where it has such a setting. \
         The keys from `utilizationThreshold` to `budgets` hold for each group unless it says something else under its \
         own [`scaleDown`](#groupsscaledown).",
        Shrinking::default,
    )
    .field(
        "enabled",
        flag(),
        |down| &mut down.enabled,
        "Whether nodes go at all. To keep those of one group alone, give it `mode: growOnly`.",
    );
    settings::keys(record)
        .field(
            "totalBudgets",
            list(budget::kind()),
            |down| &mut down.shared.budgets,
            "How many nodes of all groups together may be on their way out at once, whatever `budgets` leave to each. \
             Left out: as many as `budgets` leave.",
        )
        .field(
            "consolidation",
            consolidation::kind(),
            |down| &mut down.replacing,
            "Whether nodes make way for a machine that costs less.",
        )
        .field("atLeast", at_least::kind(), |down| &mut down.shared.at_least, "What the cluster keeps in any case.")
        .field(
            "skipNodesWithSystemPods",
            flag(),
            |down| &mut down.shared.keep_for_system_pods,
            "Keep nodes with a pod of the namespace `kube-system` that no disruption budget covers, until the pod is \
             `systemPodTimeout` old.",
        )
        .field(
            "systemPodTimeout",
            duration(zero),
            |down| &mut down.shared.system_pods_for,
            "See `skipNodesWithSystemPods`.",
        )
        .field(
            "skipNodesWithLocalStorage",
            flag(),
            |down| &mut down.shared.keep_for_local_storage,
            "Keep nodes with a pod that has a volume on the node, such as an `emptyDir`, which would be lost.",
        )
        .field(
            "skipNodesWithCustomControllerPods",
            flag(),
            |down| &mut down.shared.keep_for_custom_controllers,
            "Keep nodes with a pod whose controller is none of Kubernetes' own.",
        )
        .field(
            "maxPodEvictionTime",
            duration(second),
            |down| &mut down.shared.eviction_timeout,
            "For so long a disruption budget may refuse evictions from a node before its drain is given up. Each pod \
             that goes starts the time anew.",
        )
        .field(
            "maxGracefulTermination",
            duration(second),
            |down| &mut down.shared.end_grace,
            "For so long evicted pods may take to end before the drain is given up.",
        )
        .field(
            "retryAfter",
            duration(zero),
            |down| &mut down.shared.retry_after,
            "A node whose drain was given up takes pods again, and is not tried for so long.",
        )
        .field(
            "deleteDelayAfterTaint",
            duration(zero),
            |down| &mut down.shared.settle,
            "Between the taint and the removal of an empty node lies at least so much time, in which a pod that came to \
             it at the last moment is seen.",
        )
        .field(
            "softTaint",
            flag(),
            |down| &mut down.shared.soft_taint,
            "Taint nodes that are not needed with `DeletionCandidateOfClusterAutoscaler:PreferNoSchedule`, so that new \
             pods go elsewhere where they can. Without it the pods that leave one such node are spread over the others, \
             and fewer of them go.",
        )
        .field(
            "okTotalUnreadyCount",
            count(0),
            |down| &mut down.shared.ok_unready,
            "While more nodes than this, and a larger share than `maxTotalUnreadyPercentage`, are not ready, no node \
             goes.",
        )
        .field(
            "maxTotalUnreadyPercentage",
            percent(Percent(0), Percent::whole(100)),
            |down| &mut down.shared.max_unready,
            "See `okTotalUnreadyCount`.",
        )
        .field(
            "suddenDropDelay",
            duration(zero),
            |down| &mut down.shared.doubt,
            "When the nodes of the cluster, or what its pods request, have fallen by more than half at once, no node \
             goes until that has lasted for so long.",
        )
        .kind()
}
