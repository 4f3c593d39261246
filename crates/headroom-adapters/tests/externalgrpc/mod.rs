//! The cloud `externalgrpc`, and the server that offers any cloud to it: each against the other, and against a program in
//! Go that knows nothing of Headroom (`testenv/externalgrpc`).

mod client;
mod front;
mod peer;
mod server;
mod stage;
mod tls;
