//! The strategy for waiting pods.

use headroom_core::policy::Pending;

use crate::config::kind::{Kind, flag};
use crate::config::record::Record;

pub(super) fn kind() -> Kind<Pending> {
    Record::new(
        "groups[].strategy.pending",
        "Grows for pods that fit on no node. All groups with this strategy are options for the same \
         pods; `expander` says which of them is enlarged. It needs to know what a new machine is like: \
         from the group's nodes, or from `template`.",
        Pending::default,
    )
    .field(
        "allOrNothing",
        flag(),
        |pending| &mut pending.all_or_nothing,
        "Grow to the maximum in one go or not at all, for machines that only work together.",
    )
    .kind()
}
