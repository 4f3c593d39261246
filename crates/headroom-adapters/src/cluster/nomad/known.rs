//! What was read last, so that only what is new has to be looked at.

use std::hash::{Hash, Hasher};

use headroom_core::snapshot::Change;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// Changes of nodes and pods, the latest of each.
#[derive(Debug, Default)]
pub(super) struct Latest(IndexSet<ByName, FxBuildHasher>);

/// The objects of the last reading.
#[derive(Debug, Default)]
pub(super) struct Known {
    objects: IndexSet<ByName, FxBuildHasher>,
    /// The readings so far.
    readings: u64,
}

/// A change, which is equal to every other one about the same object.
#[derive(Debug)]
struct ByName {
    change: Change,
    /// The last reading that had it.
    reading: u64,
}

impl Latest {
    fn put(&mut self, change: Change) {
        self.0.replace(ByName { change, reading: 0 });
    }

    /// Takes in what came later.
    pub(super) fn extend(&mut self, later: Latest) {
        if self.0.is_empty() {
            *self = later;
        } else {
            later.take().for_each(|change| self.put(change));
        }
    }

    /// All of them.
    pub(super) fn take(self) -> impl Iterator<Item = Change> {
        self.0.into_iter().map(|one| one.change)
    }
}

impl Known {
    /// What of a whole reading is new, and what is gone. Changes that are about no node and no pod are left out.
    pub(super) fn news(&mut self, whole: Vec<Change>) -> Latest {
        self.readings += 1;
        let reading = self.readings;
        let mut news = Latest::default();
        for change in whole.into_iter().filter(|change| name(change).is_some()) {
            let new = ByName { change, reading };
            match self.objects.get(&new) {
                Some(known) if known.change == new.change => {}
                _ => news.put(new.change.clone()),
            }
            self.objects.replace(new);
        }
        self.objects.retain(|object| {
            let stays = object.reading == reading;
            if !stays && let Some(gone) = object.change.object().and_then(|key| key.gone()) {
                news.put(gone);
            }
            stays
        });
        news
    }
}

/// Which node or pod it is about: whether it is a pod, its namespace and its name.
fn name(change: &Change) -> Option<(bool, &str, &str)> {
    match change {
        Change::Node(node) => Some((false, "", &node.name)),
        Change::NodeGone(name) => Some((false, "", name)),
        Change::Pod(pod) => Some((true, &pod.spec.namespace, &pod.name)),
        Change::PodGone { namespace, name } => Some((true, namespace, name)),
        _ => None,
    }
}

impl PartialEq for ByName {
    fn eq(&self, other: &Self) -> bool {
        name(&self.change) == name(&other.change)
    }
}

impl Eq for ByName {}

impl Hash for ByName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        name(&self.change).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use headroom_core::snapshot::{Coverage, Kind, Node, Pod};

    use super::*;

    fn pod(name: &str, node: &str) -> Change {
        Change::Pod(Pod { name: name.into(), node: Some(node.into()), ..Pod::default() })
    }

    fn gone(name: &str) -> Change {
        Change::PodGone { namespace: "".into(), name: name.into() }
    }

    #[test]
    fn only_what_differs_from_the_reading_before_is_new() {
        let mut known = Known::default();
        let mut news = |whole: &[Change]| -> Vec<Change> { known.news(whole.to_vec()).take().collect() };
        let node = Change::Node(Box::new(Node { name: "n".into(), ..Node::default() }));
        let covered = Change::Coverage(Kind::Pods, Coverage::Complete);
        let whole = [node.clone(), pod("a", "n"), pod("b", "n"), covered.clone()];
        assert_eq!(news(&whole), whole[..3]);
        assert_eq!(news(&whole), []);
        assert_eq!(news(&[node.clone(), pod("a", "m"), covered]), [pod("a", "m"), gone("b")]);
        assert_eq!(news(&[pod("a", "m"), pod("b", "n")]), [pod("b", "n"), Change::NodeGone("n".into())]);
    }

    #[test]
    fn what_came_later_counts() {
        let mut latest = Latest::default();
        for news in [vec![pod("a", "n"), pod("b", "n")], vec![gone("a"), pod("c", "n")]] {
            let mut later = Latest::default();
            news.into_iter().for_each(|change| later.put(change));
            latest.extend(later);
        }
        assert_eq!(latest.take().collect::<Vec<_>>(), [gone("a"), pod("b", "n"), pod("c", "n")]);
    }
}
