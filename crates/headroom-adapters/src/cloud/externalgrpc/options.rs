//! How a group is to be treated, in the words of the protocol and in Headroom's own.
//!
//! A client sends what holds for a group so far, and the provider answers with what shall hold. So an answer says only
//! that in which it differs from what was sent.

use std::time::Duration;

use headroom_core::policy::{Group, Percent, ScaleDown, Selection, Setting, Strategy};
use headroom_core::snapshot::GroupOptions;
use jiff::SignedDuration;
use prost_types::Duration as WireDuration;

use super::protocol::provider::NodeGroupAutoscalingOptions as Wire;

/// How long a node that stays in any case is to stay: ten years.
const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// What Cluster Autoscaler goes by unless its command line says otherwise.
fn usual() -> Wire {
    let minutes = |minutes: i64| Some(WireDuration { seconds: minutes * 60, nanos: 0 });
    Wire {
        scale_down_utilization_threshold: 0.5,
        scale_down_gpu_utilization_threshold: 0.5,
        scale_down_unneeded_duration: minutes(10),
        scale_down_unready_duration: minutes(20),
        max_node_provision_duration: minutes(15),
        max_node_startup_duration: minutes(15),
        ..Wire::default()
    }
}

/// How `group` is treated. What Headroom does not say of it is as `others` are: what the group does not state and what is as
/// by default, too, where there are others, since they may have been told otherwise. Every time is filled in: Cluster
/// Autoscaler takes a missing one for none at all.
pub(super) fn of(group: &Group, others: Option<Wire>) -> Wire {
    let says = |setting: Setting, is_default: bool| others.is_none() || !is_default || group.stated.contains(&setting);
    let time = |time: SignedDuration| WireDuration::try_from(time.unsigned_abs()).ok();
    let (usual, rest) = (usual(), others.unwrap_or_else(usual));
    let default = Group::new("", Selection::default());
    let boot = says(Setting::BootTimeout, group.boot_timeout == default.boot_timeout);
    let mut wire = Wire {
        scale_down_unneeded_duration: rest.scale_down_unneeded_duration.or(usual.scale_down_unneeded_duration),
        scale_down_unready_duration: rest.scale_down_unready_duration.or(usual.scale_down_unready_duration),
        max_node_provision_duration: time(group.boot_timeout)
            .filter(|_| boot)
            .or(rest.max_node_provision_duration)
            .or(usual.max_node_provision_duration),
        max_node_startup_duration: rest.max_node_startup_duration.or(usual.max_node_startup_duration),
        ..rest
    };
    // The nodes of others go by rules that the protocol does not have.
    let Strategy::Pending(pending) = &group.strategy else { return wire };
    let (down, default) = (&pending.scale_down, ScaleDown::default());
    if says(Setting::UtilizationThreshold, down.threshold == default.threshold) {
        wire.scale_down_utilization_threshold = share(down.threshold);
    }
    if says(Setting::GpuUtilizationThreshold, down.gpu_threshold == default.gpu_threshold) {
        wire.scale_down_gpu_utilization_threshold = share(down.gpu_threshold);
    }
    if says(Setting::UnneededTime, down.unneeded_for == default.unneeded_for) {
        wire.scale_down_unneeded_duration = time(down.unneeded_for).or(wire.scale_down_unneeded_duration);
    }
    if says(Setting::UnreadyTime, down.unready_for == default.unready_for) {
        let unready = WireDuration::try_from(down.unready_for.map_or(NEVER, |time| time.unsigned_abs()));
        wire.scale_down_unready_duration = unready.ok().or(wire.scale_down_unready_duration);
    }
    if says(Setting::IgnoreDaemonSetsUtilization, down.ignore_daemon_sets == default.ignore_daemon_sets) {
        wire.ignore_daemon_sets_utilization = down.ignore_daemon_sets;
    }
    wire.zero_or_max_node_scaling = pending.all_or_nothing || (others.is_some() && wire.zero_or_max_node_scaling);
    wire
}

/// What a provider says that was sent `sent`, and what of it makes no sense.
pub(super) fn said(sent: &Wire, answer: &Wire) -> (GroupOptions, Vec<String>) {
    let mut wrong = Vec::new();
    let mut share = |name: &str, sent: f64, said: f64| {
        (sent.to_bits() != said.to_bits()).then_some(())?;
        let share = Percent::of_share(said);
        if share.is_none() {
            wrong.push(format!("the provider's option {name} is {said}; hint: it must be from 0 to 1"));
        }
        share
    };
    let threshold = share(
        "scaleDownUtilizationThreshold",
        sent.scale_down_utilization_threshold,
        answer.scale_down_utilization_threshold,
    );
    let gpu_threshold = share(
        "scaleDownGpuUtilizationThreshold",
        sent.scale_down_gpu_utilization_threshold,
        answer.scale_down_gpu_utilization_threshold,
    );
    // A provider that leaves a time out hardly means none at all.
    let mut time = |name: &str, sent: &Option<WireDuration>, said: &Option<WireDuration>, least: SignedDuration| {
        let said = said.as_ref().filter(|_| sent != said)?;
        let WireDuration { seconds, nanos } = said;
        let time = SignedDuration::from_secs(*seconds).checked_add(SignedDuration::from_nanos((*nanos).into()));
        let time = time.filter(|time| *time >= least);
        if time.is_none() {
            wrong.push(format!("the provider's option {name} is {seconds} s and {nanos} ns; hint: at least {least:#}"));
        }
        time
    };
    let zero = SignedDuration::ZERO;
    let options = GroupOptions {
        threshold,
        gpu_threshold,
        unneeded_for: time(
            "scaleDownUnneededDuration",
            &sent.scale_down_unneeded_duration,
            &answer.scale_down_unneeded_duration,
            zero,
        ),
        unready_for: time(
            "scaleDownUnreadyDuration",
            &sent.scale_down_unready_duration,
            &answer.scale_down_unready_duration,
            zero,
        ),
        boot_timeout: time(
            "MaxNodeProvisionDuration",
            &sent.max_node_provision_duration,
            &answer.max_node_provision_duration,
            SignedDuration::from_secs(1),
        ),
        ignore_daemon_sets: (sent.ignore_daemon_sets_utilization != answer.ignore_daemon_sets_utilization)
            .then_some(answer.ignore_daemon_sets_utilization),
        all_or_nothing: answer.zero_or_max_node_scaling,
    };
    (options, wrong)
}

/// A percentage as a share of 1.
fn share(percent: Percent) -> f64 {
    f64::from(percent.0) / f64::from(Percent::whole(100).0)
}

#[cfg(test)]
mod tests {
    use headroom_core::policy::Pending;

    use super::*;

    #[test]
    fn a_default_says_nothing_over_the_client_unless_it_is_stated() {
        let strategy = Strategy::Pending(Pending::default());
        let group = Group { strategy, ..Group::new("web", Selection::default()) };
        let sent = Wire { scale_down_unneeded_duration: Some(WireDuration { seconds: 3, nanos: 0 }), ..usual() };
        assert_eq!(of(&group, Some(sent)).scale_down_unneeded_duration, sent.scale_down_unneeded_duration);
        let stated = Group { stated: vec![Setting::UnneededTime], ..group };
        assert_eq!(of(&stated, Some(sent)).scale_down_unneeded_duration, usual().scale_down_unneeded_duration);
    }
}
