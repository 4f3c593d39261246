//! How groups that could take the same waiting pods are compared.

use headroom_core::expander::{Chain, Expander};

use crate::config::kind::{Kind, one_or_more, words};
use crate::config::problem::{Problem, Problems};
use crate::config::tree::Place;

/// Expanders in order, with their places.
pub(super) type Expanders = Vec<(Place, Expander)>;

pub(super) fn kind() -> Kind<Expanders> {
    let names = words(&[
        ("price", Expander::Price, "the lowest cost for what the pods are worth, see `prices`"),
        ("least-waste", Expander::LeastWaste, "the smallest share of cpu and memory that stays unused"),
        ("most-pods", Expander::MostPods, "the most pods"),
        ("least-nodes", Expander::LeastNodes, "the fewest new nodes"),
        ("priority", Expander::Priority, "the group that you prefer, see `priorities`"),
        ("random", Expander::Random, "any of them; nothing can follow it"),
    ]);
    one_or_more(names.placed())
}

/// The chain of these expanders. One that [`check`] reports counts as the default.
pub(super) fn chain(expanders: &[(Place, Expander)]) -> Chain {
    Chain::new(expanders.iter().map(|(_, expander)| *expander).collect()).unwrap_or_default()
}

/// Reports the first expander that can decide nothing.
pub(super) fn check(expanders: &[(Place, Expander)], priorities: bool, problems: &mut Problems) {
    let mut so_far = Vec::new();
    for (place, expander) in expanders {
        so_far.push(*expander);
        if let Err(error) = Chain::new(so_far.clone()) {
            problems.add(Problem::from_error(place.clone(), &error));
            return;
        }
        if *expander == Expander::Priority && !priorities {
            let message = "the expander `priority` prefers no group, since there are no `priorities`";
            problems.add(Problem::at(place.clone(), message, "add `priorities: { 10: [\"name of a group\"] }`"));
        }
    }
}
