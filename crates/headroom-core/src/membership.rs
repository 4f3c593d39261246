//! Which group a node or a pod belongs to.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::machines::Listed;
use crate::policy::{CountPods, Policy, RunsOn, Selection, Strategy};
use crate::scheduling::may_mean;
use crate::snapshot::{ClassView, Labels, Node, NodeView, Operator, PodKind, PodSpec, Snapshot};

/// Nodes and classes of pods by group. Indices of groups are those of the policy.
#[derive(Debug, Default)]
pub struct Membership<'a> {
    /// For each group its nodes by name, without those that match several groups.
    pub nodes: Vec<Vec<NodeView<'a>>>,
    /// For each group the machines that its cloud lists.
    pub machines: Vec<Listed<'a>>,
    /// Nodes that match several groups, with those groups.
    pub disputed_nodes: Vec<(NodeView<'a>, Vec<usize>)>,
    /// For each group the classes of pods that ask for it and for no other group.
    pub classes: Vec<Vec<ClassView<'a>>>,
    /// Classes that ask for several groups, with those groups.
    pub disputed_classes: Vec<(ClassView<'a>, Vec<usize>)>,
    /// Classes of ordinary pods that ask for no group.
    pub groupless_classes: Vec<ClassView<'a>>,
}

impl<'a> Membership<'a> {
    /// Sorts the nodes and classes of `snapshot` into the groups of `policy`.
    pub fn of(snapshot: &'a Snapshot, policy: &Policy) -> Self {
        let mut membership = Membership {
            nodes: policy.groups.iter().map(|_| Vec::new()).collect(),
            machines: policy.groups.iter().map(|group| Listed::of(snapshot.group(&group.name))).collect(),
            classes: policy.groups.iter().map(|_| Vec::new()).collect(),
            ..Membership::default()
        };
        let mut of_kind = OfKind::new(snapshot, policy);
        for view in snapshot.nodes() {
            let groups = of_kind.groups(&view);
            match &*groups {
                [] => {}
                [only] => membership.nodes.get_mut(*only).into_iter().for_each(|nodes| nodes.push(view)),
                _ => membership.disputed_nodes.push((view, groups.to_vec())),
            }
        }
        for class in snapshot.classes() {
            let groups = of_kind.index.groups_of_pod(policy, class.spec);
            match groups.as_slice() {
                [] if class.spec.kind == PodKind::Workload => membership.groupless_classes.push(class),
                [] => {}
                [only] => membership.classes.get_mut(*only).into_iter().for_each(|classes| classes.push(class)),
                _ => membership.disputed_classes.push((class, groups)),
            }
        }
        membership
    }
}

/// The groups of each kind of nodes, found for the first node of the kind.
pub(crate) struct OfKind<'p> {
    policy: &'p Policy,
    index: Index<'p>,
    /// None where nodes are told apart by their capacity too, which their kind does not say.
    known: Option<Vec<Option<Rc<[usize]>>>>,
}

impl<'p> OfKind<'p> {
    /// Nothing is known of any kind yet.
    pub(crate) fn new(snapshot: &Snapshot, policy: &'p Policy) -> Self {
        let by_labels = policy.groups.iter().all(|group| group.select.capacity.is_none());
        let known = by_labels.then(|| vec![None; snapshot.node_kind_slots()]);
        OfKind { policy, index: Index::of(policy), known }
    }

    /// The groups whose nodes a node of the snapshot is one of.
    pub(crate) fn groups(&mut self, view: &NodeView<'_>) -> Rc<[usize]> {
        let find = || Rc::from(self.index.groups_of_node(self.policy, view.node));
        let slot = self.known.as_mut().and_then(|known| known.get_mut(view.kind as usize));
        slot.map_or_else(find, |slot| Rc::clone(slot.get_or_insert_with(find)))
    }
}

/// The groups whose nodes `node` is one of: none, one, or (a dispute) several.
pub fn groups_of_node(policy: &Policy, node: &Node) -> Vec<usize> {
    Index::of(policy).groups_of_node(policy, node)
}

/// The groups whose demand pods with this spec are: none, one, or (a dispute) several.
pub fn groups_of_pod(policy: &Policy, spec: &PodSpec) -> Vec<usize> {
    Index::of(policy).groups_of_pod(policy, spec)
}

/// Whether pods with this spec ask for nodes with these labels, by Escalator's rule (`spec/escalator.md` 2.2): each
/// label is in the node selector, or some `In` expression of the required node affinity allows its value.
pub fn asks_for(spec: &PodSpec, labels: &Labels) -> bool {
    !labels.is_empty()
        && labels.iter().all(|(key, value)| {
            spec.node_selector.get(key) == Some(value) || affinity_values(spec).any(|pair| pair == (key, value))
        })
}

/// Whether pods with this spec ask for nothing of their node: Escalator's rule for the group `default`.
pub fn is_unconstrained(spec: &PodSpec) -> bool {
    spec.kind == PodKind::Workload && spec.node_selector.is_empty() && !spec.has_affinity
}

fn affinity_values(spec: &PodSpec) -> impl Iterator<Item = (&str, &str)> {
    let expressions = spec.node_affinity.iter().flat_map(|term| &term.labels);
    expressions
        .filter(|expression| expression.operator == Operator::In)
        .flat_map(|expression| expression.values.iter().map(|value| (&*expression.key, &**value)))
}

/// Finds the groups that may match without trying each: by one label of each selection.
#[derive(Debug, Default)]
pub(crate) struct Index<'p> {
    by_label: BTreeMap<&'p str, BTreeMap<&'p str, Vec<usize>>>,
    without_label: Vec<usize>,
    unconstrained: Vec<usize>,
    on_nomad: Vec<usize>,
}

impl<'p> Index<'p> {
    pub(crate) fn of(policy: &'p Policy) -> Self {
        let mut index = Index::default();
        for (at, group) in policy.groups.iter().enumerate() {
            match group.select.labels.iter().next() {
                Some((key, value)) => index.by_label.entry(key).or_default().entry(value).or_default().push(at),
                None => index.without_label.push(at),
            }
            if counts(&group.strategy) == Some(CountPods::Unconstrained) {
                index.unconstrained.push(at);
            }
            if is_on_nomad(&group.strategy) {
                index.on_nomad.push(at);
            }
        }
        index
    }

    /// The groups whose nodes `node` is one of.
    pub(crate) fn groups_of_node(&self, policy: &Policy, node: &Node) -> Vec<usize> {
        let by_label = self.by_label.iter().filter_map(|(key, values)| values.get(node.labels.get(key)?));
        let candidates = by_label.flatten().chain(&self.without_label).copied();
        let mut groups: Vec<usize> =
            candidates.filter(|at| selection(policy, *at).is_some_and(|select| select.matches(node))).collect();
        groups.sort_unstable();
        groups
    }

    fn groups_of_pod(&self, policy: &Policy, spec: &PodSpec) -> Vec<usize> {
        if spec.kind == PodKind::DaemonSet {
            return Vec::new();
        }
        // Tasks of Nomad do not ask for a group: its servers must be such that they could run there.
        let could = |at: &usize| selection(policy, *at).is_some_and(|select| may_mean(spec, &select.labels));
        let mut groups = self.groups_counting(policy, spec);
        groups.extend(self.on_nomad.iter().copied().filter(could));
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// The groups of the strategy `utilization` that count such pods.
    fn groups_counting(&self, policy: &Policy, spec: &PodSpec) -> Vec<usize> {
        if is_unconstrained(spec) {
            return self.unconstrained.clone();
        }
        let asked = spec.node_selector.iter().chain(affinity_values(spec));
        let candidates = asked.filter_map(|(key, value)| self.by_label.get(key)?.get(value)).flatten().copied();
        candidates
            .filter(|at| {
                let group = policy.groups.get(*at);
                group.is_some_and(|group| {
                    let by_label = counts(&group.strategy).is_some_and(|count| count != CountPods::Unconstrained);
                    by_label && asks_for(spec, &group.select.labels)
                })
            })
            .collect()
    }
}

fn selection(policy: &Policy, group: usize) -> Option<&Selection> {
    policy.groups.get(group).map(|group| &group.select)
}

fn is_on_nomad(strategy: &Strategy) -> bool {
    strategy.runs_on() == RunsOn::Nomad
}

fn counts(strategy: &Strategy) -> Option<CountPods> {
    match strategy {
        Strategy::Utilization(utilization) => Some(utilization.count_pods).filter(|_| !is_on_nomad(strategy)),
        Strategy::Pending(_) | Strategy::MemoryPool(_) | Strategy::CpuPool(_) => None,
    }
}
