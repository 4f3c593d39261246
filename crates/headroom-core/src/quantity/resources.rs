//! Amounts of every resource at once: what one pod asks for, what one node offers, and sums of them.

use std::ops::{AddAssign, SubAssign};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One amount per resource. `N` is `i64` for one pod or node and `i128` for sums, which therefore never overflow.
///
/// Units: cpu in thousandths of a core, memory and ephemeral storage in bytes, pods in pods, extended resources in
/// their own whole units. A resource that is absent is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "N: Deserialize<'de> + Default"))]
pub struct Amounts<N> {
    /// Thousandths of a core.
    pub cpu: N,
    /// Bytes.
    pub memory: N,
    /// Bytes.
    pub ephemeral_storage: N,
    /// Pods: 1 for a pod, the maximum for a node.
    pub pods: N,
    /// Extended resources such as `nvidia.com/gpu`, sorted by name, none of them zero.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extended: Vec<(Arc<str>, N)>,
}

/// The resources of one pod or one node.
pub type Resources = Amounts<i64>;

/// Sums over pods or nodes.
pub type Totals = Amounts<i128>;

impl Resources {
    /// Cpu in thousandths of a core and memory in bytes, nothing else.
    pub fn new(cpu: i64, memory: i64) -> Self {
        Resources { cpu, memory, ..Resources::default() }
    }

    /// The amount of the extended resource `name`, zero when absent.
    pub fn extended(&self, name: &str) -> i64 {
        self.extended.iter().find(|(known, _)| &**known == name).map_or(0, |(_, amount)| *amount)
    }

    /// Sets an extended resource, keeping the list sorted and free of zeros.
    pub fn set_extended(&mut self, name: &str, amount: i64) {
        match self.extended.binary_search_by(|(known, _)| (**known).cmp(name)) {
            Ok(at) if amount == 0 => drop(self.extended.remove(at)),
            Ok(at) => {
                if let Some(entry) = self.extended.get_mut(at) {
                    entry.1 = amount;
                }
            }
            Err(_) if amount == 0 => {}
            Err(at) => self.extended.insert(at, (Arc::from(name), amount)),
        }
    }

    /// `self` + `other` for each resource, stopping at the largest representable amount.
    pub fn saturating_add(&self, other: &Resources) -> Resources {
        self.combine(other, i64::saturating_add)
    }

    /// The larger of the two for each resource.
    pub fn max_each(&self, other: &Resources) -> Resources {
        self.combine(other, std::cmp::Ord::max)
    }

    /// The smaller of the two for each resource.
    pub fn min_each(&self, other: &Resources) -> Resources {
        self.combine(other, std::cmp::Ord::min)
    }

    /// `self` - `other` for each resource, never below zero.
    pub fn saturating_sub(&self, other: &Resources) -> Resources {
        self.combine(other, |a, b| a.saturating_sub(b).max(0))
    }

    fn combine(&self, other: &Resources, with: impl Fn(i64, i64) -> i64) -> Resources {
        let mut result = Resources {
            cpu: with(self.cpu, other.cpu),
            memory: with(self.memory, other.memory),
            ephemeral_storage: with(self.ephemeral_storage, other.ephemeral_storage),
            pods: with(self.pods, other.pods),
            extended: Vec::new(),
        };
        for (name, amount) in &self.extended {
            result.set_extended(name, with(*amount, other.extended(name)));
        }
        for (name, amount) in &other.extended {
            if self.extended(name) == 0 {
                result.set_extended(name, with(0, *amount));
            }
        }
        result
    }
}

impl Totals {
    /// The amount of the extended resource `name`, zero when absent.
    pub fn extended(&self, name: &str) -> i128 {
        self.extended.iter().find(|(known, _)| &**known == name).map_or(0, |(_, amount)| *amount)
    }

    /// Adds `count` times `each`.
    pub fn add_times(&mut self, each: &Resources, count: i128) {
        self.cpu += i128::from(each.cpu) * count;
        self.memory += i128::from(each.memory) * count;
        self.ephemeral_storage += i128::from(each.ephemeral_storage) * count;
        self.pods += i128::from(each.pods) * count;
        for (name, amount) in &each.extended {
            let change = i128::from(*amount) * count;
            match self.extended.binary_search_by(|(known, _)| known.cmp(name)) {
                Ok(at) => {
                    if let Some(entry) = self.extended.get_mut(at) {
                        entry.1 += change;
                        if entry.1 == 0 {
                            self.extended.remove(at);
                        }
                    }
                }
                Err(_) if change == 0 => {}
                Err(at) => self.extended.insert(at, (Arc::clone(name), change)),
            }
        }
    }

    /// What is left of `capacity` once `self` is used: never below zero, and saturated to what one node can have.
    pub fn left_of(&self, capacity: &Resources) -> Resources {
        let left = |has: i64, used: i128| (i128::from(has) - used).clamp(0, i128::from(i64::MAX)) as i64;
        let mut result = Resources {
            cpu: left(capacity.cpu, self.cpu),
            memory: left(capacity.memory, self.memory),
            ephemeral_storage: left(capacity.ephemeral_storage, self.ephemeral_storage),
            pods: left(capacity.pods, self.pods),
            extended: Vec::with_capacity(capacity.extended.len()),
        };
        for (name, amount) in &capacity.extended {
            result.set_extended(name, left(*amount, self.extended(name)));
        }
        result
    }
}

impl AddAssign<&Resources> for Totals {
    fn add_assign(&mut self, each: &Resources) {
        self.add_times(each, 1);
    }
}

impl SubAssign<&Resources> for Totals {
    fn sub_assign(&mut self, each: &Resources) {
        self.add_times(each, -1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_and_taking_off_leaves_nothing() {
        let mut gpu = Resources::new(500, 1 << 30);
        gpu.set_extended("nvidia.com/gpu", 2);
        let mut sum = Totals::default();
        sum += &gpu;
        sum.add_times(&gpu, 3);
        assert_eq!((sum.cpu, sum.extended("nvidia.com/gpu")), (2000, 8));
        sum.add_times(&gpu, -4);
        assert_eq!(sum, Totals::default());
    }

    #[test]
    fn combining_keeps_names_sorted_and_drops_zeros() {
        let mut a = Resources::default();
        a.set_extended("b", 1);
        let mut b = Resources::default();
        b.set_extended("a", 2);
        b.set_extended("b", 3);
        let names: Vec<_> = a.max_each(&b).extended.iter().map(|(n, v)| (n.to_string(), *v)).collect();
        assert_eq!(names, [("a".to_owned(), 2), ("b".to_owned(), 3)]);
        assert!(a.saturating_sub(&b).extended.is_empty());
    }

    #[test]
    fn what_is_left_is_never_negative() {
        let mut used = Totals::default();
        used += &Resources::new(1500, 10);
        assert_eq!(used.left_of(&Resources::new(1000, 30)), Resources::new(0, 20));
    }
}
