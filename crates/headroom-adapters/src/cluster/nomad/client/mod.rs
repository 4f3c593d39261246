//! A small client for Nomad's HTTP API.

mod calls;
mod connect;
mod elements;
mod environment;
mod error;
mod list;
mod variables;

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Body, Method, Request, Response, Url};
use serde::de::DeserializeOwned;

pub use calls::DrainSpec;
pub use connect::ConnectError;
pub use environment::{Access, AccessError};
pub use error::CallError;
pub use list::Listed;
pub use variables::{Lock, Variable, Written};

use crate::fence::Fence;
use crate::fenced::{FencedBody, is_fenced};
use environment::Secret;

/// How long is waited for an answer.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

/// The same for lists, which may be long.
const LIST_DEADLINE: Duration = Duration::from_secs(60);

/// Asks one cluster. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    inner: Arc<Inner>,
}

struct Inner {
    /// Connections that are kept apart from the others.
    apart: reqwest::Client,
    address: Url,
    http_auth: Option<Secret>,
    region: Option<String>,
    namespace: Option<String>,
    fence: Fence,
}

/// A request, before it is known to whom.
struct Call<'a> {
    method: Method,
    /// After `/v1`.
    path: &'a [&'a str],
    query: Vec<(&'a str, String)>,
    body: String,
    /// It opens the fence, and so cannot wait for it.
    of_election: bool,
    deadline: Duration,
}

/// An answer that is no refusal.
struct Answer {
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Client {
    /// A client for the cluster that `access` says. It sends nothing yet.
    ///
    /// No request other than reading one is sent while `fence` is closed, but for those of the election.
    pub fn new(access: &Access, fence: Fence) -> Result<Self, ConnectError> {
        let [http, apart] = [connect::connections(access)?, connect::connections(access)?];
        let Access { http_auth, region, namespace, .. } = access.clone();
        let address = connect::address(access);
        Ok(Client { http, inner: Arc::new(Inner { apart, address, http_auth, region, namespace, fence }) })
    }

    /// The same with other connections. A connection belongs to the runtime in which it was made, and ends with it.
    pub(super) fn apart(&self) -> Self {
        Client { http: self.inner.apart.clone(), inner: Arc::clone(&self.inner) }
    }

    /// The namespace in which Headroom keeps what it remembers.
    pub fn namespace(&self) -> &str {
        self.inner.namespace.as_deref().unwrap_or("default")
    }

    pub(super) fn fence(&self) -> &Fence {
        &self.inner.fence
    }

    async fn send(&self, call: Call<'_>) -> Result<Answer, CallError> {
        let deadline = call.deadline;
        let answer = self.open(call).await?;
        let headers = answer.headers().clone();
        let body = answer.bytes().await.map_err(|error| failed(error, deadline))?;
        Ok(Answer { headers, body: body.into() })
    }

    /// Sends it, and returns when an answer begins that is no refusal.
    async fn open(&self, call: Call<'_>) -> Result<Response, CallError> {
        let Call { method, path, query, body, of_election, deadline } = call;
        let inner = &*self.inner;
        let mut url = inner.address.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(path);
        }
        {
            let mut pairs = url.query_pairs_mut();
            pairs.extend_pairs(inner.region.iter().map(|region| ("region", region)));
            pairs.extend_pairs(query);
        }
        if url.query() == Some("") {
            url.set_query(None);
        }
        // Everything that is sent passes here, so that nobody can forget the fence.
        let fence = (method != Method::GET && !of_election).then(|| inner.fence.clone());
        if let Some(Err(_)) = fence.as_ref().map(Fence::check) {
            return Err(CallError::NotLeading);
        }
        let mut request = Request::new(method.clone(), url);
        if method != Method::GET {
            *request.body_mut() = Some(Body::wrap(FencedBody::new(body, fence)));
        }
        let mut builder = reqwest::RequestBuilder::from_parts(self.http.clone(), request).timeout(deadline);
        if let Some(auth) = &inner.http_auth {
            let (user, password) =
                auth.reveal().split_once(':').map_or((auth.reveal(), None), |(user, password)| (user, Some(password)));
            builder = builder.basic_auth(user, password);
        }
        let answer = builder.send().await.map_err(|error| failed(error, deadline))?;
        let status = answer.status();
        if !status.is_success() {
            let body = answer.bytes().await.map_err(|error| failed(error, deadline))?;
            return Err(CallError::refused(status.as_u16(), &body));
        }
        Ok(answer)
    }

    async fn get(&self, path: &[&str], query: Vec<(&str, String)>) -> Result<Answer, CallError> {
        self.send(Call { path, query, ..Call::reading() }).await
    }
}

impl Call<'_> {
    fn reading() -> Self {
        Call {
            method: Method::GET,
            path: &[],
            query: Vec::new(),
            body: String::new(),
            of_election: false,
            deadline: DEADLINE,
        }
    }

    fn changing(body: String) -> Self {
        Call { method: Method::PUT, body, ..Call::reading() }
    }
}

impl Answer {
    fn read<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        serde_json::from_slice(&self.body).map_err(CallError::NotUnderstood)
    }

    /// The number of the state that the answer is about; it grows with every change.
    fn index(&self) -> u64 {
        index(&self.headers)
    }
}

/// The number of the state that an answer is about; it grows with every change.
fn index(headers: &HeaderMap) -> u64 {
    header(headers, "x-nomad-index").and_then(|index| index.parse().ok()).unwrap_or(0)
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Why there is no answer, when so long was waited for it.
fn failed(error: reqwest::Error, deadline: Duration) -> CallError {
    if is_fenced(&error) {
        CallError::NotLeading
    } else if error.is_timeout() && !error.is_connect() {
        CallError::Timeout { seconds: deadline.as_secs() }
    } else {
        // The address may hold a password.
        CallError::Unreachable(Box::new(error.without_url()))
    }
}
