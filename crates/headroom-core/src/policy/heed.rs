//! What clouds say of how their groups are to be treated, where the user leaves it to them.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Group, Policy, Strategy};
use crate::snapshot::{GroupOptions, Snapshot};

/// A setting of a group that its cloud may say too, by the key of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Setting {
    /// [`super::ScaleDown::threshold`].
    UtilizationThreshold,
    /// [`super::ScaleDown::gpu_threshold`].
    GpuUtilizationThreshold,
    /// [`super::ScaleDown::unneeded_for`].
    UnneededTime,
    /// [`super::ScaleDown::unready_for`].
    UnreadyTime,
    /// [`super::ScaleDown::ignore_daemon_sets`].
    IgnoreDaemonSetsUtilization,
    /// [`Group::boot_timeout`].
    BootTimeout,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Setting::UtilizationThreshold => "utilizationThreshold",
            Setting::GpuUtilizationThreshold => "gpuUtilizationThreshold",
            Setting::UnneededTime => "unneededTime",
            Setting::UnreadyTime => "unreadyTime",
            Setting::IgnoreDaemonSetsUtilization => "ignoreDaemonSetsUtilization",
            Setting::BootTimeout => "bootTimeout",
        })
    }
}

impl Policy {
    /// The policy with what the clouds of `snapshot` say of their groups. Doing it twice is doing it once.
    pub fn heeding(&self, snapshot: &Snapshot) -> Cow<'_, Policy> {
        let said = |group: &Group| snapshot.group(&group.name).map(|cloud| &cloud.options);
        let heeds = |group: &Group| said(group).is_some_and(|options| *options != GroupOptions::default());
        if !self.groups.iter().any(heeds) {
            return Cow::Borrowed(self);
        }
        let mut policy = self.clone();
        for group in &mut policy.groups {
            if let Some(options) = said(group) {
                group.heed(options);
            }
        }
        Cow::Owned(policy)
    }
}

impl Group {
    /// Takes over what its cloud says of settings that the user does not state for this very group. Which these are.
    pub fn heed(&mut self, options: &GroupOptions) -> Vec<Setting> {
        let GroupOptions {
            threshold,
            gpu_threshold,
            unneeded_for,
            unready_for,
            ignore_daemon_sets,
            boot_timeout,
            all_or_nothing,
        } = options;
        let mut heed = Heed { stated: &self.stated, heeded: Vec::new() };
        if let Strategy::Pending(pending) = &mut self.strategy {
            let down = &mut pending.scale_down;
            heed.take(Setting::UtilizationThreshold, &mut down.threshold, *threshold);
            heed.take(Setting::GpuUtilizationThreshold, &mut down.gpu_threshold, *gpu_threshold);
            heed.take(Setting::UnneededTime, &mut down.unneeded_for, *unneeded_for);
            heed.take(Setting::UnreadyTime, &mut down.unready_for, unready_for.map(Some));
            heed.take(Setting::IgnoreDaemonSetsUtilization, &mut down.ignore_daemon_sets, *ignore_daemon_sets);
            pending.all_or_nothing |= *all_or_nothing;
        }
        heed.take(Setting::BootTimeout, &mut self.boot_timeout, *boot_timeout);
        heed.heeded
    }
}

struct Heed<'a> {
    stated: &'a [Setting],
    heeded: Vec<Setting>,
}

impl Heed<'_> {
    fn take<T>(&mut self, setting: Setting, value: &mut T, said: Option<T>) {
        if let Some(said) = said
            && !self.stated.contains(&setting)
        {
            *value = said;
            self.heeded.push(setting);
        }
    }
}
