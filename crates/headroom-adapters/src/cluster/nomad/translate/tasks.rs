//! The tasks of a cluster, kept small: there may be very many, and those of the last reading are kept to see what is new.

use std::collections::BTreeMap;

use headroom_core::snapshot::{Change, Phase, Pod, SharedSpec};
use indexmap::{IndexMap, IndexSet};
use jiff::Timestamp;
use rustc_hash::FxBuildHasher;

/// What runs and what waits at one instant. Each is a pod.
#[derive(Debug, Default)]
pub struct Tasks {
    pub(super) alive: AliveByName,
    /// What equal ones have in common, each at its place.
    pub(super) specs: Vec<SharedSpec>,
    pub(super) waiting: WaitingByGroup,
}

/// By namespace, and by job and group.
pub(super) type WaitingByGroup = BTreeMap<(String, String), Waiting>;

/// Allocations that have not ended.
#[derive(Debug, Default)]
pub(super) struct AliveByName {
    /// By namespace and name of the pod.
    alive: BTreeMap<Box<str>, IndexMap<Box<str>, Alive, FxBuildHasher>>,
    /// The names of their nodes, each at its place.
    nodes: IndexSet<Box<str>, FxBuildHasher>,
}

#[derive(Clone, Copy, Debug)]
struct Alive {
    own: Own,
    node: usize,
    like: usize,
}

/// What is not shared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) phase: Phase,
    pub(super) deleting: bool,
    /// In nanoseconds; not above 0 where it is not known.
    pub(super) created: i64,
}

/// Equal tasks that wait for a node.
#[derive(Debug, PartialEq)]
pub(super) struct Waiting {
    pub(super) spec: SharedSpec,
    pub(super) count: u32,
}

impl Tasks {
    /// What has changed since `before`.
    pub fn changes_since<'a>(&'a self, before: &'a Tasks) -> impl Iterator<Item = Change> + 'a {
        let gone = before.alive.iter().filter(|(namespace, name, _)| self.alive.get(namespace, name).is_none());
        let gone = gone.map(|(namespace, name, _)| gone_pod(namespace, name));
        let changed = self.alive.iter().filter(|(namespace, name, alive)| {
            let known = before.alive.get(namespace, name);
            known.is_none_or(|known| before.all_of(known) != self.all_of(alive))
        });
        gone.chain(changed.map(|(_, name, alive)| Change::Pod(self.pod(name, alive)))).chain(self.waiting_since(before))
    }

    fn waiting_since<'a>(&'a self, before: &'a Tasks) -> impl Iterator<Item = Change> + 'a {
        let fewer = before.waiting.iter().flat_map(|(key, known)| {
            let left = self.waiting.get(key).map_or(0, |waiting| waiting.count);
            (left + 1..=known.count).map(|at| gone_pod(&key.0, &waiting_name(&key.1, at)))
        });
        let more = self.waiting.iter().flat_map(|(key, waiting)| {
            let same = before.waiting.get(key).filter(|known| known.spec == waiting.spec);
            let pod = |at| Pod { name: waiting_name(&key.1, at).into(), spec: waiting.spec.clone(), ..Pod::default() };
            (same.map_or(0, |known| known.count) + 1..=waiting.count).map(pod).map(Change::Pod)
        });
        fewer.chain(more)
    }

    /// All that can differ in allocations of one name.
    fn all_of(&self, alive: &Alive) -> (Own, Option<&str>, Option<&SharedSpec>) {
        (alive.own, self.alive.node(alive), self.specs.get(alive.like))
    }

    fn pod(&self, name: &str, alive: &Alive) -> Pod {
        let Own { phase, deleting, created } = alive.own;
        Pod {
            name: name.into(),
            spec: self.specs.get(alive.like).cloned().unwrap_or_default(),
            node: self.alive.node(alive).map(Into::into),
            phase,
            created: Timestamp::from_nanosecond(created.into()).ok().filter(|_| created > 0),
            deleting,
            ..Pod::default()
        }
    }
}

impl AliveByName {
    /// Takes one in, in place of what was known of it. `like` is the place of what it has in common with others.
    pub(super) fn insert(&mut self, namespace: &str, name: Box<str>, node: &str, own: Own, like: usize) {
        let known = self.nodes.get_index_of(node);
        let node = known.unwrap_or_else(|| self.nodes.insert_full(node.into()).0);
        if !self.alive.contains_key(namespace) {
            self.alive.insert(namespace.into(), IndexMap::default());
        }
        if let Some(named) = self.alive.get_mut(namespace) {
            named.insert(name, Alive { own, node, like });
        }
    }

    /// One has ended.
    pub(super) fn remove(&mut self, namespace: &str, name: &str) {
        if let Some(named) = self.alive.get_mut(namespace) {
            named.swap_remove(name);
        }
    }

    /// The place of what each has in common with others.
    pub(super) fn likes(&self) -> impl Iterator<Item = usize> {
        self.iter().map(|(_, _, alive)| alive.like)
    }

    fn get(&self, namespace: &str, name: &str) -> Option<&Alive> {
        self.alive.get(namespace)?.get(name)
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &str, &Alive)> {
        let all = self.alive.iter();
        all.flat_map(|(namespace, named)| named.iter().map(move |(name, alive)| (&**namespace, &**name, alive)))
    }

    fn node(&self, alive: &Alive) -> Option<&str> {
        self.nodes.get_index(alive.node).map(|name| &**name).filter(|name| !name.is_empty())
    }
}

fn gone_pod(namespace: &str, name: &str) -> Change {
    Change::PodGone { namespace: namespace.into(), name: name.into() }
}

fn waiting_name(of: &str, at: u32) -> String {
    format!("{of}[waiting {at}]")
}

#[cfg(test)]
mod tests {
    use headroom_core::quantity::Resources;
    use headroom_core::snapshot::{Builder, PodSpec};
    use proptest::prelude::*;

    use super::*;

    const NAMESPACES: [&str; 2] = ["default", "shop"];

    fn tasks() -> impl Strategy<Value = Tasks> {
        let own = (any::<bool>(), any::<bool>(), 0..3_i64).prop_map(|(pending, deleting, created)| Own {
            phase: if pending { Phase::Pending } else { Phase::Running },
            deleting,
            created,
        });
        let one = (0..2_usize, 0..6_u8, 0..3_usize, 0..2_usize, own);
        let specs = proptest::collection::vec(1..3_i64, NAMESPACES.len() * 2);
        let waiting = proptest::collection::btree_map((0..2_usize, 0..2_u8), (1..3_i64, 0..4_u32), 0..4);
        (proptest::collection::vec(one, 0..12), specs, waiting).prop_map(|(all, memory, waiting)| {
            let mut tasks = Tasks::default();
            for (namespace, name, node, like, own) in all {
                let (name, node) = (format!("t{name}").into(), ["", "n1", "n2"][node]);
                tasks.alive.insert(NAMESPACES[namespace], name, node, own, namespace * 2 + like);
            }
            let specs = memory.into_iter().enumerate().map(|(at, memory)| spec(at / 2, memory));
            tasks.specs = specs.collect();
            let waiting = waiting.into_iter().map(|((namespace, group), (memory, count))| {
                let key = (NAMESPACES[namespace].to_owned(), format!("job.g{group}"));
                (key, Waiting { spec: spec(namespace, memory), count })
            });
            Tasks { waiting: waiting.collect(), ..tasks }
        })
    }

    fn spec(namespace: usize, memory: i64) -> SharedSpec {
        let requests = Resources { memory, ..Resources::default() };
        SharedSpec::new(PodSpec { namespace: NAMESPACES[namespace].into(), requests, ..PodSpec::default() })
    }

    fn applied(builder: &mut Builder, changes: impl Iterator<Item = Change>) -> Vec<Change> {
        changes.for_each(|change| {
            assert!(!builder.snapshot().has(&change), "it changes nothing: {change:?}");
            builder.apply(change);
        });
        builder.snapshot().to_changes()
    }

    proptest! {
        /// Whatever came in between, and each change changes something.
        #[test]
        fn differences_add_up_to_the_last_state(states in proptest::collection::vec(tasks(), 1..4)) {
            let (mut builder, nothing) = (Builder::new(), Tasks::default());
            let mut before = &nothing;
            for state in &states {
                let followed = applied(&mut builder, state.changes_since(before));
                prop_assert_eq!(followed, applied(&mut Builder::new(), state.changes_since(&nothing)));
                before = state;
            }
        }
    }
}
