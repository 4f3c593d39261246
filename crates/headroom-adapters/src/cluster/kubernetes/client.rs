//! The connection to an API server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::HeaderValue;
use http::header::USER_AGENT;
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use kube::client::ConfigExt;
use kube::config::{InferConfigError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tower::ServiceBuilder;

use super::fenced::FenceLayer;
use super::proxy;
use crate::fence::Fence;

const NAME: &str = concat!("headroom/", env!("CARGO_PKG_VERSION"));

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longer than a watch is silent: the API server ends each after some minutes, and sends bookmarks before.
const READ_TIMEOUT: Duration = Duration::from_secs(300);

/// Why there is no way to reach a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A kubeconfig file that was named cannot be used.
    #[error("{path} cannot be used; hint: `kubectl --kubeconfig {path} config get-contexts` shows what is in it")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: KubeconfigError,
    },
    /// The context that was named cannot be used.
    #[error("the context {context} cannot be used; hint: `kubectl config get-contexts` lists those that there are")]
    Context {
        /// Its name.
        context: String,
        /// What is wrong.
        source: KubeconfigError,
    },
    /// Nobody said which cluster is meant.
    #[error(
        "no cluster is known; hint: name a kubeconfig file, set KUBECONFIG, or run in a pod that has a service account"
    )]
    NoCluster(#[source] Box<InferConfigError>),
    /// The proxy on the way to the API server is none that can be used.
    #[error(
        "the proxy {proxy} cannot be used; hint: it must be reached through http, or the API server named in NO_PROXY"
    )]
    Proxy {
        /// Its address, without a user or password.
        proxy: String,
    },
    /// Certificates or credentials cannot be used.
    #[error("the certificates or credentials for {server} cannot be used")]
    Credentials {
        /// The API server.
        server: String,
        /// What is wrong.
        source: Box<kube::Error>,
    },
}

/// A client for the cluster that kubectl would take: that of a kubeconfig file, or of `KUBECONFIG` or `~/.kube/config`,
/// or the one that this process runs in. It sends nothing yet.
///
/// No request other than reading one is sent while `fence` is closed, but for those of the election.
pub async fn connect(kubeconfig: Option<&Path>, context: Option<&str>, fence: Fence) -> Result<Client, ConnectError> {
    client(find(kubeconfig, context).await?, fence)
}

async fn find(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Config, ConnectError> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    match (kubeconfig, context) {
        (Some(path), _) => {
            let wrong = |source| ConnectError::Kubeconfig { path: path.to_owned(), source };
            let file = Kubeconfig::read_from(path).map_err(wrong)?;
            Config::from_custom_kubeconfig(file, &options).await.map_err(wrong)
        }
        (None, Some(context)) => {
            let wrong = |source| ConnectError::Context { context: context.to_owned(), source };
            Config::from_kubeconfig(&options).await.map_err(wrong)
        }
        (None, None) => Config::infer().await.map_err(|error| ConnectError::NoCluster(Box::new(error))),
    }
}

fn client(mut config: Config, fence: Fence) -> Result<Client, ConnectError> {
    config.headers.push((USER_AGENT, HeaderValue::from_static(NAME)));
    let server = config.cluster_url.to_string();
    let wrong = |source| ConnectError::Credentials { server: server.clone(), source: Box::new(source) };
    let way = proxy::way(&config, |name| std::env::var(name).ok())?;
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(way).map_err(wrong)?);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    connector.set_read_timeout(Some(READ_TIMEOUT));
    connector.set_write_timeout(Some(READ_TIMEOUT));
    // Otherwise the time in which a connection had nothing to do counts too.
    connector.set_reset_reader_on_write(true);
    // kube's own client sends a request again after 429 and 503. Here nothing is sent twice: whoever asked decides.
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().map_err(wrong)?)
        .layer(config.extra_headers_layer().map_err(wrong)?)
        .layer(FenceLayer(fence))
        .service(legacy::Client::builder(TokioExecutor::new()).build(connector));
    Ok(Client::new(service, config.default_namespace))
}
