//! Pods that mind other pods: spread, affinity, anti-affinity, host ports.
//!
//! For these the scheduler asks the core's own working copy of the cluster. It is only made when such a pod waits, from a
//! mirror of the world that is kept up to date from then on.

use headroom_core::scheduling::Setup;
use headroom_core::snapshot::{Builder, ClassId, PodSpec};

use super::observe::Unseen;
use super::*;

/// The world as the core sees it.
#[derive(Debug)]
pub(super) struct Mirror {
    builder: Builder,
    /// What the builder has not been told.
    pub(super) unseen: Unseen,
}

/// The core's working copy for one turn of the scheduler, in which each pod that gets a place is put there too.
#[derive(Debug)]
pub(super) struct Neighbours {
    placement: headroom_core::scheduling::Placement,
    classes: BTreeMap<usize, ClassId>,
}

/// Whether where pods like `spec` may go depends on where others are, `shunning` aside: pods that want others away.
pub(super) fn minds_others(spec: &PodSpec) -> bool {
    !(spec.spread.is_empty()
        && spec.pod_affinity.is_empty()
        && spec.pod_anti_affinity.is_empty()
        && spec.host_ports.is_empty())
}

impl Neighbours {
    /// Whether a pod of a class can go on a node.
    pub(super) fn allow(&self, class: usize, node: &str) -> bool {
        let (Some(class), Some(node)) = (self.classes.get(&class), self.placement.node(node)) else { return false };
        self.placement.fits(*class, node).is_ok()
    }

    /// Puts a pod of a class on a node.
    pub(super) fn place(&mut self, class: usize, node: &str) {
        if let (Some(class), Some(node)) = (self.classes.get(&class), self.placement.node(node)) {
            self.placement.place(*class, node);
        }
    }
}

impl World {
    /// The working copy for pods of these classes of the scheduler, which are given with their specs.
    pub(super) fn neighbours(&mut self, classes: &[(usize, SharedSpec)]) -> Neighbours {
        let mut mirror =
            self.mirror.take().unwrap_or_else(|| Mirror { builder: Builder::new(), unseen: self.everything() });
        for change in self.changes(std::mem::take(&mut mirror.unseen)) {
            mirror.builder.apply(change);
        }
        let extra: Vec<SharedSpec> = classes.iter().map(|(_, spec)| spec.clone()).collect();
        let setup = Setup { extra: &extra, ..Setup::default() };
        let placement = headroom_core::scheduling::Placement::new(mirror.builder.snapshot(), &setup);
        let ids = classes.iter().enumerate().filter_map(|(at, (class, _))| Some((*class, placement.extra(at)?)));
        let classes = ids.collect();
        self.mirror = Some(mirror);
        Neighbours { placement, classes }
    }
}
