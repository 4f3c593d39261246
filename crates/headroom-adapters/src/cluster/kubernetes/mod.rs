//! Kubernetes: objects as the API server writes them, and what they are in Headroom's own values.

pub mod object;
pub mod translate;
