//! Shapes: nodes that no static constraint tells apart.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::NONE;
use super::node::Node;
use super::rooms::Rooms;
use super::table::Table;
use super::tiers::Tiers;
use crate::scheduling::{HOSTNAME, Host};
use crate::snapshot::{Labels, Taint};

/// How real a node is. Pods go to earlier kinds first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::scheduling) enum Tier {
    /// A node that is there.
    #[default]
    Present,
    /// A node that is there and may go if nothing comes to it.
    Idle,
    /// A machine on its way.
    Upcoming,
    /// A machine that may be bought.
    New,
}

/// What decides whether two nodes are in one domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::scheduling) enum Key {
    /// The hostname: every node is its own domain.
    #[default]
    Host,
    /// All nodes are in one domain.
    Cluster,
    /// A label that many nodes share, by its number.
    Label(u32),
}

/// The labels of a node selector by number, to ask many shapes for them. The hostname is not among them, since shapes do not
/// tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selected(SmallVec<[(Key, u32); 2]>);

/// Nodes that have in common all that static constraints look at, apart from their names.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduling) struct Shape {
    pub(super) tier: Tier,
    /// The labels that some pod asks about, without the hostname.
    labels: Labels,
    taints: Vec<Taint>,
    unschedulable: bool,
    /// The value of each label key, by number; NONE without the label.
    domains: SmallVec<[u32; 4]>,
    /// The nodes, in the order of `rooms`.
    pub(in crate::scheduling) nodes: Vec<u32>,
    /// What is free on them. Changed by [`Shapes`] alone, which keeps `tiers` in step.
    pub(super) rooms: Rooms,
    /// Its position among the shapes of its tier.
    place: u32,
    /// How many nodes there are, counting copies.
    pub(in crate::scheduling) copies: u32,
    /// How many of them are domains of the hostname label.
    pub(in crate::scheduling) hosts: u32,
    /// Of `copies`, those that are going.
    pub(in crate::scheduling) closed: u32,
    /// Of `hosts`, those that are going.
    pub(in crate::scheduling) closed_hosts: u32,
}

impl Shape {
    /// One of its nodes as the static constraints see it.
    pub(in crate::scheduling) fn host<'a>(&'a self, name: &'a str, hostname: Option<&'a str>) -> Host<'a> {
        let Shape { labels, taints, unschedulable, .. } = self;
        Host { name, hostname, labels, taints, unschedulable: *unschedulable }
    }

    /// Whether its nodes have these labels.
    pub(super) fn has(&self, selected: &Selected) -> bool {
        selected.0.iter().all(|(key, value)| self.domain(*key) == *value)
    }

    /// Its position among the shapes of its tier.
    pub(super) fn place(&self) -> u32 {
        self.place
    }

    /// The domain that its nodes are in; NONE without the label. Hosts differ from node to node, so this knows none.
    pub(in crate::scheduling) fn domain(&self, key: Key) -> u32 {
        match key {
            Key::Host => NONE,
            Key::Cluster => 0,
            Key::Label(number) => self.domains.get(number as usize).copied().unwrap_or(NONE),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ShapeKey {
    tier: Tier,
    domains: SmallVec<[u32; 4]>,
    taints: u32,
    unschedulable: bool,
}

/// All shapes, and the label keys by which they differ.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduling) struct Shapes {
    width: usize,
    keys: Vec<Box<str>>,
    /// For each key its values, numbered.
    values: Vec<Values>,
    taints: FxHashMap<Vec<Taint>, u32>,
    index: FxHashMap<ShapeKey, u32>,
    list: Table<Shape>,
    tiers: Tiers,
}

#[derive(Clone, Debug, Default)]
struct Values {
    numbers: FxHashMap<Box<str>, u32>,
    names: Table<Box<str>>,
}

impl Shapes {
    /// No shape yet. `keys` are sorted and without the hostname; `width` is the number of resource columns.
    pub(super) fn new(keys: Vec<Box<str>>, width: usize) -> Self {
        let values = keys.iter().map(|_| Values::default()).collect();
        Shapes { width, keys, values, tiers: Tiers::new(width), ..Shapes::default() }
    }

    /// The key that a label is.
    pub(super) fn key(&self, label: &str) -> Key {
        let number = |at| u32::try_from(at).unwrap_or(NONE);
        match self.keys.binary_search_by(|known| (**known).cmp(label)) {
            _ if label == HOSTNAME => Key::Host,
            Ok(at) => Key::Label(number(at)),
            // Nobody has this label.
            Err(_) => Key::Label(NONE),
        }
    }

    /// The labels of a node selector; None when there is no shape that has one of them.
    pub(super) fn selected(&self, selector: &Labels) -> Option<Selected> {
        let labels = selector.iter().filter(|(key, _)| *key != HOSTNAME);
        let labels = labels.map(|(key, value)| {
            let key = self.key(key);
            let Key::Label(number) = key else { return None };
            Some((key, *self.values.get(number as usize)?.numbers.get(value)?))
        });
        labels.collect::<Option<_>>().map(Selected)
    }

    /// The label that a key is.
    pub(in crate::scheduling) fn label(&self, key: Key) -> &str {
        match key {
            Key::Host => HOSTNAME,
            Key::Cluster => "",
            Key::Label(number) => self.keys.get(number as usize).map_or("", |key| key),
        }
    }

    /// The value of a label in a domain.
    pub(in crate::scheduling) fn domain_name(&self, key: Key, domain: u32) -> &str {
        match key {
            Key::Label(number) => self.values.get(number as usize).map_or("", |values| values.names.at(domain)),
            Key::Host | Key::Cluster => "",
        }
    }

    /// The shape of nodes like this one.
    pub(super) fn of(&mut self, tier: Tier, host: &Host<'_>) -> u32 {
        let domains = self.keys.iter().zip(&mut self.values).map(|(key, values)| match host.label(key) {
            Some(value) => values.number(value),
            None => NONE,
        });
        let domains: SmallVec<[u32; 4]> = domains.collect();
        let taints = match self.taints.get(host.taints) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.taints.len()).unwrap_or(NONE);
                self.taints.insert(host.taints.to_vec(), number);
                number
            }
        };
        let key = ShapeKey { tier, domains, taints, unschedulable: host.unschedulable };
        if let Some(shape) = self.index.get(&key) {
            return *shape;
        }
        let known = self.keys.iter().filter_map(|key| Some((key.clone(), host.label(key)?)));
        let place = self.tiers.push(tier, self.list.len());
        let shape = self.list.push(Shape {
            tier,
            place,
            labels: known.collect(),
            taints: host.taints.to_vec(),
            unschedulable: host.unschedulable,
            domains: key.domains.clone(),
            rooms: Rooms::new(self.width),
            ..Shape::default()
        });
        self.index.insert(key, shape);
        shape
    }

    /// The shape of machines that are on their way, given that of the same machines when they are new.
    pub(super) fn upcoming(&mut self, shape: u32) -> u32 {
        let Shape { labels, taints, unschedulable, .. } = self.at(shape).clone();
        let host = Host { name: "", hostname: Some(""), labels: &labels, taints: &taints, unschedulable };
        self.of(Tier::Upcoming, &host)
    }

    /// Adds a node behind the last one of a shape, and gives its position there. What is free on it is seen by
    /// [`Shapes::show_all`].
    pub(super) fn add_node(&mut self, shape: u32, node: u32) -> u32 {
        let nodes = &mut self.list.at_mut(shape).nodes;
        nodes.push(node);
        u32::try_from(nodes.len() - 1).unwrap_or(NONE)
    }

    /// Lets the search see what is free on all nodes.
    pub(super) fn show_all(&mut self, nodes: &Table<Node>) {
        for shape in self.list.iter_mut() {
            let Shape { nodes: own, rooms, .. } = shape;
            rooms.fill(own.iter().map(|node| &*nodes.at(*node).free));
            self.tiers.set(shape);
        }
    }

    /// Adds a node behind the last one of a shape, and gives its position there.
    pub(super) fn push_node(&mut self, shape: u32, node: u32, free: &[i64]) -> u32 {
        let entry = self.list.at_mut(shape);
        entry.nodes.push(node);
        let slot = entry.rooms.push(free);
        self.tiers.set(self.list.at(shape));
        slot
    }

    /// Takes the last node of a shape away.
    pub(super) fn pop_node(&mut self, shape: u32) {
        let entry = self.list.at_mut(shape);
        entry.nodes.pop();
        entry.rooms.pop();
        self.tiers.set(self.list.at(shape));
    }

    /// Changes what is free on a node of a shape; None where no pod may come any more.
    pub(super) fn set_room(&mut self, shape: u32, slot: u32, free: Option<&[i64]>) {
        let rooms = &mut self.list.at_mut(shape).rooms;
        let changed = match free {
            Some(free) => rooms.set(slot, free),
            None => rooms.close(slot),
        };
        if changed {
            self.tiers.set(self.list.at(shape));
        }
    }

    pub(super) fn tiers(&self) -> &Tiers {
        &self.tiers
    }

    pub(in crate::scheduling) fn at(&self, shape: u32) -> &Shape {
        self.list.at(shape)
    }

    pub(super) fn at_mut(&mut self, shape: u32) -> &mut Shape {
        self.list.at_mut(shape)
    }

    pub(in crate::scheduling) fn len(&self) -> u32 {
        self.list.len()
    }

    pub(in crate::scheduling) fn iter(&self) -> impl Iterator<Item = (u32, &Shape)> {
        (0..).zip(self.list.iter())
    }
}

impl Values {
    fn number(&mut self, value: &str) -> u32 {
        if let Some(number) = self.numbers.get(value) {
            return *number;
        }
        let number = self.names.push(value.into());
        self.numbers.insert(value.into(), number);
        number
    }
}
