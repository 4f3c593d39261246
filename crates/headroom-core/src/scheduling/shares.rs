//! Shares of devices: a pod that asks for a part of a GPU gets all of it from one GPU.
//!
//! Some extended resources count parts of devices. A pod that asks for at most a whole device needs one device with so much
//! free; one that asks for more needs as many devices as that makes, which nobody else uses. A node only reports the sum
//! over its devices, and that does not tell: three pods of 600 do not fit on two GPUs of 1000.
//!
//! Which devices a pod has is what the pod says ([`crate::snapshot::Pod::devices`]). Where it does not say, the pods of a
//! node are taken to have come largest first, and each pod to get the fullest device that has room, which is what keeps
//! whole devices free.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Misfit;
use super::placement::{Node, Placement, Rules};
use crate::quantity::Resources;
use crate::snapshot::PodSpec;

/// Extended resources that count parts of devices, and how many parts a whole device has.
const PARTS: [(&str, i64); 2] = [
    // Thousandths of a GPU: the name and the unit of the simulator that was published for the trace "openb". There, pods
    // carry them as an annotation, for each GPU; here, as any resource, for all GPUs together.
    ("alibabacloud.com/gpu-milli", 1_000),
    // Hundredths of a GPU: Koordinator, where more than a whole one is a multiple of 100.
    ("koordinator.sh/gpu-core", 100),
];

/// No machine has more devices; an amount that says otherwise is cut.
const MOST_DEVICES: usize = 1_024;

/// How many parts a whole device has, if the resource counts parts of devices.
pub fn parts_of_device(resource: &str) -> Option<i64> {
    PARTS.iter().find(|(name, _)| *name == resource).map(|(_, parts)| *parts)
}

/// The shares that pods ask for: resource and amount.
pub(super) fn asked(spec: &PodSpec) -> impl Iterator<Item = (&Arc<str>, i64)> {
    let amounts = spec.requests.extended.iter().map(|(name, amount)| (name, *amount));
    amounts.filter(|(name, amount)| *amount > 0 && parts_of_device(name).is_some())
}

/// The devices of one node by which one resource is counted, and who has what of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Devices {
    /// How many parts a whole one has.
    parts: i64,
    /// What is free on each.
    free: SmallVec<[i64; 8]>,
    /// What was taken and not given back, in order.
    taken: Vec<Share>,
}

/// An amount, and the devices that it was taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Share {
    amount: i64,
    devices: SmallVec<[u16; 2]>,
}

impl Devices {
    /// The devices of an empty node with these resources. None of them where the resource does not count parts of devices.
    pub fn new(resource: &str, has: &Resources) -> Self {
        let parts = parts_of_device(resource).unwrap_or(1);
        let count = usize::try_from(has.extended(resource) / parts).unwrap_or(0).min(MOST_DEVICES);
        Devices { parts, free: SmallVec::from_elem(parts, count), taken: Vec::new() }
    }

    /// The devices on which one more pod would have its share: the fullest one that has room, or as many unused ones as the
    /// amount makes. None when there is no room.
    pub fn choose(&self, amount: i64) -> Option<Vec<u16>> {
        let free = || (0..).zip(self.free.iter().copied());
        if amount <= self.parts {
            let fullest = free().filter(|(_, free)| *free >= amount).min_by_key(|(at, free)| (*free, *at));
            return fullest.map(|(at, _)| vec![at]);
        }
        let needed = self.whole(amount);
        let unused: Vec<u16> = free().filter(|(_, free)| *free >= self.parts).map(|(at, _)| at).take(needed).collect();
        (unused.len() == needed).then_some(unused)
    }

    /// How many pods with this share there is room for.
    pub fn room(&self, amount: i64) -> u32 {
        let room = if amount <= 0 {
            usize::MAX
        } else if amount <= self.parts {
            let each = self.free.iter().map(|free| usize::try_from((*free).max(0) / amount).unwrap_or(usize::MAX));
            each.fold(0, usize::saturating_add)
        } else {
            self.free.iter().filter(|free| **free >= self.parts).count() / self.whole(amount)
        };
        u32::try_from(room).unwrap_or(u32::MAX)
    }

    /// Takes a share from these devices in equal parts, or where none are named from the ones that [`Devices::choose`] gives;
    /// without room, from the one with the most.
    pub fn take(&mut self, amount: i64, devices: &[u16]) {
        let known = !devices.is_empty() && devices.iter().all(|at| usize::from(*at) < self.free.len());
        let devices = if known { devices.to_vec() } else { self.choose(amount).unwrap_or_else(|| self.emptiest()) };
        self.change(amount, &devices, -1);
        self.taken.push(Share { amount, devices: SmallVec::from_vec(devices) });
    }

    /// Gives back what was taken last of this amount.
    pub fn give_back(&mut self, amount: i64) {
        self.forget(|share| share.amount == amount);
    }

    /// Gives back a share that was taken from these devices.
    pub fn give_back_from(&mut self, amount: i64, devices: &[u16]) {
        self.forget(|share| share.amount == amount && *share.devices == *devices);
    }

    /// The most that is free on one device.
    fn most(&self) -> i64 {
        self.free.iter().copied().max().unwrap_or(0).max(0)
    }

    fn emptiest(&self) -> Vec<u16> {
        let free = (0..).zip(self.free.iter().copied());
        free.max_by_key(|(at, free)| (*free, std::cmp::Reverse(*at))).map(|(at, _)| at).into_iter().collect()
    }

    fn forget(&mut self, which: impl Fn(&Share) -> bool) {
        if let Some(at) = self.taken.iter().rposition(which) {
            let Share { amount, devices } = self.taken.remove(at);
            self.change(amount, &devices, 1);
        }
    }

    fn change(&mut self, amount: i64, devices: &[u16], sign: i64) {
        let each = amount / i64::try_from(devices.len()).unwrap_or(1).max(1);
        for at in devices {
            if let Some(free) = self.free.get_mut(usize::from(*at)) {
                *free = free.saturating_add(each.saturating_mul(sign));
            }
        }
    }

    /// How many whole devices an amount makes.
    fn whole(&self, amount: i64) -> usize {
        usize::try_from(crate::quantity::ceil_div(amount.into(), self.parts.into())).unwrap_or(usize::MAX).max(1)
    }
}

/// How many pods the devices of a node have room for.
pub(super) fn room_on(rules: &Rules, node: &Node) -> u32 {
    let rooms = rules.shares.iter().map(|(at, amount)| node.devices(*at).map_or(0, |devices| devices.room(*amount)));
    rooms.min().unwrap_or(u32::MAX)
}

/// The node has devices with so much free.
pub(super) fn check(placement: &Placement, rules: &Rules, node: &Node) -> Result<(), Misfit> {
    for (at, amount) in &rules.shares {
        let devices = node.devices(*at);
        if devices.is_none_or(|devices| devices.room(*amount) == 0) {
            let (resource, free) = (Arc::clone(placement.shared(*at)), devices.map_or(0, Devices::most));
            return Err(Misfit::DeviceShare { resource, needs: *amount, free });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: &str = "alibabacloud.com/gpu-milli";

    fn gpus(count: i64) -> Devices {
        let mut has = Resources::default();
        has.set_extended(MILLI, count * 1_000);
        Devices::new(MILLI, &has)
    }

    #[test]
    fn a_share_is_of_one_device() {
        let mut two = gpus(2);
        assert_eq!([500, 501, 600, 1_000, 2_000, 3_000].map(|amount| two.room(amount)), [4, 2, 2, 2, 1, 0]);
        two.take(600, &[]);
        two.take(600, &[]);
        assert_eq!(two.choose(600), None, "800 are free, but not on one");
        assert_eq!([400, 401].map(|amount| two.room(amount)), [2, 0]);
    }

    #[test]
    fn the_fullest_device_is_filled_up_so_that_whole_ones_stay_free() {
        let mut three = gpus(3);
        three.take(300, &[]);
        three.take(1_000, &[]);
        three.take(700, &[]);
        assert_eq!(three.choose(1_000), Some(vec![2]));
        assert_eq!(three.choose(2_000), None);
    }

    #[test]
    fn what_is_given_back_is_free_where_it_was() {
        let mut two = gpus(2);
        let empty = two.clone();
        two.take(400, &[0]);
        two.take(400, &[1]);
        assert_eq!(two.room(1_000), 0);
        two.give_back_from(400, &[0]);
        assert_eq!(two.choose(1_000), Some(vec![0]));
        two.give_back(400);
        two.give_back(400);
        assert_eq!(two, empty, "nothing is given back twice");
    }

    #[test]
    fn more_than_there_is_and_no_device_at_all_do_no_harm() {
        let mut one = gpus(1);
        (0..3).for_each(|_| one.take(700, &[9]));
        assert_eq!(one.room(1), 0);
        (0..3).for_each(|_| one.give_back(700));
        assert_eq!(one, gpus(1));
        let mut none = gpus(0);
        none.take(i64::MAX, &[]);
        assert_eq!(none.room(1), 0);
        assert_eq!(Devices::new("other", &Resources::default()), Devices { parts: 1, ..Devices::default() });
    }
}
