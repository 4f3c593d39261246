//! What was read last, so that only what is new has to be looked at.

use headroom_core::snapshot::{Change, ObjectKey};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// The objects of the last reading.
#[derive(Debug, Default)]
pub(super) struct Known {
    objects: IndexMap<ObjectKey, Object, FxBuildHasher>,
    /// The readings so far.
    readings: u64,
}

#[derive(Debug)]
struct Object {
    change: Change,
    /// The last reading that had it.
    reading: u64,
}

impl Known {
    /// What of a whole reading is new, and what is gone. Changes that are about no object are left out.
    pub(super) fn news(&mut self, whole: Vec<Change>) -> Vec<(ObjectKey, Change)> {
        self.readings += 1;
        let reading = self.readings;
        let mut news = Vec::new();
        for change in whole {
            let Some(key) = change.object() else { continue };
            match self.objects.get_mut(&key) {
                Some(known) if known.change == change => known.reading = reading,
                _ => {
                    news.push((key.clone(), change.clone()));
                    self.objects.insert(key, Object { change, reading });
                }
            }
        }
        self.objects.retain(|key, object| {
            let stays = object.reading == reading;
            if !stays {
                news.extend(key.gone().map(|gone| (key.clone(), gone)));
            }
            stays
        });
        news
    }
}

#[cfg(test)]
mod tests {
    use headroom_core::snapshot::{Coverage, Kind, Node, Pod};

    use super::*;

    fn pod(name: &str, node: &str) -> Change {
        Change::Pod(Pod { name: name.into(), node: Some(node.into()), ..Pod::default() })
    }

    #[test]
    fn only_what_differs_from_the_reading_before_is_new() {
        let mut known = Known::default();
        let mut news = |whole: &[Change]| -> Vec<Change> {
            known.news(whole.to_vec()).into_iter().map(|(_, change)| change).collect()
        };
        let node = Change::Node(Box::new(Node { name: "n".into(), ..Node::default() }));
        let covered = Change::Coverage(Kind::Pods, Coverage::Complete);
        let whole = [node.clone(), pod("a", "n"), pod("b", "n"), covered.clone()];
        assert_eq!(news(&whole), whole[..3]);
        assert_eq!(news(&whole), []);
        let gone = Change::PodGone { namespace: "".into(), name: "b".into() };
        assert_eq!(news(&[node.clone(), pod("a", "m"), covered]), [pod("a", "m"), gone]);
        assert_eq!(news(&[node, pod("a", "m"), pod("b", "n")]), [pod("b", "n")]);
    }
}
