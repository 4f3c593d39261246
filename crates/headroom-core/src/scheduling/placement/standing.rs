//! The nodes of the snapshot enter the placement: each as it is, or as what it stands for.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::build::{NewNode, Setup, requests};
use super::class::Row;
use super::node::Node;
use super::shape::Tier;
use super::{NONE, Placement, TemplateId};
use crate::scheduling::Host;
use crate::snapshot::{Labels, NodeView, Snapshot, Taint};

/// How a node of the snapshot counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As it is.
    Present,
    /// As it is, and it may go if nothing comes to it: pods go to all other nodes first, and then to those of the lowest
    /// rank.
    Idle {
        /// Nodes of equal rank go by name.
        rank: u32,
    },
    /// As the template says, less the pods that are bound to it: it has registered and is not usable yet.
    Upcoming(TemplateId),
    /// As it is but for a taint that says that it goes, and closed: [`Placement::reopen`] takes it back.
    Leaving {
        /// The key of the taint.
        mark: &'static str,
    },
    /// Not at all.
    Absent,
}

/// The nodes that were added.
pub(super) struct Added {
    /// Of each node of the snapshot, in its order, what it is here; NONE when it does not count.
    pub(super) ids: Vec<u32>,
    /// The names of those that leave.
    pub(super) leaving: Vec<Arc<str>>,
}

/// What is known while nodes are added.
struct Known<'s> {
    /// The first node of each hostname; None where every node has its own, as a look at their names tells.
    hosts: Option<FxHashMap<&'s str, u32>>,
    /// By kind, the shape of nodes that are there, and of those that may go.
    shapes: Vec<[Option<u32>; 2]>,
}

impl Placement {
    /// Adds all nodes.
    pub(super) fn add_nodes(&mut self, snapshot: &Snapshot, setup: &Setup<'_>) -> Added {
        let own = snapshot.nodes().all(|view| view.hostname().is_none_or(|hostname| *hostname == *view.node.name));
        let hosts = (!own).then(FxHashMap::default);
        let mut known = Known { hosts, shapes: vec![[None; 2]; snapshot.node_kind_slots()] };
        let (mut idle, mut leaving) = (Vec::new(), Vec::new());
        let mut ids = vec![NONE; snapshot.node_count()];
        for (view, own) in snapshot.nodes().zip(&mut ids) {
            let entry = match (setup.standing)(&view) {
                Standing::Absent => continue,
                Standing::Present => self.present(&view, Tier::Present, &mut known),
                Standing::Leaving { mark } => {
                    let others: Vec<Taint> =
                        view.node.taints.iter().filter(|taint| *taint.key != *mark).cloned().collect();
                    leaving.push(Arc::clone(&view.node.name));
                    let shape = self.shapes.of(Tier::Present, &Host { taints: &others, ..Host::of(view.node) });
                    self.of_shape(&view, shape)
                }
                Standing::Idle { rank } => {
                    idle.push((rank, view, own));
                    continue;
                }
                Standing::Upcoming(template) => match setup.templates.get(template.0 as usize) {
                    Some(new) => self.upcoming(&view, template, new),
                    None => continue,
                },
            };
            *own = self.add_node(snapshot, &view, entry, &mut known);
        }
        idle.sort_by_key(|(rank, ..)| *rank);
        for (_, view, own) in idle {
            let entry = self.present(&view, Tier::Idle, &mut known);
            *own = self.add_node(snapshot, &view, entry, &mut known);
        }
        Added { ids, leaving }
    }

    fn add_node<'s>(
        &mut self,
        snapshot: &Snapshot,
        view: &NodeView<'s>,
        mut entry: Node,
        known: &mut Known<'s>,
    ) -> u32 {
        let (id, name) = (self.nodes.len(), &view.node.name);
        entry.name = Arc::clone(name);
        entry.limits = self.limits(snapshot.attach_limits(name));
        if let Some(hostname) = view.hostname() {
            let same = *hostname == **name;
            entry.hostname = Some(if same { Arc::clone(name) } else { Arc::from(hostname) });
            // Two nodes with the same hostname label are one domain.
            entry.host = known.hosts.as_mut().map_or(id, |hosts| *hosts.entry(hostname).or_insert(id));
        }
        self.by_name.insert(Arc::clone(name), id);
        let shape = self.shapes.at_mut(entry.shape);
        shape.copies += 1;
        shape.hosts += u32::from(entry.host == id);
        entry.slot = self.shapes.add_node(entry.shape, id);
        self.nodes.push(entry);
        id
    }

    fn present(&mut self, view: &NodeView<'_>, tier: Tier, known: &mut Known<'_>) -> Node {
        let slot = known.shapes.get_mut(view.kind as usize);
        let slot = slot.and_then(|slots| slots.get_mut(usize::from(tier == Tier::Idle)));
        let found = slot.as_deref().copied().flatten();
        let shape = found.unwrap_or_else(|| self.shapes.of(tier, &Host::of(view.node)));
        slot.into_iter().for_each(|slot| *slot = Some(shape));
        self.of_shape(view, shape)
    }

    fn of_shape(&self, view: &NodeView<'_>, shape: u32) -> Node {
        Node {
            shape,
            copies: 1,
            closed: false,
            free: self.columns.row_left(&view.node.allocatable, &view.sums.used),
            daemon_sets: self.columns.row_of_totals(&view.sums.daemon_sets),
            devices: self.devices(&view.node.allocatable),
            ..Node::default()
        }
    }

    /// DaemonSet pods that are not there yet have their place kept.
    fn upcoming(&mut self, view: &NodeView<'_>, template: TemplateId, new: &NewNode<'_>) -> Node {
        let labels: Labels = new.template.labels.iter().chain(view.node.labels.iter()).collect();
        let host = Host { labels: &labels, ..Host::new(new.template) };
        let there = self.columns.row_of_totals(&view.sums.daemon_sets);
        let kept = self.columns.row_of_totals(&requests(new.daemon_sets));
        let kept: Row = kept.iter().zip(&there).map(|(expected, there)| *expected.max(there)).collect();
        let free = self.columns.row_left(&new.template.allocatable, &view.sums.used);
        let free = free.iter().zip(kept.iter().zip(&there));
        Node {
            copies: 1,
            closed: false,
            template: template.0,
            free: free.map(|(free, (kept, there))| free.saturating_sub(kept.saturating_sub(*there))).collect(),
            daemon_sets: kept,
            shape: self.shapes.of(Tier::Upcoming, &host),
            devices: self.devices(&new.template.allocatable),
            ..Node::default()
        }
    }
}
