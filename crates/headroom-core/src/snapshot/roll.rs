//! Lists of pods.

use super::ClassId;

/// A pod in the list of its node, or among those of its class that wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub(super) pod: u32,
    pub(super) class: u32,
    pub(super) deleting: bool,
}

/// Space for so many pods is made with the first one: a node has about as many or more, and to grow step by step moves each
/// of them several times.
const FIRST: usize = 16;

/// Pods in no meaningful order, and how many of them are being deleted: mostly none, and then nobody has to look for them.
///
/// What is asked of every pod is apart from the rest and small, so that asking reads little memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Roll {
    pods: Vec<u32>,
    sorts: Vec<Sort>,
    deleting: u32,
}

/// The class of a pod, and in the highest bit whether the pod is being deleted.
#[derive(Clone, Copy, Debug)]
struct Sort(u32);

impl Sort {
    /// No cluster has so many classes.
    const DELETING: u32 = 1 << 31;

    fn class(self) -> ClassId {
        ClassId(self.0 & !Self::DELETING)
    }

    fn deleting(self) -> bool {
        self.0 & Self::DELETING != 0
    }
}

impl Roll {
    pub(super) fn is_empty(&self) -> bool {
        self.pods.is_empty()
    }

    /// Adds a pod behind the others, and gives its position.
    pub(super) fn push(&mut self, listed: Listed) -> usize {
        if self.pods.capacity() == 0 {
            self.pods.reserve_exact(FIRST);
            self.sorts.reserve_exact(FIRST);
        }
        let Listed { pod, class, deleting } = listed;
        self.deleting += u32::from(deleting);
        self.pods.push(pod);
        self.sorts.push(Sort(class | if deleting { Sort::DELETING } else { 0 }));
        self.pods.len() - 1
    }

    /// Takes out the pod at a position; the answer is the one that is there now.
    pub(super) fn remove(&mut self, at: usize) -> Option<u32> {
        if at < self.pods.len() {
            self.pods.swap_remove(at);
            self.deleting -= u32::from(self.sorts.swap_remove(at).deleting());
        }
        self.pods.get(at).copied()
    }

    /// The pod at a position has another index.
    pub(super) fn renumber(&mut self, at: usize, pod: u32) {
        self.pods.get_mut(at).into_iter().for_each(|listed| *listed = pod);
    }

    pub(super) fn len(&self) -> usize {
        self.pods.len()
    }

    /// Whether any of the pods is being deleted.
    pub(super) fn has_deleting(&self) -> bool {
        self.deleting > 0
    }

    /// The indices of the pods.
    pub(super) fn pods(&self) -> impl Iterator<Item = u32> {
        self.pods.iter().copied()
    }

    /// The class of each, and whether it is being deleted.
    pub(super) fn classes(&self) -> impl Iterator<Item = (ClassId, bool)> {
        self.sorts.iter().map(|sort| (sort.class(), sort.deleting()))
    }

    /// The indices of those that are wanted by their class and by whether they are being deleted.
    pub(super) fn wanted(&self, wanted: impl Fn(ClassId, bool) -> bool) -> impl Iterator<Item = u32> {
        let sorts = self.sorts.iter().zip(&self.pods);
        sorts.filter(move |(sort, _)| wanted(sort.class(), sort.deleting())).map(|(_, pod)| *pod)
    }
}
