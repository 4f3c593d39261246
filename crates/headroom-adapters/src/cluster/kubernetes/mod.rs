//! Kubernetes: objects as the API server writes them, and what they are in Headroom's own values.

mod amounts;
pub mod object;
mod requests;
pub mod translate;
