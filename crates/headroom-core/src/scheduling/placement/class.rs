//! Classes of equal pods, looked up once: what they need, which rules bind them, which counters they move.

use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

pub(in crate::scheduling) use crate::scheduling::resources::Row;
use crate::scheduling::{Demand, Volumes};
use crate::snapshot::SharedSpec;

/// A class of equal pods.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduling) struct Class {
    /// What the pods share.
    pub(in crate::scheduling) spec: SharedSpec,
    /// What one of them needs.
    pub(in crate::scheduling) need: Row,
    /// Its place in the order of contents.
    pub(super) rank: u32,
    /// Its pods are not in the snapshot, so that only the nodes know where they are.
    pub(super) extra: bool,
    /// Its static side.
    pub(in crate::scheduling) statics: u32,
    /// Some of its pods wait, so that it matters what they would rather have.
    pub(super) waits: bool,
    /// What binds it to the pods around it; None for most.
    pub(in crate::scheduling) rules: Option<Rc<Rules>>,
    /// What it would rather have, and what other classes would rather have of it; None for most.
    pub(super) wishes: Option<Rc<Wishes>>,
    /// Counters that a pod of this class adds one to, those of its rules and those of its wishes; none for most.
    pub(super) adds: SmallVec<[u32; 2]>,
}

impl Class {
    /// Takes in what binds it and what it would rather have.
    pub(super) fn set_rules(&mut self, rules: Option<Rules>, wishes: Option<Wishes>) {
        let by_rules = rules.iter().flat_map(|rules| &rules.adds);
        self.adds = by_rules.chain(wishes.iter().flat_map(|wishes| &wishes.adds)).copied().collect();
        (self.rules, self.wishes) = (rules.map(Rc::new), wishes.map(Rc::new));
    }

    /// Whether its pods would rather be on some nodes than on others, as far as they say so themselves.
    pub(super) fn has_wishes(&self) -> bool {
        let spec = &self.spec;
        self.waits
            && !(spec.preferred_node_affinity.is_empty()
                && spec.preferred_pod_affinity.is_empty()
                && spec.preferred_pod_anti_affinity.is_empty()
                && spec.preferred_spread.is_empty())
    }

    /// Whether nodes list its pods, and do not only know what all pods take of them.
    pub(super) fn is_listed(&self) -> bool {
        self.is_looked_at() || self.extra
    }

    /// Whether somebody looks at pods of this class beyond what they need.
    pub(super) fn is_looked_at(&self) -> bool {
        self.rules.is_some() || self.wishes.is_some()
    }
}

/// The static side of classes that no static constraint tells apart.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduling) struct Statics {
    /// One of the classes.
    pub(super) spec: SharedSpec,
    /// What their claims ask for.
    pub(in crate::scheduling) volumes: Arc<Volumes>,
    /// They ask for nodes by name, so that shapes do not tell.
    pub(in crate::scheduling) by_node: bool,
    /// Of each shape that has been looked at so far, whether it fits. With `by_node`, all do.
    pub(super) seen: Vec<bool>,
    /// Those that fit, best first.
    pub(super) fits: Rc<Vec<u32>>,
    /// The pods like some of these more than others.
    pub(super) choosy: bool,
}

impl Statics {
    /// Whether a shape is known to fit, or may, when they ask for nodes by name.
    pub(super) fn may_fit(&self, shape: u32) -> bool {
        self.seen.get(shape as usize).copied().unwrap_or(false)
    }

    pub(in crate::scheduling) fn demand(&self) -> Demand<'_> {
        Demand { spec: &self.spec, volumes: &self.volumes }
    }
}

/// What binds a class to the pods around it. Counters are given by number.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduling) struct Rules {
    /// Host ports, by number.
    pub(in crate::scheduling) ports: SmallVec<[u32; 2]>,
    /// Shares of devices: the resource, by number, and the amount.
    pub(in crate::scheduling) shares: SmallVec<[(u32, i64); 1]>,
    /// Driver and volume, by number.
    pub(in crate::scheduling) attach: SmallVec<[(u32, u32); 1]>,
    /// Topology spread, in the order of the spec.
    pub(in crate::scheduling) spread: SmallVec<[SpreadRule; 2]>,
    /// Required affinity, one counter for each term in the order of the spec; each counts the pods that meet all terms.
    pub(in crate::scheduling) affinity: SmallVec<[u32; 1]>,
    /// The pods of the class meet all of its own affinity terms: the first one may go anywhere.
    pub(in crate::scheduling) meets_own_affinity: bool,
    /// Required anti-affinity, in the order of the spec, then claims that one pod at a time may use.
    pub(in crate::scheduling) anti: SmallVec<[AntiRule; 1]>,
    /// Counters of pods whose anti-affinity is against this class.
    pub(in crate::scheduling) shunned_by: SmallVec<[u32; 1]>,
    /// Counters that a pod of this class adds one to.
    pub(in crate::scheduling) adds: SmallVec<[u32; 2]>,
}

/// What pods of a class would rather have. It decides between nodes that would all do. Counters are given by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Wishes {
    /// About the pods around them; what they wish of nodes is part of the spec.
    pub(super) list: SmallVec<[Wish; 2]>,
    /// What they wish of nodes names single ones.
    pub(super) by_name: bool,
    /// Counters that wishes look at and that a pod of this class adds one to.
    pub(super) adds: SmallVec<[u32; 2]>,
}

/// A preferred affinity or anti-affinity to other pods, or a spread that nothing depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wish {
    pub(super) counter: u32,
    /// What each pod in a domain makes it better by, or worse.
    pub(super) weight: i64,
    /// Nodes without the label come last.
    pub(super) needs_key: bool,
    /// The pods of the class count themselves.
    pub(super) counts_own: bool,
}

impl Rules {
    /// The counters that decide about pods of the class.
    pub(super) fn asked(&self) -> impl Iterator<Item = u32> {
        let spread = self.spread.iter().map(|rule| rule.counter);
        let anti = self.anti.iter().map(|rule| rule.counter);
        spread.chain(anti).chain(self.affinity.iter().chain(&self.shunned_by).copied())
    }

    /// Whether a counter decides about pods of the class.
    pub(super) fn asks(&self, counter: u32) -> bool {
        self.asked().any(|asked| asked == counter)
    }

    /// Leaves what pods of the class change for others, and nothing that decides about themselves.
    pub(super) fn ask_nothing(&mut self) {
        let Rules { ports, shares, attach, adds, .. } = std::mem::take(self);
        *self = Rules { ports, shares, attach, adds, ..Rules::default() };
    }

    /// Whether pods of the class change nothing for others beside what they take of resources.
    pub(super) fn changes_nothing(&self) -> bool {
        self.ports.is_empty() && self.shares.is_empty() && self.attach.is_empty() && self.adds.is_empty()
    }
}

/// One topology spread constraint.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scheduling) struct SpreadRule {
    pub(in crate::scheduling) counter: u32,
    pub(in crate::scheduling) max_skew: u32,
    pub(in crate::scheduling) min_domains: u32,
    /// The pods of the class count themselves.
    pub(in crate::scheduling) counts_own: bool,
}

/// One term of anti-affinity.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scheduling) struct AntiRule {
    pub(in crate::scheduling) counter: u32,
    /// The pods of the class are against each other.
    pub(in crate::scheduling) against_own: bool,
}
