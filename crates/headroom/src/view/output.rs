//! A plan for programs. docs/output.md describes it; a field that is there stays and keeps its meaning.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::expander::price::Terms;
use headroom_core::expander::{Ranked, Score};
use headroom_core::memory::{Memory, Places};
use headroom_core::plan::{
    Action, BudgetUse, EqualPlaceholders, EqualPods, GroupReport, Placeholders, Reason, ScaleUp, Slack, SlackRate,
    Subject, Waiting, Warning, Why,
};
use headroom_core::quantity::Money;
use headroom_core::snapshot::{Coverage, Kind};
use jiff::Timestamp;
use serde::Serialize;

use super::assumed::assumed;
use super::caveats::caveats;
use super::scale_down::{self, Going};
use crate::dump::Round;

/// The version of this format. It grows when a field goes or changes its meaning.
const VERSION: u32 = 1;

/// A plan and what it was made from.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Output<'r> {
    version: u32,
    at: Timestamp,
    read: Read<'r>,
    assumed: Vec<String>,
    groups: &'r [GroupReport],
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<&'r Waiting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slack: Option<SlackOut<'r>>,
    scale_ups: Vec<ScaleUpOut<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale_down: Option<ScaleDownOut<'r>>,
    actions: Vec<ActionOut<'r>>,
    refusals: Vec<RefusalOut<'r>>,
    warnings: Vec<WarningOut<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake_at: Option<Timestamp>,
}

/// What was read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Read<'r> {
    files: &'r [String],
    /// By the API's kinds.
    objects: &'r BTreeMap<String, u64>,
    coverage: BTreeMap<Kind, Coverage>,
    warnings: Vec<ReadWarning<'r>>,
}

#[derive(Debug, Serialize)]
struct ReadWarning<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    object: &'r str,
    problem: &'r str,
}

#[derive(Debug, Serialize)]
struct SlackOut<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<&'r SlackRate>,
    placeholders: Vec<PlaceholdersOut<'r>>,
}

#[derive(Debug, Serialize)]
struct PlaceholdersOut<'r> {
    #[serde(flatten)]
    placeholders: &'r Placeholders,
    nodes: Vec<HeldByNode<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    upcoming: Vec<HeldByMachines<'r>>,
    text: String,
}

#[derive(Debug, Serialize)]
struct HeldByNode<'r> {
    node: &'r str,
    count: u32,
}

#[derive(Debug, Serialize)]
struct HeldByMachines<'r> {
    group: &'r str,
    counts: &'r [u32],
}

#[derive(Debug, Serialize)]
struct ScaleUpOut<'r> {
    pods: &'r [EqualPods],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    placeholders: &'r [EqualPlaceholders],
    nodes: Vec<NewNodes<'r>>,
    options: Vec<OptionOut<'r>>,
}

#[derive(Debug, Serialize)]
struct NewNodes<'r> {
    group: &'r str,
    count: u32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OptionOut<'r> {
    group: &'r str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    shared_with: &'r [Arc<str>],
    nodes: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_best: bool,
    scores: &'r [Score],
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<&'r Terms>,
    text: String,
}

/// What becomes of the nodes of groups that shrink when they are not needed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScaleDownOut<'r> {
    going: Vec<GoingOut<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    saves: Option<Money>,
    budgets: &'r [BudgetUse],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct GoingOut<'r> {
    node: &'r str,
    group: &'r str,
    marked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<Money>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ActionOut<'r> {
    group: &'r str,
    action: &'r Action,
    reason: &'r Reason,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    caveats: Vec<&'static str>,
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct RefusalOut<'r> {
    subject: &'r Subject,
    why: &'r Why,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
struct WarningOut<'r> {
    warning: &'r Warning,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl<'r> Output<'r> {
    /// The output for `round`.
    pub fn of(round: &'r Round) -> Self {
        let plan = &round.plan;
        let snapshot = round.snapshot();
        let actions = plan.actions.iter().map(|planned| ActionOut {
            group: &planned.group,
            action: &planned.action,
            reason: &planned.reason,
            text: format!("{} because {}", planned.action, planned.reason),
            caveats: caveats(&planned.action, snapshot),
            dry_run: planned.dry_run,
        });
        let refusals = plan.report.refusals.iter().map(|refusal| RefusalOut {
            subject: &refusal.subject,
            why: &refusal.why,
            text: refusal.to_string(),
            hint: refusal.why.hint(round.policy.runs_on()),
        });
        let warnings = plan.report.warnings.iter().map(|warning| WarningOut {
            warning,
            text: warning.to_string(),
            hint: warning.hint(),
        });
        Output {
            version: VERSION,
            at: plan.at,
            read: Read::of(round),
            assumed: assumed(round),
            groups: &plan.report.groups,
            waiting: plan.report.waiting.as_ref(),
            slack: plan.report.slack.as_ref().map(|slack| SlackOut::of(slack, &round.memory)),
            scale_ups: plan.report.scale_ups.iter().map(ScaleUpOut::of).collect(),
            scale_down: round.policy.scale_down.as_ref().map(|_| ScaleDownOut::of(round)),
            actions: actions.collect(),
            refusals: refusals.collect(),
            warnings: warnings.collect(),
            wake_at: plan.wake_at,
        }
    }
}

impl<'r> SlackOut<'r> {
    fn of(slack: &'r Slack, memory: &'r Memory) -> Self {
        let placeholders = slack.placeholders.iter().map(|placeholders| {
            let Places { nodes, upcoming } = memory.places_of(&placeholders.of);
            let nodes = nodes.iter().map(|(node, count)| HeldByNode { node, count: *count }).collect();
            let upcoming = upcoming.iter().map(|(group, counts)| HeldByMachines { group, counts }).collect();
            PlaceholdersOut { placeholders, nodes, upcoming, text: placeholders.to_string() }
        });
        SlackOut { rate: slack.rate.as_ref(), placeholders: placeholders.collect() }
    }
}

impl<'r> ScaleUpOut<'r> {
    fn of(scale_up: &'r ScaleUp) -> Self {
        ScaleUpOut {
            pods: &scale_up.pods,
            placeholders: &scale_up.placeholders,
            nodes: scale_up.nodes.iter().map(|(group, count)| NewNodes { group, count: *count }).collect(),
            options: scale_up.options.iter().map(OptionOut::of).collect(),
        }
    }
}

impl<'r> OptionOut<'r> {
    fn of(option: &'r Ranked) -> Self {
        OptionOut {
            group: &option.rank.group,
            shared_with: &option.shared_with,
            nodes: option.nodes,
            at_best: option.at_best,
            scores: &option.rank.scores,
            terms: option.price.as_ref(),
            text: option.to_string(),
        }
    }
}

impl<'r> ScaleDownOut<'r> {
    fn of(round: &'r Round) -> Self {
        let going = scale_down::going(round);
        let saves = scale_down::total(&going);
        let going =
            going.into_iter().map(|Going { node, group, marked, price }| GoingOut { node, group, marked, price });
        ScaleDownOut { going: going.collect(), saves, budgets: &round.plan.report.budgets }
    }
}

impl<'r> Read<'r> {
    fn of(round: &'r Round) -> Self {
        let dump = &round.dump;
        let warnings = dump.warnings.iter().map(|warning| ReadWarning {
            file: warning.place.as_ref().map(|place| &*place.file),
            line: warning.place.as_ref().map(|place| place.line),
            column: warning.place.as_ref().map(|place| place.column),
            object: &warning.object,
            problem: &warning.problem,
        });
        Read {
            files: &dump.files,
            objects: &dump.counts,
            coverage: Kind::ALL.into_iter().map(|kind| (kind, round.snapshot().coverage(kind))).collect(),
            warnings: warnings.collect(),
        }
    }
}
