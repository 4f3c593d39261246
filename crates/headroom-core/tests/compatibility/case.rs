//! One case of another autoscaler's behaviour: a fixture, and between its lines what is expected of the last plan.
//!
//! - `case NAME` begins a case; `source: WHERE`, which holds for the cases after it too, says whose behaviour it is.
//! - `expect: KEY=VALUE ..` names what both do; the keys are those of `facts`.
//! - `differs: KEY=THEIRS->OURS .. because REASON` names what Headroom does otherwise on purpose.
//! - `why SUBJECT: TEXT` is a refusal of the last plan, word for word.
//! - `not applicable: REASON` for behaviour that has no meaning here.
//! - Every other line is one of a fixture.

use headroom_core::fixture::Fixture;

use crate::facts::fact;

/// A case that was read.
pub(crate) struct Case<'l> {
    pub(crate) name: &'l str,
    pub(crate) source: &'l str,
    lines: Vec<&'l str>,
}

/// How a case compares.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict<'l> {
    Same,
    /// With the reasons.
    Different(Vec<&'l str>),
    NotApplicable(&'l str),
}

/// The cases of a file.
pub(crate) fn cases(text: &str) -> Vec<Case<'_>> {
    let (mut cases, mut source): (Vec<Case<'_>>, &str) = (Vec::new(), "");
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("case ") {
            cases.push(Case { name, source, lines: Vec::new() });
        } else if let Some(where_) = line.strip_prefix("source: ") {
            source = where_;
        } else if let Some(case) = cases.last_mut() {
            case.lines.push(line);
        }
    }
    cases
}

impl<'l> Case<'l> {
    pub(crate) fn verdict(&self) -> Verdict<'l> {
        if let Some(reason) = self.lines.iter().find_map(|line| line.strip_prefix("not applicable: ")) {
            return Verdict::NotApplicable(reason);
        }
        let differs = self.lines.iter().filter_map(|line| line.strip_prefix("differs: "));
        let reasons: Vec<&str> = differs.filter_map(|text| text.split_once(" because ")).map(|(_, why)| why).collect();
        if reasons.is_empty() { Verdict::Same } else { Verdict::Different(reasons) }
    }

    /// Runs the fixture and compares; the error says what is not as expected.
    pub(crate) fn judge(&self) -> Result<(), String> {
        let mut fixture = Fixture::new();
        let (mut judged, mut wrong) = (0, Vec::new());
        for line in &self.lines {
            let outcome = match line.split_once(": ") {
                Some(("expect", facts)) => facts.split_whitespace().try_for_each(|text| same(&fixture, text)),
                Some(("differs", text)) => match text.split_once(" because ") {
                    Some((facts, _)) => facts.split_whitespace().try_for_each(|text| different(&fixture, text)),
                    None => Err(format!("{line}: no reason given")),
                },
                Some(("not applicable", _)) => Ok(()),
                Some((subject, text)) if subject.starts_with("why ") => says(&fixture, &subject[4..], text),
                _ => {
                    judged -= 1;
                    fixture.line(line).map_err(|what| format!("{line}: {what}"))
                }
            };
            judged += 1;
            wrong.extend(outcome.err());
        }
        if judged == 0 {
            wrong.push("nothing is expected".to_owned());
        }
        if self.source.is_empty() {
            wrong.push("no source".to_owned());
        }
        let plans = &fixture;
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}\n  {}\n{plans}", self.name, wrong.join("\n  "))) }
    }
}

fn same(fixture: &Fixture, text: &str) -> Result<(), String> {
    let (key, expected) = text.split_once('=').ok_or_else(|| format!("{text}: write KEY=VALUE"))?;
    match fact(fixture, key)? {
        actual if actual == expected => Ok(()),
        actual => Err(format!("expected {text}, found {actual}")),
    }
}

fn different(fixture: &Fixture, text: &str) -> Result<(), String> {
    let parts = text.split_once('=').and_then(|(key, values)| Some((key, values.split_once("->")?)));
    let (key, (theirs, ours)) = parts.ok_or_else(|| format!("{text}: write KEY=THEIRS->OURS"))?;
    match fact(fixture, key)? {
        actual if actual == theirs => Err(format!("no difference any more: {key}={actual}")),
        actual if actual == ours => Ok(()),
        actual => Err(format!("expected {text}, found {actual}")),
    }
}

fn says(fixture: &Fixture, subject: &str, text: &str) -> Result<(), String> {
    let expected = format!("{subject}: {text}");
    let refusals = fixture.plans.last().into_iter().flat_map(|plan| &plan.report.refusals);
    let mut said = refusals.map(ToString::to_string);
    if said.any(|refusal| refusal == expected) { Ok(()) } else { Err(format!("nobody says {expected}")) }
}
