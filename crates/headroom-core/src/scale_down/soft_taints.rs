//! A mark that pods avoid where they can, on nodes that are not needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use rustc_hash::{FxHashMap, FxHashSet};

use super::look::Look;
use super::taints::{CANDIDATE_TAINT, candidate_taint};
use crate::membership::Membership;
use crate::plan::{Action, Reason};
use crate::round::Round;
use crate::snapshot::NodeView;

/// Sets the mark on idle nodes and takes it off others; where it is not wanted, what is left of it goes.
pub(super) fn set(
    round: &mut Round<'_>,
    look: &Look<'_>,
    membership: &Membership<'_>,
    idle: &BTreeMap<Arc<str>, Timestamp>,
) {
    // Left-overs are looked for everywhere, so what most nodes are not is asked first.
    let has_mark = |view: &&NodeView<'_>| view.node.taint(CANDIDATE_TAINT).is_some();
    let busy: FxHashSet<&str> = round.actions.iter().filter_map(|planned| planned.action.node()).collect();
    // Every node of the cluster is looked up here.
    let idle: FxHashMap<&str, Timestamp> = idle.iter().map(|(name, since)| (&**name, *since)).collect();
    let mut changes = Vec::new();
    for shrinking in &look.groups {
        let wanted = look.judge.policy.soft_taint && round.may_remove(shrinking.group).is_ok();
        let nodes: &[NodeView<'_>] = membership.nodes.get(shrinking.at).map_or(&[], Vec::as_slice);
        let nodes = nodes.iter().filter(|view| wanted || has_mark(view));
        for view in nodes.filter(|view| !view.node.deleting) {
            let since = idle.get(&*view.node.name).filter(|_| wanted);
            if since.is_some() == has_mark(&view) || busy.contains(&*view.node.name) {
                continue;
            }
            let node = Arc::clone(&view.node.name);
            let (action, reason) = match since {
                Some(since) => {
                    let reason = Reason::Unneeded { idle_for: round.now.duration_since(*since) };
                    (Action::Taint { node, taint: candidate_taint(round.now) }, reason)
                }
                None => (Action::Untaint { node, key: CANDIDATE_TAINT.into() }, Reason::NeededAgain),
            };
            changes.push((shrinking.group, action, reason));
        }
    }
    changes.into_iter().for_each(|(group, action, reason)| round.act(group, action, reason));
}
