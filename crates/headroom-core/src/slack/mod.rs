//! Spare room for pods to come (`seeds/resource-slack.md`): which placeholders are wanted.
//!
//! A placeholder is a pod that lives only inside Headroom. It takes room like a real pod when nodes are bought and when
//! they go, and none from real pods. What the seed leaves open is decided in docs/slack.md.

mod buffers;
mod copies;
mod ground;
mod groups;
mod largest;
mod owners;
mod rate;

use std::sync::Arc;

pub(crate) use ground::GroupGround;

use crate::plan::{Placeholder, Slack, Warning};
use crate::policy::Largest;
use crate::quantity::{Resources, Totals, ceil_div};
use crate::round::Round;
use crate::snapshot::{Coverage, Eviction, Kind, PodKind, PodSpec, SharedSpec};
use ground::Ground;

/// Equal placeholders that are wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) of: Placeholder,
    pub(crate) spec: SharedSpec,
    pub(crate) count: u32,
}

impl Wanted {
    /// The name under which their places are remembered.
    pub(crate) fn name(&self) -> Arc<str> {
        self.of.to_string().into()
    }
}

/// The placeholders that are wanted now, in the order in which they get their places: what is asked for by name first,
/// the rate, which is the rest, last.
pub(crate) fn wanted(round: &mut Round<'_>, groups: &[GroupGround<'_>]) -> Vec<Wanted> {
    let policy = round.policy;
    let slack = &policy.slack;
    let of_groups = groups.iter().any(|ground| ground.spare.nodes > 0 || ground.spare.pods > 0);
    if slack.is_off() && !of_groups {
        return Vec::new();
    }
    let mut wanted = groups::wanted(round, groups);
    warn_of_unknown(round);
    if slack.buffers {
        wanted.extend(buffers::wanted(round));
    }
    let mut report = Slack::default();
    if slack.marked || slack.largest != Largest::Off || slack.rate.is_some() {
        let ground = Ground::new(round, groups);
        let mut first: Vec<Wanted> = Vec::new();
        if slack.marked {
            first.extend(copies::wanted(round));
        }
        first.extend(largest::wanted(&ground, slack.largest));
        if let Some(rate) = slack.rate {
            let mut counted = Totals::default();
            first.iter().for_each(|wanted| counted.add_times(&wanted.spec.requests, wanted.count.into()));
            first.extend(rate::wanted(&ground, slack, rate, &counted));
            report.rate = Some(rate::report(&ground, slack.basis, rate));
        }
        wanted.append(&mut first);
    }
    wanted.retain(|wanted| wanted.count > 0);
    let least = policy.pending.expendable_below;
    for wanted in &mut wanted {
        wanted.spec = placeholder(&wanted.spec, &wanted.of, least);
    }
    round.report.slack = Some(report);
    wanted
}

/// No room is kept for what is not known.
fn warn_of_unknown(round: &mut Round<'_>) {
    let slack = &round.policy.slack;
    let asked = [(slack.marked, Kind::Workloads), (slack.buffers, Kind::CapacityBuffers)];
    for (_, kind) in asked.into_iter().filter(|(asked, _)| *asked) {
        let coverage = round.snapshot.coverage(kind);
        if coverage != Coverage::Complete {
            round.warn(Warning::SlackNotKnown { kind, coverage });
        }
    }
}

/// A percentage of some replicas, rounded up.
fn share(percent: u32, replicas: u32) -> u32 {
    u32::try_from(ceil_div(i128::from(percent) * i128::from(replicas), 100)).unwrap_or(u32::MAX)
}

/// A pod that requests this and asks for nothing else.
fn plain(requests: Resources) -> SharedSpec {
    let requests = Resources { pods: 1, ..requests };
    SharedSpec::new(PodSpec { requests, ..PodSpec::default() })
}

/// A pod like this one that is nobody's: the volumes of a pod are its own, and a copy gets others. The controller keeps its
/// class apart from that of the real pods.
fn placeholder(spec: &PodSpec, of: &Placeholder, least_priority: i32) -> SharedSpec {
    SharedSpec::new(PodSpec {
        priority: spec.priority.max(least_priority),
        kind: PodKind::Workload,
        controller: Some(format!("Placeholder/{of}").into()),
        claims: Vec::new(),
        resource_claims: Vec::new(),
        local_storage: None,
        eviction: Eviction::Safe,
        spare_copies: None,
        ..spec.clone()
    })
}
