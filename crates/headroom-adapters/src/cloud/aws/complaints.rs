//! What is not as it should be with groups, for the log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What was last said of each group, so that nothing is said in every round.
#[derive(Debug, Default)]
pub(super) struct Complaints(Mutex<Told>);

type Told = BTreeMap<(Arc<str>, About), Vec<String>>;

/// What is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    Group,
    Template,
    Launches,
    Options,
}

impl Complaints {
    /// Says what is wrong now, as far as it was not wrong before.
    pub(super) fn tell(&self, group: &Arc<str>, about: About, wrong: Vec<String>) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = told.insert((Arc::clone(group), about), wrong.clone()).unwrap_or_default();
        for wrong in wrong.iter().filter(|wrong| !before.contains(wrong)) {
            tracing::warn!(group = %group, "{wrong}");
        }
    }
}
