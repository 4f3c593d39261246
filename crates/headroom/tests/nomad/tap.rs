//! A way to Nomad that sees what is changed, and can kill whoever changes it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rustix::process::{Pid, Signal, kill_process};
use tokio::task::JoinHandle;

/// Passes requests on to Nomad. It ends when this is dropped.
pub(crate) struct Tap {
    address: SocketAddr,
    wire: Arc<Wire>,
    serving: JoinHandle<()>,
}

struct Wire {
    http: reqwest::Client,
    to: String,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    writes: Vec<Write>,
    cut: Option<(usize, Pid)>,
    has_cut: bool,
}

/// A request that changes something, other than the lock by which instances agree.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) at: Instant,
    pub(crate) call: String,
}

impl Tap {
    /// A way to the Nomad at `url`.
    pub(crate) async fn on(url: &str) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let wire = Arc::new(Wire { http, to: url.to_owned(), seen: Mutex::default() });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new().fallback(pass).with_state(Arc::clone(&wire));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Tap { address, wire, serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Kills this process once the change of this number has been made, before it hears of that.
    pub(crate) fn cut_after(&self, number: usize, victim: Pid) {
        self.wire.seen().cut = Some((number, victim));
    }

    /// Kills nobody any more. Whether somebody was killed.
    pub(crate) fn cut_no_more(&self) -> bool {
        let mut seen = self.wire.seen();
        seen.cut = None;
        seen.has_cut
    }

    /// What was changed this way.
    pub(crate) fn writes(&self) -> Vec<Write> {
        self.wire.seen().writes.clone()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Wire {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn pass(State(wire): State<Arc<Wire>>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    parts.headers.remove(HOST);
    forget_framing(&mut parts.headers);
    let Ok(body) = to_bytes(body, usize::MAX).await else { return StatusCode::BAD_REQUEST.into_response() };
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
    let passed = wire.http.request(parts.method.clone(), format!("{}{path}", wire.to)).headers(parts.headers);
    let Ok(answer) = passed.body(body).send().await else { return StatusCode::BAD_GATEWAY.into_response() };
    if parts.method != Method::GET && !path.contains("lock-") {
        let mut seen = wire.seen();
        seen.writes.push(Write { at: Instant::now(), call: format!("{} {path}", parts.method) });
        let number = seen.writes.len();
        if let Some((_, victim)) = seen.cut.take_if(|(after, _)| number >= *after) {
            // Whoever has ended by now needs no killing.
            let _ = kill_process(victim, Signal::KILL);
            seen.has_cut = true;
        }
    }
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    forget_framing(&mut headers);
    let Ok(body) = answer.bytes().await else { return StatusCode::BAD_GATEWAY.into_response() };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// A body that is passed on whole is framed anew.
fn forget_framing(headers: &mut HeaderMap) {
    for header in [CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(header);
    }
}
