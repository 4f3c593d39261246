//! Headroom touches: clusters and clouds, translated to the values of `headroom-core`.
//!
//! Two ports, [`cluster::Cluster`] and [`cloud::Cloud`], say all that Headroom does to the outside. The types of an
//! outside system stop at its `translate` module. Adapters observe and carry out; they never decide whether to scale.

pub mod cloud;
pub mod cluster;
pub mod fence;
pub mod notebook;
