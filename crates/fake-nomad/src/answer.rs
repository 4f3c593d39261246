//! One request and its answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Response};
use serde_json::Value;
use tokio::time::timeout;

use crate::state::{Failing, Request as Seen};
use crate::{Shared, change, read};

/// What a request may carry.
const LIMIT: usize = 1 << 20;

/// The only one.
pub(crate) const REGION: &str = "global";

/// Before the headers.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// Where the next page of a list begins.
    pub(crate) next: Option<String>,
    pub(crate) is_json: bool,
}

impl Answer {
    pub(crate) fn json(body: Value) -> Self {
        Answer { status: 200, body: body.to_string(), next: None, is_json: true }
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Answer { status, body: body.to_owned(), next: None, is_json: false }
    }
}

/// A request as it is looked at.
pub(crate) struct Asked<'a> {
    /// After `/v1`, decoded.
    pub(crate) path: Vec<&'a str>,
    pub(crate) query: &'a BTreeMap<String, String>,
    pub(crate) token: Option<&'a str>,
    pub(crate) body: &'a str,
}

pub(crate) async fn answer(shared: &Arc<Shared>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body =
        to_bytes(body, LIMIT).await.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let query_text = parts.uri.query().unwrap_or_default().to_owned();
    let query = pairs(&query_text);
    let path: Vec<String> = parts.uri.path().trim_matches('/').split('/').map(decode).collect();
    let method = parts.method.as_str().to_owned();
    let seen = Seen { method: method.clone(), path: path.join("/"), query: query_text, body: body.clone() };
    let failing = shared.with(|state| {
        state.seen.push(seen.clone());
        state.failing.clone()
    });
    let asked = Asked {
        path: path.iter().skip(1).map(String::as_str).collect(),
        query: &query,
        token: parts
            .headers
            .get("x-nomad-token")
            .and_then(|token| token.to_str().ok())
            .filter(|token| !token.is_empty()),
        body: &body,
    };
    let answer = match failing {
        Some(Failing::NoLeader) => Answer::text(500, "No cluster leader"),
        Some(Failing::At(prefix)) if seen.path.starts_with(&prefix) => {
            Answer::text(500, "rpc error: connection refused")
        }
        _ if path.first().map(String::as_str) != Some("v1") => Answer::text(404, ""),
        _ if query.get("region").is_some_and(|region| region != REGION)
            && path.get(1).is_none_or(|of| of != "regions") =>
        {
            Answer::text(500, "No path to region")
        }
        _ if method == "GET" => {
            wait(shared, &query).await;
            shared.with(|state| read::read(state, shared.face, &asked))
        }
        _ => shared.with(|state| change::change(state, shared.face, &method, &asked)),
    };
    respond(shared, answer)
}

/// A question with an index waits until there is something newer, or the server goes back to an older state.
async fn wait(shared: &Shared, query: &BTreeMap<String, String>) {
    let Some(index) = query.get("index").and_then(|index| index.parse::<u64>().ok()).filter(|index| *index > 0) else {
        return;
    };
    let seconds = query.get("wait").and_then(|wait| wait.trim_end_matches('s').parse().ok()).unwrap_or(300);
    let mut changed = shared.changed.subscribe();
    let begin = *changed.borrow();
    let newer = changed.wait_for(|now| *now > index || *now < begin);
    let _ = timeout(Duration::from_secs(seconds), newer).await;
}

fn respond(shared: &Shared, answer: Answer) -> Response<Body> {
    let index = shared.state().index.max(1);
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = axum::http::StatusCode::from_u16(answer.status).unwrap_or_default();
    let headers = response.headers_mut();
    let kind = if answer.is_json { "application/json" } else { "text/plain; charset=utf-8" };
    headers.insert("content-type", HeaderValue::from_static(kind));
    headers.insert("x-nomad-index", HeaderValue::from(index));
    headers.insert("x-nomad-knownleader", HeaderValue::from_static("true"));
    headers.insert("x-nomad-lastcontact", HeaderValue::from_static("0"));
    if let Some(next) = answer.next.and_then(|next| HeaderValue::from_str(&next).ok()) {
        headers.insert("x-nomad-nexttoken", next);
    }
    response
}

fn pairs(query: &str) -> BTreeMap<String, String> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            pair.split_once('=').map_or((decode(pair), String::new()), |(name, value)| (decode(name), decode(value)))
        })
        .collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => {
                std::str::from_utf8(&[*high, *low]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
