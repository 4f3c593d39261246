//! What all groups with the strategy `pending` share, since they are decided together: how they grow and shrink.
//!
//! These keys stand at the top of the configuration file, and of a scenario file as well.

use std::path::Path;

use headroom_core::backoff::Settings as Backoff;
use headroom_core::balance::Similarity;
use headroom_core::limits::Limits;
use headroom_core::policy::{Group, Pending, PendingPolicy, Policy, Setting, Strategy};

use super::expander::{self, Expanders};
use super::group::Draft;
use super::prices::{self, Prices};
use super::priorities::{self, Priorities};
use super::scale_down::{self, Shrinking};
use super::slack::{self, Slack};
use super::{backoff, limits};
use crate::config::kind::{flag, integer, list, text};
use crate::config::problem::{ConfigErrors, Problems};
use crate::config::record::Record;

/// What the file says about growth for waiting pods.
pub(crate) struct Growth {
    pub(super) expander: Expanders,
    pub(super) priorities: Priorities,
    pub(super) prices: Prices,
    pub(super) limits: Limits,
    pub(super) balance_similar: bool,
    pub(super) balance_ignore_labels: Vec<Box<str>>,
    pub(super) backoff: Backoff,
    pub(super) expendable_below: i64,
    pub(super) scale_down: Shrinking,
    pub(super) slack: Slack,
}

/// A file with such keys at its top.
pub(crate) trait Grows {
    /// What it says about growth.
    fn growth(&mut self) -> &mut Growth;

    /// The same, with its groups.
    fn with_groups(&self) -> (&Growth, &[Draft]);

    /// Whether there are groups that the file does not name.
    fn discovers(&self) -> bool {
        false
    }

    /// Reads the files that it names, whose paths are relative to `folder`. What is wrong with a path is added to
    /// `problems`, what is wrong within a file is returned.
    fn load(&mut self, folder: &Path, problems: &mut Problems) -> Result<(), ConfigErrors> {
        self.growth().load(folder, problems)
    }
}

impl Default for Growth {
    fn default() -> Self {
        Growth {
            expander: Vec::new(),
            priorities: Vec::new(),
            prices: Prices::default(),
            limits: Limits::default(),
            balance_similar: true,
            balance_ignore_labels: Vec::new(),
            backoff: Backoff::default(),
            expendable_below: PendingPolicy::default().expendable_below.into(),
            scale_down: Shrinking::default(),
            slack: Slack::default(),
        }
    }
}

impl Growth {
    /// Reads the files that are named here.
    pub(super) fn load(&mut self, folder: &Path, problems: &mut Problems) -> Result<(), ConfigErrors> {
        self.prices.load(folder, problems)
    }

    /// What is wanted of these groups.
    pub(crate) fn policy(self, dry_run: bool, groups: Vec<Draft>) -> Policy {
        let groups = groups.into_iter().map(|Draft { group, scale_down, spare, places, .. }| {
            let priority = priorities::priority(&self.priorities, &group.name);
            let mut stated = group.stated;
            stated.extend(places.has("bootTimeout").then_some(Setting::BootTimeout));
            let strategy = match group.strategy {
                Strategy::Pending(pending) => {
                    stated.extend(scale_down.stated());
                    Strategy::Pending(Pending { scale_down: self.scale_down.of(scale_down), spare, ..pending })
                }
                other => other,
            };
            Group { priority, strategy, stated, ..group }
        });
        let groups: Vec<Group> = groups.collect();
        let shrink = groups.iter().any(|group| matches!(group.strategy, Strategy::Pending(_)));
        let similarity = Similarity { ignore_labels: self.balance_ignore_labels, ..Similarity::default() };
        let pending = PendingPolicy {
            expander: expander::chain(&self.expander),
            price: self.prices.formula(),
            prices: self.prices.sources(),
            limits: self.limits,
            balance: self.balance_similar.then_some(similarity),
            backoff: self.backoff,
            expendable_below: i32::try_from(self.expendable_below).unwrap_or(i32::MIN),
        };
        Policy {
            dry_run,
            groups,
            pending,
            scale_down: self.scale_down.shared().filter(|_| shrink),
            slack: self.slack.policy,
        }
    }
}

/// Adds the keys to the top of a file.
pub(crate) fn keys<F: Grows + 'static>(file: Record<F>) -> Record<F> {
    file.field(
        "expander",
        expander::kind(),
        |file| &mut file.growth().expander,
        "How groups with the strategy `pending` that could take the same pods are compared; a later \
         expander decides where all earlier ones tie. Left out: `price` where the price of some group is \
         known, then `least-waste`.",
    )
    .field(
        "priorities",
        priorities::kind(),
        |file| &mut file.growth().priorities,
        "For the expander `priority`: regular expressions for names of groups, under a number; the \
         highest number wins. An expression matches anywhere in a name. A group that none matches comes \
         last.",
    )
    .field("prices", prices::kind(), |file| &mut file.growth().prices, "For the expander `price`: what machines cost.")
    .field("limits", limits::kind(), |file| &mut file.growth().limits, "Limits of the whole cluster.")
    .field(
        "balanceSimilar",
        flag(),
        |file| &mut file.growth().balance_similar,
        "Share new nodes out among groups with the strategy `pending` that are alike, such as those that \
         differ in nothing but their zone. Groups whose prices differ by more than 5 % share no nodes.",
    )
    .field(
        "balanceIgnoreLabels",
        list(text()),
        |file| &mut file.growth().balance_ignore_labels,
        "Keys of labels in which groups may differ and still be alike, besides those of zones, hosts and \
         node groups.",
    )
    .field("backoff", backoff::kind(), |file| &mut file.growth().backoff, "How long a group that fails is left alone.")
    .field(
        "expendablePodsBelowPriority",
        integer(i32::MIN.into(), i32::MAX.into()),
        |file| &mut file.growth().expendable_below,
        "Pods of a lower priority than this neither enlarge a group nor hold a node.",
    )
    .field(
        "scaleDown",
        scale_down::kind(),
        |file| &mut file.growth().scale_down,
        "When nodes of groups with the strategy `pending` go.",
    )
    .field("slack", slack::kind(), |file| &mut file.growth().slack, "Room that is kept free for pods to come.")
    .check(&["expander", "priorities"], |file, _, problems| {
        let (growth, _) = file.with_groups();
        expander::check(&growth.expander, !growth.priorities.is_empty(), problems);
    })
    .check(&["priorities", "groups"], |file, _, problems| {
        let (growth, groups) = file.with_groups();
        if !file.discovers() {
            priorities::check(&growth.priorities, groups, problems);
        }
    })
}
