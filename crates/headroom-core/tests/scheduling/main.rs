//! Scheduling constraints, placement and estimator, against kube-scheduler's rules and Cluster Autoscaler's numbers.

mod cluster;
mod constraints;
mod oracle;
mod placement;
mod random;
mod vectors;
