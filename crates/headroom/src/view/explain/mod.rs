//! The full reasoning for one thing: everything that the round knows of it, in the order in which one would ask.

mod demand;
mod group;
mod help;
mod node;
mod pending;
mod placing;
mod pod;
mod pool;
mod room;
mod slack;
mod standing;

pub use group::group;
pub use node::node;
pub use pod::pod;
pub use slack::slack;

use headroom_core::machines::{Identities, Observed, machines};
use headroom_core::membership::Membership;
use headroom_core::memory::GroupMemory;
use headroom_core::plan::{Refusal, Subject};
use headroom_core::policy::{Group, Strategy};
use headroom_core::snapshot::{ClassView, NodeView, PodView};
use headroom_core::strategy::utilization::Nodes;
use headroom_core::wake::Wake;

use super::actions::action;
use super::refusals::refusal;
use crate::dump::Round;

/// What can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Where it may run, which group it counts for, and what would help it.
    Pod,
    /// Which group it is in, and why it is kept or removed.
    Node,
    /// What it has, what is asked of it, what it wants and what holds it back.
    Group,
    /// The room that is kept free for pods to come: every placeholder, why it is wanted and where it is.
    Slack,
}

/// The full reasoning for the thing of this kind and name; of slack the name is a part of what a placeholder is called, and
/// may be left out.
pub fn explain(round: &Round, kind: Kind, name: Option<&str>) -> Result<String, NotFound> {
    match kind {
        Kind::Pod => pod(round, name.unwrap_or_default()),
        Kind::Node => node(round, name.unwrap_or_default()),
        Kind::Group => group(round, name.unwrap_or_default()),
        Kind::Slack => slack(round, name),
    }
}

/// There is nothing of that name.
#[derive(Debug, thiserror::Error)]
#[error("{problem}; hint: {hint}")]
pub struct NotFound {
    problem: String,
    hint: String,
}

/// The nodes of a group, each in the list of what it is good for.
fn sorted_nodes<'r>(round: &'r Round, group: &Group) -> Nodes<'r> {
    let membership = Membership::of(round.snapshot(), &round.policy);
    let at = round.policy.groups.iter().position(|known| known.name == group.name);
    let nodes = at.and_then(|at| membership.nodes.get(at)).map_or(&[][..], Vec::as_slice);
    let disputed: Vec<NodeView<'_>> = membership.disputed_nodes.iter().map(|(view, _)| *view).collect();
    let cloud = round.snapshot().group(&group.name);
    // A dump comes with no memory and the plan is made: what is noted here is of no use to anybody.
    let (mut memory, mut wake) = (GroupMemory::default(), Wake::new(round.plan.at));
    let everywhere = Identities::of(round.snapshot().nodes().map(|view| view.node));
    let observed = Observed { group, cloud, nodes, disputed: &disputed, everywhere: &everywhere };
    let marked = round.before.group(&group.name).marked;
    Nodes::sort(nodes, &machines(&observed, &mut memory, round.plan.at, &mut wake), &marked)
}

/// Whether the round had what it needs to decide about a group.
fn is_judged(round: &Round, group: &Group) -> bool {
    match group.strategy {
        Strategy::Utilization(_) => round.plan.report.group(&group.name).is_some_and(|report| !report.usage.is_empty()),
        Strategy::MemoryPool(_) | Strategy::CpuPool(_) => {
            round.plan.report.group(&group.name).is_some_and(|report| report.sizing.is_some())
        }
        Strategy::Pending(_) => round.inquire().is_some_and(|inquiry| inquiry.group(&group.name).is_some()),
    }
}

/// The pods that are equal to `pod`.
fn class_of<'r>(round: &'r Round, pod: &PodView<'_>) -> Option<ClassView<'r>> {
    round.snapshot().classes().find(|class| class.id == pod.class)
}

/// The pod called `namespace/name`.
fn named<'r>(round: &'r Round, name: &str) -> Option<PodView<'r>> {
    let (namespace, name) = name.split_once('/')?;
    round.snapshot().pod(namespace, name)
}

/// What is done in a group.
fn actions_in(round: &Round, group: &str) -> Vec<String> {
    let actions = round.plan.actions.iter().filter(|planned| &*planned.group == group);
    actions.map(|planned| action(round, planned)).collect()
}

/// Refusals about something that `about` accepts.
fn refusals_about(round: &Round, about: impl Fn(&Subject) -> bool) -> Vec<&Refusal> {
    round.plan.report.refusals.iter().filter(|refusal| about(&refusal.subject)).collect()
}

fn shown(round: &Round, refusals: &[&Refusal]) -> Vec<String> {
    refusals.iter().map(|of| refusal(of, round.policy.runs_on())).collect()
}
