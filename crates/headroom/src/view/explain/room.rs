//! Whether a waiting pod fits on a node that is there.

use std::sync::Arc;

use headroom_core::quantity::Resources;
use headroom_core::snapshot::NodeView;
use headroom_core::strategy::utilization::{Shortage, shortage};

/// The room that a group's nodes have for one pod, as far as resources go.
pub(super) enum Room {
    /// This node could take it.
    On(Arc<str>),
    /// None could; the one that comes closest is short of this.
    Short(Shortage),
    /// There is no node that takes pods.
    NoNode,
}

impl Room {
    pub(super) fn of(needs: &Resources, nodes: &[NodeView<'_>]) -> Self {
        let mut closest: Option<Shortage> = None;
        for view in nodes {
            let free = view.sums.used.left_of(&view.node.allocatable);
            match shortage(needs, &free, view.node.allocatable.pods > 0) {
                None => return Room::On(Arc::clone(&view.node.name)),
                Some(short) => {
                    let gap = |short: &Shortage| short.needs - short.free;
                    if closest.as_ref().is_none_or(|known| gap(&short) < gap(known)) {
                        closest = Some(short);
                    }
                }
            }
        }
        closest.map_or(Room::NoNode, Room::Short)
    }
}
