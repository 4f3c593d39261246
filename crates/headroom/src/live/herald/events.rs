//! What is told of plans and of what came of them: the reasons are Cluster Autoscaler's words, where it has one, since
//! alerts go by them.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_adapters::bulletin::{About, Event, Tone};
use headroom_adapters::notebook::{NotebookError, Pause, Pauses};
use headroom_core::backoff::Cause;
use headroom_core::limits::Bound;
use headroom_core::plan::{
    Action, EqualPods, Evict, GroupReport, Kept, Plan, Planned, Reason, Refusal, Report, ScaleUp, Subject, Unmovable,
    Waits, Why,
};
use headroom_core::policy::RunsOn;
use headroom_core::scale_down::CANDIDATE_TAINT;
use headroom_core::snapshot::{ClassId, ClassView, PodView, Snapshot};

use super::super::executor::{Failure, Outcome};
use super::super::hold::Hold;
use super::super::journal::chain;
use crate::view::words::count;

/// Of so many equal pods each is told.
const EQUAL: usize = 50;

/// The pods of a class of which more wait are not looked through in every round.
const MANY: u32 = 1_000;

/// So many pods are told in one round.
const PODS: usize = 200;

/// Something that happened once.
fn once(about: About, tone: Tone, reason: &'static str, message: String) -> Event {
    Event { about, tone, reason, message, lasting: None }
}

/// Something that is so for a while; `what` tells it from others of this reason.
fn lasting(about: About, tone: Tone, reason: &'static str, message: String, what: &str) -> Event {
    Event { about, tone, reason, message, lasting: Some(what.into()) }
}

/// The enlargements of a plan, each with what its pods are told once it is asked for.
pub(super) fn of_resizes(plan: &Plan, snapshot: &Snapshot) -> BTreeMap<Arc<str>, Vec<Event>> {
    let resized = plan.to_execute().filter(|planned| matches!(planned.action, Action::Resize { .. }));
    let mut pods: BTreeMap<Arc<str>, Vec<Event>> =
        resized.map(|planned| (Arc::clone(&planned.group), of_starved(plan, planned))).collect();
    let waiting = if pods.is_empty() { Waiting::default() } else { Waiting::of(snapshot) };
    for ScaleUp { pods: equal, nodes, .. } in &plan.report.scale_ups {
        let resized = nodes.iter().find(|(group, _)| pods.contains_key(group));
        let Some(events) = resized.and_then(|(group, _)| pods.get_mut(group)) else { continue };
        let groups = nodes.iter().filter_map(|(group, _)| plan.report.group(group));
        let groups: Vec<String> = groups.map(grown).collect();
        let message = format!("pod triggered scale-up: [{}]", groups.join(" "));
        let told = equal.iter().flat_map(|equal| waiting.first(equal, snapshot));
        let room = PODS.saturating_sub(events.len());
        events.extend(told.take(room).map(|pod| once(pod, Tone::Normal, "TriggeredScaleUp", message.clone())));
    }
    pods
}

/// `{web 3->5 (max: 10)}`
fn grown(group: &GroupReport) -> String {
    let GroupReport { name, size, planned, max, .. } = group;
    let max = max.map(|max| format!(" (max: {max})")).unwrap_or_default();
    format!("{{{name} {size}->{planned}{max}}}")
}

/// The pod for which a group that follows its load grows all the same.
fn of_starved(plan: &Plan, planned: &Planned) -> Vec<Event> {
    let (Reason::Starved { pod, .. }, Some(group)) = (&planned.reason, plan.report.group(&planned.group)) else {
        return Vec::new();
    };
    let message = format!("pod triggered scale-up: [{}]", grown(group));
    named(pod).map(|pod| once(pod, Tone::Normal, "TriggeredScaleUp", message)).into_iter().collect()
}

/// What does not happen, and why: first of Headroom, then of nodes, then of pods.
pub(super) fn of_refusals(report: &Report, snapshot: &Snapshot) -> Vec<Event> {
    let refusals = || report.refusals.iter();
    let mut events: Vec<Event> = refusals().filter_map(of_state).collect();
    events.extend(node_limit(report));
    events.extend(refusals().filter_map(of_kept_node));
    let pods = refusals().filter_map(|Refusal { subject, why }| match subject {
        Subject::Pods { first, count } => Some((EqualPods { first: first.clone(), count: *count }, why)),
        _ => None,
    });
    let pods: Vec<(EqualPods, &Why)> = pods.collect();
    let waiting = if pods.is_empty() { Waiting::default() } else { Waiting::of(snapshot) };
    // The first of each kind come before the others.
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for (equal, why) in &pods {
        if first.len() >= PODS {
            break;
        }
        let hint = why.hint(RunsOn::Kubernetes).map(|hint| format!("; hint: {hint}")).unwrap_or_default();
        let message = format!("pod didn't trigger scale-up: {why}{hint}");
        let tell = |pod| lasting(pod, Tone::Normal, "NotTriggerScaleUp", message.clone(), "");
        let mut told = waiting.last(equal, snapshot).into_iter().map(tell);
        first.extend(told.next());
        others.extend(told.take(PODS.saturating_sub(others.len())));
    }
    events.extend(first.into_iter().chain(others).take(PODS));
    events
}

/// What keeps a group or the cluster from growing or shrinking.
fn of_state(Refusal { subject, why }: &Refusal) -> Option<Event> {
    let (place, what) = match subject {
        Subject::Group(group) => (format!("group {group}: "), &**group),
        Subject::Cluster => (String::new(), ""),
        _ => return None,
    };
    let message = format!("{place}{why}");
    let warn = |reason| lasting(About::Headroom, Tone::Warning, reason, message.clone(), what);
    Some(match why {
        Why::BackingOff { cause: Cause::NeverCame, .. } => warn("ScaleUpTimedOut"),
        Why::BackingOff { .. } | Why::BreakerOpen { .. } => warn("ScaleUpFailed"),
        Why::ManyUnready { .. } | Why::SuddenDrop { .. } | Why::GroupUnhealthy { .. } => warn("ClusterUnhealthy"),
        _ => return None,
    })
}

/// The limit of all nodes, once for all pods that it keeps waiting.
fn node_limit(report: &Report) -> Option<Event> {
    let bound = report.refusals.iter().find_map(|refusal| match &refusal.why {
        Why::GroupCannotGrow { bound: Some(bound @ Bound::Nodes { .. }), .. } => Some(bound),
        _ => None,
    })?;
    Some(lasting(About::Headroom, Tone::Warning, "MaxNodesTotalReached", bound.to_string(), ""))
}

/// A node that is not needed, and stays for a disruption budget.
fn of_kept_node(Refusal { subject, why }: &Refusal) -> Option<Event> {
    let (Subject::Node(node), Why::Kept { why }) = (subject, why) else { return None };
    let by_budget = match &**why {
        Kept::Pod { because, .. } => matches!(
            because,
            Unmovable::Budget { .. } | Unmovable::BudgetUsed { .. } | Unmovable::SeveralBudgets { .. }
        ),
        Kept::Draining { waits, .. } => matches!(**waits, Waits::Eviction { .. }),
        _ => false,
    };
    let message = || format!("node is not removed: {why}");
    by_budget.then(|| lasting(About::Node(Arc::clone(node)), Tone::Normal, "ScaleDownBlocked", message(), ""))
}

/// What came of an action.
pub(super) fn of_outcome(Outcome { planned, result }: &Outcome) -> Vec<Event> {
    match result {
        Ok(()) => of_success(planned),
        // Waiting for a budget is what a drain is for, and told of the node that stays. Pods that went are told.
        Err(Failure::Evictions { evicted, .. }) => of_evictions(planned, evicted),
        Err(failure) => of_failure(planned, failure).into_iter().collect(),
    }
}

/// The pods of a drain that have been evicted.
fn of_evictions(planned: &Planned, pods: &[Evict]) -> Vec<Event> {
    let Some(node) = planned.action.node().filter(|_| !pods.is_empty()) else { return Vec::new() };
    let message = format!("evicted {}: {}", count(pods.len(), "pod"), planned.reason);
    let about = About::Node(node.into());
    let mut events = vec![lasting(about, Tone::Normal, "ScaleDown", message, "drain")];
    events.extend(pods.iter().take(PODS).map(|pod| {
        let about = About::Pod { namespace: Arc::clone(&pod.namespace), name: pod.name.clone() };
        once(about, Tone::Normal, "ScaleDown", format!("evicted from node {node}, which is being removed"))
    }));
    events
}

fn of_success(planned: &Planned) -> Vec<Event> {
    let Planned { group, action, reason, .. } = planned;
    let tell = |about, reason, message| once(about, Tone::Normal, reason, message);
    let of_node = |node: &Arc<str>, reason, message| tell(About::Node(Arc::clone(node)), reason, message);
    match action {
        Action::Resize { from, to } if to > from => {
            let message = format!("Scale-up: group {group} size set to {to} instead of {from}: {reason}");
            vec![tell(About::Headroom, "ScaledUpGroup", message)]
        }
        Action::Resize { from, to } => {
            let message = format!("Scale-down: group {group} size set to {to} instead of {from}: {reason}");
            vec![tell(About::Headroom, "ScaleDown", message)]
        }
        Action::Taint { taint, .. } if *taint.key == *CANDIDATE_TAINT => Vec::new(),
        Action::Untaint { key, .. } if **key == *CANDIDATE_TAINT => Vec::new(),
        Action::Taint { node, .. } => vec![of_node(node, "ScaleDown", format!("marked for removal: {reason}"))],
        Action::Untaint { node, .. } => {
            let about = About::Node(Arc::clone(node));
            vec![match reason {
                Reason::DrainGivenUp { .. } => {
                    once(about, Tone::Warning, "ScaleDownFailed", format!("drain given up: {reason}"))
                }
                _ => tell(about, "ScaleDownCancelled", format!("no longer marked for removal: {reason}")),
            }]
        }
        Action::Drain { pods, .. } => of_evictions(planned, pods),
        Action::Remove { node, pods, .. } => {
            let (word, how) = match reason {
                Reason::Drained { .. } | Reason::HardGraceOver { .. } => ("ScaleDown", "node"),
                _ => ("ScaleDownEmpty", "empty node"),
            };
            let lost = if pods.is_empty() { String::new() } else { format!(" with {}", count(pods.len(), "pod")) };
            vec![
                tell(
                    About::Headroom,
                    word,
                    format!("Scale-down: {how} {node} of group {group} removed{lost}: {reason}"),
                ),
                of_node(node, "ScaleDown", format!("removed{lost}: {reason}")),
            ]
        }
        Action::WriteOff { provider_id, replace } => {
            let again = if *replace { ", another is to come" } else { "" };
            let message = format!("Removed unregistered machine {provider_id} of group {group}{again}: {reason}");
            vec![tell(About::Headroom, "DeleteUnregistered", message)]
        }
    }
}

fn of_failure(Planned { group, action, .. }: &Planned, failure: &Failure) -> Option<Event> {
    let failure = chain(failure);
    let warn = |about, reason, message, what: &str| Some(lasting(about, Tone::Warning, reason, message, what));
    match action {
        Action::Resize { from, to } if to > from => {
            let message = format!("Scale-up: group {group} {from} -> {to} failed: {failure}");
            warn(About::Headroom, "FailedToScaleUpGroup", message, group)
        }
        Action::Resize { from, to } => {
            let message = format!("Scale-down: group {group} {from} -> {to} failed: {failure}");
            warn(About::Headroom, "ScaleDownFailed", message, group)
        }
        Action::WriteOff { provider_id, .. } => {
            let message = format!("Failed to remove unregistered machine {provider_id} of group {group}: {failure}");
            warn(About::Headroom, "DeleteUnregisteredFailed", message, provider_id)
        }
        Action::Taint { node, .. }
        | Action::Untaint { node, .. }
        | Action::Drain { node, .. }
        | Action::Remove { node, .. } => {
            warn(About::Node(Arc::clone(node)), "ScaleDownFailed", format!("{action}: {failure}"), "")
        }
    }
}

/// What keeps all plans from being carried out has changed.
pub(super) fn of_hold(before: Option<&Hold>, after: Option<&Hold>) -> Vec<Event> {
    let word = |hold: Option<&Hold>| hold.map(Hold::word);
    let event = match after {
        _ if word(before) == word(after) => return Vec::new(),
        None => once(About::Headroom, Tone::Normal, "Resumed", "plans are carried out again".to_owned()),
        Some(hold) => {
            let (tone, reason) = match hold {
                Hold::DryRun => (Tone::Normal, "DryRun"),
                Hold::Paused => (Tone::Normal, "Paused"),
                Hold::Blind { .. } => (Tone::Warning, "Blind"),
                Hold::Rival { .. } => (Tone::Warning, "OtherAutoscaler"),
                Hold::NotRemembered { .. } => (Tone::Warning, "NotRemembered"),
            };
            lasting(About::Headroom, tone, reason, format!("nothing is carried out: {hold}"), "")
        }
    };
    vec![event]
}

/// Users have paused or resumed groups. That everything is paused keeps all plans from being carried out.
pub(super) fn of_pauses(before: &Pauses, after: &Pauses) -> Vec<Event> {
    let tell = |reason, message| once(About::Headroom, Tone::Normal, reason, message);
    let new = after.groups.iter().filter(|(group, pause)| before.groups.get(*group) != Some(pause));
    let mut events: Vec<Event> = new
        .map(|(group, pause)| match pause {
            Pause::Open => tell("Paused", format!("group {group} is paused; hint: headroom resume {group}")),
            Pause::Until(until) => tell("Paused", format!("group {group} is paused until {until}")),
        })
        .collect();
    let gone = before.groups.keys().filter(|group| !after.groups.contains_key(*group));
    events.extend(gone.map(|group| tell("Resumed", format!("group {group} is no longer paused"))));
    events
}

/// The configuration has errors.
pub(super) fn of_config(errors: &str) -> Event {
    let message = format!("the new configuration has errors, so the old one stays: {errors}");
    once(About::Headroom, Tone::Warning, "ConfigInvalid", message)
}

/// What was remembered is lost.
pub(super) fn of_lost_memory(error: &NotebookError) -> Event {
    let message = format!("{error}: every timer that holds back a removal starts now");
    once(About::Headroom, Tone::Warning, "MemoryLost", message)
}

/// The pods that wait, by class.
#[derive(Default)]
struct Waiting<'a>(BTreeMap<ClassId, ClassView<'a>>);

impl<'a> Waiting<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        Waiting(snapshot.classes().filter(|class| class.pending() > 0).map(|class| (class.id, class)).collect())
    }

    /// Those that get a place: the first of their class.
    fn first(&self, equal: &EqualPods, snapshot: &Snapshot) -> Vec<About> {
        self.pods(equal, snapshot, |waiting, wanted| &waiting[..wanted])
    }

    /// Those that get none: the last of their class, since others of it may get one.
    fn last(&self, equal: &EqualPods, snapshot: &Snapshot) -> Vec<About> {
        self.pods(equal, snapshot, |waiting, wanted| &waiting[waiting.len() - wanted..])
    }

    /// Equal pods by name. Of a class with very many only the first is told of, where all of it are meant.
    fn pods(
        &self,
        EqualPods { first, count }: &EqualPods,
        snapshot: &Snapshot,
        choose: impl for<'p> Fn(&'p [PodView<'a>], usize) -> &'p [PodView<'a>],
    ) -> Vec<About> {
        let found = first.split_once('/').and_then(|(namespace, name)| snapshot.pod(namespace, name));
        let class = found.and_then(|found| self.0.get(&found.class));
        match class {
            Some(class) if class.pending() <= MANY => {
                let waiting = class.pending_pods();
                let wanted = usize::try_from(*count).unwrap_or(waiting.len()).min(waiting.len());
                choose(&waiting, wanted).iter().take(EQUAL).filter_map(|pod| named(&pod.full_name())).collect()
            }
            Some(class) if *count < class.pending() => Vec::new(),
            _ => named(first).into_iter().collect(),
        }
    }
}

/// The pod of this `namespace/name`.
fn named(full_name: &str) -> Option<About> {
    let (namespace, name) = full_name.split_once('/')?;
    Some(About::Pod { namespace: namespace.into(), name: name.into() })
}
