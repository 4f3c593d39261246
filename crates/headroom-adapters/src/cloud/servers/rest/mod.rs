//! A small client for providers with a REST API.

mod list;
mod pause;
mod token;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Method, Request, StatusCode, Url};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

pub(super) use list::{Page, whole};
pub use token::{Token, TokenError};

use super::provider::ProviderError;
use crate::fence::Fence;
use crate::fenced::{FencedBody, is_fenced};

/// How long is waited for an answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// The same for what changes something: a server that is ordered takes the provider its time.
const CHANGE_DEADLINE: Duration = Duration::from_secs(30);
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

/// Asks one provider.
#[derive(Debug)]
pub(super) struct Rest {
    http: reqwest::Client,
    address: Url,
    token: Token,
    fence: Fence,
    refusal: Refusal,
    /// Until when the provider wants to be left alone.
    quiet: Mutex<Option<Instant>>,
}

/// Why the provider did not do it, in an answer that is no success. Each provider has a form of its own for that.
pub(super) type Refusal = fn(&Answer) -> ProviderError;

/// An address that no provider can be reached at, or a client that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RestError {
    /// What is configured is no address.
    #[error("{address} is no address of an HTTP API: {reason}; hint: write it like https://api.example.com")]
    Address {
        /// As it is configured.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no way to connect to anything.
    #[error("there is no HTTP client")]
    Client(#[source] reqwest::Error),
}

/// What a provider says.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    body: Vec<u8>,
}

impl Rest {
    /// A client for the API at `address`. It sends nothing yet. What changes something is not sent while `fence` is closed.
    pub(super) fn new(address: &str, token: Token, fence: Fence, refusal: Refusal) -> Result<Self, RestError> {
        let wrong = |reason: String| RestError::Address { address: address.to_owned(), reason };
        let parsed = Url::parse(address).map_err(|error| wrong(error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(wrong(format!("it begins with {}", parsed.scheme())));
        }
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_DEADLINE)
            // The token goes to this provider alone.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("headroom/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(RestError::Client)?;
        Ok(Rest { http, address: parsed, token, fence, refusal, quiet: Mutex::new(None) })
    }

    /// Reads something.
    pub(super) async fn get(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        header: Option<(HeaderName, HeaderValue)>,
    ) -> Result<Answer, ProviderError> {
        let mut url = self.url(path);
        url.query_pairs_mut().extend_pairs(query);
        let mut request = Request::new(Method::GET, url);
        *request.timeout_mut() = Some(DEADLINE);
        if let Some((name, value)) = header {
            request.headers_mut().insert(name, value);
        }
        self.accepted(self.send(request).await?)
    }

    /// Makes something.
    pub(super) async fn post(&self, path: &[&str], body: serde_json::Value) -> Result<Answer, ProviderError> {
        self.accepted(self.change(Method::POST, path, Some(body)).await?)
    }

    /// Deletes something. What is gone already is no error.
    pub(super) async fn delete(&self, path: &[&str]) -> Result<(), ProviderError> {
        let answer = self.change(Method::DELETE, path, None).await?;
        if answer.status == StatusCode::NOT_FOUND { Ok(()) } else { self.accepted(answer).map(drop) }
    }

    fn accepted(&self, answer: Answer) -> Result<Answer, ProviderError> {
        if answer.status.is_success() { Ok(answer) } else { Err((self.refusal)(&answer)) }
    }

    async fn change(
        &self,
        method: Method,
        path: &[&str],
        body: Option<serde_json::Value>,
    ) -> Result<Answer, ProviderError> {
        self.fence.check().map_err(|_| ProviderError::NotLeading)?;
        let mut request = Request::new(method, self.url(path));
        *request.timeout_mut() = Some(CHANGE_DEADLINE);
        if body.is_some() {
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert(reqwest::header::CONTENT_TYPE, json);
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        *request.body_mut() = Some(Body::wrap(FencedBody::new(body, Some(self.fence.clone()))));
        self.send(request).await
    }

    /// Every request passes here.
    async fn send(&self, mut request: Request) -> Result<Answer, ProviderError> {
        if let Some(left) = self.quiet_for() {
            let reason = "it asked for a pause before".to_owned();
            return Err(ProviderError::Throttled { reason, retry_after: Some(left) });
        }
        let token = self.token.read().map_err(|error| ProviderError::Unauthorized(error.to_string()))?;
        request.headers_mut().insert(AUTHORIZATION, token.header());
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        let deadline = request.timeout().copied().unwrap_or(DEADLINE);
        let failed = |error| failed(error, deadline);
        let answer = self.http.execute(request).await.map_err(failed)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.bytes().await.map_err(failed)?.to_vec();
        if status == StatusCode::TOO_MANY_REQUESTS {
            return Err(self.throttled(&headers));
        }
        Ok(Answer { status, body })
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.address.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    fn quiet_for(&self) -> Option<Duration> {
        let until = (*self.quiet.lock().unwrap_or_else(PoisonError::into_inner))?;
        Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }

    fn throttled(&self, headers: &HeaderMap) -> ProviderError {
        let retry_after = pause::asked_for(headers, Timestamp::now());
        if let Some(pause) = retry_after {
            *self.quiet.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + pause);
        }
        ProviderError::Throttled { reason: "429 Too Many Requests".to_owned(), retry_after }
    }
}

fn failed(error: reqwest::Error, deadline: Duration) -> ProviderError {
    // What did not connect sent nothing.
    let connected = !error.is_connect();
    let error = error.without_url();
    if is_fenced(&error) {
        ProviderError::NotLeading
    } else if !connected {
        ProviderError::Unreachable(Box::new(error))
    } else if error.is_timeout() {
        ProviderError::Timeout { seconds: deadline.as_secs() }
    } else {
        ProviderError::Broken(Box::new(error))
    }
}

/// The provider's own fault.
#[derive(Debug, thiserror::Error)]
#[error("{status}: {reason}")]
struct ServerFault {
    status: StatusCode,
    reason: String,
}

impl Answer {
    /// What it says.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, ProviderError> {
        serde_json::from_slice(&self.body).map_err(|error| ProviderError::NotUnderstood(Box::new(error)))
    }

    /// Why the provider did not do it, for the `reason` that it gives in its own way.
    pub(super) fn refusal(&self, reason: String) -> ProviderError {
        let reason = if reason.is_empty() { self.status.to_string() } else { reason };
        match self.status {
            StatusCode::UNAUTHORIZED => ProviderError::Unauthorized(reason),
            StatusCode::FORBIDDEN => ProviderError::Forbidden(reason),
            // Whether anything was done before it broke is not known.
            status if !status.is_client_error() => ProviderError::Broken(Box::new(ServerFault { status, reason })),
            _ => ProviderError::Refused(reason),
        }
    }
}
