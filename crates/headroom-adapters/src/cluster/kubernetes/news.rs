//! What users of the cluster are told: Events and the status ConfigMap.

use async_trait::async_trait;
use jiff::Timestamp;
use kube::Client;
use tokio::sync::Mutex;

use super::events::Events;
use super::status::StatusPage;
use crate::bulletin::{Bulletin, Event, Status};
use crate::cluster::ClusterError;

/// What one instance of Headroom tells.
pub struct News {
    events: Mutex<Events>,
    page: Mutex<StatusPage>,
}

impl News {
    /// Tells of the instance that keeps its objects in `namespace`, which must be there.
    pub fn new(client: Client, namespace: &str) -> Self {
        News {
            events: Mutex::new(Events::new(client.clone(), namespace)),
            page: Mutex::new(StatusPage::new(client, namespace)),
        }
    }
}

#[async_trait]
impl Bulletin for News {
    async fn tell(&self, events: Vec<Event>, now: Timestamp) -> Result<(), ClusterError> {
        self.events.lock().await.tell(events, now).await
    }

    async fn post(&self, status: &Status) -> Result<(), ClusterError> {
        self.page.lock().await.write(status).await
    }
}
