//! Nodes on their way out that are needed again: what waits fits on them and nowhere else, so that nothing has to be bought.

use std::collections::BTreeMap;

use super::draining;
use super::look::Look;
use crate::memory::GroupMemory;
use crate::plan::{Kept, Reason};
use crate::round::Round;
use crate::strategy::pending::Placed;

/// Takes the mark off nodes on which waiting pods or placeholders have their places now.
pub(super) fn untaint(round: &mut Round<'_>, look: &mut Look<'_>, placed: &Placed, memories: &mut [GroupMemory]) {
    if round.leaving.is_empty() {
        return;
    }
    let placement = &placed.placement;
    let mut awaited: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (node, class, count) in placement.placed_since(placed.start) {
        let (pods, placeholders) = awaited.entry(placement.name(node)).or_default();
        *(if placement.is_extra(class) { placeholders } else { pods }) += count;
    }
    for marked in std::mem::take(&mut look.marked) {
        let name = &marked.view.node.name;
        let awaited = awaited.get(&**name).filter(|_| round.leaving.contains(name));
        let (Some((pods, placeholders)), Some(shrinking)) = (awaited, look.groups.get(marked.group)) else {
            look.marked.push(marked);
            continue;
        };
        let why = match pods {
            0 => Kept::AwaitsSlack { placeholders: *placeholders },
            _ => Kept::Awaited { pods: *pods },
        };
        round.act(shrinking.group, draining::untaint(&marked), Reason::Stays { why: Box::new(why) });
        if let Some(memory) = memories.get_mut(shrinking.at) {
            memory.drains.remove(name);
        }
    }
}
