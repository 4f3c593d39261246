//! Host ports: two pods on one node cannot have the same port of one protocol, unless on different addresses.

use crate::snapshot::HostPort;

/// The address that means every address; an empty one is the same.
const EVERY_ADDRESS: &str = "0.0.0.0";

/// Whether pods that take these ports cannot be on one node.
pub(super) fn clash(a: &HostPort, b: &HostPort) -> bool {
    let every = |port: &HostPort| port.ip.is_empty() || &*port.ip == EVERY_ADDRESS;
    // Port 0 is no port: the container just has none on the host.
    a.port != 0 && a.port == b.port && a.protocol == b.protocol && (every(a) || every(b) || a.ip == b.ip)
}
