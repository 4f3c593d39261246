//! Groups of servers that are made one by one.

mod changes;
mod failover;
mod fake;
mod hetzner;
mod linode;
mod process;
mod shed;
