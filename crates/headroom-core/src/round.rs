//! What a round collects while it decides.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use jiff::Timestamp;

use crate::machines::Identities;
use crate::memory::Memory;
use crate::plan::{Action, Planned, Reason, Refusal, Report, Subject, Warning, Why};
use crate::policy::{Group, Mode, Policy};
use crate::snapshot::{OfNodes, Snapshot};
use crate::wake::Wake;

/// The inputs of a round and what has been decided so far.
pub(crate) struct Round<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) policy: &'a Policy,
    /// As the round before left it.
    pub(crate) memory: &'a Memory,
    pub(crate) now: Timestamp,
    /// The nodes of the whole cluster, by what they are known by.
    pub(crate) identities: Rc<Identities<'a>>,
    pub(crate) wake: Wake,
    pub(crate) actions: Vec<Planned>,
    pub(crate) report: Report,
    /// Nodes that may go if nothing comes to them, with the order in which pods go there when no other node has room.
    pub(crate) idle: OfNodes<u32>,
    /// Nodes on their way out that would stay if pods came to them.
    pub(crate) leaving: BTreeSet<Arc<str>>,
    /// Why nothing may be removed in this round, if so.
    pub(crate) holds_removal: Option<Why>,
}

impl<'a> Round<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, policy: &'a Policy, memory: &'a Memory, now: Timestamp) -> Self {
        Round {
            snapshot,
            policy,
            memory,
            now,
            identities: Rc::new(Identities::of(snapshot.nodes().map(|view| view.node))),
            wake: Wake::new(now),
            actions: Vec::new(),
            report: Report::default(),
            idle: OfNodes::default(),
            leaving: BTreeSet::new(),
            holds_removal: None,
        }
    }

    pub(crate) fn act(&mut self, group: &Group, action: Action, reason: Reason) {
        let dry_run = self.only_shows(group);
        self.actions.push(Planned { group: Arc::clone(&group.name), action, reason, dry_run });
    }

    /// Whether what is decided about `group` is shown and not carried out.
    pub(crate) fn only_shows(&self, group: &Group) -> bool {
        self.policy.only_shows(group)
    }

    pub(crate) fn refuse(&mut self, subject: Subject, why: Why) {
        self.report.refusals.push(Refusal { subject, why });
    }

    pub(crate) fn refuse_group(&mut self, group: &Group, why: Why) {
        self.refuse(Subject::Group(Arc::clone(&group.name)), why);
    }

    pub(crate) fn warn(&mut self, warning: Warning) {
        self.report.warnings.push(warning);
    }

    /// Whether something may be removed from `group`, or why not.
    pub(crate) fn may_remove(&self, group: &Group) -> Result<(), Why> {
        match (&self.holds_removal, group.mode) {
            (Some(why), _) => Err(why.clone()),
            (None, Mode::GrowOnly) => Err(Why::GrowOnly),
            (None, _) => Ok(()),
        }
    }
}
