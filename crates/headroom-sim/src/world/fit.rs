//! Whether a pod can run on a node, and how good a place it is.
//!
//! The rules are those that Headroom decides by (`headroom_core::scheduling`): a simulated scheduler with rules of its
//! own would show differences between the two, and none of Headroom's mistakes. What depends on labels and taints alone
//! is answered once for a class of pods and a shape of nodes.

use headroom_core::quantity::{Resources, Totals};
use headroom_core::scheduling::{HOSTNAME, Host, allows, asks_by_name, preference};
use headroom_core::snapshot::{Labels, Node, PodSpec, Snapshot, Taint, Toleration};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::scenario::Placement;

/// What the DaemonSet controller lets its pods tolerate besides what they tolerate themselves.
const OF_DAEMON_SETS: [&str; 6] =
    ["not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"];

/// Nodes that no static constraint tells apart, unless it goes by their names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shape {
    labels: Labels,
    taints: Vec<Taint>,
    unschedulable: bool,
}

/// All shapes that there were, by number.
#[derive(Debug, Default)]
pub(super) struct Shapes(IndexSet<Shape, FxBuildHasher>);

impl Shapes {
    /// The number of the shape that `node` has now.
    pub(super) fn of(&mut self, node: &Node) -> usize {
        let labels = node.labels.iter().filter(|(key, _)| *key != HOSTNAME).collect();
        let (taints, unschedulable) = (node.taints.clone(), node.unschedulable);
        self.0.insert_full(Shape { labels, taints, unschedulable }).0
    }
}

/// What the static constraints say about the pods of one class.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// By shape, as far as asked: None where the pods may not run, else how much they would like to.
    by_shape: Vec<Option<Option<i64>>>,
}

impl Answers {
    /// How much pods like `spec` would like to run on `node`, which has the shape of this number. None: they may not.
    pub(super) fn ask(&mut self, spec: &PodSpec, node: &Node, shape: usize) -> Option<i64> {
        if asks_by_name(spec) {
            return answer(spec, node);
        }
        if self.by_shape.len() <= shape {
            self.by_shape.resize(shape + 1, None);
        }
        *self.by_shape[shape].get_or_insert_with(|| answer(spec, node))
    }
}

fn answer(spec: &PodSpec, node: &Node) -> Option<i64> {
    let host = Host::of(node);
    allows(&Snapshot::default(), spec, &host).ok().map(|()| preference(spec, &host))
}

/// Whether a node with `used` of what it has can take one more pod.
pub(super) fn has_room(wants: &Resources, has: &Resources, used: &Totals) -> bool {
    // What is not asked for is not looked at, so that it does not matter when it is overdrawn.
    let enough = |has: i64, used: i128, wants: i64| wants == 0 || used + i128::from(wants) <= i128::from(has);
    enough(has.cpu, used.cpu, wants.cpu)
        && enough(has.memory, used.memory, wants.memory)
        && enough(has.ephemeral_storage, used.ephemeral_storage, wants.ephemeral_storage)
        && enough(has.pods, used.pods, wants.pods)
        && wants.extended.iter().all(|(name, wants)| enough(has.extended(name), used.extended(name), *wants))
}

/// Whether a DaemonSet's pod belongs on a new node.
pub(super) fn daemon_fits(spec: &PodSpec, node: &Node, used: &Totals) -> bool {
    let own = spec.tolerations.iter().cloned();
    let given = OF_DAEMON_SETS.iter().map(|taint| Toleration {
        key: format!("node.kubernetes.io/{taint}").into(),
        exists: true,
        ..Toleration::default()
    });
    let patient = PodSpec { tolerations: own.chain(given).collect(), ..spec.clone() };
    answer(&patient, node).is_some() && has_room(&spec.requests, &node.allocatable, used)
}

/// Whether a pod that runs on a node may stay once the node has `taint`.
pub(super) fn may_stay(spec: &PodSpec, taint: &Taint) -> bool {
    let taints = std::slice::from_ref(taint);
    let host = Host { name: "", hostname: None, labels: &Labels::default(), taints, unschedulable: false };
    let tolerant = PodSpec { tolerations: spec.tolerations.clone(), ..PodSpec::default() };
    taint.effect != headroom_core::snapshot::Effect::NoExecute || allows(&Snapshot::default(), &tolerant, &host).is_ok()
}

/// How full a node is with the pod there; the largest number wins. Per resource it is the share, of 100, that is free (or
/// used), and the result the mean of cpu and memory, as in kube-scheduler's NodeResourcesFit.
pub(super) fn share(placement: Placement, wants: &Resources, has: &Resources, used: &Totals) -> i128 {
    let share = |has: i64, used: i128, wants: i64| {
        let (has, used) = (i128::from(has), used + i128::from(wants));
        match placement {
            _ if has <= 0 || used > has => 0,
            Placement::LeastAllocated => (has - used) * 100 / has,
            Placement::MostAllocated => used * 100 / has,
        }
    };
    (share(has.cpu, used.cpu, wants.cpu) + share(has.memory, used.memory, wants.memory)) / 2
}

#[cfg(test)]
mod tests {
    use headroom_core::snapshot::{Effect, Expression, NodeTerm, Operator};

    use super::*;

    fn node(name: &str) -> Node {
        Node {
            name: name.into(),
            labels: Labels::from_iter([("zone", "a"), (HOSTNAME, name)]),
            allocatable: Resources { pods: 2, ..Resources::new(1000, 100) },
            ..Node::default()
        }
    }

    #[test]
    fn one_answer_holds_for_all_nodes_of_a_shape_unless_pods_ask_by_name() {
        let (mut shapes, a, b) = (Shapes::default(), node("a"), node("b"));
        let shape = shapes.of(&a);
        assert_eq!(shapes.of(&b), shape);
        let cordoned = Node { unschedulable: true, ..node("a") };
        assert_ne!(shapes.of(&cordoned), shape);
        let fields = vec![Expression { key: "metadata.name".into(), operator: Operator::In, values: vec!["a".into()] }];
        let spec = PodSpec { node_affinity: vec![NodeTerm { labels: vec![], fields }], ..PodSpec::default() };
        let mut answers = Answers::default();
        assert_eq!([&a, &b].map(|node| answers.ask(&spec, node, shape)), [Some(0), None]);
        let mut answers = Answers::default();
        let spec = PodSpec::default();
        assert_eq!(
            [(&a, 0), (&cordoned, 1), (&b, 0)].map(|(node, shape)| answers.ask(&spec, node, shape)),
            [Some(0), None, Some(0)]
        );
    }

    #[test]
    fn pods_of_daemon_sets_come_to_nodes_that_start() {
        let taint = |key: &str| Taint { key: key.into(), value: "".into(), effect: Effect::NoSchedule };
        let starting = Node { taints: vec![taint("node.kubernetes.io/not-ready")], ..node("a") };
        let (spec, used) = (PodSpec::default(), Totals::default());
        assert!(daemon_fits(&spec, &starting, &used) && answer(&spec, &starting).is_none());
        let dedicated = Node { taints: vec![taint("dedicated")], ..node("a") };
        assert!(!daemon_fits(&spec, &dedicated, &used));
    }

    #[test]
    fn only_no_execute_drives_pods_away() {
        let taint = |effect| Taint { key: "k".into(), value: "v".into(), effect };
        let bare = PodSpec::default();
        let tolerant = Toleration { key: "k".into(), exists: true, ..Toleration::default() };
        let tolerant = PodSpec { tolerations: vec![tolerant], ..PodSpec::default() };
        assert!(may_stay(&bare, &taint(Effect::NoSchedule)) && may_stay(&tolerant, &taint(Effect::NoExecute)));
        assert!(!may_stay(&bare, &taint(Effect::NoExecute)));
    }

    #[test]
    fn room() {
        let wants = |cpu, memory| Resources { pods: 1, ..Resources::new(cpu, memory) };
        let fits = |wants: &Resources, used: &Totals| has_room(wants, &node("a").allocatable, used);
        let mut used = Totals::default();
        used += &Resources { pods: 1, ..Resources::new(900, 100) };
        assert!(fits(&wants(100, 0), &used));
        assert!(!fits(&wants(101, 0), &used));
        assert!(!fits(&wants(0, 1), &used));
        used += &Resources { pods: 1, ..Resources::default() };
        assert!(!fits(&wants(0, 0), &used), "no more than two pods");
        let mut gpu = wants(0, 0);
        gpu.set_extended("gpu", 1);
        assert!(!fits(&gpu, &Totals::default()));
    }
}
