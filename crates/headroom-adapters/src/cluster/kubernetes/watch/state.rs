//! What has been seen since the last observation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use headroom_core::snapshot::{Change, Coverage, Kind, ObjectKey, Snapshot};
use indexmap::{IndexMap, IndexSet};
use jiff::Timestamp;
use rustc_hash::FxBuildHasher;

use super::connection::Connection;
use super::resource::Resource;
use super::scalables::Scalables;
use super::warnings::Warnings;
use crate::cluster::Observation;
use crate::fence::boottime;

/// What all watches have seen since the last observation. Of the cluster itself it keeps nothing but names, and those
/// only while a list is read once more.
#[derive(Debug)]
pub(super) struct State {
    /// The latest change of each object.
    changes: IndexMap<ObjectKey, Change, FxBuildHasher>,
    /// By what the API calls an object of it.
    resources: BTreeMap<&'static str, Progress>,
    pub(super) warnings: Warnings,
    pub(super) scalables: Scalables,
}

/// How far the watch of one resource is.
#[derive(Debug)]
struct Progress {
    resource: &'static Resource,
    /// It has been complete once.
    synced: bool,
    /// Some object of it has been put, or none had to be.
    begun: bool,
    /// The list that is being read.
    listing: Option<Listing>,
    /// A list that was read to its end since the last observation: what it does not name is gone.
    listed: Option<Names>,
    /// Objects that cannot be read.
    unread: BTreeSet<ObjectKey>,
    connection: Connection,
}

#[derive(Debug, Default)]
struct Listing {
    /// None in the first list: there is nothing that could be gone.
    names: Option<Names>,
    unread: BTreeSet<ObjectKey>,
}

type Names = IndexSet<ObjectKey, FxBuildHasher>;

impl State {
    pub(super) fn new(resources: impl IntoIterator<Item = &'static Resource>) -> Self {
        let resources = resources.into_iter().map(|resource| (resource.object, Progress::new(resource)));
        State {
            changes: IndexMap::default(),
            resources: resources.collect(),
            warnings: Warnings::default(),
            scalables: Scalables::default(),
        }
    }

    /// A list of the resource begins.
    pub(super) fn begin_list(&mut self, resource: &'static Resource) {
        let progress = self.of(resource);
        progress.listing = Some(Listing { names: progress.begun.then(Names::default), ..Listing::default() });
    }

    /// The list has been read to its end: what it did not name is gone.
    pub(super) fn end_list(&mut self, resource: &'static Resource) {
        let progress = self.of(resource);
        let Listing { names, unread } = progress.listing.take().unwrap_or_default();
        (progress.synced, progress.begun) = (true, true);
        progress.unread = unread;
        progress.connection.heard(boottime());
        if resource.kind == Kind::CapacityBuffers {
            self.scalables.listed();
        }
        if let Some(names) = names {
            let is_there = |key: &ObjectKey| !resource.owns(key) || names.contains(key);
            self.changes.retain(|key, _| is_there(key));
            self.scalables.retain(is_there);
            self.of(resource).listed = Some(names);
        }
    }

    /// An object is as this change says. While a list is read, it is one of the list.
    pub(super) fn put(&mut self, resource: &'static Resource, change: Change) {
        let Some(key) = change.object() else { return };
        let progress = self.of(resource);
        progress.begun = true;
        match &mut progress.listing {
            Some(Listing { names: Some(names), .. }) => drop(names.insert(key.clone())),
            Some(_) => {}
            None => drop(progress.unread.remove(&key)),
        }
        self.scalables.put(&key, &change);
        self.changes.insert(key, change);
    }

    /// An object that is of no resource of these, and in none of their lists, is as this change says.
    pub(super) fn put_unwatched(&mut self, change: Change) {
        if let Some(key) = change.object() {
            self.changes.insert(key, change);
        }
    }

    /// An object is gone.
    pub(super) fn remove(&mut self, resource: &'static Resource, key: ObjectKey) {
        let progress = self.of(resource);
        progress.unread.remove(&key);
        if let Some(Listing { names, unread }) = &mut progress.listing {
            unread.remove(&key);
            if let Some(names) = names {
                names.swap_remove(&key);
            }
        }
        self.scalables.remove(&key);
        if let Some(gone) = key.gone() {
            self.changes.insert(key, gone);
        }
    }

    /// There is an object that cannot be read. What was known of it before stays.
    pub(super) fn unreadable(&mut self, resource: &'static Resource, key: ObjectKey) {
        let progress = self.of(resource);
        let Some(Listing { names, unread }) = &mut progress.listing else {
            progress.unread.insert(key);
            return;
        };
        if let Some(names) = names {
            names.insert(key.clone());
        }
        unread.insert(key);
    }

    /// Whether all objects of a kind have been seen once.
    pub(super) fn is_synced(&self, kind: Kind) -> bool {
        self.resources.values().filter(|progress| progress.resource.kind == kind).all(|progress| progress.synced)
    }

    /// The connection of a resource.
    pub(super) fn connection(&mut self, resource: &'static Resource) -> &mut Connection {
        &mut self.of(resource).connection
    }

    /// What has changed since `known`, which took in every observation before.
    pub(super) fn observe(&mut self, known: &Snapshot) -> Observation {
        let (now, as_of) = (boottime(), Timestamp::now());
        let mut gone = Vec::new();
        for Progress { resource, listed, .. } in self.resources.values_mut() {
            let Some(listed) = listed.take() else { continue };
            let missing =
                |key: &ObjectKey| resource.owns(key) && !listed.contains(key) && !self.changes.contains_key(key);
            gone.extend(known.objects(resource.stored).iter().filter(|key| missing(key)).filter_map(ObjectKey::gone));
        }
        let changes = std::mem::take(&mut self.changes).into_values();
        let mut changes: Vec<Change> = changes.filter(|change| !known.has(change)).collect();
        changes.append(&mut gone);
        let mut ages = BTreeMap::new();
        for kind in Kind::ALL {
            let (coverage, age) = self.known_of(kind, now, as_of);
            ages.insert(kind, age);
            if coverage != known.coverage(kind) {
                changes.push(Change::Coverage(kind, coverage));
            }
        }
        Observation { changes, as_of, ages, warnings: self.warnings.take() }
    }

    /// How much of a kind is known, and until when it is known to be so.
    fn known_of(&self, kind: Kind, now: Duration, date: Timestamp) -> (Coverage, Option<Timestamp>) {
        // A buffer whose object has not been asked for yet would be said to refer to nothing.
        if kind == Kind::CapacityBuffers && self.scalables.are_awaited() {
            return (Coverage::Absent, None);
        }
        let mut coverage = Coverage::Complete;
        let mut age = date;
        for progress in self.resources.values().filter(|progress| progress.resource.kind == kind) {
            if !progress.synced {
                return (Coverage::Absent, None);
            }
            if !progress.unread.is_empty() {
                coverage = Coverage::Partial;
            }
            age = age.min(progress.connection.complete_until(now, date));
        }
        (coverage, Some(age))
    }

    fn of(&mut self, resource: &'static Resource) -> &mut Progress {
        self.resources.entry(resource.object).or_insert_with(|| Progress::new(resource))
    }
}

impl Progress {
    fn new(resource: &'static Resource) -> Self {
        Progress {
            resource,
            synced: false,
            begun: false,
            listing: None,
            listed: None,
            unread: BTreeSet::new(),
            connection: Connection::default(),
        }
    }
}
