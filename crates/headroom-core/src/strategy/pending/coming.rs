//! Machines on their way to groups of other strategies that pods may go to all the same.
//!
//! A utilization group that can still grow makes room for the pods that it counts, and its machines on their way are for
//! these. Once it is full, its pods are offered to all groups like any others, and then its machines count like any others.

use std::sync::Arc;

use super::daemon_sets::DaemonSets;
use super::template::{NewMachine, new_machine};
use super::waiting::can_grow;
use crate::machines::Observed;
use crate::memory::GroupMemory;
use crate::plan::GroupReport;
use crate::policy::{Mode, Strategy};
use crate::round::Round;

/// What is on its way to a full group.
pub(super) struct Coming {
    pub(super) machine: NewMachine,
    /// Nodes that have registered and are not usable yet.
    pub(super) booting: Vec<Arc<str>>,
    /// Machines without a node, those that the group asks for in this round among them.
    pub(super) unregistered: u32,
}

impl Coming {
    /// What is on its way to the group, which was decided on before. None when nothing is, or when the group can grow.
    pub(super) fn of(
        round: &Round<'_>,
        observed: &Observed<'_, '_>,
        daemon_sets: &DaemonSets,
        memory: &GroupMemory,
        report: &GroupReport,
    ) -> Option<Self> {
        let group = observed.group;
        let by_usage = matches!(group.strategy, Strategy::Utilization(_)) && group.mode != Mode::Off;
        let grown = report.planned.saturating_sub(report.size);
        if !by_usage || can_grow(Some(report)) || (grown == 0 && report.nodes.upcoming == 0) {
            return None;
        }
        let booting = memory.booting.clone();
        let registered = u32::try_from(booting.len()).unwrap_or(u32::MAX);
        let unregistered = report.nodes.upcoming.saturating_sub(registered).saturating_add(grown);
        // What is learnt of its machines here is not what its own strategy remembers.
        let machine = new_machine(round, observed, daemon_sets, &mut memory.clone())?;
        Some(Coming { machine, booting, unregistered })
    }
}
