//! What happens in a simulation, line by line.

use std::fmt::Write;
use std::mem::{Discriminant, discriminant};

use headroom_core::plan::{Subject, Why};
use headroom_sim::Round;

/// Tells of rounds one after the other.
#[derive(Debug, Default)]
pub struct Diary {
    /// What the last round refused, so that it is told once and not in every round.
    refused: Vec<(Subject, Discriminant<Why>)>,
}

impl Diary {
    /// A line for each action of a round, for each that the cluster or cloud refused, and for each refusal that the
    /// round before did not have. What only waits for its time is left out.
    pub fn entries(&mut self, round: &Round) -> String {
        let mut text = String::new();
        let time = round.at.strftime("%F %T");
        let mut line = |subject: &str, what: std::fmt::Arguments<'_>| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{time}  {subject}: {what}");
        };
        for (at, planned) in round.plan.actions.iter().enumerate() {
            let dry = if planned.dry_run { " (dry run)" } else { "" };
            line(&planned.group, format_args!("{}{dry} because {}", planned.action, planned.reason));
            for (_, why) in round.refused.iter().filter(|(index, _)| *index == at) {
                line(&planned.group, format_args!("refused: {why}"));
            }
        }
        let refusals = round.plan.report.refusals.iter().filter(|refusal| !waits(&refusal.why));
        let key = |refusal: &headroom_core::plan::Refusal| (refusal.subject.clone(), discriminant(&refusal.why));
        for refusal in refusals.clone().filter(|refusal| !self.refused.contains(&key(refusal))) {
            line(&refusal.subject.to_string(), format_args!("{}", refusal.why));
        }
        self.refused = refusals.map(key).collect();
        text
    }
}

/// Whether it is only a matter of time.
fn waits(why: &Why) -> bool {
    matches!(
        why,
        Why::CoolingDown { .. }
            | Why::StepTaken { .. }
            | Why::NotEmpty { .. }
            | Why::SoftGrace { .. }
            | Why::AtMin { .. }
    )
}
