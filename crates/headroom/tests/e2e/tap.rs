//! A way to the API server that sees every call, and can kill whoever makes one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use kube::Client;
use rustix::process::{Pid, Signal, kill_process};

use crate::control_plane::{ControlPlane, Role};

/// Which calls are meant.
pub(crate) type Calls = fn(&Method, &str) -> bool;

/// Passes calls on to the API server, as Headroom's user.
pub(crate) struct Tap {
    address: SocketAddr,
    trap: Arc<Mutex<Option<Trap>>>,
}

struct Trap {
    calls: Calls,
    victim: Pid,
}

#[derive(Clone)]
struct Wire {
    client: Client,
    trap: Arc<Mutex<Option<Trap>>>,
}

impl Tap {
    pub(crate) async fn on(plane: &ControlPlane) -> Self {
        let trap = Arc::default();
        let wire = Wire { client: plane.client_of(Role::Headroom).await, trap: Arc::clone(&trap) };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new().fallback(pass).with_state(wire);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, trap }
    }

    /// A kubeconfig file for whoever goes this way.
    pub(crate) fn kubeconfig(&self, plane: &ControlPlane) -> PathBuf {
        let path = plane.directory().join(format!("tap-{}.kubeconfig", self.address.port()));
        let config = serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "tap",
            "clusters": [{ "name": "tap", "cluster": { "server": format!("http://{}", self.address) } }],
            "users": [{ "name": "tap", "user": {} }],
            "contexts": [{ "name": "tap", "context": { "cluster": "tap", "user": "tap" } }],
        });
        std::fs::write(&path, config.to_string()).expect("it can be written");
        path
    }

    /// Kills `victim` when the API server has carried out one of these calls, before its answer is passed on.
    pub(crate) fn kill_after(&self, calls: Calls, victim: Pid) {
        *self.trap.lock().unwrap() = Some(Trap { calls, victim });
    }
}

async fn pass(State(Wire { client, trap }): State<Wire>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    parts.headers.remove(HOST);
    parts.headers.remove(AUTHORIZATION);
    let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else { return StatusCode::BAD_REQUEST.into_response() };
    let request = axum::http::Request::from_parts(parts, kube::client::Body::from(body.to_vec()));
    let Ok(answer) = client.send(request).await else { return StatusCode::BAD_GATEWAY.into_response() };
    let sprung = trap.lock().unwrap().take_if(|trap| (trap.calls)(&method, &path));
    if let Some(Trap { victim, .. }) = sprung {
        kill_process(victim, Signal::KILL).expect("it is running");
    }
    answer.map(Body::new)
}
