//! Lists of pods.

/// A pod in the list of its node, or among those of its class that wait: its index, and of the rest what is asked of every
/// pod, so that asking stays in the list.
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
#[derive(Clone, Debug, Default)]
pub(super) struct Roll {
    pods: Vec<Listed>,
    deleting: u32,
}

impl Roll {
    pub(super) fn as_slice(&self) -> &[Listed] {
        &self.pods
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pods.is_empty()
    }

    /// Whether any of the pods is being deleted.
    pub(super) fn has_deleting(&self) -> bool {
        self.deleting > 0
    }

    /// Adds a pod behind the others, and gives its position.
    pub(super) fn push(&mut self, listed: Listed) -> usize {
        if self.pods.capacity() == 0 {
            self.pods.reserve_exact(FIRST);
        }
        self.deleting += u32::from(listed.deleting);
        self.pods.push(listed);
        self.pods.len() - 1
    }

    /// Takes out the pod at a position; the answer is the one that is there now.
    pub(super) fn remove(&mut self, at: usize) -> Option<Listed> {
        if at < self.pods.len() {
            self.deleting -= u32::from(self.pods.swap_remove(at).deleting);
        }
        self.pods.get(at).copied()
    }

    /// The pod at a position has another index.
    pub(super) fn renumber(&mut self, at: usize, pod: u32) {
        self.pods.get_mut(at).into_iter().for_each(|listed| listed.pod = pod);
    }
}
