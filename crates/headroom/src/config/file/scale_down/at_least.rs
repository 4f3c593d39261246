//! What the cluster keeps in any case.

use headroom_core::policy::AtLeast;
use headroom_core::quantity::{Bytes, MilliCpu};

use crate::config::kind::{Kind, count, map, sum_of_bytes, sum_of_cpu, sum_of_pieces};
use crate::config::record::Record;

pub(super) fn kind() -> Kind<AtLeast> {
    Record::new(
        "scaleDown.atLeast",
        "What all nodes of the cluster together have at least: no node goes with which there would be less. Nodes that \
         are in no group count too.",
        AtLeast::default,
    )
    .field("nodes", count(1).optional(), |least| &mut least.nodes, "Nodes.")
    .field("cpu", sum_of_cpu().map(MilliCpu).optional(), |least| &mut least.cpu, "Cpus, by capacity.")
    .field("memory", sum_of_bytes().map(Bytes).optional(), |least| &mut least.memory, "Memory, by capacity.")
    .field(
        "extended",
        map(sum_of_pieces()).map(|amounts| amounts.into_iter().collect()),
        |least| &mut least.extended,
        "Extended resources by name, such as `nvidia.com/gpu: 2`.",
    )
    .kind()
}
