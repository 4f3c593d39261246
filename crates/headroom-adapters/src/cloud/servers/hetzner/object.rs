//! What Hetzner answers, as far as it is read.

use std::collections::BTreeMap;

use headroom_core::snapshot::InstanceState;
use jiff::Timestamp;
use serde::Deserialize;

use crate::cloud::servers::provider::{self, Tags};

/// What the provider ids of such servers begin with, as the cloud controller manager writes them into nodes.
const SCHEME: &str = "hcloud://";

/// The labels of a server.
pub(super) const CLUSTER: &str = "headroom-cluster";
const POOL: &str = "headroom-pool";
const SERVER: &str = "headroom-server";
const HARDWARE: &str = "headroom-hardware";

#[derive(Debug, Deserialize)]
pub(super) struct Page {
    pub(super) servers: Vec<Server>,
    #[serde(default)]
    pub(super) meta: Meta,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Meta {
    #[serde(default)]
    pub(super) pagination: Pagination,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Pagination {
    pub(super) next_page: Option<u32>,
    pub(super) total_entries: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Server {
    id: u64,
    name: Box<str>,
    status: Box<str>,
    created: Option<Timestamp>,
    #[serde(default)]
    public_net: PublicNet,
    #[serde(default)]
    private_net: Vec<Address>,
    #[serde(default)]
    labels: BTreeMap<Box<str>, Box<str>>,
}

#[derive(Debug, Default, Deserialize)]
struct PublicNet {
    ipv4: Option<Address>,
}

#[derive(Debug, Deserialize)]
struct Address {
    ip: Box<str>,
}

/// What an order is answered with.
#[derive(Debug, Deserialize)]
pub(super) struct Ordered {
    #[serde(default)]
    pub(super) action: Action,
}

/// The answer about an action.
#[derive(Debug, Deserialize)]
pub(super) struct Looked {
    pub(super) action: Action,
}

/// Something that takes its time.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Action {
    pub(super) id: u64,
    /// `running`, `success` or `error`.
    pub(super) status: Box<str>,
    pub(super) error: Option<Error>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Failed {
    pub(super) error: Error,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Error {
    pub(super) code: String,
    pub(super) message: String,
}

pub(super) fn labels(tags: &Tags) -> BTreeMap<&'static str, &str> {
    [(CLUSTER, &*tags.cluster), (POOL, &*tags.pool), (SERVER, &*tags.server), (HARDWARE, &*tags.hardware)].into()
}

/// The server's number, in a provider id.
pub(super) fn id(provider_id: &str) -> &str {
    provider_id.strip_prefix(SCHEME).unwrap_or(provider_id)
}

impl Server {
    pub(super) fn translate(self) -> provider::Server {
        let label = |key: &str| self.labels.get(key).cloned().unwrap_or_default();
        let tags =
            Tags { cluster: label(CLUSTER), pool: label(POOL), server: label(SERVER), hardware: label(HARDWARE) };
        let addresses = self.public_net.ipv4.into_iter().chain(self.private_net).map(|address| address.ip);
        provider::Server {
            provider_id: format!("{SCHEME}{}", self.id).into(),
            tags,
            state: match &*self.status {
                "deleting" => InstanceState::Deleting,
                "initializing" | "starting" => InstanceState::Creating,
                _ => InstanceState::Running,
            },
            created: self.created,
            addresses: std::iter::once(self.name).chain(addresses).collect(),
        }
    }
}
