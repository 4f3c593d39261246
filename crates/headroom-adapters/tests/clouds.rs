//! Every cloud: what all keep to, and what is of one alone.

mod api_server;
mod aws;
mod contract;
mod externalgrpc;
mod fake_aws;
mod kwok;
mod moto;
mod servers;
