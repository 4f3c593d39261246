//! Which nodes are in a group.

use headroom_core::policy::Selection;

use crate::config::kind::{Kind, bytes, cpu, labels};
use crate::config::problem::Problem;
use crate::config::record::Record;

pub(super) fn kind() -> Kind<Selection> {
    let capacity = Record::new("groups[].select.capacity", "Exactly this capacity (`status.capacity`).", || (0, 0))
        .required("cpu", cpu(), |capacity: &mut (i64, i64)| &mut capacity.0, "Cpus.")
        .required("memory", bytes(), |capacity| &mut capacity.1, "Memory.");
    Record::new(
        "groups[].select",
        "Which nodes are in the group. A node must meet all that is said here.",
        Selection::default,
    )
    .field(
        "label",
        labels(),
        |select| &mut select.labels,
        "Labels of the node with their values. With the strategy `utilization` the pods that ask for \
         these labels are the group's demand.",
    )
    .field(
        "capacity",
        capacity.kind().optional(),
        |select| &mut select.capacity,
        "For machines that carry no telling label. The strategy `utilization` then needs `countPods: \
         placed`, since no pod can ask for a capacity.",
    )
    .check(&["label", "capacity"], |select, at, problems| {
        if *select == Selection::default() {
            let place = at.written("label", "capacity");
            let hint = "add `label:` with a label that all its nodes carry and no other node does";
            problems.add(Problem::at(place, "this selects no node", hint));
        }
    })
    .kind()
}
