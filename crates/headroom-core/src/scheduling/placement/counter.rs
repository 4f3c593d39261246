//! Pods counted by domain, kept up to date while pods are placed.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::NONE;
use super::node::Node;
use super::shape::{Key, Shape, Shapes};
use super::table::Table;
use crate::scheduling::Host;
use crate::scheduling::node_affinity;
use crate::scheduling::taints::untolerated;
use crate::snapshot::{PodSpec, SharedSpec};

/// So many domains have their counts side by side: more than most labels have values that nodes are spread over.
const FEW: usize = 8;

/// Pods by domain.
#[derive(Clone, Debug, Default)]
struct Counts {
    few: [u32; FEW],
    /// Without zeros.
    others: FxHashMap<u32, u32>,
}

impl Counts {
    fn get(&self, domain: u32) -> u32 {
        match self.few.get(domain as usize) {
            Some(count) => *count,
            None => self.others.get(&domain).copied().unwrap_or(0),
        }
    }

    /// Changes a count, and gives the old one and the new one.
    fn change(&mut self, domain: u32, step: i64) -> (u32, u32) {
        let changed = |old: u32| u32::try_from(i64::from(old).saturating_add(step).max(0)).unwrap_or(u32::MAX);
        if let Some(count) = self.few.get_mut(domain as usize) {
            let old = std::mem::replace(count, changed(*count));
            return (old, *count);
        }
        match self.others.entry(domain) {
            Entry::Vacant(slot) => {
                let new = changed(0);
                if new > 0 {
                    slot.insert(new);
                }
                (0, new)
            }
            Entry::Occupied(mut slot) => {
                let (old, new) = (*slot.get(), changed(*slot.get()));
                if new > 0 {
                    slot.insert(new)
                } else {
                    slot.remove()
                };
                (old, new)
            }
        }
    }

    fn set(&mut self, domain: u32, count: u32) {
        match self.few.get_mut(domain as usize) {
            Some(known) => *known = count,
            None if count == 0 => drop(self.others.remove(&domain)),
            None => drop(self.others.insert(domain, count)),
        }
    }

    fn domains(&self) -> impl Iterator<Item = u32> {
        let few = (0..).zip(&self.few).filter(|(_, count)| **count > 0).map(|(domain, _)| domain);
        few.chain(self.others.keys().copied())
    }
}

/// How many pods of one selection there are in each domain of one key.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduling) struct Counter {
    /// What the domains are.
    pub(in crate::scheduling) key: Key,
    counts: Counts,
    /// For spread over hosts: how many hosts have so many pods. Those that have none are not in it.
    hosts_by_count: BTreeMap<u32, u32>,
    /// Pods in all.
    total: i64,
    /// For topology spread: which nodes are looked at. Affinity looks at every node that has the key.
    pub(in crate::scheduling) scope: Option<Scope>,
}

/// Which nodes a topology spread constraint looks at.
#[derive(Clone, Debug)]
pub(in crate::scheduling) struct Scope {
    /// The same number for scopes that look at the same nodes.
    number: u32,
    /// A class with the constraint; all classes that share the counter agree in what matters here.
    spec: SharedSpec,
    /// The keys of all of its spread constraints: nodes must have each.
    keys: Vec<Key>,
    honor_affinity: bool,
    honor_taints: bool,
    /// The node affinity looks at names of nodes, so that shapes do not tell.
    pub(in crate::scheduling) by_node: bool,
    shapes: Arc<SeenShapes>,
    /// By node, where shapes do not tell; nodes behind the end are as their shape says.
    nodes: Arc<[bool]>,
}

/// Which shapes a scope includes.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenShapes {
    /// By shape.
    all: Vec<bool>,
    /// Those that it includes, in order.
    included: Vec<u32>,
}

impl SeenShapes {
    fn includes(&self, shape: u32) -> bool {
        self.all.get(shape as usize).copied().unwrap_or(false)
    }
}

impl Scope {
    pub(super) fn new(number: u32, spec: SharedSpec, keys: Vec<Key>, honor_affinity: bool, honor_taints: bool) -> Self {
        let by_node = honor_affinity && node_affinity::spec_names_nodes(&spec);
        let (shapes, nodes) = (Arc::default(), Arc::default());
        Scope { number, spec, keys, honor_affinity, honor_taints, by_node, shapes, nodes }
    }

    /// Whether only nodes with a hostname count.
    pub(in crate::scheduling) fn needs_hosts(&self) -> bool {
        self.keys.contains(&Key::Host)
    }

    /// Looks at shapes that are new. Scopes with the same number share what `learnt` knows of them.
    pub(super) fn learn_shapes(&mut self, shapes: &Shapes, learnt: &mut FxHashMap<u32, Arc<SeenShapes>>) {
        if self.shapes.all.len() == shapes.len() as usize {
            return;
        }
        let all = learnt.entry(self.number).or_insert_with(|| {
            let mut seen = SeenShapes::clone(&self.shapes);
            // Most shapes lack a label that is asked for, which numbers tell at once.
            let selected = shapes.selected(&self.spec.node_selector);
            let has = |shape: &Shape| selected.as_ref().is_some_and(|selected| shape.has(selected));
            for (number, shape) in shapes.iter().skip(seen.all.len()) {
                let included = (!self.honor_affinity || has(shape))
                    && self.includes(&shape.host("", Some("")))
                    && self.has_keys(shape);
                seen.all.push(included);
                seen.included.extend(included.then_some(number));
            }
            Arc::new(seen)
        });
        self.shapes = Arc::clone(all);
    }

    /// Looks at nodes one by one, where shapes do not tell.
    pub(super) fn learn_nodes(
        &mut self,
        nodes: &Table<Node>,
        shapes: &Shapes,
        learnt: &mut FxHashMap<u32, Arc<[bool]>>,
    ) {
        let includes = |node: &Node| {
            let shape = shapes.at(node.shape);
            self.includes(&shape.host(&node.name, node.hostname.as_deref())) && self.has_keys(shape)
        };
        if self.by_node {
            let all = learnt.entry(self.number).or_insert_with(|| nodes.iter().map(includes).collect());
            self.nodes = Arc::clone(all);
        }
    }

    fn has_keys(&self, shape: &Shape) -> bool {
        self.keys.iter().all(|key| *key == Key::Host || shape.domain(*key) != NONE)
    }

    /// Whether the node counts, provided that it has the keys.
    fn includes(&self, host: &Host<'_>) -> bool {
        let spec: &PodSpec = &self.spec;
        (!self.honor_affinity || node_affinity::holds_for(spec, host))
            && (!self.honor_taints || untolerated(&spec.tolerations, host.taints).is_none())
    }
}

impl Counter {
    pub(super) fn new(key: Key, scope: Option<Scope>) -> Self {
        Counter { key, scope, ..Counter::default() }
    }

    /// Whether it looks at a node, provided that the node has the key.
    pub(in crate::scheduling) fn looks_at(&self, id: u32, node: &Node) -> bool {
        let Some(scope) = &self.scope else { return true };
        let included = match scope.nodes.get(id as usize) {
            Some(included) if scope.by_node => *included,
            _ => scope.shapes.includes(node.shape),
        };
        included && !(node.closed && scope.honor_taints) && (node.host != NONE || !scope.needs_hosts())
    }

    /// For topology spread: the shapes whose nodes it looks at, provided that they have the key.
    pub(in crate::scheduling) fn shapes(&self) -> &[u32] {
        self.scope.as_ref().map_or(&[], |scope| &scope.shapes.included)
    }

    /// Whether it leaves out nodes that are going.
    pub(in crate::scheduling) fn leaves_out_closed(&self) -> bool {
        self.scope.as_ref().is_some_and(|scope| scope.honor_taints)
    }

    /// Pods in a domain.
    pub(in crate::scheduling) fn count(&self, domain: u32) -> u32 {
        self.counts.get(domain)
    }

    /// The domains that have pods, in the order of their numbers.
    pub(super) fn domains(&self) -> Vec<u32> {
        let mut domains: Vec<u32> = self.counts.domains().collect();
        domains.sort_unstable();
        domains
    }

    /// Whether there is a pod in any domain.
    pub(in crate::scheduling) fn any(&self) -> bool {
        self.total > 0
    }

    /// Makes room at once for the domains that so many pods are in.
    pub(super) fn expect(&mut self, pods: u32) {
        if self.key == Key::Host {
            self.counts.others.reserve(pods as usize);
        }
    }

    /// Changes the pods on each of `copies` equal nodes by `each`. The host domain stands for all of the copies.
    pub(super) fn change(&mut self, domain: u32, each: i64, copies: u32) {
        let all = each.saturating_mul(i64::from(copies));
        self.total = self.total.saturating_add(all);
        let (old, new) = self.counts.change(domain, if self.key == Key::Host { each } else { all });
        if self.key == Key::Host && self.scope.is_some() {
            self.move_hosts(old, new, copies);
        }
    }

    /// Some copies behind a host domain become a host domain of their own. The sums stay as they are.
    pub(super) fn split_host(&mut self, from: u32, to: u32) {
        let count = self.count(from);
        if count > 0 {
            self.counts.set(to, count);
        }
    }

    /// Copies go back to the host domain that they came from.
    pub(super) fn merge_host(&mut self, gone: u32) {
        self.counts.set(gone, 0);
    }

    /// For spread over hosts: how many hosts have so many pods. Those that have none are not in it.
    pub(in crate::scheduling) fn hosts_by_count(&self) -> &BTreeMap<u32, u32> {
        &self.hosts_by_count
    }

    fn move_hosts(&mut self, old: u32, new: u32, copies: u32) {
        if let Some(hosts) = self.hosts_by_count.get_mut(&old) {
            *hosts = hosts.saturating_sub(copies);
            if *hosts == 0 {
                self.hosts_by_count.remove(&old);
            }
        }
        if new > 0 && copies > 0 {
            *self.hosts_by_count.entry(new).or_default() += copies;
        }
    }
}

/// What the counters `adds` that a class moves make of `each` more of its pods on each copy of a node. Topology spread does not
/// count pods that are being deleted.
pub(super) fn recount(
    counters: &mut Table<Counter>,
    shapes: &Shapes,
    id: u32,
    node: &Node,
    adds: &[u32],
    each: i64,
    deleting: bool,
) {
    for number in adds {
        let (counter, shape) = (counters.at_mut(*number), shapes.at(node.shape));
        let domain = if counter.key == Key::Host { node.host } else { shape.domain(counter.key) };
        let counts = !(deleting && counter.scope.is_some()) && counter.looks_at(id, node);
        if domain != NONE && counts {
            counter.change(domain, each, node.copies);
        }
    }
}
