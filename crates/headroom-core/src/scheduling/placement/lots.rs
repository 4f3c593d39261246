//! What comes of placing pods: how many of each class found a place, and why the others did not.

use super::Placement;
use super::supply::Supply;
use crate::scheduling::Misfit;
use crate::snapshot::ClassId;

/// What came of placing pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// How many of each class were placed, in the order given.
    pub placed: Vec<(ClassId, u32)>,
    /// Those that were not, with the reason.
    pub unplaced: Vec<Unplaced>,
}

/// Equal pods that found no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unplaced {
    /// Their class.
    pub class: ClassId,
    /// How many.
    pub count: u32,
    /// Why the node or new machine that came closest cannot take one more.
    pub why: Misfit,
}

impl Unplaced {
    /// Whether more machines would have helped.
    pub fn is_for_want_of_machines(&self) -> bool {
        matches!(self.why, Misfit::NodeLimit { .. })
    }
}

/// The same without reasons, which take a look at every kind of node: for callers that do not ask for them.
#[derive(Clone, Debug)]
pub(crate) struct Lots(Vec<Wanted>);

/// Equal pods that are to be placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) class: ClassId,
    pub(super) wanted: u32,
    /// How many of them have a place.
    pub(super) placed: u32,
}

impl Lots {
    pub(super) fn new(pods: &[(ClassId, u32)]) -> Self {
        let wanted = pods.iter().map(|(class, count)| Wanted { class: *class, wanted: *count, placed: 0 });
        Lots(wanted.collect())
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Wanted> {
        self.0.iter_mut()
    }

    /// How many of each class were placed, in the order given.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (ClassId, u32)> {
        self.0.iter().map(|lot| (lot.class, lot.placed))
    }

    /// Those that were not.
    pub(crate) fn left(&self) -> impl Iterator<Item = (ClassId, u32)> {
        let left = self.0.iter().filter(|lot| lot.placed < lot.wanted);
        left.map(|lot| (lot.class, lot.wanted - lot.placed))
    }

    /// How many pods were not placed.
    pub(super) fn left_out(&self) -> u64 {
        self.left().map(|(_, count)| u64::from(count)).sum()
    }
}

impl Placement {
    /// Places pods in the order given, on nodes that are there and on machines that are bought for them.
    ///
    /// Classes that wait for others, because they want to be near them or spread over the same domains, are tried again
    /// after these.
    pub fn fill(&mut self, pods: &[(ClassId, u32)], supply: &mut Supply) -> Filled {
        let lots = self.fill_lots(pods, supply, false);
        self.explain(&lots, supply)
    }

    /// The same, but pods go where they would rather be, unless more of them were left out or more machines were bought for
    /// that.
    pub fn fill_as_liked(&mut self, pods: &[(ClassId, u32)], supply: &mut Supply) -> Filled {
        let lots = self.fill_lots_as_liked(pods, supply);
        self.explain(&lots, supply)
    }

    /// [`Placement::fill`] on what is there and on its way.
    pub(crate) fn fill_there(&mut self, pods: &[(ClassId, u32)]) -> Lots {
        self.fill_lots(pods, &mut Supply::none(), false)
    }

    /// The same where one pod that is left spoils it: the answer is the first such pods.
    pub(crate) fn fill_all_there(&mut self, pods: &[(ClassId, u32)]) -> Result<(), Unplaced> {
        let Some((class, count)) = self.fill_there(pods).left().next() else { return Ok(()) };
        Err(Unplaced { class, count, why: self.why_not(class, &Supply::none()) })
    }

    /// [`Placement::fill_as_liked`] on what is there and on its way.
    pub(crate) fn fill_there_as_liked(&mut self, pods: &[(ClassId, u32)]) -> Lots {
        self.fill_lots_as_liked(pods, &mut Supply::none())
    }

    fn explain(&mut self, lots: &Lots, supply: &Supply) -> Filled {
        let unplaced = lots.left().map(|(class, count)| Unplaced { class, count, why: self.why_not(class, supply) });
        let unplaced = unplaced.collect();
        Filled { placed: lots.placed().collect(), unplaced }
    }

    /// Why no more pods of a class find a place.
    fn why_not(&mut self, class: ClassId, supply: &Supply) -> Misfit {
        let mut closest = Misfit::NoNodes;
        for offer in &supply.offers {
            match self.fits_new(class, offer.template) {
                Ok(()) => return Misfit::NodeLimit { limit: supply.given },
                Err(misfit) => closest = closest.max(misfit),
            }
        }
        if !supply.offers.is_empty() {
            return closest;
        }
        self.fits_any(class).err().unwrap_or(Misfit::NoNodes)
    }
}
