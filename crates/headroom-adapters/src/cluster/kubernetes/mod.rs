//! Kubernetes: objects as the API server writes them, and what they are in Headroom's own values.

pub mod act;
pub mod buffers;
mod call;
pub mod client;
pub(crate) mod fenced;
pub mod lease;
pub mod object;
mod proxy;
pub mod store;
pub mod translate;
pub mod watch;

#[cfg(test)]
mod tests;
