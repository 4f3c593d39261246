//! Finds the shapes that have room for a class, in the order in which pods go to them.

use std::rc::Rc;

use super::Placement;
use super::tiers::Tiers;

/// Lists of fitting shapes that are no longer than this are walked.
const SHORT: usize = 16;

/// How far a search has come.
pub(super) struct Search {
    /// The shapes that fit, best first.
    pub(super) fits: Rc<Vec<u32>>,
    way: Way,
}

enum Way {
    /// Through the list of fitting shapes, at this position.
    List(usize),
    /// Through all shapes of each tier, which are in the same order where the class likes no shape more than another: at
    /// this tier, and this position in it.
    Tiers(usize, u32),
}

impl Placement {
    /// A search for shapes that have room for a class.
    pub(super) fn search(&mut self, class: u32) -> Search {
        let fits = self.fitting(class);
        let by_list = fits.len() <= SHORT || self.statics.at(self.classes.at(class).statics).choosy;
        Search { fits, way: if by_list { Way::List(0) } else { Way::Tiers(0, 0) } }
    }

    /// The next shape that fits a class by its static side and on whose nodes one of its pods may have room by now.
    pub(super) fn next_shape(&self, class: u32, search: &mut Search) -> Option<u32> {
        let class = self.classes.at(class);
        let Search { fits, way } = search;
        match way {
            Way::List(at) => loop {
                let shape = fits.get(*at).copied()?;
                *at += 1;
                if self.shapes.at(shape).rooms.may_have(&class.need) {
                    return Some(shape);
                }
            },
            Way::Tiers(at, from) => loop {
                let tier = Tiers::ALL.get(*at).copied()?;
                match self.shapes.tiers().next(tier, *from, &class.need) {
                    Some((place, shape)) => {
                        *from = place + 1;
                        if self.statics.at(class.statics).may_fit(shape) {
                            return Some(shape);
                        }
                    }
                    None => (*at, *from) = (*at + 1, 0),
                }
            },
        }
    }
}
