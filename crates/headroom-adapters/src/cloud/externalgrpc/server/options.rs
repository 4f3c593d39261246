//! How Cluster Autoscaler is to treat a group.

use std::time::Duration;

use crate::cloud::externalgrpc::protocol::provider::NodeGroupAutoscalingOptions;

/// How Cluster Autoscaler is to treat a group; None is as it treats all others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Nodes of which a smaller share is used can go, in 1 of 1.
    pub utilization: Option<f64>,
    /// The same for nodes with GPUs.
    pub gpu_utilization: Option<f64>,
    /// It grows to its maximum or not at all, and shrinks as a whole.
    pub zero_or_max: Option<bool>,
    /// DaemonSets do not count in it.
    pub ignore_daemon_sets: Option<bool>,
    /// How long a node is not needed before it goes.
    pub unneeded: Option<Duration>,
    /// The same for one that is not ready.
    pub unready: Option<Duration>,
    /// From the request of a machine until its node is there.
    pub provision: Option<Duration>,
}

/// What Cluster Autoscaler goes by when it says nothing of a time: a missing one means no time at all to it.
const TEN_MINUTES: i64 = 600;
const TWENTY_MINUTES: i64 = 1200;
const FIFTEEN_MINUTES: i64 = 900;

impl Options {
    /// These options, and for the rest what the client treats other groups by. Every time is filled in.
    pub(super) fn over(&self, defaults: NodeGroupAutoscalingOptions) -> NodeGroupAutoscalingOptions {
        let time = |own: Option<Duration>, default: Option<prost_types::Duration>, usual: i64| {
            let own = own.and_then(|own| prost_types::Duration::try_from(own).ok());
            own.or(default).or(Some(prost_types::Duration { seconds: usual, nanos: 0 }))
        };
        let share = |own: Option<f64>, default: f64| own.unwrap_or(default);
        NodeGroupAutoscalingOptions {
            scale_down_utilization_threshold: share(self.utilization, defaults.scale_down_utilization_threshold),
            scale_down_gpu_utilization_threshold: share(
                self.gpu_utilization,
                defaults.scale_down_gpu_utilization_threshold,
            ),
            ignore_daemon_sets_utilization: self.ignore_daemon_sets.unwrap_or(defaults.ignore_daemon_sets_utilization),
            scale_down_unneeded_duration: time(self.unneeded, defaults.scale_down_unneeded_duration, TEN_MINUTES),
            scale_down_unready_duration: time(self.unready, defaults.scale_down_unready_duration, TWENTY_MINUTES),
            max_node_provision_duration: time(self.provision, defaults.max_node_provision_duration, FIFTEEN_MINUTES),
            max_node_startup_duration: time(None, defaults.max_node_startup_duration, FIFTEEN_MINUTES),
            zero_or_max_node_scaling: self.zero_or_max.unwrap_or(defaults.zero_or_max_node_scaling),
            allow_non_atomic_scale_up_to_max: defaults.allow_non_atomic_scale_up_to_max,
        }
    }
}
