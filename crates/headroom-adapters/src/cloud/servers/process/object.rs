//! What `list` prints.

use headroom_core::snapshot::InstanceState;
use jiff::Timestamp;
use serde::Deserialize;

use crate::cloud::servers::provider::{Server, Tags};

/// What the provider ids of such servers begin with.
const SCHEME: &str = "process://";

/// A server in the words of a list.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct Object {
    /// How `delete` knows it.
    id: Box<str>,
    name: Box<str>,
    cluster: Box<str>,
    pool: Box<str>,
    server: Box<str>,
    hardware: Box<str>,
    state: State,
    created: Option<Timestamp>,
    addresses: Vec<Box<str>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum State {
    Creating,
    #[default]
    Running,
    Deleting,
    Failed,
}

impl Default for Object {
    fn default() -> Self {
        let empty = || Box::from("");
        Object {
            id: empty(),
            name: empty(),
            cluster: empty(),
            pool: empty(),
            server: empty(),
            hardware: empty(),
            state: State::default(),
            created: None,
            addresses: Vec::new(),
        }
    }
}

/// Why a list is not understood.
#[derive(Debug, thiserror::Error)]
pub(super) enum ListError {
    #[error("server {number} of the list; hint: `list` prints one JSON object for each server")]
    Json { number: usize, source: serde_json::Error },
    #[error("server {number} of the list has no `id`")]
    NoId { number: usize },
}

/// The servers that a list names: JSON objects, one after the other.
pub(super) fn servers(list: &str) -> Result<Vec<Server>, ListError> {
    let objects = serde_json::Deserializer::from_str(list).into_iter::<Object>().enumerate();
    let read = objects.map(|(at, object)| {
        let number = at + 1;
        let object = object.map_err(|source| ListError::Json { number, source })?;
        if object.id.is_empty() { Err(ListError::NoId { number }) } else { Ok(object.translate()) }
    });
    read.collect()
}

/// The id that `list` gave, in a provider id.
pub(super) fn id(provider_id: &str) -> &str {
    provider_id.strip_prefix(SCHEME).unwrap_or(provider_id)
}

impl Object {
    fn translate(self) -> Server {
        let addresses = std::iter::once(self.name).chain(self.addresses).filter(|name| !name.is_empty()).collect();
        Server {
            provider_id: format!("{SCHEME}{}", self.id).into(),
            tags: Tags { cluster: self.cluster, pool: self.pool, server: self.server, hardware: self.hardware },
            state: match self.state {
                State::Creating => InstanceState::Creating,
                State::Running => InstanceState::Running,
                State::Deleting => InstanceState::Deleting,
                State::Failed => InstanceState::Failed,
            },
            created: self.created,
            addresses,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_object_by_object() {
        let list = r#"
            {"id": "17", "name": "jobs-k7", "cluster": "prod", "pool": "jobs", "server": "k7", "hardware": "first",
             "created": "2026-01-01T00:00:00Z", "addresses": ["10.0.0.7"], "rack": 5}
            {"id": "18", "state": "creating"}"#;
        let servers = servers(list).expect("a list");
        let tags = Tags { cluster: "prod".into(), pool: "jobs".into(), server: "k7".into(), hardware: "first".into() };
        assert_eq!(servers.len(), 2);
        assert_eq!(servers[0].tags, tags);
        assert_eq!(&*servers[0].provider_id, "process://17");
        assert_eq!(servers[0].addresses, ["jobs-k7", "10.0.0.7"].map(Box::<str>::from));
        assert_eq!(servers[1].state, InstanceState::Creating);
        assert!(super::servers("").is_ok_and(|servers| servers.is_empty()));
    }

    #[test]
    fn half_a_list_is_none() {
        let error = servers("{\"id\": \"17\"}\n{\"id\": ").expect_err("half an object");
        assert_eq!(error.to_string(), "server 2 of the list; hint: `list` prints one JSON object for each server");
        let error = servers("{\"pool\": \"jobs\"}").expect_err("no id");
        assert_eq!(error.to_string(), "server 1 of the list has no `id`");
    }
}
