//! Ports that are free.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range that Linux takes for outgoing connections, so that none of those takes a port before it is listened on.
const FIRST: u16 = 18_000;
const COUNT: u16 = 14_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// Ports on which nobody listens, each given out once. Two test programs at the same time start at different places.
pub(crate) fn free<const N: usize>() -> [u16; N] {
    let first = (std::process::id().wrapping_mul(97) % u32::from(COUNT)) as u16;
    std::array::from_fn(|_| {
        loop {
            let next = NEXT.fetch_add(1, Ordering::Relaxed);
            let port = FIRST + (first + next % COUNT) % COUNT;
            if TcpListener::bind(("127.0.0.1", port)).is_ok() {
                return port;
            }
        }
    })
}
