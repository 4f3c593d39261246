//! Waiting pods whose place depends on what is not known.

use std::collections::BTreeMap;

use super::waiting::Names;
use crate::plan::Warning;
use crate::round::Round;
use crate::scheduling::Placement;
use crate::snapshot::{ClassId, ClassView, Kind};

/// Warns of each kind of objects that is not completely known and that decides where waiting pods can run.
pub(super) fn warn(round: &mut Round<'_>, placement: &Placement, waiting: &[ClassView<'_>], names: &Names<'_, '_>) {
    let mut depend: BTreeMap<Kind, (ClassId, u64)> = BTreeMap::new();
    for class in waiting {
        let Some(kind) = placement.unknown(class.id) else { continue };
        depend.entry(kind).or_insert((class.id, 0)).1 += u64::from(class.pending());
    }
    for (kind, (class, pods)) in depend {
        let coverage = round.snapshot.coverage(kind);
        round.warn(Warning::Unknown { kind, coverage, first: names.first(class), pods });
    }
}
