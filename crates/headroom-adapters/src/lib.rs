//! Headroom touches: clusters and clouds, translated to the values of `headroom-core`.
//!
//! Four ports say all that Headroom does to the outside: [`cluster::Cluster`], [`cloud::Cloud`], [`notebook::Notebook`] and
//! [`bulletin::Bulletin`]. The types of an outside system stop at its `translate` module. Adapters observe and carry out;
//! they never decide whether to scale.

pub mod bulletin;
pub mod cloud;
pub mod cluster;
pub mod election;
pub mod fence;
pub(crate) mod fenced;
pub mod go_duration;
pub mod notebook;
