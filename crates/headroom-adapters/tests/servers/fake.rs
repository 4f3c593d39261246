//! What the fakes of providers share: calls that can be told to fail, and what they were asked.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::contract::Trouble;

/// The token that fakes take.
pub(super) const TOKEN: &str = "s3cret-of-nobody-else";

/// What becomes of the next call with this method.
pub(super) struct Fault {
    pub(super) method: Method,
    pub(super) status: u16,
    pub(super) header: Option<(&'static str, String)>,
    pub(super) body: String,
    /// It is done all the same, and only the answer is this one.
    pub(super) done: bool,
}

/// Faults to come, and calls so far as `METHOD path`.
#[derive(Default)]
pub(super) struct Script {
    faults: Mutex<VecDeque<Fault>>,
    /// Every call fails like that.
    trouble: Mutex<Option<Trouble>>,
    /// Servers that cannot be deleted, by their numbers.
    pub(super) held: Mutex<BTreeSet<u64>>,
    /// With what every order is refused, because nothing is left.
    pub(super) sold_out: Mutex<Option<(u16, &'static str)>>,
    calls: Mutex<Vec<String>>,
    last_number: AtomicU64,
}

impl Script {
    /// The number of a new server. None is given twice.
    pub(super) fn number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn fail(&self, fault: Fault) {
        locked(&self.faults).push_back(fault);
    }

    pub(super) fn set_trouble(&self, trouble: Option<Trouble>) {
        *locked(&self.trouble) = trouble;
    }

    /// The calls with this method.
    pub(super) fn count(&self, method: &str) -> usize {
        locked(&self.calls).iter().filter(|call| call.starts_with(method)).count()
    }
}

/// A fake that listens on loopback until it is dropped.
pub(super) struct Listening {
    pub(super) address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Listening {
    /// Serves these routes, behind the token and the script.
    pub(super) async fn start(routes: Router, script: Arc<Script>) -> Self {
        let routes = routes.layer(from_fn_with_state(script, meddle));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await.expect("it serves") });
        Listening { address, serving }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn meddle(State(script): State<Arc<Script>>, request: Request, next: Next) -> Response {
    let authorized =
        request.headers().get(header::AUTHORIZATION).is_some_and(|token| *token == *format!("Bearer {TOKEN}"));
    let method = request.method().clone();
    locked(&script.calls).push(format!("{method} {}", request.uri().path()));
    if !authorized {
        return (StatusCode::UNAUTHORIZED, "{}").into_response();
    }
    let trouble = *locked(&script.trouble);
    if let Some(trouble) = trouble {
        let status = match trouble {
            Trouble::Throttled => 429,
            Trouble::Unauthorized => 401,
            Trouble::Silent => return std::future::pending().await,
            Trouble::Garbage => return "<html>".into_response(),
            Trouble::Broken => 503,
        };
        return StatusCode::from_u16(status).expect("a status").into_response();
    }
    let sold_out = *locked(&script.sold_out);
    if let Some((status, body)) = sold_out.filter(|_| method == Method::POST) {
        return (StatusCode::from_u16(status).expect("a status"), body).into_response();
    }
    let fault = {
        let mut faults = locked(&script.faults);
        let due = faults.front().is_some_and(|fault| fault.method == method);
        if due { faults.pop_front() } else { None }
    };
    let Some(fault) = fault else { return next.run(request).await };
    if fault.done {
        next.run(request).await;
    }
    let mut answer = Response::new(Body::from(fault.body));
    *answer.status_mut() = StatusCode::from_u16(fault.status).expect("a status");
    if let Some((name, value)) = fault.header {
        let value = HeaderValue::from_str(&value).expect("a value");
        answer.headers_mut().insert(HeaderName::from_static(name), value);
    }
    answer
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
