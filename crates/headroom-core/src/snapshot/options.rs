//! How clouds want their groups to be treated.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::policy::Percent;

/// How a group is to be treated, as far as its cloud says so; None: it says nothing. These are the options that Cluster
/// Autoscaler takes from tags of groups and from providers (`spec/cluster-autoscaler.md` 3.7), under the names of
/// [`crate::policy::ScaleDown`] and [`crate::policy::Group`]. What the user says of the very group wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GroupOptions {
    /// A node is idle when at most this share of it is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Percent>,
    /// The same for nodes with GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_threshold: Option<Percent>,
    /// A node that has not been needed for so long goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unneeded_for: Option<SignedDuration>,
    /// The same for a node that is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unready_for: Option<SignedDuration>,
    /// Pods of DaemonSets do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_daemon_sets: Option<bool>,
    /// How long a machine may take until its node is usable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_timeout: Option<SignedDuration>,
    /// The group grows to its maximum or not at all, and shrinks as a whole. It does so too when the user says it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_or_nothing: bool,
}
