//! How many servers a pool needs by how busy they are: one step up when little is free, one step down when much is.

use super::{Pass, servers};
use crate::plan::{CpuNeed, SizedBy, Why};
use crate::policy::CpuPool;
use crate::round::Round;
use crate::strategy::utilization::Members;

/// A whole server in hundredths of a percent.
const SERVER: u64 = 10_000;

impl<'a> Pass<'_, 'a> {
    /// How many servers are wanted and by which numbers. Servers on their way count as free; while it is not known how
    /// busy each server in service is, the size stays.
    pub(super) fn by_cpu(
        &mut self,
        round: &mut Round<'a>,
        settings: &CpuPool,
        members: &Members<'_, 'a>,
    ) -> (SizedBy, u32) {
        self.place_waiting(round, members.classes, None);
        let have = self.servers.count();
        let total = u64::from(have) * SERVER;
        let mut need = CpuNeed {
            total,
            add_below: u64::from(settings.add_below) * 100,
            remove_above: u64::from(settings.remove_above) * 100,
            ..CpuNeed::default()
        };
        let in_service = &self.servers.in_service;
        let unknown = in_service.iter().filter(|view| view.node.busy.is_none()).count();
        if unknown > 0 {
            let (unknown, servers) = (u32::try_from(unknown).unwrap_or(u32::MAX), servers::number(in_service));
            round.refuse_group(self.group, Why::UsageNotKnown { unknown, servers });
            return (SizedBy::Cpu(need), have);
        }
        // The work of servers on their way out comes to the others.
        let leaving = self.servers.leaving.iter().map(|(view, _)| view).chain(&self.servers.to_replace);
        let all = self.servers.counting().chain(leaving);
        let usage = all.filter_map(|view| view.node.busy).map(|busy| u64::from(busy.0)).sum();
        let free = total.saturating_sub(usage);
        (need.usage, need.free) = (Some(usage), Some(free));
        let wanted = if free < need.add_below {
            have.saturating_add(settings.add_step)
        } else if free > need.remove_above {
            have.saturating_sub(settings.remove_step)
        } else {
            have
        };
        (SizedBy::Cpu(need), wanted.max(1))
    }
}
