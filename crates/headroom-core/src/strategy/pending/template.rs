//! What a new machine of a group will be like.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jiff::Timestamp;
use rustc_hash::FxHasher;

use super::daemon_sets::DaemonSets;
use crate::machines::{Observed, expected, has_started, usable};
use crate::memory::{GroupMemory, Stated};
use crate::policy::Group;
use crate::round::Round;
use crate::scale_down::{CANDIDATE_TAINT, DELETION_TAINT};
use crate::scheduling::HOSTNAME;
use crate::snapshot::{CloudGroup, Node, NodeView, SharedSpec, Taint, Template};
use crate::strategy::utilization::{FORCE_TAINT, REMOVAL_TAINT};

/// What a new machine will be like, and the pods that will run on it because it is there: those of DaemonSets and static
/// ones.
#[derive(Clone, Debug)]
pub(super) struct NewMachine {
    pub(super) template: Template,
    pub(super) source: TemplateSource,
    pub(super) daemon_sets: Vec<SharedSpec>,
    /// How many volumes of each CSI driver it can have attached, as far as a node tells.
    pub(super) attach_limits: Vec<(Arc<str>, u32)>,
}

/// Who says what a new machine will be like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateSource {
    /// This node of the group: the newest that is usable, or where nobody else knows anything the newest.
    Node(Arc<str>),
    /// The configuration.
    Config,
    /// The cloud.
    Cloud,
    /// A node that was there in an earlier round.
    Memory,
}

/// Taints that say that one node is on its way out.
const OWN: [&str; 4] = [REMOVAL_TAINT, FORCE_TAINT, DELETION_TAINT, CANDIDATE_TAINT];

/// Taints that Kubernetes puts on nodes by itself, for what is wrong with one node and not with its kind.
const PASSING: &str = "node.kubernetes.io/";

/// The same, while the cloud's controller has not seen the node.
const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";

/// The template of `group`: its newest usable node, or else what the user, the cloud or memory say, or at last its newest
/// node that is not usable. It is worked out anew in each round, so that a change of the group's machines is seen with
/// the first new node.
pub(super) fn new_machine(
    round: &Round<'_>,
    observed: &Observed<'_, '_>,
    daemon_sets: &DaemonSets,
    memory: &mut GroupMemory,
) -> Option<NewMachine> {
    let Observed { group, cloud, nodes, .. } = *observed;
    let stated = || Some((group.template.clone()?, TemplateSource::Config));
    let from_cloud = || Some((cloud?.template.clone()?, TemplateSource::Cloud));
    let stated = stated().or_else(from_cloud);
    let changed = note_change(stated.as_ref().map(|(template, _)| template), memory, round.now);
    if let Some(view) = newest(round.now, group, cloud, nodes, memory).filter(|view| view.node.created >= changed) {
        let template = template_of(group, view.node);
        memory.template = Some(template.clone());
        let daemon_sets = daemon_sets.on(round.snapshot, &template, Some(view));
        let source = TemplateSource::Node(Arc::clone(&view.node.name));
        let attach_limits = round.snapshot.attach_limits(&view.node.name).to_vec();
        return Some(NewMachine { template, source, daemon_sets, attach_limits });
    }
    let remembered = || Some((memory.template.clone()?, TemplateSource::Memory));
    let (mut template, source) = stated.or_else(remembered).or_else(|| of_unusable(group, nodes))?;
    // What the user leaves out the cloud may know, such as the zone. And a node of the group carries the labels by which the
    // group is told apart, whatever the template says.
    let from_cloud = cloud.and_then(|cloud| cloud.template.as_ref()).map(|template| template.labels.iter());
    template.labels =
        from_cloud.into_iter().flatten().chain(template.labels.iter()).chain(group.select.labels.iter()).collect();
    template.taints.retain(|taint| stays(group, taint));
    let daemon_sets = daemon_sets.on(round.snapshot, &template, None);
    Some(NewMachine { template, source, daemon_sets, attach_limits: Vec::new() })
}

/// What the newest node tells that is not usable: it may lack something yet, but it is all that there is.
fn of_unusable(group: &Group, nodes: &[NodeView<'_>]) -> Option<(Template, TemplateSource)> {
    let telling = nodes.iter().filter(|view| !view.node.deleting && view.node.allocatable.cpu > 0);
    let newest = telling.max_by_key(|view| (view.node.created, &*view.node.name))?;
    Some((template_of(group, newest.node), TemplateSource::Node(Arc::clone(&newest.node.name))))
}

/// When the template that the user or the cloud states last became another one, None when it never did. Nodes that are
/// older say nothing about the next one.
fn note_change(stated: Option<&Template>, memory: &mut GroupMemory, now: Timestamp) -> Option<Timestamp> {
    let hash = stated.map(|template| {
        let mut hasher = FxHasher::default();
        template.hash(&mut hasher);
        hasher.finish()
    });
    memory.stated = hash.map(|hash| match memory.stated {
        Some(known) if known.hash == hash => known,
        Some(_) => Stated { hash, changed: Some(now) },
        None => Stated { hash, changed: None },
    });
    memory.stated.and_then(|stated| stated.changed)
}

/// The newest node that is what nodes of the group are like once they have started. One that still lacks a device of
/// its kind after its time is what they are like now.
fn newest<'n, 'a>(
    now: Timestamp,
    group: &Group,
    cloud: Option<&CloudGroup>,
    nodes: &'n [NodeView<'a>],
    memory: &GroupMemory,
) -> Option<&'n NodeView<'a>> {
    let expected = expected(group, cloud, memory);
    let is_old = |node: &Node| node.created.is_none_or(|created| now.duration_since(created) >= group.boot_timeout);
    let counts =
        |node: &Node| !node.deleting && (usable(group, expected, node) || (is_old(node) && has_started(group, node)));
    let counting = nodes.iter().filter(|view| counts(view.node));
    counting.max_by_key(|view| (view.node.created, &*view.node.name))
}

/// What a node says about others like it: nothing that is its own.
fn template_of(group: &Group, node: &Node) -> Template {
    let labels = node.labels.iter().filter(|(key, _)| *key != HOSTNAME);
    Template {
        allocatable: node.allocatable.clone(),
        capacity: node.capacity.clone(),
        labels: labels.collect(),
        taints: node.taints.iter().filter(|taint| stays(group, taint)).cloned().collect(),
    }
}

/// Whether a taint says something about nodes of a kind: neither that this one is on its way out, nor what is wrong with it.
pub(crate) fn stays_on_nodes(taint: &Taint) -> bool {
    let key = &*taint.key;
    !(OWN.contains(&key) || key == UNINITIALIZED || key.starts_with(PASSING))
}

/// Whether a taint is still on a node of the group once it is usable.
fn stays(group: &Group, taint: &Taint) -> bool {
    let key = &*taint.key;
    stays_on_nodes(taint) && group.startup_taints.iter().all(|known| **known != *key)
}
