//! Where the service listens, and to whom.

use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};

use super::Provider;
use crate::cloud::externalgrpc::link::{LinkError, read};

/// The files by which the service and its clients know each other, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTls {
    /// The certificate of the service.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The certificates that those of clients are signed by. Nobody else is answered.
    pub ca: PathBuf,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Anybody on the network could add and remove machines.
    #[error(
        "{0} can be reached from other machines, and whoever reaches it could add and remove machines; hint: give \
         --cert, --key and --cacert, so that only clients with a certificate are answered, or listen at 127.0.0.1"
    )]
    Open(SocketAddr),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] LinkError),
    /// Nobody can listen there.
    #[error("cannot listen at {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The service ended.
    #[error("the service ended")]
    Ended(#[source] tonic::transport::Error),
}

/// Serves until `end`. `listening` is told the address first, whose port was chosen if none was given.
pub async fn serve(
    provider: Provider,
    address: SocketAddr,
    tls: Option<ServerTls>,
    listening: impl FnOnce(SocketAddr),
    end: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    if tls.is_none() && !address.ip().is_loopback() {
        return Err(ServeError::Open(address));
    }
    let mut server = Server::builder();
    if let Some(tls) = &tls {
        let identity = Identity::from_pem(read(&tls.certificate)?, read(&tls.key)?);
        let config = ServerTlsConfig::new().identity(identity).client_ca_root(Certificate::from_pem(read(&tls.ca)?));
        server = server.tls_config(config).map_err(LinkError::Certificates)?;
    }
    let refused = |source| ServeError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    listening(listener.local_addr().map_err(refused)?);
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let served = server.add_routes(provider.routes()).serve_with_incoming_shutdown(incoming, end);
    served.await.map_err(ServeError::Ended)
}
