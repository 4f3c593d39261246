//! Limits of the whole cluster.

use headroom_core::limits::Limits;
use headroom_core::quantity::{Bytes, MilliCpu};

use crate::config::kind::{Kind, count, map, sum_of_bytes, sum_of_cpu, sum_of_pieces};
use crate::config::record::Record;

pub(super) fn kind() -> Kind<Limits> {
    Record::new(
        "limits",
        "How far waiting pods may enlarge the whole cluster. Machines on their way count, and so do nodes \
         that are in no group. What is left out is not limited.",
        Limits::default,
    )
    .field("nodes", count(1).optional(), |limits| &mut limits.nodes, "Nodes in all.")
    .field(
        "nodesPerScaleUp",
        count(1).optional(),
        |limits| &mut limits.nodes_per_scale_up,
        "Nodes that one round may add.",
    )
    .field("cpu", sum_of_cpu().map(MilliCpu).optional(), |limits| &mut limits.cpu, "Cpus of all nodes, by capacity.")
    .field(
        "memory",
        sum_of_bytes().map(Bytes).optional(),
        |limits| &mut limits.memory,
        "Memory of all nodes, by capacity.",
    )
    .field(
        "extended",
        map(sum_of_pieces()).map(|amounts| amounts.into_iter().collect()),
        |limits| &mut limits.extended,
        "Extended resources of all nodes by name, such as `nvidia.com/gpu: 8`.",
    )
    .kind()
}
