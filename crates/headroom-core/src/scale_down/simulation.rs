//! Where the pods of nodes that go would run (`spec/cluster-autoscaler.md` 4.3).
//!
//! A node that can be emptied stays empty for all nodes that are tried later: its pods hold their new places, and it is a
//! ghost that takes none but that topology spread still counts. A node that takes pods in this way stays, so that no pod
//! has to move twice.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::load::Load;
use crate::plan::{Kept, Placeholder};
use crate::scheduling::{Misfit, NodeId, Placement, TemplateId};
use crate::snapshot::{ClassId, Coverage, Kind, Snapshot};
use crate::strategy::pending::{Placed, Placeholders};

/// The cluster while nodes are tried.
pub(super) struct Simulation<'a> {
    snapshot: &'a Snapshot,
    placement: &'a mut Placement,
    placeholders: &'a Placeholders,
    /// Pods that wait and are expected on each node.
    awaited: FxHashMap<NodeId, u32>,
    /// Pods of nodes that go that are expected on each node.
    taken: FxHashMap<NodeId, u32>,
    /// Classes of which no node can take one more.
    full: FxHashMap<ClassId, Misfit>,
}

/// Pods that find no place.
pub(super) struct Homeless {
    pub(super) class: ClassId,
    /// What they stand for when they are placeholders.
    pub(super) placeholder: Option<Placeholder>,
    pub(super) namespace: Arc<str>,
    pub(super) count: u32,
    pub(super) misfit: Box<Misfit>,
}

/// Why a node cannot be emptied.
pub(super) enum Refused {
    Kept(Kept),
    Homeless(Homeless),
}

impl<'a> Simulation<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, placed: &'a mut Placed) -> Self {
        let Placed { placement, start, placeholders, .. } = placed;
        let mut awaited: FxHashMap<NodeId, u32> = FxHashMap::default();
        let real = placement.placed_since(*start).into_iter().filter(|(_, class, _)| !placement.is_extra(*class));
        for (node, _, count) in real {
            *awaited.entry(node).or_default() += count;
        }
        for (_, name) in snapshot.nominated() {
            placement.node(name).into_iter().for_each(|node| *awaited.entry(node).or_default() += 1);
        }
        placement.only_nodes();
        Simulation {
            snapshot,
            placement,
            placeholders,
            awaited,
            taken: FxHashMap::default(),
            full: FxHashMap::default(),
        }
    }

    /// Lets no pod come to a node.
    pub(super) fn close(&mut self, name: &str) {
        if let Some(node) = self.placement.node(name) {
            self.placement.close(node);
        }
    }

    /// Empties nodes together. When that cannot be, everything is as before, and the answer says which node is at fault.
    pub(super) fn empty(&mut self, nodes: &[(&str, &Load)]) -> Result<(), (usize, Refused)> {
        let start = self.placement.mark();
        for (name, _) in nodes {
            self.close(name);
        }
        for (at, (name, load)) in nodes.iter().enumerate() {
            if let Err(refused) = self.empty_one(name, load) {
                self.placement.rollback(start);
                self.remember_full(&refused);
                return Err((at, refused));
            }
        }
        // Nobody waits for a placeholder, and what has come since the start has come to stay.
        let arrived = self.placement.arrivals_since(start).filter(|(_, class, _)| !self.placement.is_extra(*class));
        arrived.for_each(|(node, _, count)| *self.taken.entry(node).or_default() += count);
        // Where rules bind a class, pods that left may have made room for it.
        let placement = &*self.placement;
        self.full.retain(|class, _| !placement.is_bound(*class));
        Ok(())
    }

    fn empty_one(&mut self, name: &str, load: &Load) -> Result<(), Refused> {
        let Some(node) = self.placement.node(name) else { return Err(Refused::Kept(Kept::NotNow)) };
        if let Some(pods) = self.awaited.get(&node) {
            return Err(Refused::Kept(Kept::Awaited { pods: *pods }));
        }
        if let Some(pods) = self.taken.get(&node) {
            return Err(Refused::Kept(Kept::TakesPods { pods: *pods }));
        }
        let keyed = |(class, count): &(ClassId, u32)| {
            let requests = &self.placement.spec(*class).requests;
            (Reverse((requests.cpu, requests.memory)), self.placement.rank(*class), *class, *count)
        };
        let mut keyed: Vec<_> = load.moves.iter().chain(&load.returns).map(keyed).collect();
        keyed.sort_unstable();
        let mut pods: Vec<(ClassId, u32)> = keyed.into_iter().map(|(.., class, count)| (class, count)).collect();
        // Placeholders are moved, and not evicted: they come last.
        let mut placeholders: Vec<(ClassId, u32)> = self.placement.extra_on(node).collect();
        placeholders.sort_by_key(|(class, _)| self.placement.rank(*class));
        pods.extend(&placeholders);
        for (class, count) in &pods {
            if let Some(kind) = self.placement.unknown(*class) {
                return Err(Refused::Kept(Kept::NotKnown { kind, coverage: self.coverage(kind) }));
            }
            if let Some(misfit) = self.full.get(class) {
                return Err(self.homeless(*class, *count, misfit.clone()));
            }
        }
        for (class, count) in load.moves.iter().chain(&placeholders) {
            self.placement.take_off(*class, node, *count);
        }
        let filled = self.placement.fill_all_there(&pods);
        filled.map_err(|left| self.homeless(left.class, left.count, left.why))
    }

    /// Lets pods go to machines that are on their way or new too. Nodes are not tried without such machines any more.
    pub(super) fn let_new_come(&mut self) {
        self.placement.let_new_come(true);
        self.full.clear();
    }

    /// Which of these nodes, tried one after the other, can be emptied together with one new machine of a template, by
    /// position. Everything is as before afterwards.
    pub(super) fn empty_with_new(&mut self, template: TemplateId, nodes: &[(&str, &Load)]) -> Vec<usize> {
        let (start, taken) = (self.placement.mark(), self.taken.clone());
        self.placement.expect(template, 1);
        let tried = nodes.iter().enumerate().map(|(at, node)| (at, self.empty(&[*node]).is_ok()));
        let emptied = tried.filter(|(_, empty)| *empty).map(|(at, _)| at).collect();
        self.placement.rollback(start);
        self.taken = taken;
        self.full.clear();
        emptied
    }

    fn homeless(&self, class: ClassId, count: u32, misfit: Misfit) -> Refused {
        let namespace = Arc::clone(&self.placement.spec(class).namespace);
        let placeholder = self.placeholders.of(class).cloned();
        Refused::Homeless(Homeless { class, placeholder, namespace, count, misfit: Box::new(misfit) })
    }

    /// A class of which nothing fits anywhere, the node that was tried included, need not be tried again.
    fn remember_full(&mut self, refused: &Refused) {
        if let Refused::Homeless(Homeless { class, .. }) = refused
            && !self.full.contains_key(class)
            && let Err(misfit) = self.placement.fits_any(*class)
        {
            self.full.insert(*class, misfit);
        }
    }

    fn coverage(&self, kind: Kind) -> Coverage {
        self.snapshot.coverage(kind)
    }
}
