//! What happens in a simulation, line by line.

use std::fmt::Write;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use headroom_core::expander::Ranked;
use headroom_core::plan::{Action, Kept, Planned, Refusal, ScaleUp, Subject, Warning, Why};
use headroom_sim::Round;

/// So many options of one enlargement are told, the best first.
const OPTIONS: usize = 4;

/// Tells of rounds one after the other.
#[derive(Debug, Default)]
pub struct Diary {
    /// What the last round said besides what it did, so that it is told once and not in every round.
    said: Vec<Said>,
}

/// Something that is said in every round as long as it holds.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Refused(Subject, Discriminant<Why>),
    Warned(Arc<str>, Discriminant<Warning>),
    WouldDo(Arc<str>, Option<Arc<str>>, Discriminant<Action>),
    /// A node is kept.
    Kept(Arc<str>, Discriminant<Kept>),
    /// Nodes are kept, all for this reason.
    AllKept(String),
}

impl Diary {
    /// A line for each action of a round, for each that the cluster or cloud refused, for each option of enlargements that
    /// had several, and for each warning and refusal that the round before did not have. What only waits for its time is left out.
    pub fn entries(&mut self, round: &Round) -> String {
        let mut text = String::new();
        let time = round.at.strftime("%F %T");
        let mut line = |what: std::fmt::Arguments<'_>| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{time}  {what}");
        };
        let mut said = Vec::new();
        let mut is_news = |thing: Said| {
            let news = !self.said.contains(&thing) && !said.contains(&thing);
            said.push(thing);
            news
        };
        for (at, planned) in round.plan.actions.iter().enumerate() {
            let Planned { group, action, reason, dry_run } = planned;
            if !dry_run {
                line(format_args!("{group}: {action} because {reason}"));
            } else if is_news(would_do(planned)) {
                line(format_args!("{group}: {action} (dry run) because {reason}"));
            }
            for (_, why) in round.refused.iter().filter(|(index, _)| *index == at) {
                line(format_args!("{group}: refused: {why}"));
            }
        }
        let rivals = round.plan.report.scale_ups.iter().filter(|scale_up| has_rivals(scale_up));
        for ScaleUp { options, .. } in rivals {
            for option in options.iter().take(OPTIONS) {
                line(format_args!("option: {}", shared(option)));
            }
            if let Some(more @ 1..) = options.len().checked_sub(OPTIONS) {
                line(format_args!("option: and {more} more"));
            }
        }
        for refusal in round.plan.report.refusals.iter().filter(|refusal| !waits(&refusal.why)) {
            let Refusal { subject, why } = refusal;
            if is_news(refused(subject, why)) {
                line(format_args!("{refusal}"));
            }
        }
        for warning in &round.plan.report.warnings {
            if is_news(Said::Warned(about(warning).into(), discriminant(warning))) {
                line(format_args!("warning: {warning}"));
            }
        }
        self.said = said;
        text
    }
}

/// Whether it says more than the action does: another group could have grown, or some share the new nodes.
fn has_rivals(scale_up: &ScaleUp) -> bool {
    scale_up.options.len() > 1 || scale_up.options.iter().any(|option| !option.shared_with.is_empty())
}

fn shared(option: &Ranked) -> String {
    match option.shared_with.as_slice() {
        [] => option.to_string(),
        groups => format!("{option}; shared out with {}", groups.join(", ")),
    }
}

fn refused(subject: &Subject, why: &Why) -> Said {
    match (subject, why) {
        (Subject::Node(node), Why::Kept { why }) => match **why {
            Kept::Pod { .. } | Kept::Draining { .. } => Said::Kept(Arc::clone(node), discriminant(why)),
            _ => Said::AllKept(why.to_string()),
        },
        _ => Said::Refused(subject.clone(), discriminant(why)),
    }
}

fn would_do(planned: &Planned) -> Said {
    let node = planned.action.node().map(Arc::from);
    Said::WouldDo(Arc::clone(&planned.group), node, discriminant(&planned.action))
}

/// The name of what it is about.
fn about(warning: &Warning) -> &str {
    match warning {
        Warning::MixedSizes { group, .. }
        | Warning::WithoutRequests { group, .. }
        | Warning::LargeDaemonSets { group, .. }
        | Warning::ForeignPods { group, .. }
        | Warning::SpareWithoutLabel { group } => group,
        Warning::SpareCopiesUnreadable { of: name, .. } | Warning::BufferKeepsNothing { buffer: name, .. } => name,
        Warning::SlackNotKnown { kind, .. } => kind.kubectl_name(),
    }
}

/// Whether it is only a matter of time, or of how busy nodes are.
fn waits(why: &Why) -> bool {
    if let Why::Kept { why } = why {
        return !matches!(
            **why,
            Kept::Pod { .. }
                | Kept::NotKnown { .. }
                | Kept::Draining { .. }
                | Kept::Budget { .. }
                | Kept::BrokenBudget { .. }
                | Kept::NotWhole { .. }
        );
    }
    matches!(
        why,
        Why::CoolingDown { .. }
            | Why::StepTaken { .. }
            | Why::NotEmpty { .. }
            | Why::SoftGrace { .. }
            | Why::AtMin { .. }
    )
}
