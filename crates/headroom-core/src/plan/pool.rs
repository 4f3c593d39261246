//! How the size of a pool came about, with every number of the formula.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::reason::counted;
use crate::guard::Limits;
use crate::quantity::Bytes;

/// How many servers a pool is to have, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sizing {
    /// What the size follows from.
    #[serde(flatten)]
    pub by: SizedBy,
    /// The servers that it follows from: neither draining nor ineligible, those on their way included.
    pub servers: u32,
    /// How many are wanted before the limits.
    pub wanted: u32,
    /// How many are wanted within the limits.
    pub desired: u32,
    /// The limits.
    #[serde(flatten)]
    pub limits: Limits,
}

/// What the size of a pool follows from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SizedBy {
    /// The memory that its tasks have.
    Memory(MemoryNeed),
    /// How busy the cpus of its servers are.
    Cpu(CpuNeed),
}

/// The numbers of a pool that is sized by memory, in bytes: `ceil(used / per_server) + error + margin` servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryNeed {
    /// What its tasks have, those on servers that are being drained included and those of system jobs not.
    pub used: i128,
    /// What one server is expected to offer them.
    pub per_server: i64,
    /// The hardware that this is said of.
    pub hardware: Arc<str>,
    /// It is what servers of this hardware report; otherwise it is from the catalogue.
    pub measured: bool,
    /// What its servers offer, those on their way included.
    pub total: i128,
    /// Servers that smaller hardware makes up for.
    pub error: u32,
    /// Servers that `used` needs.
    pub usage: u32,
    /// Servers beyond that.
    pub margin: u32,
    /// Tasks that wait for a place and could run on servers of the pool.
    pub unplaced: u64,
    /// Servers that have to come for them: they fit nowhere on those that are there or on their way.
    pub unplaced_servers: u32,
}

/// The numbers of a pool that is sized by cpu: hundredths of a percent of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CpuNeed {
    /// How busy its servers are together; None when that is not known of all.
    pub usage: Option<u64>,
    /// What they have: a whole server each.
    pub total: u64,
    /// What is left of it.
    pub free: Option<u64>,
    /// Servers are added when less is free.
    pub add_below: u64,
    /// Servers are removed when more is free.
    pub remove_above: u64,
}

impl MemoryNeed {
    /// How many servers the formula asks for, waiting tasks aside.
    pub fn formula(&self) -> u32 {
        self.usage.saturating_add(self.error).saturating_add(self.margin)
    }
}

impl fmt::Display for Sizing {
    /// `4 servers: 1.8Gi used / 1Gi each = 2, + 1 for smaller hardware, + 1 margin`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", counted(self.desired, "server"), self.by)?;
        match (self.wanted, self.limits) {
            (wanted, Limits { min, .. }) if wanted < self.desired => write!(f, "; {wanted} wanted, at least {min}"),
            (wanted, Limits { max, .. }) if wanted > self.desired => write!(f, "; {wanted} wanted, at most {max}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for SizedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizedBy::Memory(need) => need.fmt(f),
            SizedBy::Cpu(need) => need.fmt(f),
        }
    }
}

impl fmt::Display for MemoryNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = Bytes(i64::try_from(self.used).unwrap_or(i64::MAX));
        write!(f, "{used} used / {} each = {}", Bytes(self.per_server), self.usage)?;
        if self.error > 0 {
            write!(f, ", + {} for smaller hardware", self.error)?;
        }
        if self.margin > 0 {
            write!(f, ", + {} margin", self.margin)?;
        }
        if self.unplaced_servers > 0 {
            let tasks = counted(u32::try_from(self.unplaced).unwrap_or(u32::MAX), "waiting task");
            write!(f, "; {} more needed for {tasks}", self.unplaced_servers)?;
        }
        Ok(())
    }
}

impl fmt::Display for CpuNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = Hundredths(self.total);
        let (Some(usage), Some(free)) = (self.usage, self.free) else {
            return write!(f, "how busy they are is not known");
        };
        write!(f, "{}% of {total}% busy, {}% free", Hundredths(usage), Hundredths(free))?;
        if free < self.add_below {
            write!(f, ", less than {}%", Hundredths(self.add_below))
        } else if free > self.remove_above {
            write!(f, ", more than {}%", Hundredths(self.remove_above))
        } else {
            Ok(())
        }
    }
}

/// A percentage in hundredths of a percent, without trailing zeros.
struct Hundredths(u64);

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 100, self.0 % 100);
        match (rest, rest % 10) {
            (0, _) => write!(f, "{whole}"),
            (_, 0) => write!(f, "{whole}.{}", rest / 10),
            _ => write!(f, "{whole}.{rest:02}"),
        }
    }
}
