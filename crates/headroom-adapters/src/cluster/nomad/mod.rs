//! A Nomad cluster.
//!
//! Nodes, allocations and jobs become nodes and pods of `headroom_core`: a datacenter, class, pool and meta attribute is a
//! label called as Nomad's constraints call it (`node.class`), the scheduling eligibility and a drain are taints, one MHz is
//! one thousandth of a cpu, and an allocation is a pod.

pub mod object;
pub mod translate;
