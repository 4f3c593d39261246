//! Settings of pools: groups of a Nomad cluster that are sized by the memory of their tasks or by the cpu of their servers.

use std::sync::Arc;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// Settings of a pool whose size follows the memory that its tasks have (`seeds/nomad-pools.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryPool {
    /// What its servers may be, the best first: a server that is not there yet is taken to be the first.
    pub hardware: Vec<Hardware>,
    /// Memory of every server that tasks cannot have, in bytes: it is taken off what the hardware has.
    pub reserve: i64,
    /// Servers beyond what is used.
    pub margin: u32,
    /// How long the tasks of a server have to leave it.
    pub drain_deadline: SignedDuration,
    /// When its servers go.
    pub life: ServerLife,
}

impl Default for MemoryPool {
    fn default() -> Self {
        let life = ServerLife::default();
        MemoryPool { hardware: Vec::new(), reserve: 0, margin: 2, drain_deadline: DRAIN_DEADLINE, life }
    }
}

impl MemoryPool {
    /// The label of a server that names its hardware.
    pub const HARDWARE: &str = "meta.hardware";
}

/// One kind of machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hardware {
    /// What its servers carry as `meta.hardware`.
    pub name: Arc<str>,
    /// The memory that it has, in bytes.
    pub memory: i64,
    /// The cpu that its servers offer, in MHz, when that is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<i64>,
}

/// Settings of a pool whose size follows how busy the cpus of its servers are (`seeds/nomad-pools.md`). All shares are
/// percentages of one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CpuPool {
    /// Add servers when less than this is free.
    pub add_below: u32,
    /// Remove servers when more than this is free.
    pub remove_above: u32,
    /// Servers that one step adds.
    pub add_step: u32,
    /// Servers that one step removes.
    pub remove_step: u32,
    /// At most one step in this time.
    pub step_interval: SignedDuration,
    /// How long the tasks of a server have to leave it.
    pub drain_deadline: SignedDuration,
    /// When its servers go.
    pub life: ServerLife,
}

impl Default for CpuPool {
    fn default() -> Self {
        CpuPool {
            add_below: 20,
            remove_above: 130,
            add_step: 1,
            remove_step: 1,
            step_interval: SignedDuration::from_secs(15),
            drain_deadline: DRAIN_DEADLINE,
            life: ServerLife::default(),
        }
    }
}

/// When servers of a pool go, besides those that it has too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerLife {
    /// A server that has been down for so long is removed.
    pub remove_down_after: SignedDuration,
    /// A drained server stays until the hour that is paid for is nearly over.
    pub keep_paid_hour: bool,
}

impl Default for ServerLife {
    fn default() -> Self {
        ServerLife { remove_down_after: SignedDuration::from_hours(1), keep_paid_hour: false }
    }
}

/// Just under an hour, for clouds that charge whole hours.
const DRAIN_DEADLINE: SignedDuration = SignedDuration::from_mins(59);
