//! Objects of a Nomad cluster in a dump. They do not say what kind they are; their fields do.

use headroom_adapters::cluster::nomad::object::{Header, Kind};
use headroom_adapters::cluster::nomad::translate::{Gathered, Malformed};

use super::item::{Fault, Item};

/// What an object is, and what it is called; None when it is none of Nomad's.
pub(super) fn recognize(item: &impl Item) -> Option<(Kind, String)> {
    let header: Header = item.read().ok()?;
    let kind = header.kind()?;
    let name = match header.id() {
        "" => format!("a {} without an ID", kind.name()),
        id => format!("{} {id}", kind.name()),
    };
    Some((kind, name))
}

/// Takes in an object of this kind.
pub(super) fn take(item: &impl Item, kind: Kind, gathered: &mut Gathered) -> Result<(), Fault> {
    match kind {
        Kind::Node => gathered.node(item.read()?),
        Kind::Allocation => gathered.allocation(item.read()?),
        Kind::Job => gathered.job(item.read()?),
        Kind::JobSummary => gathered.summary(item.read()?),
        Kind::Evaluation => gathered.evaluation(item.read()?),
        Kind::ClientStats => gathered.stats(&item.read()?),
    }?;
    Ok(())
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Fault { offset: 0, problem: malformed.to_string() }
    }
}
