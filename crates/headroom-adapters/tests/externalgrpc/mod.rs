//! The cloud `externalgrpc`, and the server that offers any cloud to it: each against the other, and against a program in
//! Go that knows nothing of Headroom (`testenv/externalgrpc`).

mod client;
mod front;
mod peer;
mod prices;
mod server;
mod stage;
mod tls;

use headroom_core::policy::{Group, Pending, Selection, Strategy};

/// A group of the strategy `pending` of which nothing else is said.
pub(crate) fn wanted(name: &str) -> Group {
    Group { strategy: Strategy::Pending(Pending::default()), ..Group::new(name, Selection::default()) }
}
