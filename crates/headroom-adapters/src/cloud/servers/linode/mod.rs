//! Servers of Linode (<https://techdocs.akamai.com/linode-api/reference/post-linode-instance>).

mod object;

use std::sync::Arc;

use async_trait::async_trait;
use aws_lc_rs::rand;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::provider::{Order, Provider, ProviderError, Server};
use super::rest::{Answer, Page, Rest, RestError, Token, whole};
use crate::fence::Fence;

/// Of the API.
pub const ADDRESS: &str = "https://api.linode.com";

/// Servers on a page; it may have up to 500.
const PAGE: u32 = 200;

/// What the API says about plans and regions that have nothing left; it has no code for it.
const SOLD_OUT: [&str; 5] = ["sold out", "unavailable", "not available", "capacity", "out of stock"];

/// How Linode is reached, and what all servers of a group have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinodeAccount {
    /// Of the API.
    pub address: Arc<str>,
    /// Public SSH keys of root.
    pub authorized_keys: Vec<Arc<str>>,
    /// The id of a firewall.
    pub firewall: Option<i64>,
    /// Whether servers get an address in the private network of their region.
    pub private_ip: bool,
}

/// A kind of hardware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinodeHardware {
    /// The plan, such as `g6-standard-4`.
    pub plan: Arc<str>,
    /// Such as `eu-central`.
    pub region: Arc<str>,
    /// Such as `linode/debian12`.
    pub image: Arc<str>,
}

/// An account of Linode.
#[derive(Debug)]
pub struct Linode {
    rest: Rest,
    account: LinodeAccount,
    cluster: Arc<str>,
}

impl Linode {
    /// Servers that carry the id `cluster`.
    pub fn new(account: LinodeAccount, token: Token, cluster: Arc<str>, fence: Fence) -> Result<Self, RestError> {
        let rest = Rest::new(&account.address, token, fence, refusal)?;
        Ok(Linode { rest, account, cluster })
    }

    async fn page(&self, number: u32) -> Result<Page<object::Server>, ProviderError> {
        let filter = json!({ "tags": object::tag(object::CLUSTER, &self.cluster), "+order_by": "id" }).to_string();
        let filter = HeaderValue::try_from(filter).map_err(|error| ProviderError::NotUnderstood(Box::new(error)))?;
        let filter = Some((HeaderName::from_static("x-filter"), filter));
        let query = [("page", number.to_string()), ("page_size", PAGE.to_string())];
        let answer = self.rest.get(&["v4", "linode", "instances"], &query, filter).await?;
        let object::Page { data, pages, results } = answer.read()?;
        Ok(Page { items: data, next: (number < pages).then(|| number + 1), total: Some(results) })
    }
}

/// There is nothing to make a password of.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gives no random numbers")]
struct NoRandom;

#[async_trait]
impl Provider for Linode {
    type Hardware = LinodeHardware;

    async fn list(&self) -> Result<Vec<Server>, ProviderError> {
        let servers = whole(|number| self.page(number)).await?.into_iter().map(object::Server::translate);
        Ok(servers.filter(|server| *server.tags.cluster == *self.cluster).collect())
    }

    async fn create(&self, order: &Order<'_, LinodeHardware>) -> Result<(), ProviderError> {
        let LinodeHardware { plan, region, image } = order.hardware;
        let LinodeAccount { authorized_keys, firewall, private_ip, .. } = &self.account;
        let mut body = json!({
            "label": order.name,
            "type": plan,
            "region": region,
            "image": image,
            "tags": object::tags(order.tags),
            "authorized_keys": authorized_keys,
            "private_ip": private_ip,
            "booted": true,
            // An image needs one. Nobody keeps it: root logs in with a key.
            "root_pass": password()?,
        });
        if let (Some(body), Some(firewall)) = (body.as_object_mut(), firewall) {
            body.insert("firewall_id".to_owned(), json!(firewall));
        }
        if let (Some(body), Some(user_data)) = (body.as_object_mut(), order.user_data) {
            body.insert("metadata".to_owned(), json!({ "user_data": STANDARD.encode(user_data) }));
        }
        self.rest.post(&["v4", "linode", "instances"], body).await.map(drop)
    }

    async fn delete(&self, server: &Server) -> Result<(), ProviderError> {
        self.rest.delete(&["v4", "linode", "instances", object::id(&server.provider_id)]).await
    }
}

/// Why it was refused, which stands in words only.
fn refusal(answer: &Answer) -> ProviderError {
    let errors = answer.read().map(|object::Failed { errors }| errors).unwrap_or_default();
    let reason = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let says = |words: &[&str]| words.iter().any(|words| reason.to_lowercase().contains(words));
    let label = errors.iter().any(|error| error.field.as_deref() == Some("label"));
    match answer.status {
        StatusCode::BAD_REQUEST if label && says(&["unique"]) => ProviderError::NameTaken(reason),
        StatusCode::BAD_REQUEST if says(&SOLD_OUT) => ProviderError::OutOfStock(reason),
        _ => answer.refusal(reason),
    }
}

/// A password that nobody guesses.
fn password() -> Result<String, ProviderError> {
    let mut bytes = [0; 48];
    rand::fill(&mut bytes).map_err(|_| ProviderError::Unreachable(Box::new(NoRandom)))?;
    Ok(STANDARD.encode(bytes))
}
