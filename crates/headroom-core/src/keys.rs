//! Headroom's own annotations. They share one prefix.

/// What every label, annotation and taint of Headroom's own begins with.
pub const PREFIX: &str = "headroom.dev/";

/// On a Pod, Deployment, ReplicaSet, StatefulSet or Job: how many spare copies of it room is kept for, as a number or a
/// percentage of its replicas; empty is one. `0` leaves it out of the largest pods too.
pub const SPARE_COPIES: &str = "headroom.dev/spare-copies";

/// The provisioning strategy of capacity buffers whose room is kept in the cluster itself, which is what Headroom does; a
/// buffer that names none means it. Others are for other controllers.
pub const ACTIVE_CAPACITY: &str = "buffer.x-k8s.io/active-capacity";

/// On the ConfigMap of Headroom's status: what users have paused.
pub const PAUSED: &str = "headroom.dev/paused";
