//! What a case can expect of the last plan. `none` is an empty list.
//!
//! - `GROUP` is the size that the group is to have; `GROUP.ready`, `GROUP.upcoming` and `GROUP.never` count its nodes in
//!   service, its machines on their way and those that never came; `GROUP.backsOff` is yes or no.
//! - `nodes` are all that the round adds, `pods` those for which it adds them; `fits` counts waiting pods that have room
//!   already, on nodes that are there or on their way, and `placed` both.
//! - `waits` names pods that stay without a node, `NAME*COUNT` the first of several that are equal.
//! - `options` are those of the first purchase, `GROUP+NODES` by name; `best` those that tie for its first place.
//! - `classes` counts kinds of pods, `order` names waiting pods in the order in which they are packed, `backoffs` counts
//!   what is remembered of failures, `actions` what the plan does.
//! - `goes` are the nodes that the plan marks as on their way out or removes, `stays` those that it takes the mark off,
//!   `evicts` the pods that it evicts. `idle` are the nodes that could go, whether they go now or something holds them back
//!   that has nothing to do with pods; `idle.count` is how many. `GROUP.empty` and `GROUP.drains` count the nodes that it
//!   marks without and with pods to move; `NODE.used` is the share of a node that is in use.
//! - `NAME.buffer` is how many placeholders a capacity buffer of that name gets.

use headroom_core::estimator::Order;
use headroom_core::fixture::Fixture;
use headroom_core::plan::{
    Action, GroupReport, Kept, Placeholder, Plan, Reason, ScaleUp, Subject, Usage, Waiting, Why,
};
use headroom_core::scale_down::DELETION_TAINT;
use headroom_core::scheduling::{NewNode, Placement, Setup, Standing, TemplateId};
use headroom_core::snapshot::ClassId;

pub(crate) fn fact(fixture: &Fixture, key: &str) -> Result<String, String> {
    let plan = || fixture.plans.last().ok_or_else(|| format!("{key}: no round yet"));
    Ok(match key {
        "classes" => fixture.builder.snapshot().classes().count().to_string(),
        "order" => order(fixture),
        "backoffs" => fixture.memory.backoffs.iter().count().to_string(),
        "nodes" => plan()?
            .report
            .groups
            .iter()
            .map(|group| i64::from(group.planned) - i64::from(group.size))
            .sum::<i64>()
            .to_string(),
        "fits" => waiting(plan()?, |waiting| waiting.on_nodes + waiting.on_upcoming),
        "placed" => waiting(plan()?, |waiting| waiting.on_nodes + waiting.on_upcoming + waiting.on_new),
        "pods" => plan()?.report.scale_ups.iter().map(ScaleUp::pod_count).sum::<u64>().to_string(),
        "actions" => plan()?.actions.len().to_string(),
        "waits" => waits(plan()?),
        "goes" => list(goes(plan()?).into_iter()),
        "stays" => list(stays(plan()?)),
        "evicts" => list(evicts(plan()?)),
        "idle" => list(idle(plan()?)),
        "idle.count" => idle(plan()?).count().to_string(),
        "options" => options(plan()?),
        "best" => best(plan()?),
        _ => {
            let (group, what) = key.split_once('.').unwrap_or((key, ""));
            if what == "buffer" {
                return buffer(plan()?, group).ok_or_else(|| format!("no such fact: {key}"));
            }
            if what == "used" {
                return used(plan()?, group).ok_or_else(|| format!("no such fact: {key}"));
            }
            let report = plan()?.report.group(group).ok_or_else(|| format!("no such fact: {key}"))?;
            of_group(plan()?, report, what).ok_or_else(|| format!("no such fact: {key}"))?
        }
    })
}

fn of_group(plan: &Plan, group: &GroupReport, what: &str) -> Option<String> {
    Some(match what {
        "" => group.planned.to_string(),
        "ready" => group.nodes.in_service.to_string(),
        "upcoming" => group.nodes.upcoming.to_string(),
        "never" => group.nodes.never_came.to_string(),
        "empty" => marked(plan, group, |pods| pods == 0),
        "drains" => marked(plan, group, |pods| pods > 0),
        "backsOff" => {
            let own =
                plan.report.refusals.iter().filter(|refusal| refusal.subject == Subject::Group(group.name.clone()));
            let backs_off = own.into_iter().any(|refusal| matches!(refusal.why, Why::BackingOff { .. }));
            if backs_off { "yes" } else { "no" }.to_owned()
        }
        _ => return None,
    })
}

fn waiting(plan: &Plan, count: fn(&Waiting) -> u64) -> String {
    plan.report.waiting.as_ref().map_or(0, count).to_string()
}

fn waits(plan: &Plan) -> String {
    let pods = plan.report.refusals.iter().filter_map(|refusal| match &refusal.subject {
        Subject::Pods { first, count } => Some((first.trim_start_matches("default/"), *count)),
        _ => None,
    });
    list(pods.map(|(first, count)| if count == 1 { first.to_owned() } else { format!("{first}*{count}") }))
}

fn options(plan: &Plan) -> String {
    let options = plan.report.scale_ups.iter().take(1).flat_map(|scale_up| &scale_up.options);
    list(options.map(|option| format!("{}+{}", option.rank.group, option.nodes)))
}

fn best(plan: &Plan) -> String {
    let options = plan.report.scale_ups.first().map_or(&[][..], |scale_up| &scale_up.options);
    let first = options.first().map(|option| &option.rank.scores);
    list(options.iter().filter(|option| Some(&option.rank.scores) == first).map(|option| option.rank.group.to_string()))
}

fn goes(plan: &Plan) -> Vec<String> {
    let goes = plan.actions.iter().filter_map(|planned| match &planned.action {
        Action::Taint { node, taint } if &*taint.key == DELETION_TAINT => Some(node.to_string()),
        Action::Remove { node, .. } => Some(node.to_string()),
        _ => None,
    });
    goes.collect()
}

fn stays(plan: &Plan) -> impl Iterator<Item = String> {
    plan.actions.iter().filter_map(|planned| match &planned.action {
        Action::Untaint { node, key } if &**key == DELETION_TAINT => Some(node.to_string()),
        _ => None,
    })
}

fn evicts(plan: &Plan) -> impl Iterator<Item = String> {
    let drains = plan.actions.iter().filter_map(|planned| match &planned.action {
        Action::Drain { pods, .. } => Some(pods),
        _ => None,
    });
    drains.flatten().map(|evict| evict.name.to_string())
}

fn idle(plan: &Plan) -> impl Iterator<Item = String> {
    let held_back = plan.report.refusals.iter().filter_map(|refusal| match (&refusal.subject, &refusal.why) {
        (Subject::Node(node), Why::Kept { why }) => match **why {
            Kept::Young { .. }
            | Kept::Cooling { .. }
            | Kept::AtMin { .. }
            | Kept::AtLeast { .. }
            | Kept::Budget { .. }
            | Kept::BrokenBudget { .. } => Some(node.to_string()),
            _ => None,
        },
        _ => None,
    });
    let now = plan.actions.iter().filter_map(|planned| match (&planned.action, &planned.reason) {
        (Action::Taint { node, .. }, Reason::Idle { .. }) => Some(node.to_string()),
        _ => None,
    });
    now.chain(held_back)
}

fn marked(plan: &Plan, group: &GroupReport, count: fn(u32) -> bool) -> String {
    let own = plan.actions.iter().filter(|planned| planned.group == group.name);
    let marked = own.filter(|planned| matches!(planned.reason, Reason::Idle { pods, .. } if count(pods)));
    marked.count().to_string()
}

fn buffer(plan: &Plan, name: &str) -> Option<String> {
    let of = Placeholder::Buffer { buffer: format!("default/{name}").into() };
    let wanted = plan.report.slack.as_ref()?.placeholders.iter().find(|wanted| wanted.of == of)?;
    Some(wanted.wanted.to_string())
}

/// `RESOURCE:SHARE%`, as the plan gives it for a node that goes or that is too busy to go.
fn used(plan: &Plan, node: &str) -> Option<String> {
    let share = |usage: &Usage| Some(format!("{}:{}%", usage.resource, usage.percent?));
    let goes = plan.actions.iter().find(|planned| planned.action.node() == Some(node));
    if let Some(Reason::Idle { usage, .. }) = goes.map(|planned| &planned.reason) {
        return share(usage);
    }
    let own = plan.report.refusals.iter().find(|refusal| refusal.subject == Subject::Node(node.into()))?;
    match &own.why {
        Why::Kept { why } => match &**why {
            Kept::Busy { usage, .. } => share(usage),
            _ => None,
        },
        _ => None,
    }
}

/// Sorted, so that it reads the same whatever the order of a report.
fn list(items: impl Iterator<Item = String>) -> String {
    let mut items: Vec<String> = items.collect();
    items.sort();
    if items.is_empty() { "none".to_owned() } else { items.join(",") }
}

fn order(fixture: &Fixture) -> String {
    let snapshot = fixture.builder.snapshot();
    let templates = fixture.policy.groups.iter().filter_map(|group| group.template.as_ref());
    let templates: Vec<NewNode<'_>> =
        templates.map(|template| NewNode { template, daemon_sets: &[], attach_limits: &[] }).collect();
    let setup = Setup { templates: &templates, standing: &|_| Standing::Present, ..Setup::default() };
    let placement = Placement::new(snapshot, &setup);
    let mut pods: Vec<(ClassId, u32)> = snapshot.classes().map(|class| (class.id, class.pending())).collect();
    Order::Size.sort(&placement, Some(TemplateId(0)), &mut pods);
    let name = |id| snapshot.classes().find(|class| class.id == id)?.first_pending().map(|pod| pod.name.to_string());
    let names: Vec<String> = pods.into_iter().filter_map(|(id, _)| name(id)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}
