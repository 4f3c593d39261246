//! Servers of Hetzner Cloud (<https://docs.hetzner.cloud/reference/cloud#servers>).

mod object;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::time::sleep;

use super::provider::{Order, Provider, ProviderError, Server};
use super::rest::{Answer, Page, Rest, RestError, Token, whole};
use crate::fence::Fence;

/// Of the API.
pub const ADDRESS: &str = "https://api.hetzner.cloud";

/// Servers on a page, the most that a page may have.
const PAGE: u32 = 50;

/// How often the action is looked at by which a server is made, and how long is waited before each look. One that takes longer
/// is a server that is booting.
const LOOKS: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8)];

/// How Hetzner is reached, and what all servers of a group have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HetznerAccount {
    /// Of the API.
    pub address: Arc<str>,
    /// Names or ids of SSH keys.
    pub ssh_keys: Vec<Arc<str>>,
    /// Ids of private networks.
    pub networks: Vec<i64>,
    /// Ids of firewalls.
    pub firewalls: Vec<i64>,
}

/// A kind of hardware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HetznerHardware {
    /// Such as `ccx23`.
    pub server_type: Arc<str>,
    /// Such as `fsn1`; None leaves it to Hetzner.
    pub location: Option<Arc<str>>,
    /// The name or id of an image.
    pub image: Arc<str>,
}

/// A project of Hetzner Cloud.
#[derive(Debug)]
pub struct Hetzner {
    rest: Rest,
    account: HetznerAccount,
    cluster: Arc<str>,
}

impl Hetzner {
    /// Servers that carry the id `cluster`.
    pub fn new(account: HetznerAccount, token: Token, cluster: Arc<str>, fence: Fence) -> Result<Self, RestError> {
        let rest = Rest::new(&account.address, token, fence, refusal)?;
        Ok(Hetzner { rest, account, cluster })
    }

    async fn page(&self, number: u32) -> Result<Page<object::Server>, ProviderError> {
        let query = [
            ("label_selector", format!("{}=={}", object::CLUSTER, self.cluster)),
            ("sort", "id:asc".to_owned()),
            ("page", number.to_string()),
            ("per_page", PAGE.to_string()),
        ];
        let read: object::Page = self.rest.get(&["v1", "servers"], &query, None).await?.read()?;
        let object::Pagination { next_page, total_entries } = read.meta.pagination;
        Ok(Page { items: read.servers, next: next_page, total: total_entries })
    }

    /// Waits for what an action comes to: an order may be accepted and come to nothing.
    async fn ends_well(&self, mut action: object::Action) -> Result<(), ProviderError> {
        for wait in LOOKS {
            match &*action.status {
                "error" => return Err(refused(action.error.unwrap_or_default(), ProviderError::Refused)),
                "running" => {}
                _ => return Ok(()),
            }
            sleep(wait).await;
            let answer = self.rest.get(&["v1", "actions", &action.id.to_string()], &[], None).await;
            match answer.and_then(|answer| answer.read::<object::Looked>()) {
                Ok(looked) => action = looked.action,
                // The server is in the list or it is not.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Provider for Hetzner {
    type Hardware = HetznerHardware;

    async fn list(&self) -> Result<Vec<Server>, ProviderError> {
        let servers = whole(|number| self.page(number)).await?.into_iter().map(object::Server::translate);
        Ok(servers.filter(|server| *server.tags.cluster == *self.cluster).collect())
    }

    async fn create(&self, order: &Order<'_, HetznerHardware>) -> Result<(), ProviderError> {
        let HetznerHardware { server_type, location, image } = order.hardware;
        let HetznerAccount { ssh_keys, networks, firewalls, .. } = &self.account;
        let firewalls: Vec<_> = firewalls.iter().map(|id| json!({ "firewall": id })).collect();
        let mut body = json!({
            "name": order.name,
            "server_type": server_type,
            "image": image,
            "labels": object::labels(order.tags),
            "ssh_keys": ssh_keys,
            "networks": networks,
            "firewalls": firewalls,
        });
        if let (Some(body), Some(location)) = (body.as_object_mut(), location) {
            body.insert("location".to_owned(), json!(location));
        }
        if let (Some(body), Some(user_data)) = (body.as_object_mut(), order.user_data) {
            body.insert("user_data".to_owned(), json!(user_data));
        }
        let answer = self.rest.post(&["v1", "servers"], body).await?;
        match answer.read::<object::Ordered>() {
            Ok(ordered) => self.ends_well(ordered.action).await,
            // It was ordered, and nobody says what becomes of it.
            Err(_) => Ok(()),
        }
    }

    async fn delete(&self, server: &Server) -> Result<(), ProviderError> {
        self.rest.delete(&["v1", "servers", object::id(&server.provider_id)]).await
    }
}

/// Why it was refused, by its code.
fn refused(
    object::Error { code, message }: object::Error,
    otherwise: impl FnOnce(String) -> ProviderError,
) -> ProviderError {
    let reason = [&*code, &*message].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    match &*code {
        "resource_unavailable" | "placement_error" => ProviderError::OutOfStock(reason),
        "uniqueness_error" => ProviderError::NameTaken(reason),
        "rate_limit_exceeded" => ProviderError::Throttled { reason, retry_after: None },
        // A quota, although it comes with the status of a missing right.
        "resource_limit_exceeded" => ProviderError::Refused(reason),
        _ => otherwise(reason),
    }
}

/// Why it was refused, which its code says; the status is the same for several.
fn refusal(answer: &Answer) -> ProviderError {
    let error = answer.read().map(|object::Failed { error }| error).unwrap_or_default();
    refused(error, |reason| answer.refusal(reason))
}
