//! Annotations and taints that have a meaning of their own; Headroom's share one prefix.

/// What every label, annotation and taint of Headroom's own begins with.
pub const PREFIX: &str = "headroom.dev/";

/// On a Pod, Deployment, ReplicaSet, StatefulSet or Job: how many spare copies of it room is kept for, as a number or a
/// percentage of its replicas; empty is one. `0` leaves it out of the largest pods too.
pub const SPARE_COPIES: &str = "headroom.dev/spare-copies";

/// The provisioning strategy of capacity buffers whose room is kept in the cluster itself, which is what Headroom does; a
/// buffer that names none means it. Others are for other controllers.
pub const ACTIVE_CAPACITY: &str = "buffer.x-k8s.io/active-capacity";

/// The label that stands for a Nomad node's datacenter. These labels are called as Nomad's constraints call what they stand
/// for.
pub const NODE_DATACENTER: &str = "node.datacenter";

/// The label that stands for a Nomad node's class.
pub const NODE_CLASS: &str = "node.class";

/// The label that stands for a Nomad node's pool.
pub const NODE_POOL: &str = "node.pool";

/// The label that stands for what a cloud says: the group in whose list a node's machine is. No object in the cluster has it.
pub const NODE_GROUP: &str = "headroom.dev/node-group";

/// What the label begins with that stands for a meta attribute of a Nomad node.
pub const META: &str = "meta.";

/// The meta attribute in which a Nomad node says which server it is, by the id that Headroom gave the server when it asked
/// for it.
pub const SERVER_ID: &str = "server_id";

/// The meta attribute by which an operator has a server replaced: a Nomad node with the value `true` makes way for another.
pub const REPLACE: &str = "headroom_replace";

/// The taint that stands for a Nomad node's scheduling eligibility: it is ineligible, so that it gets no new work.
pub const INELIGIBLE: &str = "nomad/ineligible";

/// The taint that stands for a Nomad node's drain: its work is being moved off it.
pub const DRAINING: &str = "nomad/draining";

/// On the ConfigMap of Headroom's status: what users have paused.
pub const PAUSED: &str = "headroom.dev/paused";

/// On a node that Headroom cordoned: the key of the taint with which it did, and with which the cordon goes again. Without
/// it a cordoned node was cordoned by somebody else, and is left alone.
pub const CORDONED: &str = "headroom.dev/cordoned";
