//! How nodes make way for a cheaper machine.

use headroom_core::policy::Consolidation;
use jiff::SignedDuration;

use crate::config::kind::{Kind, duration, flag};
use crate::config::record::Record;

/// What the file says of it.
#[derive(Default)]
pub(super) struct Replacing {
    enabled: bool,
    settings: Consolidation,
}

impl Replacing {
    /// None when it is off.
    pub(super) fn settings(&self) -> Option<Consolidation> {
        self.enabled.then(|| self.settings.clone())
    }
}

pub(super) fn kind() -> Kind<Replacing> {
    Record::new(
        "scaleDown.consolidation",
        "Whether nodes of which little is in use, and whose pods have no place on the others, make way for one machine \
         that costs less. That machine is bought first; when it is there, the pods have a place and the nodes go as any \
         others do. It happens only where the saving, as a share of what all nodes cost, is at least half the \
         disruption, as a share of what moving every pod would be, and while nothing else changes.",
        Replacing::default,
    )
    .field("enabled", flag(), |replacing| &mut replacing.enabled, "Whether it happens at all. Every price must be known.")
    .field(
        "giveUpAfter",
        duration(SignedDuration::from_secs(1)),
        |replacing| &mut replacing.settings.give_up_after,
        "When the old nodes have not gone so long after the machine was asked for, it goes like any other that is not \
         needed, and for as long again nothing else is replaced.",
    )
    .kind()
}
