//! Scheduling constraints, placement and estimator, against kube-scheduler's rules.

mod cluster;
mod constraints;
mod oracle;
mod placement;
mod random;
mod wishes;
