//! Scheduling constraints, placement and estimator, against kube-scheduler's rules and Cluster Autoscaler's numbers.

mod oracle;
mod placement;
mod random;
