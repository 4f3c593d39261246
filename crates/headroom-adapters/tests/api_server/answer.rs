//! The answer to one call.

use axum::Json;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::store::{Refusal, Store};

pub(super) fn answer(store: &mut Store, method: &Method, uri: &Uri, body: &[u8]) -> Response {
    let parts: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
    // api/v1 or apis/GROUP/VERSION, then namespaces/NAME or nothing, then the plural.
    let version = if parts[0] == "api" { 2 } else { 3 };
    let scope = if parts.get(version) == Some(&"namespaces") && parts.len() > version + 2 { 2 } else { 0 };
    let (collection, rest) = parts.split_at(version + scope + 1);
    let collection = format!("/{}", collection.join("/"));
    let object = || serde_json::from_slice(body).unwrap();
    let done = match (method, rest) {
        (&Method::GET, []) => Ok(list(store, &collection, uri.query().unwrap_or_default())),
        (&Method::GET, [name]) => store.get(&collection, name),
        (&Method::POST, []) => store.create(&collection, object()),
        (&Method::PUT, [name]) => store.replace(&collection, name, object()),
        (&Method::PATCH, [name]) => store.merge(&collection, name, &object()),
        (&Method::DELETE, [name]) => store.delete(&collection, name),
        _ => Err((405, "MethodNotAllowed")),
    };
    done.map_or_else(|refusal| refused(refusal, uri), |object| Json(object).into_response())
}

/// How long a client that asks too much is to wait.
const RETRY_AFTER_SECONDS: u32 = 7;

/// A `Status`, as the API server sends it.
pub(super) fn failure(code: StatusCode, reason: &str, message: &str) -> Response {
    let details = if code == StatusCode::TOO_MANY_REQUESTS {
        json!({ "retryAfterSeconds": RETRY_AFTER_SECONDS })
    } else {
        json!({})
    };
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure",
        "code": code.as_u16(), "reason": reason, "message": message,
        "details": details,
    });
    (code, Json(status)).into_response()
}

fn refused((code, reason): Refusal, uri: &Uri) -> Response {
    failure(StatusCode::from_u16(code).unwrap(), reason, &format!("{}: {reason}", uri.path()))
}

fn list(store: &Store, collection: &str, query: &str) -> Value {
    let query = percent_decoded(query);
    let param = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let matching = |object: &Value| param("labelSelector").is_none_or(|selector| selected(object, selector));
    let all: Vec<Value> = store.list(collection).into_iter().filter(matching).collect();
    let start: usize = param("continue").map_or(0, |token| token.parse().unwrap());
    let limit: usize = param("limit").map_or(usize::MAX, |limit| limit.parse().unwrap());
    let items: Vec<Value> = all.iter().skip(start).take(limit).cloned().collect();
    let end = start + items.len();
    let token = if end < all.len() { end.to_string() } else { String::new() };
    json!({ "kind": "List", "apiVersion": "v1", "metadata": { "resourceVersion": "1", "continue": token }, "items": items })
}

/// `key` and `key=value`, with commas between them.
fn selected(object: &Value, selector: &str) -> bool {
    selector.split(',').all(|term| match term.split_once('=') {
        Some((key, value)) => object["metadata"]["labels"][key] == value,
        None => !object["metadata"]["labels"][term].is_null(),
    })
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let mut digit = || char::from(rest.next().unwrap()).to_digit(16).unwrap();
            u8::try_from(digit() * 16 + digit()).unwrap()
        } else {
            byte
        });
    }
    String::from_utf8(bytes).unwrap()
}
