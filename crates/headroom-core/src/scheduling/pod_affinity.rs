//! Required affinity and anti-affinity between pods, in both directions, and claims that one pod at a time may use,
//! which are anti-affinity over the whole cluster.

use super::Misfit;
use super::placement::{Key, NONE, Node, Placement, Rules, Shape};

/// How many more pods the terms over labels allow on nodes of a shape.
pub(super) fn room(placement: &Placement, rules: &Rules, shape: &Shape) -> u32 {
    room_where(placement, rules, |key| if key == Key::Host { None } else { Some(shape.domain(key)) })
}

/// How many more pods the terms over hosts allow on one node.
pub(super) fn room_on(placement: &Placement, rules: &Rules, node: &Node) -> u32 {
    room_where(placement, rules, |key| if key == Key::Host { Some(node.host) } else { None })
}

/// Whether the first pod of a group that wants to be together may go anywhere, and the others must follow it to its
/// node.
pub(super) fn first_decides_node(placement: &Placement, rules: &Rules) -> bool {
    let over_hosts = rules.affinity.iter().any(|counter| placement.counter(*counter).key == Key::Host);
    over_hosts && is_first(placement, rules)
}

/// Why one more pod cannot go on a node.
pub(super) fn check(placement: &Placement, rules: &Rules, node: &Node) -> Result<(), Misfit> {
    let key = |counter: &u32| Box::from(placement.label(placement.counter(*counter).key));
    let selector = |counter: &u32| placement.counted(*counter);
    let domain = |counter: &u32| placement.domain(placement.counter(*counter).key, node);
    let pods = |counter: &u32| placement.counter(*counter).count(domain(counter));
    if let Some(counter) = rules.affinity.iter().find(|counter| domain(counter) == NONE) {
        return Err(Misfit::TopologyKeyMissing { key: key(counter) });
    }
    if let Some(counter) = rules.affinity.iter().find(|counter| pods(counter) == 0)
        && !is_first(placement, rules)
    {
        return Err(Misfit::PodAffinity { selector: selector(counter), key: key(counter) });
    }
    if let Some(rule) = rules.anti.iter().find(|rule| pods(&rule.counter) > 0) {
        let counter = &rule.counter;
        return Err(match placement.counter(*counter).key {
            Key::Cluster => Misfit::ClaimInUse { claim: selector(counter).into() },
            _ => Misfit::PodAntiAffinity { selector: selector(counter), key: key(counter) },
        });
    }
    match rules.shunned_by.iter().find(|counter| pods(counter) > 0) {
        Some(counter) => Err(Misfit::PodAntiAffinityOfOther { selector: selector(counter), key: key(counter) }),
        None => Ok(()),
    }
}

/// `domain` gives the domain for the keys that are looked at, and None for those that are not.
fn room_where(placement: &Placement, rules: &Rules, domain: impl Fn(Key) -> Option<u32>) -> u32 {
    let first = is_first(placement, rules);
    let near = rules.affinity.iter().all(|counter| {
        let counter = placement.counter(*counter);
        domain(counter.key).is_none_or(|domain| domain != NONE && (first || counter.count(domain) > 0))
    });
    let shunned = rules.shunned_by.iter().any(|counter| {
        let counter = placement.counter(*counter);
        domain(counter.key).is_some_and(|domain| counter.count(domain) > 0)
    });
    if !near || shunned {
        return 0;
    }
    let rooms = rules.anti.iter().map(|rule| {
        let counter = placement.counter(rule.counter);
        match domain(counter.key) {
            None | Some(NONE) => u32::MAX,
            Some(domain) if counter.count(domain) > 0 => 0,
            Some(_) if rule.against_own => 1,
            Some(_) => u32::MAX,
        }
    });
    rooms.min().unwrap_or(u32::MAX)
}

/// Whether no pod is anywhere that the class must be near, and the pods of the class would do themselves.
pub(super) fn is_first(placement: &Placement, rules: &Rules) -> bool {
    rules.meets_own_affinity && !rules.affinity.iter().any(|counter| placement.counter(*counter).any())
}
