//! A pool of Nomad whose servers, tasks or load have become less than half at once: what shows it may be at fault, so that
//! nothing goes until it has been shown for a while.

use jiff::SignedDuration;

use crate::memory::{GroupMemory, Level};
use crate::plan::Why;
use crate::quantity::Totals;
use crate::round::Round;
use crate::scale_down::doubt_fall;
use crate::snapshot::Readiness;
use crate::strategy::utilization::Members;

/// Three looks at a cluster of Nomad, one every 15 s.
const DOUBT: SignedDuration = SignedDuration::from_secs(45);

/// Remembers how large the pool is, and answers why nothing may be removed from it, if so.
pub(crate) fn fell(round: &mut Round<'_>, members: &Members<'_, '_>, memory: &mut GroupMemory) -> Option<Why> {
    let (level, fell) = doubt_fall(measure(members), memory.level.as_ref(), DOUBT, round.now);
    memory.level = Some(level);
    if let Some(Why::SuddenDrop { until, .. }) = &fell {
        round.wake.at(*until);
    }
    fell
}

/// The servers, how busy they are, and what tasks on them hold or that wait ask for: what lost its server is still wanted.
fn measure(members: &Members<'_, '_>) -> Level {
    let mut wanted = Totals::default();
    for view in members.nodes {
        wanted.cpu += view.sums.used.cpu;
        wanted.memory += view.sums.used.memory;
    }
    for class in members.classes {
        let waiting = i128::from(class.pending());
        wanted.cpu += i128::from(class.spec.requests.cpu) * waiting;
        wanted.memory += i128::from(class.spec.requests.memory) * waiting;
    }
    let ready = members.nodes.iter().filter(|view| view.node.readiness == Readiness::Ready);
    let busy = ready.map(|view| view.node.busy.map(|busy| u64::from(busy.0))).sum();
    let nodes = u32::try_from(members.nodes.len()).unwrap_or(u32::MAX);
    Level { nodes, cpu: wanted.cpu, memory: wanted.memory, busy, fell_at: None }
}
