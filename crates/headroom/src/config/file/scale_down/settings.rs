//! What each group may say for itself.

use headroom_core::policy::{Budget, Percent, ScaleDown, Setting};
use jiff::SignedDuration;

use super::budget;
use crate::config::duration;
use crate::config::kind::{Kind, duration, flag, list, percent, written};
use crate::config::problem::{Problem, Problems};
use crate::config::record::Record;
use crate::config::tree::Node;

/// Settings of one group, or of all; None where nothing is said.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    threshold: Option<Percent>,
    gpu_threshold: Option<Percent>,
    unneeded_for: Option<SignedDuration>,
    unready_for: Option<Option<SignedDuration>>,
    expire_after: Option<Option<SignedDuration>>,
    after_add: Option<SignedDuration>,
    after_delete: Option<SignedDuration>,
    after_failure: Option<SignedDuration>,
    ignore_daemon_sets: Option<bool>,
    ignore_mirror_pods: Option<bool>,
    budgets: Option<Vec<Budget>>,
}

impl From<ScaleDown> for Settings {
    fn from(settings: ScaleDown) -> Self {
        Settings {
            threshold: Some(settings.threshold),
            gpu_threshold: Some(settings.gpu_threshold),
            unneeded_for: Some(settings.unneeded_for),
            unready_for: Some(settings.unready_for),
            expire_after: Some(settings.expire_after),
            after_add: Some(settings.after_add),
            after_delete: Some(settings.after_delete),
            after_failure: Some(settings.after_failure),
            ignore_daemon_sets: Some(settings.ignore_daemon_sets),
            ignore_mirror_pods: Some(settings.ignore_mirror_pods),
            budgets: Some(settings.budgets),
        }
    }
}

impl AsMut<Settings> for Settings {
    fn as_mut(&mut self) -> &mut Settings {
        self
    }
}

impl Settings {
    /// What is said here of what a cloud may say too.
    pub(crate) fn stated(&self) -> impl Iterator<Item = Setting> {
        let known = [
            (self.threshold.is_some(), Setting::UtilizationThreshold),
            (self.gpu_threshold.is_some(), Setting::GpuUtilizationThreshold),
            (self.unneeded_for.is_some(), Setting::UnneededTime),
            (self.unready_for.is_some(), Setting::UnreadyTime),
            (self.ignore_daemon_sets.is_some(), Setting::IgnoreDaemonSetsUtilization),
        ];
        known.into_iter().filter_map(|(said, setting)| said.then_some(setting))
    }

    /// These settings, and others where nothing is said here.
    pub(super) fn or(self, otherwise: ScaleDown) -> ScaleDown {
        ScaleDown {
            threshold: self.threshold.unwrap_or(otherwise.threshold),
            gpu_threshold: self.gpu_threshold.unwrap_or(otherwise.gpu_threshold),
            unneeded_for: self.unneeded_for.unwrap_or(otherwise.unneeded_for),
            unready_for: self.unready_for.unwrap_or(otherwise.unready_for),
            expire_after: self.expire_after.unwrap_or(otherwise.expire_after),
            after_add: self.after_add.unwrap_or(otherwise.after_add),
            after_delete: self.after_delete.unwrap_or(otherwise.after_delete),
            after_failure: self.after_failure.unwrap_or(otherwise.after_failure),
            ignore_daemon_sets: self.ignore_daemon_sets.unwrap_or(otherwise.ignore_daemon_sets),
            ignore_mirror_pods: self.ignore_mirror_pods.unwrap_or(otherwise.ignore_mirror_pods),
            budgets: self.budgets.unwrap_or(otherwise.budgets),
        }
    }
}

/// The settings of one group.
pub(crate) fn of_group() -> Kind<Settings> {
    let doc = "When nodes of this group go. What is left out is as its cloud says, which may be in tags of the group \
         (docs/kubernetes.md), or else as [`scaleDown`](#scaledown) at the top of the file says.";
    keys(Record::new("groups[].scaleDown", doc, Settings::default)).kind()
}

/// Adds the keys to a record.
pub(super) fn keys<T: AsMut<Settings> + 'static>(record: Record<T>) -> Record<T> {
    let zero = SignedDuration::ZERO;
    record
        .field(
            "utilizationThreshold",
            share().optional(),
            |down| &mut down.as_mut().threshold,
            "A node is not needed when its pods request at most this percentage of what it offers, of cpu and of memory, \
             and all of them fit on other nodes.",
        )
        .field(
            "gpuUtilizationThreshold",
            share().optional(),
            |down| &mut down.as_mut().gpu_threshold,
            "The same for nodes with GPUs, of which the GPUs alone count.",
        )
        .field(
            "unneededTime",
            duration(zero).optional(),
            |down| &mut down.as_mut().unneeded_for,
            "A node goes when it has not been needed for so long.",
        )
        .field(
            "unreadyTime",
            duration_or_never().optional(),
            |down| &mut down.as_mut().unready_for,
            "The same for a node that is not ready. `never`: such nodes stay.",
        )
        .field(
            "expireAfter",
            duration_or_never().optional(),
            |down| &mut down.as_mut().expire_after,
            "A node that is older goes as soon as its pods fit on other nodes, whatever share of it is in use. `never`: \
             age does not matter.",
        )
        .field(
            "delayAfterAdd",
            duration(zero).optional(),
            |down| &mut down.as_mut().after_add,
            "For so long after the group has grown none of its nodes goes.",
        )
        .field(
            "delayAfterDelete",
            duration(zero).optional(),
            |down| &mut down.as_mut().after_delete,
            "The same after a node of it was removed.",
        )
        .field(
            "delayAfterFailure",
            duration(zero).optional(),
            |down| &mut down.as_mut().after_failure,
            "The same after the drain of a node was given up.",
        )
        .field(
            "ignoreDaemonSetsUtilization",
            flag().optional(),
            |down| &mut down.as_mut().ignore_daemon_sets,
            "Leave pods of DaemonSets, and what they take of the node, out of the percentage.",
        )
        .field(
            "ignoreMirrorPodsUtilization",
            flag().optional(),
            |down| &mut down.as_mut().ignore_mirror_pods,
            "The same for static pods.",
        )
        .field(
            "budgets",
            list(budget::kind()).optional(),
            |down| &mut down.as_mut().budgets,
            "How many nodes of one group may be on their way out at once; of several that are in force the smallest \
             holds. `[]`: any number.",
        )
}

/// A percentage up to 100. What is less than one percent is most likely a share of 1, as Cluster Autoscaler has it.
fn share() -> Kind<Percent> {
    let Kind { shape, read, show } = percent(Percent(0), Percent::whole(100));
    let read = move |node: &Node, problems: &mut Problems| {
        let share = read(node, problems)?;
        if !(1..100).contains(&share.0) {
            return Some(share);
        }
        let hint = format!("write {} for that share of 1, or 0", share.0);
        problems.add(Problem::at(node.place.clone(), format!("{share} is less than one percent"), hint));
        None
    };
    Kind { shape, read: Box::new(read), show }
}

/// A duration, or None for `never`.
fn duration_or_never() -> Kind<Option<SignedDuration>> {
    written(
        "a duration such as 20m, or `never`",
        r"^(never|(\d+h)?(\d+m)?(\d+s)?)$",
        |text| match text {
            "never" => Ok(None),
            text => duration::parse(text).map(Some).map_err(|error| error.hint.to_owned()),
        },
        |value| value.map_or_else(|| "never".to_owned(), duration::show),
    )
}
