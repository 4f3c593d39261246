//! Headroom against a real control plane: etcd, kube-apiserver, kube-scheduler and kube-controller-manager, with kwok as
//! the kubelet of nodes that are only pretended. `make control-plane` builds them; without them the tests say so.
//!
//! Most tests share one control plane, each in a namespace and with nodes of its own (`scene`). A test that breaks the
//! API server starts its own. What is in a cloud is in moto, a pretended AWS.

mod account;
mod adapter;
mod audit;
mod aws;
mod bulk;
mod choosing;
mod control_plane;
mod crash_points;
mod crashes;
mod external;
mod grow_and_shrink;
mod guard;
mod headroom;
mod install;
mod launching;
mod leading;
#[path = "../../../headroom-adapters/tests/moto/mod.rs"]
mod moto;
mod mount;
mod process;
mod scale;
mod scene;
mod settings;
mod smoke;
mod spare;
mod takeover;
mod tap;
mod try_it;
mod utilization;
mod wait;
