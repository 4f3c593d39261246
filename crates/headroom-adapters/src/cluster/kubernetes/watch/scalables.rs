//! What capacity buffers refer to that no watch follows.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::snapshot::{CapacityBuffer, Change, ObjectKey};
use tokio::sync::Notify;

/// An object of a kind that is not part of Kubernetes, with replicas.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scalable {
    pub(super) namespace: Arc<str>,
    /// Its API group, which is not empty.
    pub(super) group: Box<str>,
    /// For example `Rollout`.
    pub(super) kind: Box<str>,
    pub(super) name: Box<str>,
}

impl Scalable {
    /// What a buffer refers to. None when it is followed like everything of Kubernetes' own, or can be no object's name.
    fn of(buffer: &CapacityBuffer) -> Option<Self> {
        let (kind, name) = buffer.scalable.as_ref().filter(|_| buffer.is_for_us())?.split_once('/')?;
        let (kind, group) = kind.split_once('.')?;
        // They become parts of paths, and anybody may have written them.
        let is_plain = |text: &str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
            text.bytes().all(allowed) && !text.trim_matches('.').is_empty()
        };
        (is_plain(group) && is_plain(name)).then(|| Scalable {
            namespace: Arc::clone(&buffer.namespace),
            group: group.into(),
            kind: kind.into(),
            name: name.into(),
        })
    }

    /// What stands for its kind in a snapshot, where it is apart from one of the same name in another group.
    pub(super) fn full_kind(&self) -> String {
        format!("{}.{}", self.kind, self.group)
    }

    /// `Kind.group/name`, as buffers refer to it.
    pub(super) fn reference(&self) -> String {
        format!("{}/{}", self.full_kind(), self.name)
    }
}

/// To what the capacity buffers of the cluster refer.
#[derive(Debug, Default)]
pub(super) struct Scalables {
    by_buffer: BTreeMap<ObjectKey, Scalable>,
    /// All that the first complete list of buffers refers to has been asked for.
    asked: bool,
    /// They have changed.
    pub(super) changed: Arc<Notify>,
}

impl Scalables {
    /// An object is as this change says.
    pub(super) fn put(&mut self, key: &ObjectKey, change: &Change) {
        let Change::CapacityBuffer(buffer) = change else { return };
        let Some(scalable) = Scalable::of(buffer) else { return self.remove(key) };
        if self.by_buffer.get(key) != Some(&scalable) {
            self.by_buffer.insert(key.clone(), scalable);
            self.changed.notify_one();
        }
    }

    /// An object is gone.
    pub(super) fn remove(&mut self, key: &ObjectKey) {
        if self.by_buffer.remove(key).is_some() {
            self.changed.notify_one();
        }
    }

    /// All objects are gone of which this is not true.
    pub(super) fn retain(&mut self, is_there: impl Fn(&ObjectKey) -> bool) {
        let before = self.by_buffer.len();
        self.by_buffer.retain(|key, _| is_there(key));
        if self.by_buffer.len() != before {
            self.changed.notify_one();
        }
    }

    /// The first list of buffers is complete.
    pub(super) fn listed(&self) {
        if self.are_awaited() {
            self.changed.notify_one();
        }
    }

    /// All of them have been asked for, once every buffer was known.
    pub(super) fn asked(&mut self) {
        self.asked = true;
    }

    /// Whether there are some, and it is not known yet what the API server says of them.
    pub(super) fn are_awaited(&self) -> bool {
        !self.asked && !self.by_buffer.is_empty()
    }

    /// Each of them once, with the buffers that refer to it.
    pub(super) fn with_buffers(&self) -> BTreeMap<Scalable, Vec<ObjectKey>> {
        let mut all: BTreeMap<Scalable, Vec<ObjectKey>> = BTreeMap::new();
        for (buffer, scalable) in &self.by_buffer {
            all.entry(scalable.clone()).or_default().push(buffer.clone());
        }
        all
    }
}
