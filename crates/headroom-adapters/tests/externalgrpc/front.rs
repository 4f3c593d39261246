//! A provider on loopback that answers nobody without a certificate, and that can be made to fail.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::Response;
use axum::middleware::{Next, from_fn_with_state};
use headroom_adapters::cloud::externalgrpc::Reach;
use headroom_adapters::cloud::externalgrpc::server::Provider;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::service::Routes;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};

use super::peer::{file, tls_as};

/// What is answered to every call.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// A code of gRPC.
    Code(u16),
    /// Bytes that are no message of the protocol.
    Garbage,
    /// A page for people.
    Page,
    /// Nothing.
    Silence,
}

/// A running provider. It ends when it is dropped.
pub(crate) struct Front {
    shared: Shared,
    address: std::net::SocketAddr,
    task: JoinHandle<()>,
}

#[derive(Clone, Default)]
struct Shared {
    strikes: Arc<Mutex<Vec<Strike>>>,
    called: Arc<Mutex<Vec<String>>>,
}

/// What happens to which call.
struct Strike {
    /// None is every call.
    call: Option<&'static str>,
    /// Only to those in which this stands.
    about: String,
    fault: Fault,
}

impl Strike {
    fn strikes(&self, call: &str, request: &[u8]) -> bool {
        let about = self.about.as_bytes();
        self.call.is_none_or(|only| only == call)
            && (about.is_empty() || request.windows(about.len()).any(|part| part == about))
    }
}

impl Front {
    pub(crate) async fn start(provider: Provider) -> Self {
        let shared = Shared::default();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = provider.routes().into_axum_router().layer(from_fn_with_state(shared.clone(), meddle));
        let read = |name: &str| std::fs::read(file(name)).unwrap();
        let identity = Identity::from_pem(read("provider.pem"), read("provider.key"));
        let tls = ServerTlsConfig::new().identity(identity).client_ca_root(Certificate::from_pem(read("ca.pem")));
        let server = Server::builder().tls_config(tls).unwrap().add_routes(Routes::from(router));
        let served = server.serve_with_incoming(TcpIncoming::from(listener));
        let task = tokio::spawn(async move { served.await.unwrap() });
        Front { shared, address, task }
    }

    /// How it is reached.
    pub(crate) fn reach(&self) -> Reach {
        Reach {
            address: self.address.to_string().into(),
            tls: Some(tls_as("client")),
            deadline: Duration::from_secs(5),
        }
    }

    /// From now on calls fail like that: those of this name, or all.
    pub(crate) fn set_fault(&self, call: Option<&'static str>, fault: Option<Fault>) {
        let strike = |fault| Strike { call, about: String::new(), fault };
        *self.shared.strikes.lock().unwrap() = fault.map(strike).into_iter().collect();
    }

    /// Those too fail like that which have this name and in which this stands.
    pub(crate) fn add_fault(&self, call: &'static str, about: &str, fault: Fault) {
        let strike = Strike { call: Some(call), about: about.to_owned(), fault };
        self.shared.strikes.lock().unwrap().push(strike);
    }

    /// How many calls came so far.
    pub(crate) fn requests(&self) -> usize {
        self.shared.called.lock().unwrap().len()
    }

    /// The names of the calls that came so far, but those that only read.
    pub(crate) fn changes(&self) -> Vec<String> {
        let called = self.shared.called.lock().unwrap();
        let changes = ["NodeGroupIncreaseSize", "NodeGroupDeleteNodes", "NodeGroupDecreaseTargetSize", "Cleanup"];
        called.iter().filter(|call| changes.contains(&call.as_str())).cloned().collect()
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn meddle(State(shared): State<Shared>, request: Request, next: Next) -> axum::response::Response {
    let call = request.uri().path().rsplit('/').next().unwrap().to_owned();
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let fault = {
        let strikes = shared.strikes.lock().unwrap();
        strikes.iter().find(|strike| strike.strikes(&call, &body)).map(|strike| strike.fault.clone())
    };
    shared.called.lock().unwrap().push(call);
    let request = Request::from_parts(head, body.into());
    let grpc = Response::builder().header("content-type", "application/grpc");
    match fault {
        None => next.run(request).await,
        Some(Fault::Silence) => std::future::pending().await,
        Some(Fault::Page) => Response::new("<html>as the test wants it".into()),
        Some(Fault::Code(code)) => {
            let answer = grpc.header("grpc-status", code).header("grpc-message", "as the test wants it");
            answer.body(axum::body::Body::empty()).unwrap()
        }
        Some(Fault::Garbage) => {
            // One frame, not compressed, of three bytes: a field of a wire type that there is none of.
            grpc.body(vec![0, 0, 0, 0, 3, 0x0f, 0xff, 0xff].into()).unwrap()
        }
    }
}
