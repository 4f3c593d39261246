//! Values of some nodes, found without their names.

use super::{NodeView, Snapshot};

/// Values of some nodes of one snapshot.
#[derive(Clone, Debug)]
pub(crate) struct OfNodes<T>(Vec<Option<T>>);

impl<T> Default for OfNodes<T> {
    /// No node has one.
    fn default() -> Self {
        OfNodes(Vec::new())
    }
}

impl<T> OfNodes<T> {
    /// The values of these nodes.
    pub(crate) fn new<'a>(snapshot: &Snapshot, values: impl Iterator<Item = (NodeView<'a>, T)>) -> Self {
        let mut all: Vec<Option<T>> = std::iter::repeat_with(|| None).take(snapshot.nodes.len()).collect();
        for (view, value) in values {
            if let Some(slot) = all.get_mut(view.slot as usize) {
                *slot = Some(value);
            }
        }
        OfNodes(all)
    }

    /// The value of a node, if it has one.
    pub(crate) fn get(&self, view: &NodeView<'_>) -> Option<&T> {
        self.0.get(view.slot as usize)?.as_ref()
    }

    /// The same, which the node has no more then.
    pub(crate) fn take(&mut self, view: &NodeView<'_>) -> Option<T> {
        self.0.get_mut(view.slot as usize)?.take()
    }
}
