//! What goes wrong, or is done to the cluster by somebody else.

use std::sync::Arc;

use headroom_core::snapshot::Taint;
use jiff::SignedDuration;

use super::When;

/// Something that happens to the world.
#[derive(Clone, Debug)]
pub struct Incident {
    /// When it begins.
    pub at: When,
    /// After this it is over and what it did is undone; None is never.
    pub lasts: Option<SignedDuration>,
    /// What happens.
    pub mishap: Mishap,
}

/// What happens. Where it strikes `nodes` of a group, these are its oldest ones that it has not struck yet.
#[derive(Clone, Debug)]
pub enum Mishap {
    /// The cloud has no more machines of a node type.
    StockOut {
        /// The node type.
        node_type: Arc<str>,
        /// Only in this zone: for groups whose nodes have it as `topology.kubernetes.io/zone`.
        zone: Option<Arc<str>>,
    },
    /// The next machines of a group never become nodes. Undone: those that were not launched until then boot well.
    FailBoots {
        /// The group.
        group: Arc<str>,
        /// How many.
        machines: u32,
    },
    /// Nodes turn NotReady.
    NotReady {
        /// The group.
        group: Arc<str>,
        /// How many.
        nodes: u32,
    },
    /// Machines break: their nodes and pods are gone, and the cloud makes others. Never undone.
    Break {
        /// The group.
        group: Arc<str>,
        /// How many.
        nodes: u32,
    },
    /// Somebody cordons nodes.
    Cordon {
        /// The group.
        group: Arc<str>,
        /// How many.
        nodes: u32,
    },
    /// Somebody taints nodes.
    Taint {
        /// The group.
        group: Arc<str>,
        /// How many.
        nodes: u32,
        /// With this.
        taint: Taint,
    },
    /// Somebody asks that nodes are not removed.
    NoDelete {
        /// The group.
        group: Arc<str>,
        /// How many.
        nodes: u32,
        /// The annotation's value.
        value: Box<str>,
    },
    /// Somebody changes the cloud group's own limits.
    Limits {
        /// The group.
        group: Arc<str>,
        /// The new lower limit.
        min: Option<u32>,
        /// The new upper limit.
        max: Option<u32>,
    },
    /// Somebody sets the cloud group's target by hand. Never undone.
    Target {
        /// The group.
        group: Arc<str>,
        /// The new target.
        target: u32,
    },
}
