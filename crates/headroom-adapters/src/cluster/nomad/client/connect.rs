//! The connections to Nomad's HTTP API.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, ClientBuilder, Identity, Url, redirect, retry};

use super::environment::{Access, Tls};

const NAME: &str = concat!("headroom/", env!("CARGO_PKG_VERSION"));

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// `Authorization: Bearer` is understood from Nomad 1.4 on, and this one always.
const TOKEN: HeaderName = HeaderName::from_static("x-nomad-token");

/// Why there is no way to reach a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A file cannot be read.
    #[error("{path} cannot be read; hint: {variable} names it")]
    File {
        /// The file.
        path: PathBuf,
        /// Who named it.
        variable: &'static str,
        /// What is wrong.
        source: std::io::Error,
    },
    /// A file holds something else.
    #[error("{path} holds no certificate or key in PEM that can be used; hint: {variable} names it")]
    Pem {
        /// The file.
        path: PathBuf,
        /// Who named it.
        variable: &'static str,
        /// What is wrong.
        source: reqwest::Error,
    },
    /// A header cannot hold the token.
    #[error("NOMAD_TOKEN holds a character that cannot be sent; hint: write it without line breaks")]
    Token,
    /// TLS does not start.
    #[error("no connections can be made")]
    Tls(#[source] reqwest::Error),
}

/// The address of what is sent to. The name that a certificate is checked against is that of the address.
pub(super) fn address(access: &Access) -> Url {
    let mut url = access.address.url.clone();
    if let Some(name) = &access.tls.server_name {
        // It is a name, which a URL can have.
        let _ = url.set_host(Some(name));
    }
    url
}

/// The client that sends there.
pub(super) fn connections(access: &Access) -> Result<reqwest::Client, ConnectError> {
    let mut headers = HeaderMap::new();
    if let Some(token) = &access.token {
        let mut value = HeaderValue::from_str(token.reveal()).map_err(|_| ConnectError::Token)?;
        value.set_sensitive(true);
        headers.insert(TOKEN, value);
    }
    let mut builder = ClientBuilder::new()
        .user_agent(NAME)
        .default_headers(headers)
        .connect_timeout(CONNECT_TIMEOUT)
        // Nothing is sent twice, and nothing to somebody else: whoever asked decides.
        .retry(retry::never())
        .redirect(redirect::Policy::none());
    if let Some(path) = &access.address.socket {
        builder = builder.unix_socket(path.clone());
    }
    if let (Some(_), Some(host)) = (&access.tls.server_name, access.address.url.host_str()) {
        // The address has the name of the certificate, and is looked up under its own.
        builder = builder.dns_resolver(Alias(host.trim_matches(['[', ']']).to_owned()));
    }
    tls(builder, &access.tls)?.build().map_err(ConnectError::Tls)
}

fn tls(mut builder: ClientBuilder, tls: &Tls) -> Result<ClientBuilder, ConnectError> {
    let mut trusted = Vec::new();
    if let Some(path) = &tls.ca_cert {
        trusted.extend(certificates(path, "NOMAD_CACERT")?);
    }
    if let Some(folder) = &tls.ca_path {
        const VARIABLE: &str = "NOMAD_CAPATH";
        let wrong = |source| ConnectError::File { path: folder.clone(), variable: VARIABLE, source };
        for entry in std::fs::read_dir(folder).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            if path.is_file() {
                trusted.extend(certificates(&path, VARIABLE)?);
            }
        }
    }
    if !trusted.is_empty() {
        builder = builder.tls_certs_only(trusted);
    }
    if let (Some(cert), Some(key)) = (&tls.client_cert, &tls.client_key) {
        let mut pem = read(key, "NOMAD_CLIENT_KEY")?;
        pem.push(b'\n');
        pem.extend(read(cert, "NOMAD_CLIENT_CERT")?);
        let wrong = |source| ConnectError::Pem { path: cert.clone(), variable: "NOMAD_CLIENT_CERT", source };
        builder = builder.identity(Identity::from_pem(&pem).map_err(wrong)?);
    }
    Ok(if tls.skip_verify { builder.tls_danger_accept_invalid_certs(true) } else { builder })
}

fn certificates(path: &Path, variable: &'static str) -> Result<Vec<Certificate>, ConnectError> {
    let wrong = |source| ConnectError::Pem { path: path.to_owned(), variable, source };
    Certificate::from_pem_bundle(&read(path, variable)?).map_err(wrong)
}

fn read(path: &Path, variable: &'static str) -> Result<Vec<u8>, ConnectError> {
    std::fs::read(path).map_err(|source| ConnectError::File { path: path.to_owned(), variable, source })
}

/// Looks up this host, whatever name is asked for.
struct Alias(String);

impl Resolve for Alias {
    fn resolve(&self, _: Name) -> Resolving {
        let host = self.0.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(Box::new(found.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}
