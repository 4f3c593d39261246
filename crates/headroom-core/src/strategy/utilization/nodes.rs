//! What the nodes of a group are good for, and the marks that say so (`spec/escalator.md` 1.4 and 2.4).

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::keys::{DRAINING, INELIGIBLE};
use crate::machines::Machines;
use crate::policy::{RunsOn, Utilization};
use crate::quantity::Totals;
use crate::snapshot::{Effect, Node, NodeView, Taint};

/// Marks a node for removal; the value is the unix time in seconds at which it was set. Escalator's key, so that a
/// cluster can move over without touching a node.
pub const REMOVAL_TAINT: &str = "atlassian.com/escalator";

/// Set by operators: remove the node as soon as it is empty.
pub const FORCE_TAINT: &str = "atlassian.com/escalator-force";

/// The nodes of a group, each in one list, by name.
#[derive(Debug, Default)]
pub struct Nodes<'a> {
    /// Neither cordoned nor marked, and not booting.
    pub in_service: Vec<NodeView<'a>>,
    /// Neither cordoned nor marked, registered and never usable yet.
    pub booting: Vec<NodeView<'a>>,
    /// Marked for removal.
    pub tainted: Vec<NodeView<'a>>,
    /// Marked by the force taint.
    pub force_tainted: Vec<NodeView<'a>>,
    /// Cordoned by somebody, whatever marks they carry.
    pub cordoned: Vec<NodeView<'a>>,
}

impl<'a> Nodes<'a> {
    /// Sorts nodes by the first of: cordoned, force taint, removal taint, booting, in service. A node of Nomad that is
    /// ineligible carries the removal mark if Headroom remembers it, `marked`, and was cordoned by somebody else otherwise.
    /// Nodes that are being deleted are left out.
    pub fn sort(nodes: &[NodeView<'a>], machines: &Machines, marked: &BTreeMap<Arc<str>, Timestamp>) -> Self {
        let mut sorted = Nodes::default();
        for view in nodes.iter().filter(|view| !view.node.deleting) {
            let node = view.node;
            let ineligible = is_ineligible(node);
            let list = if node.unschedulable || ineligible && !marked.contains_key(&node.name) {
                &mut sorted.cordoned
            } else if node.taint(FORCE_TAINT).is_some() {
                &mut sorted.force_tainted
            } else if ineligible || node.taint(REMOVAL_TAINT).is_some() {
                &mut sorted.tainted
            } else if machines.booting.contains(&node.name) {
                &mut sorted.booting
            } else {
                &mut sorted.in_service
            };
            list.push(*view);
        }
        sorted
    }

    /// Nodes that take pods now or will soon: those whose capacity counts.
    pub fn counting(&self) -> impl Iterator<Item = &NodeView<'a>> {
        self.in_service.iter().chain(&self.booting)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &NodeView<'a>> {
        self.counting().chain(&self.tainted).chain(&self.force_tainted).chain(&self.cordoned)
    }
}

/// The mark of a node that is to go, set at `now`.
pub(super) fn removal_mark(settings: &Utilization, now: Timestamp) -> Taint {
    if settings.runs_on == RunsOn::Nomad {
        return ineligible();
    }
    let effect = settings.taint_effect;
    Taint { key: REMOVAL_TAINT.into(), value: now.as_second().to_string().into(), effect }
}

/// Whether a node of Nomad gets no new work.
pub fn is_ineligible(node: &Node) -> bool {
    node.taint(INELIGIBLE).is_some() || node.taint(DRAINING).is_some()
}

/// Whether a node of Nomad gets no new tasks, whoever wanted that.
pub(crate) fn is_out_of_service(node: &Node) -> bool {
    node.unschedulable || is_ineligible(node)
}

/// What tasks have that are told to stop on a node of Nomad that gets no new work: they have been replaced, and their
/// replacements count where they are.
pub(crate) fn replaced_on(view: &NodeView<'_>) -> Totals {
    let mut replaced = Totals::default();
    if is_out_of_service(view.node) {
        let stopping = view.pods_unsorted().filter(|pod| pod.deleting && pod.blocks_removal());
        stopping.for_each(|pod| replaced += &pod.spec.requests);
    }
    replaced
}

/// When a node was marked for removal: None without the taint, an error with the value when that is no unix time.
pub fn tainted_at(node: &Node) -> Result<Option<Timestamp>, Box<str>> {
    let Some(taint) = node.taint(REMOVAL_TAINT) else { return Ok(None) };
    taint.instant().map(Some).ok_or_else(|| taint.value.clone())
}

/// What makes a node of Nomad ineligible.
pub(crate) fn ineligible() -> Taint {
    Taint { key: INELIGIBLE.into(), value: "".into(), effect: Effect::NoSchedule }
}

/// Oldest first; those without a creation time count as oldest, and equal ones go by name.
pub fn oldest_first(nodes: &mut [NodeView<'_>]) {
    nodes.sort_by(|a, b| (a.node.created, &a.node.name).cmp(&(b.node.created, &b.node.name)));
}

/// Newest first; equal ones go by name.
pub fn newest_first(nodes: &mut [NodeView<'_>]) {
    nodes.sort_by(|a, b| b.node.created.cmp(&a.node.created).then_with(|| a.node.name.cmp(&b.node.name)));
}
