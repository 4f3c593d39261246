//! The options for a set of waiting pods: enlarge this group, or that one, and by how much.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::open::Candidates;
use crate::balance::{Member, Part, partners, share_out};
use crate::estimator::{Estimate, estimate};
use crate::expander::{Candidate, Context, Ranked, rank};
use crate::policy::PendingPolicy;
use crate::quantity::Totals;
use crate::scheduling::{AtBest, HOSTNAME, Host, NewNodes, Offer, Outlook, Placement, TemplateId, preference};
use crate::snapshot::ClassId;

/// Groups that can share new nodes, by their positions among the candidates, the smallest first.
type Family = Vec<usize>;

/// With more options times classes than this, options that cannot be the best are not packed. Packing a class takes about
/// a microsecond.
const CHEAP: usize = 20_000;

/// Groups whose prices differ by more than this percentage share no nodes. The zones of a region differ by less.
const PRICE_TOLERANCE: i128 = 5;

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
///
/// Where there are many options and many classes, the option that looks best is packed until the one that looks best has
/// been packed. The others could not beat it even if no machine of theirs had a gap.
pub(super) fn choose(
    placement: &mut Placement,
    candidates: &Candidates<'_>,
    pods: &[(ClassId, u32)],
    policy: &PendingPolicy,
    context: &Context<'_>,
) -> Option<Choice> {
    let outlook = placement.outlook(pods);
    let families = families_of(&outlook, candidates, policy);
    let likings = placement.likings_of_new(pods);
    let at_best = families.iter().map(|family| at_best(&outlook, &likings, candidates, family));
    let mut options: Vec<Candidate> = at_best.collect::<Option<_>>()?;
    let few = families.len().saturating_mul(pods.len()) <= CHEAP;
    let mut to_pack: Vec<usize> = if few { (0..families.len()).collect() } else { Vec::new() };
    let (mark, before) = (placement.mark(), placement.new_nodes());
    let mut held: Option<(usize, Estimate)> = None;
    loop {
        for at in to_pack.drain(..) {
            let (family, option) = (families.get(at)?, options.get_mut(at)?);
            placement.rollback(mark);
            let limit = Some(candidates.family_room(family));
            let estimate = estimate(placement, &offers(candidates, family), pods, limit);
            (option.nodes, option.requested) = packed(placement, candidates, family, &estimate);
            option.at_best = false;
            held = Some((at, estimate));
        }
        let ranking = rank(&options, &policy.expander, context);
        let Some(Ranked { at, at_best, .. }) = ranking.first() else {
            placement.rollback(mark);
            return None;
        };
        let (at, at_best) = (*at, *at_best);
        match held.take() {
            Some((held, packed)) if held == at && !at_best => {
                let family = families.get(at)?;
                let nodes = shared_out(placement, candidates, family, &packed, &before);
                let moved = nodes.iter().any(|node| as_packed(family, &packed).all(|packed| packed != *node));
                if !(moved && candidates.keep_spare()) {
                    return Some(Choice { nodes, estimate: packed, ranking });
                }
                // The pods are on machines of one group that others of the family get. Room that a group keeps for itself is
                // looked for on its own machines, so they are packed once more, on those that are bought.
                placement.rollback(mark);
                let estimate = estimate(placement, &offers_of(candidates, &nodes), pods, None);
                return Some(Choice { nodes, estimate, ranking });
            }
            _ => to_pack.push(at),
        }
    }
}

/// The families that can take any of the pods, each once.
fn families_of(outlook: &Outlook, candidates: &Candidates<'_>, policy: &PendingPolicy) -> Vec<Family> {
    let similarity = policy.balance.as_ref();
    // Only groups that are akin are compared with each other.
    let mut kin: BTreeMap<Option<i64>, (Vec<usize>, Vec<Member<'_>>)> = BTreeMap::new();
    for at in 0..candidates.len() {
        let hosts = outlook.hosts(TemplateId(candidates.template(at)));
        let (Some(name), Some(shape)) = (candidates.name(at), candidates.shape(at)) else { continue };
        if candidates.room(at) > 0 && !hosts.is_empty() {
            let (positions, members) = kin.entry(similarity.and_then(|alike| alike.kinship(&shape))).or_default();
            positions.push(at);
            members.push(Member { group: Arc::clone(name), shape, hosts });
        }
    }
    let mut families: Vec<Family> = Vec::new();
    for (positions, members) in kin.values() {
        let mut taken = vec![false; members.len()];
        for (number, (at, member)) in positions.iter().zip(members).enumerate() {
            if taken.get(number) == Some(&true) {
                continue;
            }
            let mut family = vec![*at];
            if candidates.may_share(*at) {
                let verdicts = partners(member, members, similarity).into_iter().map(|(_, verdict)| verdict.is_ok());
                for ((other, alike), taken) in positions.iter().zip(verdicts).zip(&mut taken).skip(number + 1) {
                    if alike && candidates.may_share(*other) && cost_alike(candidates, *at, *other) {
                        family.push(*other);
                        *taken = true;
                    }
                }
            }
            family.sort_by_key(|at| (candidates.size(*at), *at));
            families.push(family);
        }
    }
    // In the order of the groups, as if all had been compared with all.
    families.sort_by_key(|family| family.iter().min().copied());
    families
}

fn offers(candidates: &Candidates<'_>, family: &[usize]) -> Vec<Offer> {
    let offer =
        |at: &usize| Offer { template: TemplateId(candidates.template(*at)), limit: candidates.room(*at), cost: 1 };
    family.iter().map(offer).collect()
}

/// The machines of each group of a family on which the pods were packed.
fn as_packed(family: &[usize], estimate: &Estimate) -> impl Iterator<Item = (usize, u32)> {
    family.iter().copied().zip(estimate.nodes.iter().copied())
}

/// So many machines of each group and no more.
fn offers_of(candidates: &Candidates<'_>, nodes: &[(usize, u32)]) -> Vec<Offer> {
    let offer =
        |(at, limit): &(usize, u32)| Offer { template: TemplateId(candidates.template(*at)), limit: *limit, cost: 1 };
    nodes.iter().map(offer).collect()
}

/// The option as the expanders see it while nothing is packed.
fn at_best(
    outlook: &Outlook,
    likings: &[Option<i64>],
    candidates: &Candidates<'_>,
    family: &[usize],
) -> Option<Candidate> {
    let first = *family.first()?;
    let (template, group) = (candidates.new_node(first)?, candidates.group(first)?);
    let templates: Vec<TemplateId> = family.iter().map(|at| TemplateId(candidates.template(*at))).collect();
    let AtBest { nodes, requested } = outlook.at_best(&templates);
    let capacity = if template.capacity.cpu > 0 { &template.capacity } else { &template.allocatable };
    Some(Candidate {
        group: Arc::clone(&group.name),
        shared_with: family.iter().skip(1).filter_map(|at| candidates.name(*at)).cloned().collect(),
        nodes: candidates.whole(first, nodes.min(candidates.family_room(family))),
        capacity: capacity.clone(),
        price: candidates.price(first),
        requested,
        priority: group.priority,
        liking: family.iter().filter_map(|at| likings.get(*at)).copied().max().flatten(),
        at_best: true,
    })
}

/// Whether two groups cost about the same: otherwise a share of the nodes would go to the dearer one.
fn cost_alike(candidates: &Candidates<'_>, one: usize, other: usize) -> bool {
    let price = |at| candidates.price(at).map(|quote| i128::from(quote.amount.0));
    match (price(one), price(other)) {
        (Some(one), Some(other)) => (one - other).abs() * 100 <= one.max(other) * PRICE_TOLERANCE,
        (one, other) => one == other,
    }
}

/// The nodes of an option that was packed and what its pods request; no nodes when none of them helps.
fn packed(placement: &Placement, candidates: &Candidates<'_>, family: &[usize], estimate: &Estimate) -> (u32, Totals) {
    let needed = if estimate.placed_count() > 0 { estimate.node_count() } else { 0 };
    let nodes = if needed > 0 { family.first().map_or(0, |first| candidates.whole(*first, needed)) } else { 0 };
    let mut requested = Totals::default();
    for (class, count) in &estimate.placed {
        requested.add_times(&placement.spec(*class).requests, i128::from(*count));
    }
    (nodes, requested)
}

/// The nodes of each group of the family. A node stays in its group when one of its pods is tied to it; the others are
/// shared out so that the groups stay of one size. `before` are the new nodes before the estimate.
fn shared_out(
    placement: &mut Placement,
    candidates: &Candidates<'_>,
    family: &[usize],
    estimate: &Estimate,
    before: &[NewNodes],
) -> Vec<(usize, u32)> {
    let bought = || as_packed(family, estimate).filter(|(_, count)| *count > 0);
    if family.len() == 1 {
        return bought().map(|(at, count)| (at, candidates.whole(at, count))).collect();
    }
    let placed = estimate.placed.iter().filter(|(_, count)| *count > 0).map(|(class, _)| *class);
    let mut tied: Vec<ClassId> = placed.filter(|class| is_tied(placement, candidates, family, *class)).collect();
    tied.sort_unstable();
    let after = if tied.is_empty() { Vec::new() } else { placement.new_nodes() };
    let holding = |nodes: &[NewNodes], at: usize| -> u32 {
        let own = nodes.iter().filter(|new| new.template == TemplateId(candidates.template(at)));
        let tied = own.filter(|new| new.pods.iter().any(|(class, _)| tied.binary_search(class).is_ok()));
        tied.map(|new| new.count).sum()
    };
    let staying: Vec<(usize, u32)> =
        bought().map(|(at, count)| (at, count.min(holding(&after, at).saturating_sub(holding(before, at))))).collect();
    let stays = |at: usize| staying.iter().find(|(known, _)| *known == at).map_or(0, |(_, count)| *count);
    let part = |at: &usize| {
        let (size, room) = (candidates.size(*at), candidates.room(*at));
        let group = Arc::clone(candidates.name(*at)?);
        Some(Part { group, size: size.saturating_add(stays(*at)), max: size.saturating_add(room) })
    };
    let parts: Vec<Part> = family.iter().filter_map(part).collect();
    let free = estimate.node_count().saturating_sub(staying.iter().map(|(_, count)| *count).sum());
    let shares = share_out(&parts, free);
    let share = |at: usize| {
        let own = shares.iter().find(|share| candidates.name(at).is_some_and(|name| *name == share.group));
        own.map_or(0, |share| share.to - share.from)
    };
    let nodes = family.iter().map(|at| (*at, stays(*at).saturating_add(share(*at))));
    nodes.filter(|(_, count)| *count > 0).collect()
}

/// Whether pods of a class mind in which group of the family they are: one cannot take them or is liked less, or they or
/// their neighbours have rules or wishes about places, larger than a node, of which the groups are not all in one.
fn is_tied(placement: &mut Placement, candidates: &Candidates<'_>, family: &[usize], class: ClassId) -> bool {
    let spec = placement.spec(class);
    let templates = || family.iter().filter_map(|at| candidates.new_node(*at));
    let differ = |key: &str| {
        let mut values = templates().map(|template| template.labels.get(key));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let wished = spec.preferred_pod_affinity.iter().chain(&spec.preferred_pod_anti_affinity);
    let neighbours = spec.pod_affinity.iter().chain(&spec.pod_anti_affinity).chain(wished.map(|wish| &wish.term));
    let spread = spec.spread.iter().chain(&spec.preferred_spread).map(|spread| &spread.topology_key);
    let mut places = neighbours.map(|term| &term.topology_key).chain(spread);
    let mut likings = templates().map(|template| preference(spec, &Host::new(template)));
    let first = likings.next();
    places.any(|key| **key != *HOSTNAME && differ(key))
        || likings.any(|liking| Some(liking) != first)
        || family.iter().any(|at| placement.fits_new(class, TemplateId(candidates.template(*at))).is_err())
}
