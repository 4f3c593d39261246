//! Nodes of groups that shrink when they are not needed: which go, what that saves, and why the others stay.

use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};

use headroom_core::membership::groups_of_node;
use headroom_core::plan::{Action, BudgetUse, Kept, Reason, Subject, Why};
use headroom_core::policy::Removal;
use headroom_core::pricing::Offering;
use headroom_core::quantity::{Money, Ratio};
use headroom_core::scale_down::DELETION_TAINT;
use headroom_core::snapshot::NodeView;
use jiff::Timestamp;

use super::with_hint;
use super::words::{count, names};
use crate::dump::Round;

/// So many nodes that are kept for one kind of reason have a line each; of more only the first is told.
const EACH: usize = 3;

/// A node that is kept, and why.
pub(super) type KeptNode<'r> = (&'r str, &'r Kept);

/// A node that goes.
pub(super) struct Going<'r> {
    pub(super) node: &'r str,
    pub(super) group: &'r str,
    /// It was marked by an earlier round.
    pub(super) marked: bool,
    /// What it costs in an hour, where somebody says so.
    pub(super) price: Option<Money>,
}

/// How many nodes go and stay, what the former cost, how much of the budgets is used, and why the latter stay. Nothing when
/// no node of a group that may shrink is there. `wide` tells of each.
pub(super) fn scale_down(round: &Round, wide: bool) -> Vec<String> {
    let (going, kept) = (going(round), kept(round));
    let staying: Vec<_> = kept.iter().copied().filter(|(_, why)| !is_going(why)).collect();
    let mut lines = Vec::new();
    if !going.is_empty() {
        lines.push(tally(&going, staying.len()));
    }
    lines.extend(saving(&going));
    if wide {
        lines.extend(going.iter().filter_map(|going| Some(format!("{} costs {} an hour", going.node, going.price?))));
    }
    lines.extend(kept.iter().filter(|(_, why)| is_going(why)).map(|(node, why)| line(node, why)));
    let counts = |used: &&BudgetUse| used.going > 0 || (wide && used.nodes > 0);
    lines.extend(round.plan.report.budgets.iter().filter(counts).map(budget));
    lines.extend(if wide { staying.iter().map(|(node, why)| line(node, why)).collect() } else { reasons(staying) });
    lines
}

/// Nodes that this plan marks as on their way out, or that already are, in the order of their names.
pub(super) fn going(round: &Round) -> Vec<Going<'_>> {
    let mut marked: BTreeMap<&str, bool> = BTreeMap::new();
    for planned in &round.plan.actions {
        match (&planned.action, &planned.reason) {
            (Action::Taint { node, taint }, _) if &*taint.key == DELETION_TAINT => drop(marked.insert(node, false)),
            (Action::Drain { node, .. }, Reason::Draining { .. })
            | (Action::Remove { node, .. }, Reason::Drained { .. }) => {
                marked.insert(node, true);
            }
            _ => {}
        }
    }
    marked.extend(kept(round).into_iter().filter(|(_, why)| is_going(why)).map(|(node, _)| (node, true)));
    let going = marked.into_iter().filter_map(|(node, marked)| {
        let view = round.snapshot().node(node)?;
        let groups = groups_of_node(&round.policy, view.node);
        let group = groups.first().and_then(|at| round.policy.groups.get(*at))?;
        Some(Going { node, group: &group.name, marked, price: price(round, &view) })
    });
    going.collect()
}

/// What a node costs in an hour, where somebody says so.
pub(super) fn price(round: &Round, view: &NodeView<'_>) -> Option<Money> {
    let groups = groups_of_node(&round.policy, view.node);
    let own = groups.first().and_then(|at| round.policy.groups.get(*at)?.price);
    let quote = round.policy.pending.prices.quote(own, &Offering::of(&view.node.labels), None)?;
    Some(quote.amount)
}

/// Nodes that are kept, and nodes on their way out that wait, each with its reason.
pub(super) fn kept(round: &Round) -> Vec<KeptNode<'_>> {
    let kept = round.plan.report.refusals.iter().filter_map(|refusal| match (&refusal.subject, &refusal.why) {
        (Subject::Node(node), Why::Kept { why }) => Some((&**node, &**why)),
        _ => None,
    });
    kept.collect()
}

/// Whether a node that is kept is so for the moment alone, on its way out.
fn is_going(why: &Kept) -> bool {
    matches!(why, Kept::Draining { .. } | Kept::Settling { .. })
}

/// `5 nodes: 1 goes, 1 is on its way out, 3 stay`
fn tally(going: &[Going<'_>], staying: usize) -> String {
    let marked = going.iter().filter(|going| going.marked).count();
    let verbs = [
        (going.len() - marked, "goes", "go"),
        (marked, "is on its way out", "are on their way out"),
        (staying, "stays", "stay"),
    ];
    let some = verbs.iter().filter(|(nodes, ..)| *nodes > 0);
    let parts: Vec<String> =
        some.map(|(nodes, one, many)| format!("{nodes} {}", if *nodes == 1 { one } else { many })).collect();
    format!("{}: {}", count(going.len() + staying, "node"), parts.join(", "))
}

/// What the nodes that go cost; nothing where no price is known.
fn saving(going: &[Going<'_>]) -> Option<String> {
    let sum = total(going)?;
    let known = going.iter().filter(|going| going.price.is_some()).count();
    match going.len() - known {
        0 => Some(format!("saves {sum} an hour")),
        unknown => {
            let text = format!("saves {sum} an hour, and what {} costs", count(unknown, "node of unknown price"));
            Some(with_hint(text, Some("set price for the groups".to_owned())))
        }
    }
}

/// What the nodes that go cost together, as far as that is known of any.
pub(super) fn total(going: &[Going<'_>]) -> Option<Money> {
    going.iter().filter_map(|going| going.price).reduce(Money::saturating_add)
}

fn budget(used: &BudgetUse) -> String {
    let whose = used.group.as_ref().map_or_else(|| "all groups together".to_owned(), |group| group.to_string());
    let reasons: Vec<&str> = used.reasons.iter().map(|reason| word(*reason)).collect();
    let noun = if reasons.is_empty() { "node".to_owned() } else { format!("{} node", reasons.join(" or ")) };
    format!("budget of {whose}: of {}, {} used", count(used.nodes, &noun), used.going)
}

fn word(reason: Removal) -> &'static str {
    match reason {
        Removal::Empty => "empty",
        Removal::Underutilized => "underutilized",
        Removal::Unready => "unready",
        Removal::Old => "old",
    }
}

/// Why nodes stay: a line for each, or one for all whose reasons are of one kind where there are many.
fn reasons(kept: Vec<KeptNode<'_>>) -> Vec<String> {
    let mut kinds: Vec<(Discriminant<Kept>, Vec<KeptNode<'_>>)> = Vec::new();
    for (node, why) in kept {
        match kinds.iter_mut().find(|(kind, _)| *kind == discriminant(why)) {
            Some((_, nodes)) => nodes.push((node, why)),
            None => kinds.push((discriminant(why), vec![(node, why)])),
        }
    }
    // What is simply in use is what one looks at last.
    kinds.sort_by_key(|(_, nodes)| matches!(nodes.first(), Some((_, Kept::Busy { .. }))));
    kinds.into_iter().flat_map(|(_, nodes)| of_kind(nodes)).collect()
}

fn of_kind(mut nodes: Vec<KeptNode<'_>>) -> Vec<String> {
    if nodes.len() <= EACH {
        return nodes.iter().map(|(node, why)| line(node, why)).collect();
    }
    nodes.sort_by_key(|(_, why)| nearness(why));
    let Some((first, why)) = nodes.first() else { return Vec::new() };
    let same = nodes.iter().all(|(_, other)| other == why);
    let number = count(nodes.len(), "node");
    let who = match same {
        true => format!("{number} stay ({})", names(&nodes.iter().map(|(node, _)| *node).collect::<Vec<_>>())),
        false => format!("{number} stay, such as {first}"),
    };
    vec![with_hint(format!("{who}: {why}"), why.hint())]
}

/// How near to going a node is, compared with others that are kept for such a reason: the nearest is the least.
fn nearness(why: &Kept) -> (Option<Ratio>, Option<Timestamp>) {
    match why {
        Kept::Busy { usage, .. } => (usage.percent, None),
        Kept::Replaceable { until, .. }
        | Kept::Young { until, .. }
        | Kept::Cooling { until, .. }
        | Kept::GivenUp { until } => (None, Some(*until)),
        _ => (None, None),
    }
}

/// `web-1: why it stays`
pub(super) fn line(node: &str, why: &Kept) -> String {
    with_hint(format!("{node}: {why}"), why.hint())
}
