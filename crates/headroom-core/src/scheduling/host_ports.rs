//! Host ports: two pods on one node cannot have the same port of one protocol, unless on different addresses.

use super::Misfit;
use super::placement::{Node, Placement, Rules};
use crate::snapshot::HostPort;

/// The address that means every address; an empty one is the same.
const EVERY_ADDRESS: &str = "0.0.0.0";

/// How many pods the node has free ports for.
pub(super) fn room_on(placement: &Placement, rules: &Rules, node: &Node) -> u32 {
    match check(placement, rules, node) {
        Err(_) => 0,
        Ok(()) if rules.ports.iter().all(|port| placement.port(*port).port == 0) => u32::MAX,
        Ok(()) => 1,
    }
}

/// The node has every port that the pod asks for.
pub(super) fn check(placement: &Placement, rules: &Rules, node: &Node) -> Result<(), Misfit> {
    let taken = |port: &&u32| node.ports.iter().any(|used| clash(placement.port(*used), placement.port(**port)));
    match rules.ports.iter().find(taken) {
        Some(port) => Err(Misfit::HostPort { port: placement.port(*port).clone() }),
        None => Ok(()),
    }
}

fn clash(a: &HostPort, b: &HostPort) -> bool {
    let every = |port: &HostPort| port.ip.is_empty() || &*port.ip == EVERY_ADDRESS;
    // Port 0 is no port: the container just has none on the host.
    a.port != 0 && a.port == b.port && a.protocol == b.protocol && (every(a) || every(b) || a.ip == b.ip)
}
