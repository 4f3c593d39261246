//! What a plan does, in lines.

use headroom_core::plan::{Action, Planned};
use headroom_core::scale_down::CANDIDATE_TAINT;
use indexmap::IndexMap;

use super::words::{count, names};
use super::{caveats, with_hint};
use crate::dump::Round;

/// What is behind an action that is only shown.
const DRY_RUN: &str = " (dry run)";

/// The actions in order, with numbers. The marks that pods avoid where they can come last, those of a group in one line:
/// they decide nothing, and there may be as many as there are nodes.
pub(super) fn actions(round: &Round) -> Vec<String> {
    let mut lines = Vec::new();
    let mut marks: IndexMap<(&str, &str, bool), Vec<&str>> = IndexMap::new();
    for planned in &round.plan.actions {
        match mark(&planned.action) {
            Some((verb, node)) => marks.entry((&planned.group, verb, planned.dry_run)).or_default().push(node),
            None => lines.push(line(round, planned, said(round, planned.dry_run))),
        }
    }
    lines.extend(marks.into_iter().map(|((group, verb, dry_run), nodes)| {
        let dry_run = said(round, dry_run);
        format!("{group}: {verb} {} ({}){dry_run}", count(nodes.len(), "node"), names(&nodes))
    }));
    lines.into_iter().enumerate().map(|(at, line)| format!("{}. {line}", at + 1)).collect()
}

/// One action on one line, where nothing else says that it is only shown.
pub(super) fn action(round: &Round, planned: &Planned) -> String {
    line(round, planned, if planned.dry_run { DRY_RUN } else { "" })
}

/// What, why, and what could not be judged.
fn line(round: &Round, planned: &Planned, dry_run: &str) -> String {
    let Planned { group, action, reason, .. } = planned;
    let caveats = caveats::caveats(action, round.snapshot());
    let line = format!("{group}: {action}{dry_run} because {reason}");
    if caveats.is_empty() {
        return line;
    }
    with_hint(format!("{line}; {}", caveats.join("; ")), Some(caveats::HINT.to_owned()))
}

/// If the whole policy is a dry run, that is said once.
fn said(round: &Round, dry_run: bool) -> &'static str {
    if dry_run && !round.policy.dry_run { DRY_RUN } else { "" }
}

/// What an action does with the mark that pods avoid where they can, and on which node.
fn mark(action: &Action) -> Option<(&'static str, &str)> {
    match action {
        Action::Taint { node, taint } if &*taint.key == CANDIDATE_TAINT => Some(("let new pods avoid", node)),
        Action::Untaint { node, key } if &**key == CANDIDATE_TAINT => Some(("let new pods no longer avoid", node)),
        _ => None,
    }
}
