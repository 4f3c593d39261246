//! Makes a placement from a snapshot.
//!
//! Free resources come from the sums that the snapshot keeps. Pods are only walked over when some class of them is
//! bound by rules, or looked at by those that wait, or holds its place for nobody.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::class::Class;
use super::counter::recount;
use super::node::Node;
use super::read::{Read, read};
use super::shape::{Shapes, Tier};
use super::standing::{Added, Standing};
use super::table::Table;
use super::{NONE, NodeId, Placement, rules};
use crate::quantity::{Resources, Totals};
use crate::scheduling::{Devices, Host};
use crate::snapshot::{ClassId, Coverage, Kind, NodeView, SharedSpec, Snapshot, Template};

/// The hostname domains of prototypes are numbered from here, so that no node's number is one of them.
const PROTOTYPE_HOSTS: u32 = 1 << 31;

/// What a placement is made from besides the snapshot.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// Machines that may be bought or are on their way.
    pub templates: &'a [NewNode<'a>],
    /// Pods that are not in the snapshot, to be placed all the same.
    pub extra: &'a [SharedSpec],
    /// Bound pods with a lower priority hold nothing: any pod takes their place.
    pub expendable_below: Option<i32>,
    /// How each node counts.
    pub standing: &'a dyn Fn(&NodeView<'_>) -> Standing,
    /// The nodes whose pods may be moved; None is all. Nothing may be asked about the rules of pods that neither wait nor may
    /// be moved: what only these look at is not counted.
    pub moves: Option<&'a dyn Fn(&NodeView<'_>) -> bool>,
}

impl Default for Setup<'_> {
    /// The nodes as they are, and nothing else.
    fn default() -> Self {
        Setup { templates: &[], extra: &[], expendable_below: None, standing: &|_| Standing::Present, moves: None }
    }
}

/// A machine that does not exist yet, or is not usable yet.
#[derive(Clone, Copy, Debug)]
pub struct NewNode<'a> {
    /// What its node will be like.
    pub template: &'a Template,
    /// Pods of DaemonSets that will run on it.
    pub daemon_sets: &'a [SharedSpec],
    /// How many volumes of a CSI driver it can have attached; a driver that is not named has no limit.
    pub attach_limits: &'a [(Arc<str>, u32)],
}

impl Placement {
    /// The cluster as it is, with the pods that are bound and those for which room is being made.
    pub fn new(snapshot: &Snapshot, setup: &Setup<'_>) -> Self {
        let daemon_sets = setup.templates.iter().flat_map(|new| new.daemon_sets);
        let Read { mut classes, statics, columns, labels, mut extra } =
            read(snapshot, setup.extra.iter().chain(daemon_sets));
        let daemon_sets = extra.split_off(setup.extra.len().min(extra.len()));
        extra.iter().for_each(|class| classes.at_mut(*class).extra = true);
        let shapes = Shapes::new(labels, columns.count());
        let asking = setup.moves.map(|moves| asking(snapshot, &classes, moves));
        let book = rules::write(snapshot, &mut classes, &statics, &shapes, asking.as_deref());
        let mut placement = Placement {
            columns,
            nominated: Table::with_len(classes.len() as usize),
            classes,
            extra,
            statics,
            shapes,
            // New machines come behind the nodes that are there.
            nodes: Table::with_capacity(snapshot.node_count() + snapshot.node_count() / 8),
            prototypes: Table::default(),
            by_name: FxHashMap::with_capacity_and_hasher(snapshot.node_count(), Default::default()),
            counters: book.counters,
            counted: book.counted,
            ports: book.ports,
            shared: book.shared,
            drivers: book.drivers,
            namespaces_known: snapshot.coverage(Kind::Namespaces) == Coverage::Complete,
            expendable_below: setup.expendable_below,
            only_nodes: false,
            journal: Vec::with_capacity(4 * snapshot.node_count()),
        };
        let Added { ids, leaving } = placement.add_nodes(snapshot, setup);
        placement.add_prototypes(setup.templates);
        placement.learn_shapes();
        placement.learn_nodes();
        placement.add_pods(snapshot, &ids);
        placement.shapes.show_all(&placement.nodes);
        placement.add_daemon_sets(setup.templates, &daemon_sets);
        placement.add_nominated(snapshot);
        let leaving: Vec<NodeId> = leaving.iter().filter_map(|name| placement.node(name)).collect();
        leaving.into_iter().for_each(|node| placement.close(node));
        placement.journal.clear();
        placement
    }

    fn add_prototypes(&mut self, templates: &[NewNode<'_>]) {
        for (number, new) in (0..).zip(templates) {
            let prototype = Node {
                shape: self.shapes.of(Tier::New, &Host::new(new.template)),
                hostname: Some(Arc::from("")),
                host: PROTOTYPE_HOSTS | number,
                closed: false,
                template: number,
                free: self.columns.row(&new.template.allocatable),
                daemon_sets: self.columns.row_of_totals(&requests(new.daemon_sets)),
                limits: self.limits(new.attach_limits),
                devices: self.devices(&new.template.allocatable),
                ..Node::default()
            };
            self.prototypes.push(prototype);
        }
    }

    /// Counts the pods that are bound, as far as rules look at them, and forgets those that hold nothing.
    fn add_pods(&mut self, snapshot: &Snapshot, ids: &[u32]) {
        let least = self.expendable_below;
        let concerns = |class: &Class| match least {
            Some(least) if class.spec.priority < least => Concern::HoldsNothing,
            _ if class.is_looked_at() => Concern::LookedAt,
            _ => Concern::None,
        };
        // Most pods are only looked at here, so what is asked of each lies close together.
        let concerns: Vec<Concern> = self.classes.iter().map(concerns).collect();
        if concerns.iter().all(|concern| *concern == Concern::None) {
            return;
        }
        let concern = |class: ClassId| concerns.get(class.0 as usize).copied().unwrap_or_default();
        for class in snapshot.classes().filter(|class| concern(class.id) != Concern::None) {
            let rules = self.classes.at(class.id.0).rules.clone();
            let counters = rules.iter().flat_map(|rules| &rules.adds);
            counters.for_each(|counter| self.counters.at_mut(*counter).expect(class.bound));
        }
        let mut concerned: Vec<(ClassId, bool)> = Vec::new();
        for (view, id) in snapshot.nodes().zip(ids.iter().copied()).filter(|(_, id)| *id != NONE) {
            concerned.extend(view.classes().filter(|(pod, _)| concern(*pod) != Concern::None));
            let node = self.nodes.at_mut(id);
            node.pods.reserve(concerned.len());
            for (pod, deleting) in concerned.drain(..) {
                let class = self.classes.at(pod.0);
                if concern(pod) == Concern::HoldsNothing {
                    node.use_resources(class, -1);
                    continue;
                }
                class.rules.iter().for_each(|rules| node.occupy(rules, 1));
                if !deleting {
                    node.list(pod.0, 1);
                }
                recount(&mut self.counters, &self.shapes, id, node, &class.adds, 1, deleting);
            }
            self.add_shares(&view, id);
        }
    }

    /// Takes the shares of devices that the pods of a node have: first those of which it is known which devices they are.
    fn add_shares(&mut self, view: &NodeView<'_>, id: u32) {
        if self.shared.len() == 0 {
            return;
        }
        let pods = view.devices().filter_map(|(class, devices)| {
            let class = self.classes.at(class.0);
            let expendable = self.expendable_below.is_some_and(|least| class.spec.priority < least);
            let shares = class.rules.as_ref().filter(|_| !expendable)?.shares.clone();
            (!shares.is_empty()).then_some((shares, devices))
        });
        let mut pods: Vec<_> = pods.collect();
        pods.sort_by(|(a, at), (b, other)| {
            at.is_empty().cmp(&other.is_empty()).then_with(|| b.cmp(a)).then_with(|| at.cmp(other))
        });
        let node = self.nodes.at_mut(id);
        for (shares, known) in pods {
            for (resource, amount) in shares {
                if let Some(devices) = node.devices.get_mut(resource as usize) {
                    devices.take(amount, known);
                }
            }
        }
    }

    /// The shared devices of an empty machine with these resources.
    pub(super) fn devices(&self, has: &Resources) -> Vec<Devices> {
        self.shared.iter().map(|resource| Devices::new(resource, has)).collect()
    }

    /// Puts the pods of DaemonSets on the prototypes, whose nodes will have them.
    fn add_daemon_sets(&mut self, templates: &[NewNode<'_>], classes: &[u32]) {
        let mut classes = classes.iter();
        for (number, new) in (0..).zip(templates) {
            for id in classes.by_ref().take(new.daemon_sets.len()) {
                let class = self.classes.at(*id);
                let node = self.prototypes.at_mut(number);
                node.take(*id, class, 1, false);
                recount(&mut self.counters, &self.shapes, NONE, node, &class.adds, 1, false);
            }
        }
    }

    /// Puts waiting pods on the nodes on which room is being made for them, and takes away what makes room there.
    fn add_nominated(&mut self, snapshot: &Snapshot) {
        let mut cleared = BTreeSet::new();
        for (pod, name) in snapshot.nominated() {
            let (Some(id), Some(view)) = (self.by_name.get(name).copied(), snapshot.node(name)) else { continue };
            if cleared.insert(id) {
                let going = view.classes().filter(|(class, deleting)| *deleting && !self.is_expendable(*class));
                let going: Vec<u32> = going.map(|(class, _)| class.0).collect();
                going.into_iter().for_each(|class| self.change(class, id, -1, true));
            }
            self.change(pod.class.0, id, 1, false);
            *self.nominated.at_mut(pod.class.0) += 1;
        }
    }

    pub(super) fn limits(&self, known: &[(Arc<str>, u32)]) -> Vec<(u32, u32)> {
        let number = |name: &Arc<str>| (0..).zip(self.drivers.iter()).find(|(_, driver)| *driver == name);
        known.iter().filter_map(|(driver, limit)| Some((number(driver)?.0, *limit))).collect()
    }
}

/// Of each class, by id, whether its pods may ask for a place: some wait, or are not in the snapshot, or may be moved.
fn asking(snapshot: &Snapshot, classes: &Table<Class>, moves: &dyn Fn(&NodeView<'_>) -> bool) -> Vec<bool> {
    let mut asking: Vec<bool> = classes.iter().map(|class| class.waits || class.extra).collect();
    for view in snapshot.nodes().filter(moves) {
        for (class, _) in view.classes() {
            asking.get_mut(class.0 as usize).into_iter().for_each(|asking| *asking = true);
        }
    }
    asking
}

/// What the pods of a class change beside the sums of their node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Concern {
    #[default]
    None,
    /// They hold their place for nobody.
    HoldsNothing,
    /// A rule or a wish is about them.
    LookedAt,
}

pub(super) fn requests(specs: &[SharedSpec]) -> Totals {
    let mut sum = Totals::default();
    specs.iter().for_each(|spec| sum += &spec.requests);
    sum
}
