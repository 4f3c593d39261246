//! Allocations: of those that are alive, what becomes of them, and of equal ones what is equal only once.

use std::collections::BTreeMap;

use headroom_core::quantity::Resources;
use headroom_core::snapshot::SharedSpec;
use indexmap::IndexSet;
use jiff::Timestamp;
use rustc_hash::FxBuildHasher;

use super::gathered::{JobKey, key};
use super::tasks::{AliveByName, Tasks, WaitingByGroup};
use super::{Malformed, allocation, namespace_of, resources};
use crate::cluster::nomad::object::Allocation;

/// The allocations of one cluster.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// With the places of what they are like.
    alive: AliveByName,
    /// Of those that have ended too.
    likenesses: IndexSet<Likeness, FxBuildHasher>,
    /// In nanoseconds.
    newest: i64,
}

/// What equal allocations have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Likeness {
    pub(super) job: JobKey,
    pub(super) group: String,
    pub(super) job_type: Option<String>,
    /// None where nobody says it.
    pub(super) holds: Option<Resources>,
}

impl Held {
    /// Takes in an allocation that has an ID, in place of what was known of it.
    pub(super) fn add(&mut self, object: Allocation) -> Result<(), Malformed> {
        let holds = object.allocated_resources.as_ref().map(resources::of_allocation).transpose()?;
        self.newest = self.newest.max(object.modify_time).max(object.create_time);
        let (name, own) = (allocation::name(&object), allocation::own(&object));
        let Allocation { namespace, job_id, node_id, task_group, job_type, .. } = object;
        let like = Likeness { job: key(&namespace, &job_id), group: task_group, job_type, holds };
        let known = self.likenesses.get_index_of(&like);
        let like = known.unwrap_or_else(|| self.likenesses.insert_full(like).0);
        let namespace = namespace_of(&namespace);
        match own {
            Some(own) => self.alive.insert(namespace, name.into(), &node_id, own, like),
            None => self.alive.remove(namespace, &name),
        }
        Ok(())
    }

    /// Whether there was none, alive or not.
    pub(super) fn is_empty(&self) -> bool {
        self.likenesses.is_empty()
    }

    /// What equal ones have in common.
    pub(super) fn likenesses(&self) -> impl Iterator<Item = &Likeness> {
        self.likenesses.iter()
    }

    /// How many are alive of which nobody says what they hold.
    pub(super) fn silent(&self) -> usize {
        let says = |like: usize| self.likenesses.get_index(like).is_some_and(|like| like.holds.is_some());
        self.alive.likes().filter(|like| !says(*like)).count()
    }

    /// How many of each job are alive.
    pub(super) fn by_job(&self) -> BTreeMap<&JobKey, u32> {
        let mut counts = vec![0_u32; self.likenesses.len()];
        for like in self.alive.likes() {
            counts.get_mut(like).into_iter().for_each(|count| *count += 1);
        }
        let mut jobs = BTreeMap::new();
        for (like, count) in self.likenesses.iter().zip(counts) {
            *jobs.entry(&like.job).or_default() += count;
        }
        jobs
    }

    /// What one of this group holds, alive or not: of different ones the most.
    pub(super) fn size(&self, job: &JobKey, group: &str) -> Option<&Resources> {
        let same = self.likenesses.iter().filter(|like| like.group == group && like.job == *job);
        same.filter_map(|like| like.holds.as_ref())
            .max_by_key(|holds| (holds.memory, holds.cpu, holds.ephemeral_storage))
    }

    /// When the last one was made or changed.
    pub(super) fn newest(&self) -> Option<Timestamp> {
        Timestamp::from_nanosecond(self.newest.into()).ok()
    }

    /// Those that are alive, and those that wait. `specs` are of their likenesses, in order.
    pub(super) fn with(self, specs: Vec<SharedSpec>, waiting: WaitingByGroup) -> Tasks {
        Tasks { alive: self.alive, specs, waiting }
    }
}
