//! What only pools have: servers of different hardware, and a size with a formula.

use headroom_core::keys::{DRAINING, INELIGIBLE};
use headroom_core::membership::Membership;
use headroom_core::plan::{CpuNeed, GroupReport, MemoryNeed, SizedBy, Sizing};
use headroom_core::policy::{CpuPool, Group, Hardware, MemoryPool, Percent, ServerLife};
use headroom_core::quantity::Bytes;
use headroom_core::snapshot::{Node, Readiness};

use super::group::node_row;
use crate::dump::Round;
use crate::view::columns::{columns, row};
use crate::view::words::{count, duration};

/// How a pool is sized by memory.
pub(super) fn memory_rules(settings: &MemoryPool) -> Vec<String> {
    let hardware = settings.hardware.iter().map(|Hardware { name, memory, .. }| format!("{name} ({})", Bytes(*memory)));
    let hardware = hardware.collect::<Vec<_>>().join(", then ");
    vec![
        format!("hardware: {hardware}; {} of each are reserved", Bytes(settings.reserve)),
        format!("as many servers as tasks need by memory, and {} beyond", settings.margin),
        drained(settings.drain_deadline, settings.life),
    ]
}

/// How a pool is sized by cpu.
pub(super) fn cpu_rules(settings: &CpuPool) -> Vec<String> {
    let CpuPool { add_below, remove_above, add_step, remove_step, step_interval, drain_deadline, life } = settings;
    vec![
        format!(
            "gets {} when less than {add_below}% of one is free, loses {remove_step} when more than {remove_above}% is, a \
             step at most every {}",
            count(*add_step, "server"),
            duration(*step_interval),
        ),
        drained(*drain_deadline, *life),
    ]
}

fn drained(deadline: jiff::SignedDuration, life: ServerLife) -> String {
    let paid = if life.keep_paid_hour { ", and its paid hour is nearly over" } else { "" };
    format!("a server goes when all of its tasks have ended{paid}; they have {} for that", duration(deadline))
}

/// Its servers, and what each is good for.
pub(super) fn servers(round: &Round, group: &Group) -> Vec<String> {
    let membership = Membership::of(round.snapshot(), &round.policy);
    let at = round.policy.groups.iter().position(|known| known.name == group.name);
    let nodes = at.and_then(|at| membership.nodes.get(at)).map_or(&[][..], Vec::as_slice);
    let mut rows = vec![row(["NAME", "STATE", "CPU USED", "MEMORY USED", "PODS"])];
    rows.extend(nodes.iter().map(|view| node_row(view, state(view.node))));
    if rows.len() == 1 { Vec::new() } else { columns(&rows) }
}

fn state(node: &Node) -> &'static str {
    match node.readiness {
        _ if node.taint(DRAINING).is_some() => "draining",
        _ if node.unschedulable || node.taint(INELIGIBLE).is_some() => "ineligible",
        Readiness::NotReady { .. } => "not ready",
        Readiness::Ready => "in service",
    }
}

/// Every number that its size follows from.
pub(super) fn sizing(report: &GroupReport) -> Vec<String> {
    let Some(Sizing { by, servers, wanted, desired, limits }) = &report.sizing else { return Vec::new() };
    let mut lines = match by {
        SizedBy::Memory(need) => memory(need, *servers),
        SizedBy::Cpu(need) => cpu(need, *servers),
    };
    lines.push(match wanted == desired {
        true => format!("{wanted} wanted, within {} to {}", limits.min, limits.max),
        false => format!("{wanted} wanted, {desired} within {} to {}", limits.min, limits.max),
    });
    lines
}

fn memory(need: &MemoryNeed, servers: u32) -> Vec<String> {
    let bytes = |bytes: i128| Bytes(i64::try_from(bytes).unwrap_or(i64::MAX));
    let MemoryNeed { used, per_server, hardware, measured, total, error, usage, margin, unplaced, unplaced_servers } =
        need;
    let from = if *measured { "measured" } else { "by the catalogue, less the reserve" };
    let mut lines = vec![
        format!("used: {} by tasks, system jobs aside", bytes(*used)),
        format!("D: a server of {hardware} offers {} ({from})", Bytes(*per_server)),
        format!("n: {} of {} together", count(servers, "server"), bytes(*total)),
        format!("error: {error} for servers smaller than D"),
        format!("usage: {usage} = used / D, rounded up"),
        format!("margin: {margin}"),
        format!("usage + error + margin = {}", need.formula()),
    ];
    if *unplaced > 0 {
        let tasks = count(*unplaced, "waiting task");
        lines.push(match unplaced_servers {
            0 => format!(
                "{tasks} {} on servers that are there or on their way",
                if *unplaced == 1 { "fits" } else { "fit" }
            ),
            more => {
                let need = if *unplaced == 1 { "needs" } else { "need" };
                format!("{tasks} {need} {} beyond n", count(*more, "server"))
            }
        });
    }
    lines
}

fn cpu(need: &CpuNeed, servers: u32) -> Vec<String> {
    let percent = |hundredths: u64| Percent(u32::try_from(hundredths).unwrap_or(u32::MAX));
    let mut lines = vec![format!("total: {}% of {}", percent(need.total), count(servers, "server"))];
    lines.push(match (need.usage, need.free) {
        (Some(usage), Some(free)) => format!("busy: {}%, free: {}%", percent(usage), percent(free)),
        _ => "busy: not known".to_owned(),
    });
    let (below, above) = (percent(need.add_below), percent(need.remove_above));
    lines.push(format!("add below {below}% free, remove above {above}% free"));
    lines
}
