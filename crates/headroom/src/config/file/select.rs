//! Which nodes are in a group.

use headroom_core::keys::{META, NODE_CLASS, NODE_DATACENTER, NODE_GROUP, NODE_POOL};
use headroom_core::policy::Selection;
use headroom_core::snapshot::Labels;

use crate::config::kind::{Kind, bytes, cpu, flag, labels, text};
use crate::config::problem::Problem;
use crate::config::record::Record;

/// A selection as it is written.
#[derive(Default, PartialEq)]
struct Draft {
    labels: Labels,
    machines: bool,
    capacity: Option<(i64, i64)>,
    datacenter: Option<Box<str>>,
    node_class: Option<Box<str>>,
    node_pool: Option<Box<str>>,
    meta: Labels,
}

pub(super) fn kind() -> Kind<Selection> {
    let capacity = Record::new("groups[].select.capacity", "Exactly this capacity (`status.capacity`).", || (0, 0))
        .required("cpu", cpu(), |capacity: &mut (i64, i64)| &mut capacity.0, "Cpus.")
        .required("memory", bytes(), |capacity| &mut capacity.1, "Memory.");
    Record::new(
        "groups[].select",
        "Which nodes are in the group. A node must meet all that is said here.",
        Draft::default,
    )
    .field(
        "label",
        labels(),
        |select| &mut select.labels,
        "Labels of the node with their values. With the strategy `utilization` the pods that ask for \
         these labels are the group's demand.",
    )
    .field(
        "machines",
        flag(),
        |select| &mut select.machines,
        "Those whose machines the cloud lists as the group's (`spec.providerID`), on Kubernetes. No label is needed then. \
         The strategy `utilization` needs `countPods: placed` with it.",
    )
    .field(
        "capacity",
        capacity.kind().optional(),
        |select| &mut select.capacity,
        "For machines that carry no telling label. The strategy `utilization` then needs `countPods: \
         placed`, since no pod can ask for a capacity.",
    )
    .field("datacenter", text().optional(), |select| &mut select.datacenter, "On Nomad: in this datacenter.")
    .field("nodeClass", text().optional(), |select| &mut select.node_class, "On Nomad: of this node class.")
    .field("nodePool", text().optional(), |select| &mut select.node_pool, "On Nomad: in this node pool.")
    .field("meta", labels(), |select| &mut select.meta, "On Nomad: meta attributes of the node with their values.")
    .check(&["label", "machines", "capacity", "datacenter", "nodeClass", "nodePool", "meta"], |select, at, problems| {
        if *select == Draft::default() {
            let place = at.written("label", "capacity");
            let hint = "add `label:` with a label that all its nodes carry and no other node does";
            problems.add(Problem::at(place, "this selects no node", hint));
        }
    })
    .kind()
    .map(|Draft { labels, machines, capacity, datacenter, node_class, node_pool, meta }| {
        let machines = machines.then(|| (Box::<str>::from(NODE_GROUP), Box::<str>::default()));
        let named = [(NODE_DATACENTER, datacenter), (NODE_CLASS, node_class), (NODE_POOL, node_pool)];
        let named = named.into_iter().filter_map(|(key, value)| Some((Box::<str>::from(key), value?)));
        let meta = meta.iter().map(|(key, value)| (format!("{META}{key}").into(), Box::from(value)));
        let labels = labels.iter().map(|(key, value)| (Box::from(key), Box::from(value)));
        Selection { labels: labels.chain(machines).chain(named).chain(meta).collect(), capacity }
    })
}

/// Whether a group has the nodes whose machines its cloud lists.
pub(super) fn is_by_machines(select: &Selection) -> bool {
    select.labels.get(NODE_GROUP).is_some()
}

/// The nodes whose machines the cloud of the group `name` lists; `select` says what else they have.
pub(super) fn by_machines(select: &Selection, name: &str) -> Selection {
    let others = select.labels.iter().filter(|(key, _)| *key != NODE_GROUP);
    Selection { labels: others.chain([(NODE_GROUP, name)]).collect(), capacity: select.capacity }
}

/// Whether a pod can ask for these nodes by a label.
pub(super) fn can_be_asked_for(select: &Selection) -> bool {
    select.labels.iter().any(|(key, _)| key != NODE_GROUP)
}
