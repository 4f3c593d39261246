//! What Linode answers, as far as it is read.

use std::fmt;

use headroom_core::snapshot::InstanceState;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::cloud::servers::provider::{self, Tags};

/// What the provider ids of such servers begin with, as the cloud controller manager writes them into nodes.
const SCHEME: &str = "linode://";

/// Tags are words, so that a key and its value are one.
pub(super) const CLUSTER: &str = "headroom-cluster";
const POOL: &str = "headroom-pool";
const SERVER: &str = "headroom-server";
const HARDWARE: &str = "headroom-hardware";

#[derive(Debug, Deserialize)]
pub(super) struct Page {
    pub(super) data: Vec<Server>,
    pub(super) pages: u32,
    pub(super) results: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Server {
    id: u64,
    label: Box<str>,
    status: Box<str>,
    /// In UTC, without saying so.
    created: Option<DateTime>,
    #[serde(default)]
    ipv4: Vec<Box<str>>,
    #[serde(default)]
    tags: Vec<Box<str>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Failed {
    pub(super) errors: Vec<Error>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Error {
    pub(super) field: Option<String>,
    reason: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

pub(super) fn tag(key: &str, value: &str) -> String {
    format!("{key}={value}")
}

pub(super) fn tags(tags: &Tags) -> [String; 4] {
    let pairs = [(CLUSTER, &tags.cluster), (POOL, &tags.pool), (SERVER, &tags.server), (HARDWARE, &tags.hardware)];
    pairs.map(|(key, value)| tag(key, value))
}

/// The server's number, in a provider id.
pub(super) fn id(provider_id: &str) -> &str {
    provider_id.strip_prefix(SCHEME).unwrap_or(provider_id)
}

impl Server {
    pub(super) fn translate(self) -> provider::Server {
        let value = |key: &str| -> Box<str> {
            let found = self.tags.iter().find_map(|tag| tag.strip_prefix(key)?.strip_prefix('='));
            found.unwrap_or_default().into()
        };
        let tags =
            Tags { cluster: value(CLUSTER), pool: value(POOL), server: value(SERVER), hardware: value(HARDWARE) };
        provider::Server {
            provider_id: format!("{SCHEME}{}", self.id).into(),
            tags,
            state: match &*self.status {
                "deleting" => InstanceState::Deleting,
                "provisioning" | "booting" => InstanceState::Creating,
                _ => InstanceState::Running,
            },
            created: self.created.and_then(|created| TimeZone::UTC.to_timestamp(created).ok()),
            addresses: std::iter::once(self.label).chain(self.ipv4).collect(),
        }
    }
}
