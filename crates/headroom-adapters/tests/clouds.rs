//! Every cloud: what all keep to, and what is of one alone.

mod api_server;
mod contract;
mod kwok;
