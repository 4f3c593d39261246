//! What an instance keeps in its namespace.

use async_trait::async_trait;
use headroom_core::memory::Memory;
use kube::Client;

use super::pauses;
use super::store::{Store, StoreError};
use crate::notebook::{Notebook, NotebookError, Pauses};

/// The ConfigMaps of one instance of Headroom.
pub struct Notes {
    store: Store,
    client: Client,
    namespace: String,
}

impl Notes {
    /// Those in `namespace`, which must be there.
    pub fn new(client: Client, namespace: &str) -> Self {
        Notes {
            store: Store::new(client.clone(), namespace, "headroom-memory"),
            client,
            namespace: namespace.to_owned(),
        }
    }
}

#[async_trait]
impl Notebook for Notes {
    async fn load(&self) -> Result<Option<Memory>, NotebookError> {
        Ok(self.store.load().await?)
    }

    async fn save(&self, memory: &Memory) -> Result<(), NotebookError> {
        Ok(self.store.save(memory).await?)
    }

    async fn pauses(&self) -> Result<Pauses, NotebookError> {
        pauses::read(&self.client, &self.namespace).await
    }
}

impl From<StoreError> for NotebookError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Corrupt { .. } | StoreError::Newer { .. } => NotebookError::Lost(error.into()),
            StoreError::Cluster(error) => NotebookError::Cluster(error),
            StoreError::TooLarge { .. } | StoreError::Unwritable(_) | StoreError::Overtaken { .. } => {
                NotebookError::NotKept(error.into())
            }
        }
    }
}
