//! The connection to a provider: made when it is needed, made anew when something is wrong with it, and a deadline for
//! every call.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Response, Status};

use super::error::{self, Call};
use super::fenced::FencedChannel;
use super::protocol::provider::cloud_provider_client::CloudProviderClient;
use crate::cloud::CloudError;
use crate::fence::Fence;

/// How a provider is reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reach {
    /// Host and port.
    pub address: Box<str>,
    /// None: everybody on the way can read and change what is said.
    pub tls: Option<Tls>,
    /// How long one call may take.
    pub deadline: Duration,
}

/// The files of a TLS connection, in PEM. They are read again for each new connection, so that they may be renewed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tls {
    /// The certificates that the other side's is signed by.
    pub ca: PathBuf,
    /// The certificate and the key that Headroom shows; None: it shows none.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// Why there is no connection to begin with.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The address is none.
    #[error("{address:?} is no address of a provider; hint: write host and port, such as localhost:8086")]
    Address {
        /// What it is.
        address: String,
    },
    /// A file cannot be read.
    #[error("{path} cannot be read; hint: give the path of a file that Headroom may read")]
    File {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The files are there and hold no certificates and key.
    #[error(
        "the certificates or the key cannot be used; hint: they must be in PEM, and the key be that of the certificate"
    )]
    Certificates(#[source] tonic::transport::Error),
}

pub(super) type Client = CloudProviderClient<FencedChannel>;

pub(super) struct Link {
    pub(super) reach: Reach,
    fence: Fence,
    client: Mutex<Option<Client>>,
}

impl Link {
    pub(super) fn new(reach: Reach, fence: Fence) -> Self {
        Link { reach, fence, client: Mutex::new(None) }
    }

    /// Makes one call. `of` is the group that it is about.
    pub(super) async fn call<Q, A, F>(
        &self,
        verb: &'static str,
        of: &str,
        request: Q,
        method: impl FnOnce(Client, Request<Q>) -> F,
    ) -> Result<A, Failed>
    where
        F: Future<Output = Result<Response<A>, Status>>,
    {
        let deadline = self.reach.deadline;
        let call = Call { verb, group: of, deadline };
        let client = self.client().map_err(|error| Failed::Other(CloudError::Unreachable(Box::new(error))))?;
        let mut request = Request::new(request);
        request.set_timeout(deadline);
        let answer = match tokio::time::timeout(deadline, method(client, request)).await {
            Ok(Ok(answer)) => return Ok(answer.into_inner()),
            Ok(Err(status)) => status,
            Err(_) => Status::deadline_exceeded("no answer"),
        };
        let failed = error::failed(answer, &call);
        if failed.is_of_the_connection() {
            // Certificates may have been renewed, or the server may have moved.
            *self.client.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        Err(failed)
    }

    fn client(&self) -> Result<Client, LinkError> {
        let mut kept = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &*kept {
            return Ok(client.clone());
        }
        let channel = endpoint(&self.reach)?.connect_lazy();
        let client = CloudProviderClient::new(FencedChannel { channel, fence: self.fence.clone() });
        Ok(kept.insert(client).clone())
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("reach", &self.reach).field("fence", &self.fence).finish_non_exhaustive()
    }
}

/// What came of a call that was not answered as hoped.
#[derive(Debug)]
pub(super) enum Failed {
    /// The provider does not offer this call.
    NotOffered,
    /// The provider answered, and does not do it, for a reason that has to do with what was asked. It may do another part
    /// of it.
    Refused(CloudError),
    /// Anything else.
    Other(CloudError),
}

impl Failed {
    fn is_of_the_connection(&self) -> bool {
        use CloudError::{NotUnderstood, Timeout, Unauthorized, Unreachable};
        let Failed::Other(error) = self else { return false };
        matches!(error, Unreachable(_) | Timeout { .. } | Unauthorized { .. } | NotUnderstood(_))
    }

    /// What the port says, for a call that every provider must offer.
    pub(super) fn into_error(self, verb: &str, group: &str) -> CloudError {
        match self {
            Failed::NotOffered => CloudError::Refused {
                verb: verb.to_owned(),
                group: group.to_owned(),
                reason: "the provider does not offer it".to_owned(),
            },
            Failed::Refused(error) | Failed::Other(error) => error,
        }
    }
}

fn endpoint(reach: &Reach) -> Result<Endpoint, LinkError> {
    let wrong = || LinkError::Address { address: reach.address.to_string() };
    // A name as Go's gRPC writes it.
    let address = reach.address.strip_prefix("dns:///").unwrap_or(&reach.address);
    let authority: http::uri::Authority = address.parse().map_err(|_| wrong())?;
    if authority.port().is_none() || address.contains('@') {
        return Err(wrong());
    }
    let scheme = if reach.tls.is_some() { "https" } else { "http" };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{authority}")).map_err(|_| wrong())?;
    let endpoint = endpoint.connect_timeout(reach.deadline);
    let Some(tls) = &reach.tls else { return Ok(endpoint) };
    let mut config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(&tls.ca)?));
    if let Some((certificate, key)) = &tls.own {
        config = config.identity(Identity::from_pem(read(certificate)?, read(key)?));
    }
    endpoint.tls_config(config).map_err(LinkError::Certificates)
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, LinkError> {
    std::fs::read(path).map_err(|source| LinkError::File { path: path.to_owned(), source })
}
