//! One group: what it has, what is asked of it, what it wants and what holds it back.

use headroom_core::membership::groups_of_node;
use headroom_core::memory::Places;
use headroom_core::plan::{GroupReport, Placeholder, Placeholders, Refusal, Resource, Subject, Why};
use headroom_core::policy::{CountPods, DaemonSets, Group, Mode, RunsOn, Selection, Strategy, Utilization};
use headroom_core::quantity::{Bytes, MilliCpu};
use headroom_core::scale_down::marked_at;
use headroom_core::snapshot::{NodeView, Readiness};

use super::demand::demand;
use super::{NotFound, actions_in, is_judged, pending, pool, sorted_nodes};
use crate::dump::Round;
use crate::view::called::{called, title};
use crate::view::columns::{columns, row};
use crate::view::plan::size;
use crate::view::refusals::refusal;
use crate::view::scale_down::{kept, line};
use crate::view::words::{amounts, count, duration, share, there_are};
use crate::view::{TITLE, section};

/// Everything about the group called `name`.
pub fn group(round: &Round, name: &str) -> Result<String, NotFound> {
    let (Some(group), Some(report)) = (round.policy.group(name), round.plan.report.group(name)) else {
        let known: Vec<&str> = round.policy.groups.iter().map(|group| &*group.name).collect();
        let hint = if known.is_empty() { "there is no group".to_owned() } else { there_are(&known) };
        return Err(NotFound { problem: format!("there is no group {name}"), hint });
    };
    let title = format!("{TITLE}group {name}{TITLE:#}  {}\n\n", size(round, report));
    let mut text = title + &section("Rules", &rules(round, group, report));
    match &group.strategy {
        Strategy::Utilization(settings) => {
            text += &section("Nodes", &nodes(round, group));
            text += &section("Demand", &demand(round, group));
            text += &section("This round", &found(round, group, report));
            text += &section("Held back", &held_back(round, group));
            text += &section("Timers after it", &timers(round, group, settings));
        }
        Strategy::MemoryPool(_) | Strategy::CpuPool(_) => {
            text += &section("Servers", &pool::servers(round, group));
            text += &section("Size", &pool::sizing(report));
            text += &section("This round", &found(round, group, report));
            text += &section("Held back", &held_back(round, group));
        }
        Strategy::Pending(_) => {
            let mut inquiry = round.inquire();
            if let Some(answer) = inquiry.as_ref().and_then(|inquiry| inquiry.group(name)) {
                text += &section("Room", &[pending::room(&answer)]);
                text += &section("A new node", &pending::new_node(&answer));
                text += &section("On its way", &pending::on_its_way(&answer));
            }
            text += &section("Nodes", &nodes(round, group));
            text += &section("Spare room", &spare_room(round, group));
            let options = inquiry.as_mut().map(|inquiry| pending::options(round, inquiry, name));
            text += &section("Scale-ups", &options.unwrap_or_default());
            text += &section("Scale-down", &kept_nodes(round, group));
            text += &section("This round", &found(round, group, report));
            text += &section("Held back", &held_back(round, group));
        }
    }
    text.truncate(text.trim_end().len());
    Ok(called(round.snapshot(), &(text + "\n")))
}

/// What was refused to the group, about its nodes, and about pods for which it was considered.
fn held_back(round: &Round, group: &Group) -> Vec<String> {
    let name = &group.name;
    let about_it = |refusal: &&Refusal| match (&refusal.subject, &refusal.why) {
        (Subject::Cluster, _) => true,
        (Subject::Group(group), _) => group == name,
        (Subject::Node(node), _) => is_in(round, group, node),
        (
            Subject::Pods { .. } | Subject::Placeholders { .. },
            Why::LargerThanNode { group, .. } | Why::GroupCannotGrow { group, .. } | Why::FitsNoGroup { group, .. },
        ) => group == name,
        (Subject::Pods { .. }, Why::SeveralGroups { groups }) => groups.contains(name),
        (Subject::Pods { .. } | Subject::Placeholders { .. }, _) => false,
    };
    round.refusals().filter(about_it).map(|why| refusal(why, round.policy.runs_on())).collect()
}

/// The room that it is to keep itself, and all that its nodes hold.
fn spare_room(round: &Round, group: &Group) -> Vec<String> {
    let name = &group.name;
    let all = || round.plan.report.slack.iter().flat_map(|slack| &slack.placeholders);
    let own = |placeholders: &&Placeholders| match &placeholders.of {
        Placeholder::SpareNode { group } | Placeholder::SparePod { group } => group == name,
        _ => false,
    };
    let mut lines: Vec<String> = all().filter(own).map(ToString::to_string).collect();
    for Placeholders { of, .. } in all() {
        let Places { nodes, upcoming } = round.memory.places_of(of);
        let here = nodes.iter().filter(|(node, _)| is_in(round, group, node)).map(|(_, held)| held);
        let on_nodes: u32 = here.sum();
        let on_upcoming: u32 = upcoming.get(name).into_iter().flatten().sum();
        let parts = [(on_nodes, "on its nodes"), (on_upcoming, "on machines that are no nodes yet")];
        let parts = parts.into_iter().filter(|(held, _)| *held > 0);
        let parts: Vec<String> = parts.map(|(held, place)| format!("{held} {place}")).collect();
        if !parts.is_empty() {
            lines.push(format!("holds {of}: {}", parts.join(", ")));
        }
    }
    lines
}

/// Why its nodes stay.
fn kept_nodes(round: &Round, group: &Group) -> Vec<String> {
    let kept = kept(round).into_iter().filter(|(node, _)| is_in(round, group, node));
    kept.map(|(node, why)| line(node, why)).collect()
}

fn is_in(round: &Round, group: &Group, node: &str) -> bool {
    let view = round.snapshot().node(node);
    let groups = view.map(|view| groups_of_node(&round.policy, view.node)).unwrap_or_default();
    groups.iter().filter_map(|at| round.policy.groups.get(*at)).any(|known| known.name == group.name)
}

/// What a group's nodes have in common.
pub(super) fn selection(select: &Selection) -> String {
    let mut parts = Vec::new();
    if !select.labels.is_empty() {
        parts.push(format!("the label {}", select.labels));
    }
    if let Some((cpu, memory)) = select.capacity {
        parts.push(format!("{} cpu and {} memory", MilliCpu(cpu), Bytes(memory)));
    }
    format!("nodes with {}", parts.join(" and "))
}

fn rules(round: &Round, group: &Group, report: &GroupReport) -> Vec<String> {
    let from = if round.assumed.made_up.is_some() { "made up" } else { "configured" };
    let mut rules = vec![selection(&group.select)];
    if let (Some(min), Some(max)) = (report.min, report.max) {
        rules.push(format!("{min} to {} ({from})", count(max, "node")));
    }
    match &group.strategy {
        Strategy::Utilization(settings) => rules.extend(by_usage(settings)),
        Strategy::Pending(settings) => rules.extend(pending::rules(round, settings)),
        Strategy::MemoryPool(settings) => rules.extend(pool::memory_rules(settings)),
        Strategy::CpuPool(settings) => rules.extend(pool::cpu_rules(settings)),
    }
    rules.extend(heeded(round, group));
    match group.mode {
        Mode::Auto => {}
        Mode::GrowOnly => rules.push("mode growOnly: nothing is removed".to_owned()),
        Mode::DryRun => rules.push("mode dryRun: actions are reported, not carried out".to_owned()),
        Mode::Off => rules.push("mode off: it is left alone".to_owned()),
    }
    rules
}

/// Which settings of the group are its cloud's.
fn heeded(round: &Round, group: &Group) -> Option<String> {
    let cloud = round.snapshot().group(&group.name)?;
    let heeded: Vec<String> = group.clone().heed(&cloud.options).iter().map(ToString::to_string).collect();
    (!heeded.is_empty()).then(|| format!("as its cloud says: {}", heeded.join(", ")))
}

fn by_usage(settings: &Utilization) -> Vec<String> {
    let Utilization { scale_up_above, remove_slowly_below, slow_rate, remove_fast_below, fast_rate, .. } = settings;
    let on_nomad = settings.runs_on == RunsOn::Nomad;
    let mut rules = vec![match settings.count_pods {
        _ if on_nomad => {
            "counts what runs on its nodes that are ready and eligible, or marked, and what waits and could run there"
                .to_owned()
        }
        CountPods::Selecting => "counts pods that ask for its label, wherever they run".to_owned(),
        CountPods::Unconstrained => "counts pods that ask for nothing of their node, wherever they run".to_owned(),
        CountPods::Placed => "counts pods that run on its nodes, and waiting pods that ask for its label".to_owned(),
    }];
    rules.push(format!(
        "grows above {scale_up_above}%; loses {} a step below {remove_slowly_below}% and {fast_rate} below \
         {remove_fast_below}%, a step at most every {}",
        count(*slow_rate, "node"),
        duration(settings.step_interval),
    ));
    let (soft_grace, hard_grace) = (duration(settings.soft_grace), duration(settings.hard_grace));
    let last = if on_nomad {
        format!("after {hard_grace} it is drained, and goes when its tasks have ended")
    } else {
        format!("after {hard_grace} its pods are evicted, and it goes in any case")
    };
    rules.push(format!("a marked node goes when empty after {soft_grace}; {last}"));
    if settings.daemon_sets == DaemonSets::Subtract {
        let overhead = if on_nomad { "system jobs" } else { "DaemonSets" };
        rules.push(format!("what {overhead} request is taken off the capacity"));
    }
    rules
}

fn nodes(round: &Round, group: &Group) -> Vec<String> {
    let sorted = sorted_nodes(round, group);
    let on_nomad = group.strategy.runs_on() == RunsOn::Nomad;
    let lists = [
        ("in service", &sorted.in_service),
        ("booting", &sorted.booting),
        ("marked", &sorted.tainted),
        ("force-marked", &sorted.force_tainted),
        (if on_nomad { "ineligible" } else { "cordoned" }, &sorted.cordoned),
    ];
    let mut rows = vec![row(["NAME", "STATE", "CPU USED", "MEMORY USED", "PODS"])];
    for (state, nodes) in lists {
        let state = |view: &NodeView<'_>| match view.node.readiness {
            _ if marked_at(view.node).is_some() => "marked",
            Readiness::NotReady { .. } if state == "in service" => "not ready",
            _ => state,
        };
        rows.extend(nodes.iter().map(|view| node_row(view, state(view))));
    }
    if rows.len() == 1 { Vec::new() } else { columns(&rows) }
}

pub(super) fn node_row(view: &NodeView<'_>, state: &str) -> Vec<String> {
    let (used, has) = (&view.sums.used, &view.node.allocatable);
    vec![
        title(view.node),
        state.to_owned(),
        share(&Resource::Cpu, used.cpu, has.cpu),
        share(&Resource::Memory, used.memory, has.memory),
        view.pods().len().to_string(),
    ]
}

/// What the round saw and wanted, before limits and brakes, and what is done about it.
fn found(round: &Round, group: &Group, report: &GroupReport) -> Vec<String> {
    let mut lines: Vec<String> = report.usage.iter().map(|usage| usage.to_string()).collect();
    lines.push(wish(round, group, report));
    lines.extend(actions_in(round, &group.name));
    lines
}

/// What size a group wants.
pub(super) fn wish(round: &Round, group: &Group, report: &GroupReport) -> String {
    let nodes = report.wanted.unsigned_abs();
    match report.wanted {
        _ if !is_judged(round, group) => "is not judged".to_owned(),
        0 => "wants no other size".to_owned(),
        1.. => format!("wants {}", count(nodes, "more node")),
        _ => format!("wants to mark {} for removal", count(nodes, "node")),
    }
}

fn timers(round: &Round, group: &Group, settings: &Utilization) -> Vec<String> {
    let memory = round.memory.group(&group.name);
    let mut lines = Vec::new();
    if let Some(lock) = memory.lock
        && let Ok(until) = lock.at.saturating_add(settings.cool_down)
    {
        lines.push(format!("grown by {}: cooling down until {until}", lock.requested));
    }
    if let Some(step) = memory.last_step
        && let Ok(until) = step.saturating_add(settings.step_interval)
    {
        lines.push(format!("removal moved a step: the next one at {until} or later"));
    }
    if let Some(learnt) = &memory.learnt {
        lines.push(format!("a new node is taken to offer {}", amounts(&learnt.allocatable)));
    }
    lines
}
