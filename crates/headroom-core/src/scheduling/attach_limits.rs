//! Attach limits: how many volumes of a CSI driver a node can have. A volume that several pods use counts once.

use std::sync::Arc;

use super::Misfit;
use super::placement::{Node, Placement, Rules};

/// How many pods the node can attach the volumes for. Equal pods share their claims, so that it is all or none.
pub(super) fn room_on(placement: &Placement, rules: &Rules, node: &Node) -> u32 {
    if check(placement, rules, node).is_ok() { u32::MAX } else { 0 }
}

/// The node can attach the volumes that the pod adds.
pub(super) fn check(placement: &Placement, rules: &Rules, node: &Node) -> Result<(), Misfit> {
    for (driver, limit) in &node.limits {
        let new = |(of, volume): &&(u32, u32)| of == driver && !node.attached.iter().any(|(_, at, _)| at == volume);
        let adds = u32::try_from(rules.attach.iter().filter(new).count()).unwrap_or(u32::MAX);
        let attached = node.attached_of(*driver);
        if adds > 0 && attached.saturating_add(adds) > *limit {
            let driver = Arc::clone(placement.driver(*driver));
            return Err(Misfit::AttachLimit { driver, attached, adds, limit: *limit });
        }
    }
    Ok(())
}
