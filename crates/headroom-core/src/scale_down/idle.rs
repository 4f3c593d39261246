//! Since when nodes could go.

use jiff::Timestamp;
use rustc_hash::FxHashMap;

use crate::memory::Memory;
use crate::snapshot::NodeView;

/// What is remembered of the round before, made to be asked about every node.
pub(super) enum IdleBefore<'a> {
    /// These nodes could have gone, and since when.
    Known(FxHashMap<&'a str, Timestamp>),
    /// Nothing is remembered.
    Nothing,
    /// A memory that is settled says: for as long as it exists.
    Settled,
}

impl<'a> IdleBefore<'a> {
    pub(super) fn new(memory: &'a Memory) -> Self {
        match (&memory.scale_down, memory.since) {
            (Some(watch), _) => Self::Known(watch.idle.iter().map(|(name, since)| (&**name, *since)).collect()),
            (None, Some(_)) => Self::Nothing,
            (None, None) => Self::Settled,
        }
    }

    /// Whether the node could have gone already.
    pub(super) fn knows(&self, view: &NodeView<'_>) -> bool {
        matches!(self, Self::Known(idle) if idle.contains_key(&*view.node.name))
    }

    /// Since when the node could have gone, which it can from when it is too old.
    pub(super) fn since(&self, view: &NodeView<'_>, expires: Option<Timestamp>, now: Timestamp) -> Timestamp {
        let since = match self {
            Self::Known(idle) => idle.get(&*view.node.name).copied().unwrap_or(now),
            Self::Nothing => now,
            Self::Settled => view.node.created.unwrap_or(Timestamp::MIN),
        };
        expires.map_or(since, |expires| expires.min(since))
    }
}
