//! Topology spread (`DoNotSchedule`): how many more pods a domain may have than the emptiest one.
//!
//! Domains are the values of a label among the nodes that a constraint looks at. A pod may go to a domain when the pods
//! that are there, itself included if it counts itself, are at most `maxSkew` more than in the emptiest domain.

use super::Misfit;
use super::placement::{Counter, Key, NONE, Node, Placement, Rules, Scope, Shape, SpreadRule};

/// What there is in the domains of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Domains {
    /// How many domains there are.
    pub(super) count: u32,
    /// Pods in the emptiest; None without a domain.
    pub(super) fewest: Option<u32>,
}

impl Domains {
    /// Pods in the emptiest domain as the constraint takes it: with too few domains, one is taken to be empty.
    pub(super) fn fewest_for(self, rule: &SpreadRule) -> u32 {
        if self.count < rule.min_domains.max(1) { 0 } else { self.fewest.unwrap_or(0) }
    }
}

/// How many more pods the constraints over labels allow on nodes of a shape, if no other domain changes. `but` are
/// counters whose constraints are seen to elsewhere.
pub(super) fn room(placement: &Placement, rules: &Rules, shape: &Shape, but: [u32; 2]) -> u32 {
    let over_labels = rules.spread.iter().filter(|rule| !but.contains(&rule.counter));
    let rooms = over_labels.map(|rule| {
        let counter = placement.counter(rule.counter);
        match counter.key {
            Key::Host => u32::MAX,
            key => match shape.domain(key) {
                NONE => 0,
                domain => room_in(placement, rule, counter, domain),
            },
        }
    });
    rooms.min().unwrap_or(u32::MAX)
}

/// How many more pods the constraints over hosts allow on one node, if no other node changes.
pub(super) fn room_on(placement: &Placement, rules: &Rules, node: &Node, but: [u32; 2]) -> u32 {
    let over_hosts = rules.spread.iter().filter(|rule| !but.contains(&rule.counter));
    let rooms = over_hosts.map(|rule| {
        let counter = placement.counter(rule.counter);
        match (counter.key, node.host) {
            (Key::Host, NONE) => 0,
            (Key::Host, host) => {
                let fewest = domains(placement, counter).fewest_for(rule);
                let over = counter.count(host) + u32::from(rule.counts_own);
                match over.saturating_sub(fewest) <= rule.max_skew {
                    // The next one may have to go elsewhere.
                    true if rule.counts_own => 1,
                    true => u32::MAX,
                    false => 0,
                }
            }
            _ => u32::MAX,
        }
    });
    rooms.min().unwrap_or(u32::MAX)
}

/// Why one more pod cannot go on a node.
pub(super) fn check(placement: &Placement, rules: &Rules, node: &Node) -> Result<(), Misfit> {
    for rule in &rules.spread {
        let counter = placement.counter(rule.counter);
        let key = || Box::from(placement.label(counter.key));
        let domain = placement.domain(counter.key, node);
        if domain == NONE {
            return Err(Misfit::TopologyKeyMissing { key: key() });
        }
        let (pods, fewest) = (counter.count(domain), domains(placement, counter).fewest_for(rule));
        if (pods + u32::from(rule.counts_own)).saturating_sub(fewest) > rule.max_skew {
            let domain = placement.domain_name(counter.key, node).into();
            return Err(Misfit::Spread { key: key(), domain, pods, fewest, max_skew: rule.max_skew });
        }
    }
    Ok(())
}

/// The domains that a constraint looks at.
pub(super) fn domains(placement: &Placement, counter: &Counter) -> Domains {
    match counter.key {
        Key::Host => {
            let count = hosts(placement, counter);
            let with_pods: u32 = counter.hosts_by_count().values().sum();
            let least = if count > with_pods { Some(0) } else { counter.hosts_by_count().keys().next().copied() };
            Domains { count, fewest: least }
        }
        _ => {
            let known = domain_list(placement, counter);
            let fewest = known.iter().map(|domain| counter.count(*domain)).min();
            Domains { count: u32::try_from(known.len()).unwrap_or(u32::MAX), fewest }
        }
    }
}

/// The domains of a label that a constraint looks at, in the order of their numbers.
pub(super) fn domain_list(placement: &Placement, counter: &Counter) -> Vec<u32> {
    let mut known: Vec<u32> = match &counter.scope {
        Some(scope) if scope.by_node => {
            let nodes = placement.nodes().filter(|(id, node)| node.copies > 0 && counter.looks_at(*id, node));
            nodes.map(|(_, node)| placement.domain(counter.key, node)).collect()
        }
        _ => {
            // A node without a hostname is no domain of any label where hosts are spread over too.
            let hosts = counter.scope.as_ref().is_some_and(Scope::needs_hosts);
            let there = |shape: &Shape| match (hosts, counter.leaves_out_closed()) {
                (false, false) => shape.copies > 0,
                (false, true) => shape.copies > shape.closed,
                (true, false) => shape.hosts > 0,
                (true, true) => shape.hosts > shape.closed_hosts,
            };
            let shapes = looked_at(placement, counter).filter(|shape| there(shape));
            shapes.map(|shape| shape.domain(counter.key)).collect()
        }
    };
    known.sort_unstable();
    known.dedup();
    known.retain(|domain| *domain != NONE);
    known
}

/// How many hosts a constraint looks at.
fn hosts(placement: &Placement, counter: &Counter) -> u32 {
    if counter.scope.as_ref().is_some_and(|scope| scope.by_node) {
        let nodes = placement.nodes().filter(|(id, node)| node.host == *id && counter.looks_at(*id, node));
        return nodes.map(|(_, node)| node.copies).sum();
    }
    let left_out = |shape: &Shape| if counter.leaves_out_closed() { shape.closed_hosts } else { 0 };
    looked_at(placement, counter).map(|shape| shape.hosts - left_out(shape)).sum()
}

/// The shapes whose nodes a constraint looks at.
fn looked_at<'p>(placement: &'p Placement, counter: &'p Counter) -> impl Iterator<Item = &'p Shape> {
    counter.shapes().iter().map(|shape| placement.shape(*shape))
}

/// How many more pods a domain may have.
fn room_in(placement: &Placement, rule: &SpreadRule, counter: &Counter, domain: u32) -> u32 {
    let pods = counter.count(domain);
    if !rule.counts_own {
        let fewest = domains(placement, counter).fewest_for(rule);
        return if pods.saturating_sub(fewest) <= rule.max_skew { u32::MAX } else { 0 };
    }
    // While this domain fills up it may itself be the emptiest: only the others hold it back.
    let known = domain_list(placement, counter);
    let others = known.iter().filter(|other| **other != domain).map(|other| counter.count(*other)).min();
    let count = u32::try_from(known.len()).unwrap_or(u32::MAX);
    let fewest = if count < rule.min_domains.max(1) { Some(0) } else { others };
    fewest.map_or(u32::MAX, |fewest| fewest.saturating_add(rule.max_skew).saturating_sub(pods))
}
