//! A working copy of the cluster on which pods are placed, to see where they would go.
//!
//! Everything that decides about the next pod is kept up to date with every pod placed: what is free, which ports are
//! taken, how many pods of a kind are in a zone. Equal machines that do not exist yet are one entry with a number of
//! copies. A journal remembers each step, so that a trial is undone at the cost of what it did.

mod build;
mod class;
mod counter;
mod explain;
mod extra;
mod fill;
mod journal;
mod leave;
mod level;
mod liked;
mod lots;
mod node;
mod outlook;
mod read;
mod rooms;
mod rules;
mod search;
mod selection;
mod shape;
mod size;
mod spread_hosts;
mod spread_labels;
mod standing;
mod supply;
mod table;
mod tiers;
mod upcoming;
mod wishes;

use std::cmp::Reverse;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use build::{NewNode, Setup};
pub(crate) use extra::Place;
pub use journal::Mark;
pub use lots::{Filled, Unplaced};
pub use outlook::{AtBest, Outlook};
pub use standing::Standing;
pub use supply::{Offer, Supply};

pub(super) use class::{Class, Rules, SpreadRule};
pub(super) use counter::{Counter, Scope};
pub(super) use node::Node;
pub(super) use shape::{Key, Shape};

use class::Statics;
use journal::Undo;
use selection::{Counted, describe};
use shape::{Shapes, Tier};
use table::Table;

use super::resources::Columns;
use super::{check_static, fits_static, preference};
use crate::snapshot::{ClassId, HostPort, Kind, PodSpec};

/// No number at all: a label that a node does not have, a template that a node was not made from.
pub(super) const NONE: u32 = u32::MAX;

/// A node of a [`Placement`]: one that exists, a machine on its way, or a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// A kind of machine that may be bought, by its position in [`Setup::templates`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TemplateId(pub u32);

/// A working copy of the cluster.
#[derive(Clone, Debug)]
pub struct Placement {
    pub(super) columns: Columns,
    classes: Table<Class>,
    /// The classes of [`Setup::extra`], in its order.
    extra: Vec<u32>,
    statics: Table<Statics>,
    shapes: Shapes,
    nodes: Table<Node>,
    /// A node of each template, with the pods of its DaemonSets and no copies.
    prototypes: Table<Node>,
    by_name: FxHashMap<Arc<str>, u32>,
    counters: Table<Counter>,
    /// For explanations, what each counter counts.
    counted: Table<Counted>,
    ports: Table<HostPort>,
    /// Resources that count parts of devices.
    shared: Table<Arc<str>>,
    drivers: Table<Arc<str>>,
    /// Waiting pods that count on the node on which room is made for them, by class.
    nominated: Table<u32>,
    namespaces_known: bool,
    /// Pods with a lower priority hold nothing.
    expendable_below: Option<i32>,
    /// Pods go to nodes that are there, and to no machine that is on its way or new.
    only_nodes: bool,
    journal: Vec<Undo>,
}

/// New machines with equal pods on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNodes {
    /// What they are made from.
    pub template: TemplateId,
    /// How many.
    pub count: u32,
    /// The pods on each, in the order of the classes' contents, those of DaemonSets left out.
    pub pods: Vec<(ClassId, u32)>,
}

impl Placement {
    /// The node called `name`.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).map(|node| NodeId(*node))
    }

    /// The name of a node; empty for a machine that does not exist yet.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes.at(node.0).name
    }

    /// What the pods of a class share.
    pub fn spec(&self, class: ClassId) -> &PodSpec {
        &self.classes.at(class.0).spec
    }

    /// The class of a pod of [`Setup::extra`], by its position there.
    pub fn extra(&self, at: usize) -> Option<ClassId> {
        self.extra.get(at).map(|class| ClassId(*class))
    }

    /// How many waiting pods of a class count on a node already, because room is being made there for them.
    pub fn nominated(&self, class: ClassId) -> u32 {
        *self.nominated.at(class.0)
    }

    /// Whether pods of the class have so low a priority that they hold no place: any pod takes it, and no machine is
    /// bought or kept for them.
    pub fn is_expendable(&self, class: ClassId) -> bool {
        self.expendable_below.is_some_and(|least| self.class(class).spec.priority < least)
    }

    /// A kind of object on which the answers for a class depend and which is not completely known. Where it is missing
    /// the pods are taken to be free to go anywhere, which is good enough for adding nodes and not for removing any.
    pub fn unknown(&self, class: ClassId) -> Option<Kind> {
        let class = self.classes.at(class.0);
        let terms = class.spec.pod_affinity.iter().chain(&class.spec.pod_anti_affinity);
        let mut selectors = terms.filter_map(|term| term.namespace_selector.as_ref());
        let by_namespace = !self.namespaces_known && selectors.any(|selector| !selector.0.is_empty());
        let unknown = self.statics.at(class.statics).volumes.unknown;
        unknown.or(by_namespace.then_some(Kind::Namespaces))
    }

    /// The machines that were bought, equal ones together, and the pods that were placed on them.
    pub fn new_nodes(&self) -> Vec<NewNodes> {
        self.nameless(Tier::New).collect()
    }

    /// The machines without a name of a tier, equal ones together, and the pods that were placed on them.
    fn nameless(&self, tier: Tier) -> impl Iterator<Item = NewNodes> {
        let of_tier = move |node: &&Node| self.shapes.at(node.shape).tier == tier;
        let nodes = self.nodes.iter().filter(of_tier).filter(|node| node.copies > 0 && !node.is_named());
        nodes.map(|node| {
            let fixed = &self.prototypes.at(node.template).pods;
            let placed = |(class, count): &(u32, u32)| {
                let before = fixed.iter().find(|(known, _)| known == class).map_or(0, |(_, count)| *count);
                (*class, count.saturating_sub(before))
            };
            let mut pods: Vec<(u32, u32)> = node.pods.iter().map(placed).filter(|(_, count)| *count > 0).collect();
            pods.sort_by_key(|(class, _)| self.classes.at(*class).rank);
            let pods = pods.into_iter().map(|(class, count)| (ClassId(class), count)).collect();
            NewNodes { template: TemplateId(node.template), count: node.copies, pods }
        })
    }

    pub(super) fn class(&self, class: ClassId) -> &Class {
        self.classes.at(class.0)
    }

    pub(crate) fn rank(&self, class: ClassId) -> u32 {
        self.class(class).rank
    }

    pub(super) fn counter(&self, counter: u32) -> &Counter {
        self.counters.at(counter)
    }

    /// What a counter counts, for people.
    pub(super) fn counted(&self, counter: u32) -> String {
        self.counted.at(counter).as_deref().map(describe).unwrap_or_default()
    }

    pub(super) fn port(&self, port: u32) -> &HostPort {
        self.ports.at(port)
    }

    /// The resource of this number that counts parts of devices.
    pub(super) fn shared(&self, resource: u32) -> &Arc<str> {
        self.shared.at(resource)
    }

    pub(super) fn driver(&self, driver: u32) -> &Arc<str> {
        self.drivers.at(driver)
    }

    /// A machine as a template makes it, with the pods of its DaemonSets.
    pub(super) fn prototype(&self, template: TemplateId) -> &Node {
        self.prototypes.at(template.0)
    }

    /// The domain that a node is in; NONE without the label.
    pub(super) fn domain(&self, key: Key, node: &Node) -> u32 {
        node.domain(key, &self.shapes)
    }

    /// The shapes on which a class may run by its static side, present nodes first, then by the pods' preferences. A
    /// class that asks for nodes by name gets every shape.
    fn fitting(&mut self, class: u32) -> Rc<Vec<u32>> {
        self.learn_fits(class);
        Rc::clone(&self.statics.at(self.classes.at(class).statics).fits)
    }

    /// Whether nodes of a shape fit by the static side of a class, or may, when it asks for nodes by name.
    fn shape_fits(&mut self, class: u32, shape: u32) -> bool {
        self.learn_fits(class);
        self.statics.at(self.classes.at(class).statics).may_fit(shape)
    }

    /// Looks at the shapes that the static side of a class has not seen.
    fn learn_fits(&mut self, class: u32) {
        let statics = self.statics.at_mut(self.classes.at(class).statics);
        let (seen, all) = (statics.seen.len(), self.shapes.len());
        if seen >= all as usize {
            return;
        }
        let mut fits = std::mem::take(Rc::make_mut(&mut statics.fits));
        let demand = statics.demand();
        let host = |shape: u32| self.shapes.at(shape).host("", Some(""));
        let there = |shape: u32| !self.only_nodes || self.shapes.at(shape).tier <= Tier::Idle;
        // Most shapes lack a label that is asked for, which numbers tell at once.
        let selected = self.shapes.selected(&demand.spec.node_selector);
        let has = |shape: u32| selected.as_ref().is_some_and(|selected| self.shapes.at(shape).has(selected));
        let fit = |shape: u32| there(shape) && (statics.by_node || (has(shape) && fits_static(&demand, &host(shape))));
        let new: Vec<bool> = (0..all).skip(seen).map(fit).collect();
        fits.extend((0..all).skip(seen).zip(&new).filter(|(_, fits)| **fits).map(|(shape, _)| shape));
        let liked = fits.iter().map(|at| preference::score(demand.spec, &host(*at)));
        let mut order: Vec<_> =
            fits.iter().zip(liked).map(|(at, liked)| (self.shapes.at(*at).tier, Reverse(liked), *at)).collect();
        let choosy = order.windows(2).any(|pair| matches!(pair, [(_, a, _), (_, b, _)] if a != b));
        order.sort_unstable();
        fits.clear();
        fits.extend(order.into_iter().map(|(.., at)| at));
        statics.seen.extend(new);
        (statics.fits, statics.choosy) = (Rc::new(fits), choosy);
    }

    /// Whether a node fits by the static side of a class, given that its shape does.
    fn named_fits(&self, statics: &Statics, node: &Node) -> bool {
        !statics.by_node || check_static(&statics.demand(), &self.host(node)).is_ok()
    }

    /// A node as the static constraints see it.
    fn host<'a>(&'a self, node: &'a Node) -> super::Host<'a> {
        self.shapes.at(node.shape).host(&node.name, node.hostname.as_deref())
    }

    /// Lets spread constraints see which new shapes they look at.
    fn learn_shapes(&mut self) {
        let (scopes, mut learnt) =
            (self.counters.iter_mut().filter_map(|counter| counter.scope.as_mut()), FxHashMap::default());
        scopes.for_each(|scope| scope.learn_shapes(&self.shapes, &mut learnt));
    }

    /// The same for nodes, where the constraints go by the names of nodes.
    fn learn_nodes(&mut self) {
        let (scopes, mut learnt) =
            (self.counters.iter_mut().filter_map(|counter| counter.scope.as_mut()), FxHashMap::default());
        scopes.for_each(|scope| scope.learn_nodes(&self.nodes, &self.shapes, &mut learnt));
    }

    /// The label that a key is.
    pub(super) fn label(&self, key: Key) -> &str {
        self.shapes.label(key)
    }

    /// The nodes with their numbers.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (u32, &Node)> {
        (0..).zip(self.nodes.iter())
    }

    pub(super) fn shape(&self, shape: u32) -> &Shape {
        self.shapes.at(shape)
    }

    /// The value of the label in the domain of a node, for people; empty for a machine that does not exist yet.
    pub(super) fn domain_name(&self, key: Key, node: &Node) -> String {
        match key {
            Key::Host => node.hostname.as_deref().unwrap_or_default().to_owned(),
            Key::Cluster => String::new(),
            Key::Label(_) => self.shapes.domain_name(key, self.domain(key, node)).to_owned(),
        }
    }
}
