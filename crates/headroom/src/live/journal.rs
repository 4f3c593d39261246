//! The log: one line for each decision and for each thing that went wrong, with its numbers in fields.

use std::net::SocketAddr;
use std::sync::Arc;

use headroom_adapters::cloud::CloudError;
use headroom_adapters::cluster::ClusterError;
use headroom_adapters::notebook::NotebookError;
use headroom_core::plan::{Action, Plan, Planned};
use headroom_core::snapshot::Snapshot;
use tracing::{debug, error, info, warn};

use super::executor::{Failure, Outcome};
use super::hold::Hold;
use super::pilot::Flown;
use crate::view::called::called;

/// What a round decided. What was `said` of the round before is not said again, and what `waits` for something that is
/// under way is said when it begins. The answer is what has been said of this round.
pub(super) fn round(
    snapshot: &Snapshot,
    plan: &Plan,
    said: &[Planned],
    hold: Option<&Hold>,
    waits: impl Fn(&Planned) -> bool,
) -> Vec<Planned> {
    let mut now_said = Vec::new();
    for planned in &plan.actions {
        let is_new = !said.contains(planned);
        if is_new && hold.is_none() && waits(planned) {
            continue;
        }
        if is_new {
            decision(snapshot, planned, hold);
        }
        now_said.push(planned.clone());
    }
    for warning in &plan.report.warnings {
        debug!(%warning);
    }
    for refusal in &plan.report.refusals {
        debug!(subject = %refusal.subject, "{}", refusal.why);
    }
    now_said
}

/// That there was a round.
pub(super) fn flown(flown: &Flown) {
    let Flown { number, deciding, begun, .. } = flown;
    debug!(round = number, deciding_ms = deciding.as_millis(), begun, "round");
}

fn decision(snapshot: &Snapshot, planned: &Planned, hold: Option<&Hold>) {
    let Planned { group, action, reason, dry_run } = planned;
    let carried_out = hold.is_none() && !dry_run;
    let (from, to) = match action {
        Action::Resize { from, to } => (Some(from), Some(to)),
        _ => (None, None),
    };
    let held_by = hold.map(Hold::word);
    let text = called(snapshot, &format!("{action}: {reason}"));
    info!(%group, from, to, node = action.node(), carried_out, held_by, "{text}");
}

/// What came of an action.
pub(super) fn outcome(snapshot: &Snapshot, outcome: &Outcome) {
    let Outcome { planned, result } = outcome;
    let (group, action) = (&planned.group, called(snapshot, &planned.action.to_string()));
    let node = planned.action.node();
    match result {
        Ok(()) => debug!(%group, node, "done: {action}"),
        // Waiting for a budget is what a drain is for.
        Err(failure @ Failure::Evictions { .. }) => info!(%group, node, "{action}: {failure}"),
        Err(failure) => warn!(%group, node, "not done: {action}: {}", chain(failure)),
    }
}

/// Nothing is carried out, or is again.
pub(super) fn hold(hold: Option<&Hold>) {
    match hold {
        Some(Hold::DryRun) => info!("nothing is carried out: {}", Hold::DryRun),
        Some(hold) => warn!("nothing is carried out: {hold}"),
        None => info!("plans are carried out"),
    }
}

/// An object was left out or read otherwise.
pub(super) fn misread(warning: &str) {
    warn!("{warning}");
}

/// A cloud did not say what its groups are.
pub(super) fn cloud_unread(groups: &[Arc<str>], error: &CloudError) {
    let groups = groups.join(", ");
    warn!(groups, "the cloud was not read: {}", chain(error));
}

/// What was remembered is lost.
pub(super) fn memory_lost(error: &NotebookError) {
    error!("{error}: every timer that holds back a removal starts now");
}

/// What was remembered cannot be read now.
pub(super) fn memory_unread(error: &NotebookError) {
    warn!("what was remembered cannot be read yet, so no round is made: {}", chain(error));
}

/// What is paused cannot be read now.
pub(super) fn pauses_unread(error: &NotebookError) {
    warn!("what is paused cannot be read: what was paused before counts: {}", chain(error));
}

/// Whether this instance acts has changed.
pub(super) fn leads(leads: bool) {
    if leads {
        info!("this instance leads");
    } else {
        warn!("this instance does not lead any more");
    }
}

/// Whether other autoscalers are at work is not known.
pub(super) fn rivals_unread(error: &ClusterError) {
    warn!("whether another autoscaler is at work is not known: {}", chain(error));
}

/// The next instance has to wait until the lease is over.
pub(super) fn not_released(error: &ClusterError) {
    warn!("the lease was not given back, so the next instance waits until it is over: {}", chain(error));
}

/// Groups are offered to other autoscalers.
pub(super) fn offered(address: SocketAddr, dry_run: bool) {
    info!(%address, "groups are offered");
    if dry_run {
        warn!("every change is refused: dryRun is set; hint: set `dryRun: false`");
    }
}

/// The HTTP interface ended.
pub(super) fn not_served(error: &std::io::Error) {
    error!("the HTTP interface ended: {error}");
}

/// What was asked for by objects of the cluster was not answered there.
pub(super) fn not_reported(error: &ClusterError) {
    warn!("the status of an object was not written: {}", chain(error));
}

/// Users were not told of something in the cluster.
pub(super) fn not_told(error: &ClusterError) {
    warn!("an event or the status was not written: {}", chain(error));
}

/// Some of what there was to tell is left out.
pub(super) fn behind() {
    debug!("events are written more slowly than they come, so some are left out");
}

/// A recording cannot be written.
pub(super) fn not_recorded(error: &std::io::Error) {
    error!("rounds are not recorded any more: {error}");
}

/// The program ended before everything was done.
pub(super) fn cut_off() {
    warn!("some actions were still under way; the next instance sees how far they came");
}

/// There is another configuration.
pub(super) fn config_changed() {
    info!("the configuration has changed and counts from the next round on");
}

/// Somebody asked to read the configuration again, and it is the same.
pub(super) fn config_unchanged() {
    info!("the configuration is the same as before");
}

/// The configuration has errors.
pub(super) fn config_broken(errors: &str) {
    error!("the new configuration has errors, so the old one stays:\n{errors}");
}

/// A cloud has other groups than before.
pub(super) fn discovered(cloud: &str, before: &[Arc<str>], now: &[Arc<str>]) {
    let new: Vec<&str> = now.iter().filter(|name| !before.contains(name)).map(|name| &**name).collect();
    let gone: Vec<&str> = before.iter().filter(|name| !now.contains(name)).map(|name| &**name).collect();
    info!(new = new.join(", "), gone = gone.join(", "), "{cloud} has {} groups", now.len());
}

/// A cloud does not say which groups it has.
pub(super) fn not_discovered(cloud: &str, error: &str) {
    warn!("it is not known whether {cloud} has other groups, so those that were found before stay: {error}");
}

/// A group that was found has the name of another one.
pub(super) fn name_taken(group: &str) {
    let hint = "list one of the two under `groups` with another name";
    warn!(group, "a group that was found is left alone: another one has its name; hint: {hint}");
}

/// An error with all that led to it.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| {
        let cause = cause.to_string();
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}
