//! What one round hands to the next, kept in a ConfigMap, so that a restart forgets nothing.

mod content;

use std::hash::{BuildHasher, RandomState};

use headroom_core::memory::Memory;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use serde_json::json;
use tokio::sync::Mutex;

use super::call::Call;
use crate::cluster::ClusterError;
use content::Content;

/// The key of the one that wrote the memory.
const WRITER: &str = "writer";

/// Somebody who changes nothing but annotations makes one try fail.
const TRIES: usize = 4;

/// A memory in a ConfigMap.
///
/// It carries the version that it read or wrote last, so that two instances never overwrite each other's memory. What
/// else is in the ConfigMap, annotations above all, stays.
pub struct Store {
    config_maps: Api<ConfigMap>,
    name: String,
    /// `ConfigMap namespace/name`
    object: String,
    /// Tells what this instance wrote from what others wrote.
    writer: String,
    known: Mutex<Known>,
}

/// What is known to be in the cluster.
#[derive(Default)]
struct Known {
    /// None when there is no ConfigMap.
    version: Option<String>,
    writer: Option<String>,
    content: Content,
    /// The answer to a write did not come: it may or may not have been done.
    unsure: bool,
}

/// Why a memory was not loaded or saved.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// What is there cannot be understood. The next [`Store::save`] replaces it.
    #[error("the memory in {object} is corrupt: {reason}; hint: it counts as lost, so removals wait anew")]
    Corrupt {
        /// The ConfigMap.
        object: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A later version of Headroom wrote it. The next [`Store::save`] replaces it.
    #[error(
        "the memory in {object} has format {found}, and up to {known} is understood; hint: a later Headroom wrote it. It \
         counts as lost, so removals wait anew"
    )]
    Newer {
        /// The ConfigMap.
        object: String,
        /// The format that it says it has.
        found: u64,
        /// The last one that is understood.
        known: u64,
    },
    /// The API server takes no ConfigMap of this size. What was saved before stays.
    #[error(
        "the memory has {bytes} bytes, {packed} of them after compression, and a ConfigMap holds {limit}; hint: fewer \
         groups in one instance, or fewer spare copies, need less"
    )]
    TooLarge {
        /// As text.
        bytes: usize,
        /// Compressed.
        packed: usize,
        /// What fits.
        limit: usize,
    },
    /// A memory cannot be put into words. What was saved before stays.
    #[error("the memory cannot be written")]
    Unwritable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another memory has been written there since. What is there stays until it has been loaded.
    #[error("the memory in {object} was written by somebody else; hint: are there two instances without an election?")]
    Overtaken {
        /// The ConfigMap.
        object: String,
    },
    /// The cluster did not do it.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

impl Store {
    /// A memory in the ConfigMap of this name, which need not exist.
    pub fn new(client: Client, namespace: &str, name: &str) -> Self {
        Store {
            config_maps: Api::namespaced(client, namespace),
            name: name.to_owned(),
            object: format!("ConfigMap {namespace}/{name}"),
            // Its keys are random.
            writer: format!("{:016x}", RandomState::new().hash_one(name)),
            known: Mutex::default(),
        }
    }

    /// The memory that is there; None when there is none.
    pub async fn load(&self) -> Result<Option<Memory>, StoreError> {
        let mut known = self.known.lock().await;
        *known = self.read().await?;
        known.content.memory(&self.object)
    }

    /// Writes a memory, unless it is the one that is there.
    pub async fn save(&self, memory: &Memory) -> Result<(), StoreError> {
        let wanted = Content::of(memory)?;
        let mut known = self.known.lock().await;
        for _ in 0..TRIES {
            if known.version.is_some() && !known.unsure && known.content == wanted {
                return Ok(());
            }
            known.unsure = true;
            if let Some(version) = self.write(known.version.as_deref(), &wanted).await? {
                *known =
                    Known { version: Some(version), writer: Some(self.writer.clone()), content: wanted, unsure: false };
                return Ok(());
            }
            // Another version is there. It may be of this instance, or differ in something else than the memory.
            let now = self.read().await?;
            let ours = now.writer.as_ref() == Some(&self.writer) || now.content == Content::None;
            if !ours && now.content != known.content {
                return Err(StoreError::Overtaken { object: self.object.clone() });
            }
            *known = now;
        }
        Err(ClusterError::Conflict { object: self.object.clone() }.into())
    }

    async fn read(&self) -> Result<Known, ClusterError> {
        let call = Call { verb: "get", object: &self.object };
        match call.answer(self.config_maps.get(&self.name)).await? {
            Ok(found) => Ok(Known {
                version: found.resource_version(),
                writer: found.data.as_ref().and_then(|data| data.get(WRITER).cloned()),
                content: Content::read(found),
                unsure: false,
            }),
            Err(status) if status.code == 404 => Ok(Known::default()),
            Err(status) => Err(call.refused(status)),
        }
    }

    /// Writes over the version that is known, or makes the ConfigMap. The new version, or None when another one is there.
    async fn write(&self, version: Option<&str>, content: &Content) -> Result<Option<String>, ClusterError> {
        if let Some(version) = version {
            let mut patch = content.patch();
            patch["data"][WRITER] = json!(self.writer);
            patch["metadata"] = json!({ "resourceVersion": version });
            let call = Call { verb: "patch", object: &self.object };
            let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
            match call.answer(self.config_maps.patch(&self.name, &params, &patch)).await? {
                Ok(written) => return Ok(written.resource_version()),
                Err(status) if status.code == 409 => return Ok(None),
                Err(status) if status.code == 404 => {}
                Err(status) => return Err(call.refused(status)),
            }
        }
        let mut body = content.body();
        body["data"][WRITER] = json!(self.writer);
        body["metadata"] = json!({ "name": self.name, "labels": { "app.kubernetes.io/name": "headroom" } });
        let call = Call { verb: "create", object: &self.object };
        let create = async {
            let new = serde_json::from_value(body).map_err(kube::Error::SerdeError)?;
            self.config_maps.create(&PostParams::default(), &new).await
        };
        match call.answer(create).await? {
            Ok(written) => Ok(written.resource_version()),
            Err(status) if status.code == 409 => Ok(None),
            Err(status) => Err(call.refused(status)),
        }
    }
}
