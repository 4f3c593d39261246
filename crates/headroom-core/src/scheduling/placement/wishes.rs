//! How much pods would like to be on a node: what they wish of the node itself and of the pods around theirs, added up.
//!
//! kube-scheduler brings each kind of wish to one scale before it adds them up, which takes a look at every node for every
//! pod. Here all kinds are counted in the units of the weights that pods state, 1 to 100. Each pod counts that a wish is
//! about, as it does there, so that pods which would rather keep apart end up level. What pods that are there wish of the
//! ones that come is not looked at, as if `ignorePreferredTermsOfExistingPods` were set.

use rustc_hash::FxHashMap;

use super::class::{Wish, Wishes};
use super::node::Node;
use super::shape::{Key, Shape};
use super::{NONE, Placement};
use crate::scheduling::preference;
use crate::snapshot::ClassId;

impl Placement {
    /// Whether pods of the class would rather be on some nodes than on others, as far as they say so themselves.
    pub(crate) fn has_wishes(&self, class: ClassId) -> bool {
        self.class(class).has_wishes()
    }

    /// How much these pods would like to be on new machines of each template, all together. None where a label is missing
    /// that nodes should have.
    pub(crate) fn likings_of_new(&self, pods: &[(ClassId, u32)]) -> Vec<Option<i64>> {
        let wishing: Vec<_> = pods
            .iter()
            .filter_map(|(id, count)| {
                let class = self.class(*id);
                Some((id.0, class.wishes.as_ref().filter(|_| class.has_wishes())?, i64::from(*count)))
            })
            .collect();
        let mut known: FxHashMap<u32, Option<i64>> = FxHashMap::default();
        let of_shape = |shape: &Shape| {
            wishing.iter().try_fold(0_i64, |sum, (class, wishes, count)| {
                let each = self.liking_of_places(wishes, shape)?.saturating_add(self.liking_of_nodes(*class, shape));
                Some(sum.saturating_add(each.saturating_mul(*count)))
            })
        };
        let shapes = self.prototypes.iter().map(|prototype| prototype.shape);
        shapes.map(|shape| *known.entry(shape).or_insert_with(|| of_shape(self.shapes.at(shape)))).collect()
    }

    /// How much pods of a class would like to be on nodes of a shape for what these are, whoever is there.
    pub(super) fn liking_of_nodes(&self, class: u32, shape: &Shape) -> i64 {
        preference::score(&self.classes.at(class).spec, &shape.host("", Some("")))
    }

    /// The same for the pods that are in the places, larger than a host, where nodes of the shape are. None where a label
    /// is missing that nodes should have: such nodes come last.
    pub(super) fn liking_of_places(&self, wishes: &Wishes, shape: &Shape) -> Option<i64> {
        self.liking(wishes, false, |key| shape.domain(key))
    }

    /// The same for the pods that are on a host, and for its name.
    pub(super) fn liking_of_host(&self, class: u32, wishes: &Wishes, node: &Node) -> Option<i64> {
        let for_pods = self.liking(wishes, true, |_| node.host)?;
        if !wishes.by_name {
            return Some(for_pods);
        }
        let for_name = preference::score(&self.classes.at(class).spec, &self.host(node));
        let as_others = self.liking_of_nodes(class, self.shapes.at(node.shape));
        Some(for_pods.saturating_add(for_name.saturating_sub(as_others)))
    }

    /// Whether a wish is about hosts.
    pub(super) fn is_over_hosts(&self, wish: &Wish) -> bool {
        self.counter(wish.counter).key == Key::Host
    }

    fn liking(&self, wishes: &Wishes, over_hosts: bool, domain: impl Fn(Key) -> u32) -> Option<i64> {
        let mut wishes = wishes.list.iter().filter(|wish| self.is_over_hosts(wish) == over_hosts);
        wishes.try_fold(0_i64, |sum, wish| {
            let counter = self.counter(wish.counter);
            match domain(counter.key) {
                NONE if wish.needs_key => None,
                NONE => Some(sum),
                domain => Some(sum.saturating_add(wish.weight.saturating_mul(i64::from(counter.count(domain))))),
            }
        })
    }
}
