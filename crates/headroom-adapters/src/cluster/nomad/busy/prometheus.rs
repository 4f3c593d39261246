//! What a query of Prometheus says (its HTTP API, `/api/v1/query`).

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use reqwest::header::AUTHORIZATION;
use reqwest::{Request, StatusCode, Url, redirect};
use serde::Deserialize;

use crate::cloud::servers::rest::{Token, TokenError};

const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

/// More of an answer that is none is no help.
const WORDS: usize = 300;

/// A query that says how busy servers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrometheusQuery {
    /// Where Prometheus, or what answers as it does, is.
    pub address: Arc<str>,
    /// Whose result is a vector with one sample for each server: its busy share, 0 to 100.
    pub query: Arc<str>,
    /// The label by which a server is known: its value is the ID of a node, its name or one of its addresses, with a port
    /// or without.
    pub node_label: Arc<str>,
    /// What the token is, if one is needed.
    pub token: Option<Token>,
    /// What is older is not known.
    pub max_age: SignedDuration,
    /// How long is waited for an answer.
    pub timeout: SignedDuration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum QueryError {
    #[error("{address} is no address of an HTTP API; hint: write it like http://prometheus:9090")]
    Address { address: Arc<str> },
    #[error("no connections can be made")]
    Client(#[source] reqwest::Error),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("no answer within {seconds} s; hint: see whether the query takes longer, and give it more `timeout`")]
    Timeout { seconds: u64 },
    #[error("it does not answer")]
    Unreachable(#[source] reqwest::Error),
    #[error("it answers {status}: {words}")]
    Refused { status: StatusCode, words: String },
    #[error("the answer is none of Prometheus")]
    NotUnderstood(#[source] serde_json::Error),
    #[error("the result is a {kind}; hint: a query is needed whose result is a vector with one sample for each server")]
    NoVector { kind: String },
    #[error("the result is not whole, it says: {words}")]
    Partial { words: String },
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Answer {
    status: String,
    error: String,
    /// Something could not be asked, and is missing in the result.
    warnings: Option<Vec<String>>,
    data: Data,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Data {
    result_type: String,
    result: serde_json::Value,
}

/// One sample of a vector.
#[derive(Debug, Deserialize)]
pub(super) struct Sample {
    pub(super) metric: std::collections::BTreeMap<String, String>,
    /// The time in seconds, and the value as text, since JSON has no NaN. A histogram has none.
    pub(super) value: Option<(f64, String)>,
}

/// Asks one query.
#[derive(Debug)]
pub(super) struct Prometheus {
    http: reqwest::Client,
    url: Url,
    query: PrometheusQuery,
}

impl Prometheus {
    pub(super) fn new(query: PrometheusQuery) -> Result<Self, QueryError> {
        let wrong = || QueryError::Address { address: Arc::clone(&query.address) };
        let mut url = Url::parse(&query.address).map_err(|_| wrong())?;
        url.path_segments_mut().map_err(|()| wrong())?.pop_if_empty().extend(["api", "v1", "query"]);
        let client = reqwest::Client::builder().connect_timeout(CONNECT_DEADLINE);
        // The token goes to this server alone.
        let client =
            client.redirect(redirect::Policy::none()).user_agent(concat!("headroom/", env!("CARGO_PKG_VERSION")));
        let http = client.build().map_err(QueryError::Client)?;
        Ok(Prometheus { http, url, query })
    }

    pub(super) fn query(&self) -> &PrometheusQuery {
        &self.query
    }

    /// The samples of the whole result.
    pub(super) async fn ask(&self) -> Result<Vec<Sample>, QueryError> {
        let deadline = Duration::try_from(self.query.timeout).unwrap_or_default();
        let mut url = self.url.clone();
        let seconds = format!("{}s", deadline.as_secs().max(1));
        url.query_pairs_mut().extend_pairs([("query", &*self.query.query), ("timeout", &*seconds)]);
        let mut request = Request::new(reqwest::Method::GET, url);
        *request.timeout_mut() = Some(deadline);
        if let Some(token) = &self.query.token {
            request.headers_mut().insert(AUTHORIZATION, token.read()?.header());
        }
        let failed = |error: reqwest::Error| {
            if error.is_timeout() {
                QueryError::Timeout { seconds: deadline.as_secs() }
            } else {
                // The address may hold a password.
                QueryError::Unreachable(error.without_url())
            }
        };
        let answer = self.http.execute(request).await.map_err(failed)?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(failed)?;
        read(status, &body)
    }
}

fn read(status: StatusCode, body: &[u8]) -> Result<Vec<Sample>, QueryError> {
    let words = |text: &str| text.trim().chars().take(WORDS).collect();
    let answer: Answer = match serde_json::from_slice(body) {
        Ok(answer) => answer,
        Err(_) if !status.is_success() => {
            return Err(QueryError::Refused { status, words: words(&String::from_utf8_lossy(body)) });
        }
        Err(error) => return Err(QueryError::NotUnderstood(error)),
    };
    if !status.is_success() || answer.status != "success" {
        return Err(QueryError::Refused { status, words: words(&answer.error) });
    }
    if let Some(first) = answer.warnings.iter().flatten().next() {
        return Err(QueryError::Partial { words: words(first) });
    }
    if answer.data.result_type != "vector" {
        return Err(QueryError::NoVector { kind: words(&answer.data.result_type) });
    }
    serde_json::from_value(answer.data.result).map_err(QueryError::NotUnderstood)
}
