//! The options for a set of waiting pods: enlarge this group, or that one, and by how much.

use std::sync::Arc;

use super::Candidates;
use crate::balance::{Member, Part, partners, share_out};
use crate::estimator::{Estimate, estimate};
use crate::expander::{Candidate, Context, Ranked, rank};
use crate::policy::PendingPolicy;
use crate::pricing::Offering;
use crate::quantity::Totals;
use crate::scheduling::{Offer, Placement, TemplateId};
use crate::snapshot::ClassId;

/// Groups that can share new nodes, by their positions among the candidates, the smallest first.
type Family = Vec<usize>;

/// An option that was chosen.
pub(super) struct Choice {
    /// The new nodes of each group, by its position among the candidates.
    pub(super) nodes: Vec<(usize, u32)>,
    /// What was placed.
    pub(super) estimate: Estimate,
    /// Every option, best first.
    pub(super) ranking: Vec<Ranked>,
}

/// Finds the best option for these pods and leaves the placement with the pods where they go. None when no option places
/// any of them.
pub(super) fn choose(
    placement: &mut Placement,
    candidates: &Candidates<'_>,
    pods: &[(ClassId, u32)],
    policy: &PendingPolicy,
    context: &Context<'_>,
) -> Option<Choice> {
    let mut families: Vec<(Family, Candidate)> = Vec::new();
    for family in families_of(placement, candidates, pods, policy) {
        let mark = placement.mark();
        let estimate = estimate(placement, &offers(candidates, &family), pods, Some(candidates.family_room(&family)));
        placement.rollback(mark);
        if let Some(candidate) = candidate(placement, candidates, &family, &estimate, policy) {
            families.push((family, candidate));
        }
    }
    let options: Vec<Candidate> = families.iter().map(|(_, candidate)| candidate.clone()).collect();
    let ranking = rank(&options, &policy.expander, context);
    let (family, _) = families.get(ranking.first()?.at)?;
    let estimate = estimate(placement, &offers(candidates, family), pods, Some(candidates.family_room(family)));
    let nodes = shared_out(placement, candidates, family, &estimate);
    Some(Choice { nodes, estimate, ranking })
}

/// The families that can take any of the pods, each once.
fn families_of(
    placement: &mut Placement,
    candidates: &Candidates<'_>,
    pods: &[(ClassId, u32)],
    policy: &PendingPolicy,
) -> Vec<Family> {
    let mut hosts: Vec<Vec<u32>> = Vec::with_capacity(candidates.len());
    for at in 0..candidates.len() {
        let template = TemplateId(candidates.template(at));
        let classes = (0..).zip(pods).filter(|(_, (class, _))| placement.fits_new(*class, template).is_ok());
        hosts.push(classes.map(|(index, _)| index).collect());
    }
    let open: Vec<usize> = (0..candidates.len())
        .filter(|at| candidates.room(*at) > 0 && hosts.get(*at).is_some_and(|hosts| !hosts.is_empty()))
        .collect();
    let members: Vec<(usize, Member<'_>)> = open
        .iter()
        .filter_map(|at| {
            let (shape, hosts) = (candidates.shape(*at)?, hosts.get(*at)?);
            Some((*at, Member { group: Arc::clone(candidates.name(*at)?), shape, hosts }))
        })
        .collect();
    let only: Vec<Member<'_>> = members.iter().map(|(_, member)| member.clone()).collect();
    let mut families: Vec<Family> = Vec::new();
    for (position, (at, member)) in members.iter().enumerate() {
        if families.iter().any(|family| family.contains(at)) {
            continue;
        }
        let mut family = vec![*at];
        if candidates.may_share(*at) {
            let verdicts = partners(member, &only, policy.balance.as_ref());
            let alike =
                verdicts.iter().enumerate().filter(|(other, (_, verdict))| *other > position && verdict.is_ok());
            let alike = alike.filter_map(|(other, _)| members.get(other)).map(|(at, _)| *at);
            family.extend(alike.filter(|at| candidates.may_share(*at)));
        }
        family.sort_by_key(|at| (candidates.size(*at), *at));
        families.push(family);
    }
    families
}

fn offers(candidates: &Candidates<'_>, family: &[usize]) -> Vec<Offer> {
    let offer =
        |at: &usize| Offer { template: TemplateId(candidates.template(*at)), limit: candidates.room(*at), cost: 1 };
    family.iter().map(offer).collect()
}

/// The option as the expanders see it; None when it buys nothing.
fn candidate(
    placement: &Placement,
    candidates: &Candidates<'_>,
    family: &[usize],
    estimate: &Estimate,
    policy: &PendingPolicy,
) -> Option<Candidate> {
    let first = *family.first()?;
    let needed = estimate.node_count();
    if needed == 0 || estimate.placed_count() == 0 {
        return None;
    }
    let template = candidates.new_node(first)?;
    let group = candidates.group(first)?;
    let mut requested = Totals::default();
    for (class, count) in &estimate.placed {
        requested.add_times(&placement.spec(*class).requests, i128::from(*count));
    }
    let capacity = if template.capacity.cpu > 0 { &template.capacity } else { &template.allocatable };
    Some(Candidate {
        group: Arc::clone(&group.name),
        shared_with: family.iter().skip(1).filter_map(|at| candidates.name(*at)).cloned().collect(),
        nodes: candidates.whole(first, needed),
        capacity: capacity.clone(),
        price: policy.prices.quote(group.price, &Offering::of(&template.labels), None),
        requested,
        priority: group.priority,
    })
}

/// The nodes of each group of the family. Where constraints have not spread them already, they are shared out so that
/// the groups stay of one size.
fn shared_out(
    placement: &Placement,
    candidates: &Candidates<'_>,
    family: &[usize],
    estimate: &Estimate,
) -> Vec<(usize, u32)> {
    let bought = family.iter().copied().zip(estimate.nodes.iter().copied()).filter(|(_, count)| *count > 0);
    let minds_zones = estimate.placed.iter().any(|(class, _)| {
        let spec = placement.spec(*class);
        !(spec.spread.is_empty() && spec.pod_affinity.is_empty() && spec.pod_anti_affinity.is_empty())
    });
    if minds_zones || family.len() == 1 {
        return bought.map(|(at, count)| (at, candidates.whole(at, count))).collect();
    }
    let part = |at: &usize| {
        let size = candidates.size(*at);
        Some(Part { group: Arc::clone(candidates.name(*at)?), size, max: size.saturating_add(candidates.room(*at)) })
    };
    let parts: Vec<Part> = family.iter().filter_map(part).collect();
    let shares = share_out(&parts, estimate.node_count());
    let at = |group: &str| family.iter().copied().find(|at| candidates.name(*at).is_some_and(|name| **name == *group));
    shares.iter().filter_map(|share| Some((at(&share.group)?, share.to - share.from))).collect()
}
