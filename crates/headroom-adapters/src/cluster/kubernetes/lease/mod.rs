//! Who leads, by a Lease in the cluster.
//!
//! It works as client-go's leader election does, whose Leases it understands. No clocks are compared: a candidate takes a
//! Lease over that it has seen unchanged for as long as the Lease lasts, by its own clock.

mod record;
mod rivals;

use kube::Client;

pub use rivals::{Rival, Rivals};

use crate::election::{Election, Timing};
use crate::fence::Fence;
use record::Record;

/// A part in the election by the Lease of this name. `identity` is unique to this process. `fence` is open while it leads and
/// no longer.
pub fn election(client: Client, namespace: &str, name: &str, identity: &str, timing: Timing, fence: Fence) -> Election {
    Election::new(Record::new(client, namespace, name, identity, timing.lease, fence.clone()), timing, fence)
}
