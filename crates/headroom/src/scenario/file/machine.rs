//! The simulated cloud: kinds of machines, and the groups that it makes of them.

use std::sync::Arc;

use headroom_core::policy::Percent;
use headroom_core::snapshot::{Labels, Taint};
use headroom_sim::scenario::{Flaky, NodeGroup, NodeType, OutOfStock, Span};
use jiff::SignedDuration;

use super::time::{Points, schedule, span};
use crate::config::file::taint;
use crate::config::kind::{Kind, bytes, count, cpu, dollars, flag, labels, list, map, percent, pieces, text, words};
use crate::config::problem::Problem;
use crate::config::record::{Places, Record};

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// A kind of machine, and what all nodes of it have. The name is the key.
#[derive(Clone, Default)]
pub(super) struct Kinds {
    pub(super) node_type: NodeType,
    pub(super) labels: Labels,
    pub(super) taints: Vec<Taint>,
}

/// A kind of machine; its name is the key.
pub(super) fn node_type() -> Kind<Kinds> {
    struct Draft {
        node_type: NodeType,
        labels: Labels,
        taints: Vec<Taint>,
        stock: Option<Points>,
        capacity: Option<(i64, i64)>,
    }
    let start = || {
        let mut node_type = NodeType { boot: Span::exactly(MINUTE), ..NodeType::default() };
        node_type.allocatable.pods = 110;
        node_type.warm_up = Span::exactly(SignedDuration::from_secs(10));
        Draft { node_type, labels: Labels::default(), taints: Vec::new(), stock: None, capacity: None }
    };
    let capacity = Record::new("nodeTypes.NAME.capacity", "What the machine has.", || (0, 0))
        .required("cpu", cpu(), |capacity: &mut (i64, i64)| &mut capacity.0, "Cpus.")
        .required("memory", bytes(), |capacity| &mut capacity.1, "Memory.");
    let extended = map(pieces()).map(|mut amounts| {
        amounts.sort();
        amounts
    });
    Record::new("nodeTypes.NAME", "A kind of machine.", start)
        .required("cpu", cpu(), |t: &mut Draft| &mut t.node_type.allocatable.cpu, "Cpus that pods may use.")
        .required("memory", bytes(), |t| &mut t.node_type.allocatable.memory, "Memory that pods may use.")
        .field(
            "ephemeralStorage",
            bytes(),
            |t| &mut t.node_type.allocatable.ephemeral_storage,
            "Disk that pods may use.",
        )
        .field("pods", pieces(), |t| &mut t.node_type.allocatable.pods, "How many pods fit.")
        .field(
            "extended",
            extended,
            |t| &mut t.node_type.allocatable.extended,
            "Extended resources by name, such as `nvidia.com/gpu: 8`.",
        )
        .field(
            "capacity",
            capacity.kind().optional(),
            |t| &mut t.capacity,
            "What the machine has, where that is more than what pods may use.",
        )
        .field(
            "labels",
            labels(),
            |t| &mut t.labels,
            "Labels of all nodes of this kind, besides `node.kubernetes.io/instance-type`, whose value is the name.",
        )
        .field("taints", list(taint::kind()), |t| &mut t.taints, "Taints of all nodes of this kind.")
        .field(
            "price",
            dollars(),
            |t| &mut t.node_type.price,
            "What one costs, in dollars an hour. Headroom knows it as if from a catalogue, unless it is nothing.",
        )
        .field("boot", span(), |t| &mut t.node_type.boot, "From the request until the node registers.")
        .field("warmUp", span(), |t| &mut t.node_type.warm_up, "From then until the node is ready.")
        .field(
            "devicesAfter",
            span(),
            |t| &mut t.node_type.devices_after,
            "From then until the node has its extended resources, as with a device plugin that starts late.",
        )
        .field(
            "bootFailures",
            percent(Percent(0), Percent::whole(100)),
            |t| &mut t.node_type.boot_failures,
            "The share of machines that never become a node, in percent.",
        )
        .field("flaky", flaky().optional(), |t| &mut t.node_type.flaky, "Nodes turn NotReady now and then.")
        .field(
            "stock",
            schedule().optional(),
            |t| &mut t.stock,
            "The most machines that the cloud has of this kind, in all groups together.",
        )
        .field("outOfStock", out_of_stock(), |t| &mut t.node_type.out_of_stock, "What the cloud does beyond its stock.")
        .kind()
        .map(|Draft { mut node_type, labels, taints, stock, capacity }| {
            node_type.stock = stock.map(|points| points.schedule(false));
            node_type.capacity = node_type.allocatable.clone();
            if let Some((cpu, memory)) = capacity {
                (node_type.capacity.cpu, node_type.capacity.memory) = (cpu, memory);
            }
            Kinds { node_type, labels, taints }
        })
}

/// The machines of one group, as far as they can be told without the node types.
#[derive(Clone, Default)]
pub(super) struct Machines {
    pub(super) node_type: Arc<str>,
    pub(super) group: NodeGroup,
    pub(super) stock: Option<Points>,
    pub(super) failover: Vec<Arc<str>>,
    pub(super) places: Places,
}

/// The machines of a group; its name is the key.
pub(super) fn machines() -> Kind<Machines> {
    let start = || {
        let group = NodeGroup { max: 1000, lists_machines: true, knows_template: true, ..NodeGroup::default() };
        Machines { group, ..Machines::default() }
    };
    Record::new("machines.GROUP", "What the simulated cloud has for a group.", start)
        .required("nodeType", text(), |m: &mut Machines| &mut m.node_type, "The kind of its machines.")
        .field(
            "failover",
            list(text()),
            |m| &mut m.failover,
            "Kinds of machines that the cloud makes instead while it has none of those before. A group costs as if all of its \
             machines were of the first kind.",
        )
        .field("nodes", count(0), |m| &mut m.group.nodes, "How many nodes it has at the start.")
        .field("min", count(0), |m| &mut m.group.min, "The cloud's own lower limit.")
        .field("max", count(0), |m| &mut m.group.max, "The cloud's own upper limit.")
        .field(
            "stock",
            schedule().optional(),
            |m| &mut m.stock,
            "The most machines that the cloud has for this group, besides the stock of the kind.",
        )
        .field(
            "labels",
            labels(),
            |m| &mut m.group.labels,
            "Labels of its nodes, besides those of their kind, those that the group selects by, and `kubernetes.io/hostname`. \
             `topology.kubernetes.io/zone` is the zone that the cloud makes them in.",
        )
        .field("taints", list(taint::kind()), |m| &mut m.group.taints, "Taints of its nodes, besides those of their kind.")
        .field(
            "listsMachines",
            flag(),
            |m| &mut m.group.lists_machines,
            "Whether the cloud lists its machines, or only says how many it wants.",
        )
        .field(
            "knowsTemplate",
            flag(),
            |m| &mut m.group.knows_template,
            "Whether the cloud says what a new machine will be like.",
        )
        .check(&["nodes", "min", "max"], |m, at, problems| {
            let NodeGroup { nodes, min, max, .. } = m.group;
            if nodes < min || nodes > max {
                let message = format!("{nodes} nodes are outside the cloud's limits {min} to {max}");
                problems.add(Problem::at(at.of("nodes"), message, "set `nodes` from `min` to `max`"));
            }
        })
        .placed(|m, places| m.places = places.clone())
        .kind()
}

fn flaky() -> Kind<Flaky> {
    let start = || Flaky { an_hour: Percent::whole(1), lasts: Span::exactly(SignedDuration::from_mins(5)) };
    Record::new("nodeTypes.NAME.flaky", "Nodes that turn NotReady and recover.", start)
        .field(
            "anHour",
            percent(Percent(0), Percent::whole(100)),
            |flaky: &mut Flaky| &mut flaky.an_hour,
            "How likely that is for one node in one hour, in percent.",
        )
        .field("lasts", span(), |flaky| &mut flaky.lasts, "For how long.")
        .kind()
}

fn out_of_stock() -> Kind<OutOfStock> {
    words(&[
        ("wait", OutOfStock::Wait, "it takes the request, says nothing, and makes the machines once it has them"),
        ("tell", OutOfStock::Tell, "it takes the request and says that it could not make all of the machines"),
        ("refuse", OutOfStock::Refuse, "it refuses the request as a whole"),
    ])
}
